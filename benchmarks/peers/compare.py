"""Compares two methods at equal achieved gaps, split by split, with intervals that account for overlapping splits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks.peers.splits import TOLERANCES, Floats

Record = dict[str, Any]
OURS = "fairlimits"
BAR = -0.004
"""The lower end of every interval is to lie above this."""


@dataclass(frozen=True, eq=False)
class Hull:
    """The best accuracy that mixtures of a method's rules reach within a gap.

    A mixture's gap is at most the mixture of the gaps, so the upper concave hull of the points is reached by drawing
    one of the rules at random; a rule of a small gap serves any larger one, so it never falls.

    Parameters
    ----------
    gaps, accuracies : ndarray
        The corners, both rising.
    """

    gaps: Floats
    accuracies: Floats

    def at(self, gap: npt.ArrayLike) -> Floats:
        """Accuracy within each gap."""
        return np.asarray(np.interp(np.asarray(gap, dtype=float), self.gaps, self.accuracies))


def hull(points: Iterable[tuple[float, float]]) -> Hull:
    """Upper concave hull of (gap, accuracy) points that never falls; one point must have a gap of 0.

    Parameters
    ----------
    points : iterable of (float, float)
    """
    corners: list[tuple[float, float]] = []
    # Of points with one gap the best comes first, so that the others are passed over.
    for gap, accuracy in sorted(points, key=lambda point: (point[0], -point[1])):
        if corners and accuracy <= corners[-1][1]:
            continue
        while len(corners) > 1 and _below(corners[-2], corners[-1], (gap, accuracy)):
            corners.pop()
        corners.append((gap, accuracy))
    if not corners or corners[0][0] != 0.0:
        raise ValueError("A hull needs a point with a gap of 0.")
    gaps, accuracies = np.array(corners).T
    return Hull(gaps, accuracies)


def _below(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Whether the middle point is on or below the line between the others."""
    rise = (right[1] - left[1]) * (middle[0] - left[0])
    return (middle[1] - left[1]) * (right[0] - left[0]) <= rise


def method_hull(records: Sequence[Record]) -> Hull:
    """Hull of one method's results in one split and setting, with the rule that needs no fit at a gap of 0.

    That is the majority label for everybody; for equal accuracy, which a constant label can violate, a fair coin.
    """
    criterion = records[0]["criterion"]
    at_zero = 0.5 if criterion == "EA" else records[0]["constant"]
    return hull([(0.0, at_zero), *((record["gaps"][criterion], record["accuracy"]) for record in records)])


def difference(
    ours: Sequence[Record], peer: Sequence[Record], *, met_by_both: bool = True, at_ours: bool = False
) -> float:
    """Our accuracy minus the peer's in one split, mean over the gaps that the peer achieved at the tolerances compared.

    Parameters
    ----------
    ours, peer : sequence of dict
        Results of one split and setting.
    met_by_both : bool
        Whether a gap of the peer that is smaller than all of ours is raised to our smallest, for both. How far below
        its tolerance a rule lands on the test rows is luck; without raising, whoever is less lucky is read on the line
        down to the constant rule.
    at_ours : bool
        Whether hulls are read at the gaps that ours achieved at these tolerances, rather than at the peer's. Where a
        frontier bends, whoever is read at gaps that are another's luck is a little worse off.
    """
    criterion = peer[0]["criterion"]
    landed, other = (ours, peer) if at_ours else (peer, ours)
    compared = {record["eps"] for record in peer} & set(TOLERANCES)
    achieved = np.array([record["gaps"][criterion] for record in landed if record["eps"] in compared])
    if met_by_both:
        achieved = np.maximum(achieved, min(record["gaps"][criterion] for record in other))
    return float(np.mean(method_hull(ours).at(achieved) - method_hull(peer).at(achieved)))


@dataclass(frozen=True)
class Comparison:
    """Paired differences in accuracy over the splits of one setting, ours minus the peer's.

    Parameters
    ----------
    mean, low, high : float
        Mean and 95% interval; infinite ends if there is one split only.
    splits : int
        Number of splits.
    """

    mean: float
    low: float
    high: float
    splits: int

    @property
    def verdict(self) -> str:
        """Win, tie or loss: on which side of 0 the interval lies."""
        return "win" if self.low > 0 else "loss" if self.high < 0 else "tie"


def interval(differences: Sequence[float], test_share: float) -> Comparison:
    """Mean and 95% interval of differences between overlapping splits.

    With J splits the variance of the mean is s^2 (1/J + n_test/n_learn), after Nadeau and Bengio (2003): the
    splits share rows, so they tell less than J independent ones.

    Parameters
    ----------
    differences : sequence of float
        One per split.
    test_share : float
        n_test / n_learn.
    """
    splits = len(differences)
    mean = float(np.mean(differences))
    if splits == 1:
        return Comparison(mean, -math.inf, math.inf, 1)
    error = float(np.std(differences, ddof=1)) * math.sqrt(1 / splits + test_share)
    reach = float(stats.t.ppf(0.975, splits - 1)) * error
    return Comparison(mean, mean - reach, mean + reach, splits)


Place = tuple[str, str, bool, str, str]
"""Data set, criterion, whether the group is seen, peer, base."""


def compare(records: Iterable[Record], *, met_by_both: bool = True, at_ours: bool = False) -> dict[Place, Comparison]:
    """Compare ours with every peer in every setting, over the splits in which both were measured.

    Parameters
    ----------
    records : iterable of dict
    met_by_both, at_ours : bool
        See `difference`.
    """
    own: dict[tuple[str, str, bool, int], list[Record]] = {}
    peers: dict[Place, dict[int, list[Record]]] = {}
    for record in records:
        name, criterion, aware, seed = record["data"], record["criterion"], record["aware"], record["seed"]
        if record["method"] == OURS:
            own.setdefault((name, criterion, aware, seed), []).append(record)
        else:
            place = (name, criterion, aware, record["method"], record["base"])
            peers.setdefault(place, {}).setdefault(seed, []).append(record)
    answers = {}
    for place, by_seed in peers.items():
        both = [(own[(*place[:3], seed)], rows) for seed, rows in by_seed.items() if (*place[:3], seed) in own]
        if both:
            differences = [difference(mine, rows, met_by_both=met_by_both, at_ours=at_ours) for mine, rows in both]
            one = both[0][1][0]
            answers[place] = interval(differences, one["n_test"] / one["n_learn"])
    return answers


@dataclass(frozen=True)
class Seconds:
    """What a method takes, in seconds of one core, mean over the splits.

    Parameters
    ----------
    estimates : float
        Estimates, made once for all criteria and tolerances; NaN if that was not noted.
    frontier : float
        All tolerances of one criterion, given the estimates.
    one : float
        One tolerance.
    """

    estimates: float
    frontier: float
    one: float

    def whole(self, tolerances: int) -> float:
        """Seconds of estimates and a frontier of so many tolerances."""
        return self.estimates + tolerances * self.one


def frontier_seconds(records: Iterable[Record]) -> dict[Place, Seconds]:
    """Seconds of every method in every setting."""
    runs: dict[Place, dict[int, list[Record]]] = {}
    for record in records:
        place = (record["data"], record["criterion"], record["aware"], record["method"], record["base"])
        runs.setdefault(place, {}).setdefault(record["seed"], []).append(record)
    return {
        place: Seconds(
            float(np.mean([rows[0].get("base_seconds", 0.0) for rows in by_seed.values()])),
            float(np.mean([sum(row["fit_seconds"] for row in rows) for rows in by_seed.values()])),
            float(np.mean([row["fit_seconds"] for rows in by_seed.values() for row in rows])),
        )
        for place, by_seed in runs.items()
    }
