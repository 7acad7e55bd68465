"""Every method of the benchmark by name: what it can be asked for, and how it is fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.peers import linear, reduction, thresholds
from benchmarks.peers.bases import OURS, OWN, Base, Estimates
from benchmarks.peers.ours import ours
from benchmarks.peers.splits import CRITERIA, SEEDS, TOLERANCES, Setting, Split
from benchmarks.peers.thresholds import Decide

Offer = Mapping[str, tuple[float, ...]]
"""The tolerances that a method can be asked for, a criterion."""


FRONTIER = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
"""The tolerances of a method that is fast: those compared, and others between them and beyond.

A hull is read at gaps that another method achieved, anywhere between the tolerances compared and, as exponentiated
gradient lands at two or three times what it is asked for, beyond; on a line between points far apart a frontier that
bends would be read too low.
"""


def _no_estimates(base: Base, split: Split, aware: bool) -> Estimates | None:
    return None


def _joint(base: Base, split: Split, aware: bool) -> Estimates:
    return base.joint(split)


def _same_rows(base: Base, split: Split, aware: bool) -> Estimates:
    return base.scores(split, aware, held_out=False)


def _held_out(base: Base, split: Split, aware: bool) -> Estimates:
    return base.scores(split, aware, held_out=True)


def _all_of(*criteria: str) -> Offer:
    return dict.fromkeys(criteria, FRONTIER)


@dataclass(frozen=True)
class Method:
    """A method and what it offers.

    Parameters
    ----------
    name : str
    title : str
        Name for people.
    fit : callable
        Fits the method to a split for a setting, on estimates.
    estimates : callable
        What the method works on, from a base, as its documentation recommends.
    offer : Mapping of str to tuple of float
        The criteria that it can hold, and the tolerances that it can be asked for.
    aware : tuple of bool
        Whether it works with the group seen, and with the group hidden.
    bases : tuple of str
        The bases that it can work on.
    seeds : range
        The splits that it is measured on.
    """

    name: str
    title: str
    fit: Callable[..., Decide]
    estimates: Callable[[Base, Split, bool], Estimates | None]
    offer: Offer = field(default_factory=lambda: _all_of("DP", "EOd"))
    aware: tuple[bool, ...] = (True,)
    bases: tuple[str, ...] = (OWN, OURS)
    seeds: range = SEEDS

    def settings(self) -> Iterator[Setting]:
        """Everything that the method can be asked for, group hidden first."""
        for aware in sorted(self.aware):
            for criterion, tolerances in self.offer.items():
                for eps in tolerances:
                    yield Setting(criterion, eps, aware)


METHODS = {
    method.name: method
    for method in (
        Method(
            "fairlimits",
            "fairlimits",
            ours,
            _joint,
            _all_of(*CRITERIA),
            (False, True),
            (OURS,),
        ),
        # Relaxed thresholds came with fairlearn 0.13, for single rates only.
        Method(
            "threshold-optimizer",
            "fairlearn ThresholdOptimizer",
            thresholds.fairlearn,
            _same_rows,
            {"DP": FRONTIER, "EOd": (0.0,)},
        ),
        Method("error-parity", "error-parity", thresholds.error_parity, _held_out),
        Method("aif360", "aif360 EqOddsPostprocessing", thresholds.aif360, _held_out, {"EOd": (0.0,)}),
        Method("linear", "Xian and Zhao's program", linear.fit, _joint, _all_of(*CRITERIA), (False, True)),
        Method(
            "exponentiated-gradient",
            "fairlearn ExponentiatedGradient",
            reduction.fit,
            _no_estimates,
            # Slow: minutes per tolerance.
            dict.fromkeys(("DP", "EOd"), TOLERANCES),
            aware=(False, True),
            bases=(OWN,),
            seeds=range(5),
        ),
    )
}
