"""Random distributions, neighbourhoods and tolerances, the degenerate ones first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.neighbours import Neighbourhood
from literal import GROUP_NOTIONS, Hood, Literal

MODES = ("mean", "each", "all", "paper")


@dataclass(frozen=True)
class Case:
    """A distribution, and the numbers that it was made from."""

    mass: np.ndarray
    distances: np.ndarray | list[tuple[int, int, float]] | None

    @property
    def sparse(self) -> bool:
        return isinstance(self.distances, list)

    @property
    def shape(self) -> tuple[int, int]:
        return self.mass.shape[0], self.mass.shape[1]

    def dist(self) -> CellDistribution:
        return CellDistribution.from_mass(self.mass, distances=graph(self.distances, len(self.mass)))

    def literal(self, aware: bool = False, hood: Hood | None = None) -> Literal:
        return Literal(self.mass, aware, self.distances, Hood() if hood is None else hood)

    def __repr__(self) -> str:
        return f"Case(np.array({self.mass.tolist()}), {_plain(self.distances)})"


def _plain(distances: Any) -> Any:
    return distances.tolist() if isinstance(distances, np.ndarray) else distances


def graph(distances: Any, cells: int) -> Any:
    """A list of edges as the sparse array that the package takes; anything else as it is."""
    if not isinstance(distances, list):
        return distances
    first = [i for i, _, _ in distances]
    second = [j for _, j, _ in distances]
    values = np.array([d for _, _, d in distances], dtype=float)
    return sp.coo_array((values, (np.array(first, dtype=int), np.array(second, dtype=int))), shape=(cells,) * 2)


@st.composite
def masses(draw: st.DrawFn, cells: int = 6, groups: int = 5, least_groups: int = 2, tiny: bool = False) -> np.ndarray:
    """Masses (N, G, 2) that need not sum to 1: ties, empty cells, empty groups, generic ones, and `tiny` ones."""
    shape = (draw(st.integers(1, cells)), draw(st.integers(least_groups, groups)), 2)
    if not tiny and draw(st.booleans()):
        mass = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 6))).astype(float)
    else:
        rng = np.random.default_rng(draw(st.integers(0, 10_000)))
        mass = rng.gamma(0.7, size=shape)
        holes = "tiny" if tiny else draw(st.sampled_from(["none", "cells", "pairs", "labels"]))
        if holes == "cells":
            mass[rng.random(shape[0]) < 0.4] = 0
        elif holes == "pairs":
            mass[rng.random(shape[:2]) < 0.4] = 0
        elif holes == "labels":
            mass *= rng.random(shape[1:]) < 0.7
        elif holes == "tiny":
            mass[rng.random(shape) < 0.3] *= 1e-12
    if mass.sum() == 0:
        mass[0, 0, draw(st.integers(0, 1))] = 1
    return mass


@st.composite
def cases(
    draw: st.DrawFn,
    distances: bool | None = None,
    cells: int = 6,
    groups: int = 5,
    least_groups: int = 2,
    tiny: bool = False,
) -> Case:
    """Cases; `distances` says whether cells can be compared, None leaves it open."""
    mass = draw(masses(cells, groups, least_groups, tiny))
    n = len(mass)
    kinds = ["ties", "generic", "sparse"]
    kind = draw(st.sampled_from(kinds if distances else ["none", *kinds])) if distances is not False else "none"
    if kind == "none":
        return Case(mass, None)
    if kind == "generic":
        points = np.random.default_rng(draw(st.integers(0, 10_000))).normal(size=(n, 2))
        return Case(mass, np.abs(points[:, None] - points[None]).mean(axis=2))
    pairs = list(combinations(range(n), 2))
    values = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5]), min_size=len(pairs), max_size=len(pairs)))
    if kind == "sparse":
        kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
        return Case(mass, [(i, j, d) for (i, j), d, keep in zip(pairs, values, kept, strict=True) if keep])
    matrix = np.zeros((n, n))
    for (i, j), d in zip(pairs, values, strict=True):
        matrix[i, j] = matrix[j, i] = d
    return Case(mass, matrix)


@st.composite
def hoods(draw: st.DrawFn, modes: tuple[str, ...] = MODES) -> Hood:
    """Neighbourhoods: none, all, some and by radius; every mode."""
    return Hood(
        percentile=draw(st.sampled_from([100.0, 50.0, 20.0, 3.5, 0.0])),
        eta=draw(st.sampled_from([None, None, 0.0, 0.5, 1.0, 10.0])),
        theta=draw(st.sampled_from([1.0, 0.0, 0.3, 3.0, 1e6])),
        mode=draw(st.sampled_from(modes)),
    )


def neighbourhood(hood: Hood) -> Neighbourhood:
    return Neighbourhood(percentile=hood.percentile, eta=hood.eta, theta=hood.theta, mode=hood.mode)  # type: ignore[arg-type]


def tolerance() -> st.SearchStrategy[float]:
    return st.one_of(
        st.sampled_from([0.0, 0.05, 0.01, 0.2, 1.0, 2.5, float("inf")]),
        st.floats(0, 0.5, allow_subnormal=False),
    )


def tolerances(individual: bool = True, least: int = 0) -> st.SearchStrategy[dict[str, float]]:
    """Tolerances of any set of notions."""
    names = (*GROUP_NOTIONS, "IF") if individual else GROUP_NOTIONS
    return st.dictionaries(st.sampled_from(names), tolerance(), min_size=least)
