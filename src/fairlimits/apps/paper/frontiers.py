"""Figures 2, 5 and 6: optimal accuracy against relaxation, for every pairing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import fairlimits as fl
from fairlimits._util.types import Floats
from fairlimits.apps.paper import printed
from fairlimits.apps.paper.bench import Bench
from fairlimits.apps.paper.section import notions
from fairlimits.apps.paper.settings import INDIVIDUAL_SCALE

GROUP_NOTIONS = ("DP", "EA", "PE", "EOd")


@dataclass(frozen=True)
class Panel:
    """A column of a figure.

    Parameters
    ----------
    title : str
        What it shows.
    aware : bool
        Whether the rules see the group.
    pairings : tuple of str
        Its curves.
    """

    title: str
    aware: bool
    pairings: tuple[str, ...]


_SINGLE = (*GROUP_NOTIONS, "Ind")
_WITH_DP = ("DP+EA", "DP+PE", "DP+EOd", "DP+Ind")
_WITH_EA = ("DP+EA", "EA+PE", "EA+EOd", "EA+Ind")
_REST = ("PE+EOd", "PE+Ind", "EOd+Ind")
_TRIPLES = (*("+".join(three) for three in combinations(GROUP_NOTIONS, 3)), "DP+EA+PE+EOd")
_TRIPLES_IND = tuple(f"{three}+Ind" for three in _TRIPLES)

PANELS: Mapping[str, tuple[Panel, ...]] = {
    "figure2": (
        Panel("one notion, aware", True, _SINGLE),
        Panel("with DP, aware", True, _WITH_DP),
        Panel("with EA, aware", True, _WITH_EA),
        Panel("with EA, unaware", False, _WITH_EA),
    ),
    "figure5": (
        Panel("one notion, unaware", False, _SINGLE),
        Panel("with DP, unaware", False, _WITH_DP),
        Panel("other pairs, unaware", False, _REST),
        Panel("other pairs, aware", True, _REST),
    ),
    "figure6": (
        Panel("three or four, aware", True, _TRIPLES),
        Panel("the same + Ind, aware", True, _TRIPLES_IND),
        Panel("three or four, unaware", False, _TRIPLES),
        Panel("the same + Ind, unaware", False, _TRIPLES_IND),
    ),
}

SINGLES = _SINGLE
PAIRS = tuple(dict.fromkeys((*_WITH_DP, *_WITH_EA, *_REST)))
TRIPLES, TRIPLES_IND = _TRIPLES, _TRIPLES_IND


def grid_of(pairing: str, grid: Floats) -> dict[str, Floats]:
    """Relaxation of each notion of a pairing: Ind's is scaled differently, as in the paper."""
    return {name: grid * INDIVIDUAL_SCALE if name == "IF" else grid for name in notions(pairing)}


def measure(bench: Bench) -> dict[str, Any]:
    """Trace the curves of all three figures."""
    dist, grid = bench.dist, bench.settings.grid
    curves = []
    asked = list(_curves())
    for done, (pairing, aware) in enumerate(asked):
        bench.tell(done / len(asked), f"frontier of {pairing}")
        start = time.perf_counter()
        tolerances = grid_of(pairing, grid)
        curve = fl.frontier(dist, list(tolerances), tolerances, aware=aware)
        seconds = (time.perf_counter() - start) / len(grid)
        curves.append({"pairing": pairing, "aware": aware, "accuracy": curve.accuracy, "seconds": seconds})
    return {
        "grid": grid,
        "best": {name: fl.solve(dist, {}, aware=name == "aware").accuracy for name in printed.SCENARIOS},
        "curves": curves,
    }


def _curves() -> Iterator[tuple[str, bool]]:
    """Every curve once."""
    yield from dict.fromkeys(
        (pairing, panel.aware) for panels in PANELS.values() for panel in panels for pairing in panel.pairings
    )


class Curves:
    """The curves of one data set, looked up by pairing.

    Parameters
    ----------
    result : mapping
        What `measure` gave.
    """

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.grid = np.array(result["grid"])
        self.best: Mapping[str, float] = result["best"]
        self._own = {(own["pairing"], own["aware"]): np.array(own["accuracy"]) for own in result["curves"]}

    def accuracy(self, pairing: str, aware: bool) -> Floats:
        """Accuracy along the grid."""
        return self._own[pairing, aware]

    def loss(self, pairing: str, aware: bool) -> Floats:
        """Accuracy lost against the best rule of the same scenario, along the grid."""
        return np.asarray(self.best["aware" if aware else "unaware"] - self.accuracy(pairing, aware))

    def mean_loss(self, pairings: Sequence[str], aware: bool) -> float:
        """Mean loss of some curves, over relaxations up to 0.2 as in Table 3."""
        near = self.grid <= 0.2 + 1e-9
        return float(np.mean([self.loss(pairing, aware)[near] for pairing in pairings]))
