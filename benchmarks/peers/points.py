"""Compares ours with a peer at what the peer achieved at one tolerance; where it has a single point, at that point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.peers.compare import OURS, Comparison, Record, interval, method_hull
from benchmarks.peers.splits import TOLERANCES

Setting = tuple[str, int | None, str, bool, str]
"""Data set, rows, criterion, whether the group is seen, peer."""


def overlap(shared: float) -> float:
    """What cuts that have learning rows in common add to 1/J in the variance of a mean over J cuts.

    If rho is the share of the learning rows of one cut that are in another, the differences of two cuts are taken to be
    correlated by rho, and the variance of their mean is s^2 (1/J + rho / (1 - rho)).

    Parameters
    ----------
    shared : float
        rho, at least 0 and below 1.
    """
    if not 0 <= shared < 1:
        raise ValueError(f"The share of rows in common is {shared}; it must be at least 0 and below 1.")
    return shared / (1 - shared)


def difference_at(ours: Sequence[Record], peer: Sequence[Record], eps: float, *, raised: bool = False) -> float:
    """Our accuracy minus the peer's at the gap that the peer achieved on the test rows at one tolerance.

    A peer with a curve is read as in `compare.difference`: both hulls at its gap, but at our smallest if none of ours
    is as small. A peer with a single point cannot be moved to another gap without losing by it, so its accuracy is
    taken as it is, and ours on our hull at its gap, on the line down to the constant rule if need be.

    Parameters
    ----------
    ours, peer : sequence of dict
        Results of one cut and setting.
    eps : float
        One of the peer's tolerances.
    raised : bool
        Whether a single point too is read at our smallest gap where none of ours is as small.
    """
    criterion = peer[0]["criterion"]
    (point,) = (record for record in peer if record["eps"] == eps)
    gap = point["gaps"][criterion]
    if math.isnan(gap):
        return math.nan
    if len(peer) == 1 and not raised:
        return float(method_hull(ours).at(gap)) - float(point["accuracy"])
    gap = max(gap, min(record["gaps"][criterion] for record in ours))
    return float(method_hull(ours).at(gap) - method_hull(peer).at(gap))


Paired = dict[int, tuple[list[Record], list[Record]]]
"""Ours and the peer's results, a cut."""


def pair(records: Iterable[Record]) -> dict[Setting, Paired]:
    """Results of ours and of each peer in every setting, for the cuts that both have."""
    own: dict[tuple[Any, ...], list[Record]] = {}
    peers: dict[Setting, dict[int, list[Record]]] = {}
    for record in records:
        place = (record["data"], record["rows"], record["criterion"], record["aware"])
        if record["method"] == OURS:
            own.setdefault((*place, record["seed"]), []).append(record)
        else:
            peers.setdefault((*place, record["method"]), {}).setdefault(record["seed"], []).append(record)
    return {
        setting: {
            seed: (own[(*setting[:4], seed)], rows) for seed, rows in by_seed.items() if (*setting[:4], seed) in own
        }
        for setting, by_seed in peers.items()
    }


def tolerances_of(paired: Paired) -> list[float]:
    """The tolerances that are compared: those of the peer, without what only shapes its curve."""
    return sorted({row["eps"] for _, peer in paired.values() for row in peer} & set(TOLERANCES))


def at_tolerances(records: Iterable[Record], *, raised: bool = False) -> dict[tuple[Setting, float], Comparison]:
    """Compare at every tolerance by itself, with the variance of `compare.interval`.

    Parameters
    ----------
    records : iterable of dict
    raised : bool
        See `difference_at`.
    """
    found = {}
    for setting, paired in pair(records).items():
        for eps in tolerances_of(paired):
            differences = [difference_at(ours, peer, eps, raised=raised) for ours, peer in paired.values()]
            own = next(iter(paired.values()))[0][0]
            found[setting, eps] = interval(differences, own["n_test"] / own["n_learn"])
    return found


def over_tolerances(records: Sequence[Record], *, raised: bool = False) -> dict[Setting, Comparison]:
    """Compare the mean over the peer's tolerances, with the share of learning rows that the results say is in common.

    Cuts in which no two groups can be compared, so that there is no gap, are left out.
    """
    found = {}
    for setting, paired in pair(records).items():
        differences = []
        for ours, peer in paired.values():
            read = [difference_at(ours, peer, eps, raised=raised) for eps in tolerances_of(paired)]
            if not np.isnan(read).any():
                differences.append(float(np.mean(read)))
        if differences:
            shared = next(iter(paired.values()))[0][0]["shared"]
            found[setting] = interval(differences, overlap(shared))
    return found
