"""`PointwiseRule`: a rule on group notions as a function of q(x) = P(A, Y | x), for people it has never seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, read_groups
from fairlimits.errors import InputError
from fairlimits.law import OutcomeModel
from fairlimits.notions import NOTIONS, Rate
from fairlimits.solvers import margin

# Below any probability that an estimate gives to a group; guards a division.
TINY = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PointwiseRule:
    """The most accurate rule under tolerances on group notions, for single people.

    Parameters
    ----------
    model : OutcomeModel
        Estimates q for new rows.
    tolerances : mapping of str to float
        The tolerances that were asked for.
    aware : bool
        Whether the rule sees the group.
    rates : tuple of Rate
        The rates that are held to limits.
    base : ndarray of shape (K, G)
        Probability of each rate's condition in each group, by q.
    multipliers : ndarray of shape (K, G)
        Price of each rate of each group.
    temperature : float
        How wide the band is in which people are decided at random.
    constant : float or None
        Score of everybody, if the rule is a constant one.
    accuracy : float
        Expected by q on the rows it was solved on (plug-in).
    bayes_accuracy : float
        The same for the best rule without tolerances.
    label_accuracy : float
        Share of those rows whose label the rule meets; each row's q comes from learners that did not see it.
    gaps : mapping of str to float
        Gap of every group notion on those rows and labels; NaN where there is none.
    margins : mapping of str to float
        By how much each tolerance was tightened.
    """

    model: OutcomeModel
    tolerances: Mapping[str, float]
    aware: bool
    rates: tuple[Rate, ...]
    base: Floats
    multipliers: Floats
    temperature: float
    constant: float | None
    accuracy: float
    bayes_accuracy: float
    label_accuracy: float
    gaps: Mapping[str, float]
    margins: Mapping[str, float]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.model.schema.groups

    @cached_property
    def shadow_prices(self) -> dict[str, float]:
        """For each tolerance, how fast accuracy would rise with that tolerance alone."""
        prices = {}
        for name, tolerance in self.tolerances.items():
            others = {other: value for other, value in self.tolerances.items() if other != name}
            # Where another notion holds a shared rate as tightly, this tolerance alone changes nothing.
            own = [rate in NOTIONS[name].rates and tolerance < limit_of(rate, others) for rate in self.rates]
            prices[name] = float(np.abs(self.multipliers[own]).sum() / 2)
        return prices

    def scores(self, rows: Any) -> Floats:
        """Probability of deciding 1 for each of some rows.

        Parameters
        ----------
        rows : Dataset, or a pandas, polars or Arrow table
            The rows; labels are not looked at. A table needs the features, and for a rule that sees the group the
            sensitive columns.
        """
        group = None
        if self.aware:
            if isinstance(rows, Dataset):
                rows.check_groups(self.groups)
            group = rows.group if isinstance(rows, Dataset) else read_groups(self.model.schema, rows)
        return self.scores_of(self.model.predict(rows), group)

    def scores_of(self, q: Floats, group: Ints | None) -> Floats:
        """Probability of deciding 1 for estimates of shape (n, G, 2); an aware rule needs the group too."""
        if self.constant is not None:
            return np.full(len(q), self.constant)
        gain, rates = added_by(q, self.rates, self.base)
        if not self.aware:
            return np.asarray(expit(margin(gain.sum(axis=1), rates, self.multipliers) / self.temperature))
        if group is None:
            raise InputError("This rule sees the group, and none was given; give the group of each row.")
        rows = np.arange(len(q))
        share = np.maximum(q[rows, group].sum(axis=1), TINY)
        price = (rates[rows, :, group] * self.multipliers.T[group]).sum(axis=1)
        return np.asarray(expit((gain[rows, group] - price) / share / self.temperature))

    def __repr__(self) -> str:
        asked = ", ".join(f"{name} <= {value:g}" for name, value in self.tolerances.items()) or "no constraint"
        sees = "aware" if self.aware else "unaware"
        return f"PointwiseRule({asked}; {sees}; accuracy {self.accuracy:.4f}, best without {self.bayes_accuracy:.4f})"


def limits_of(rates: tuple[Rate, ...], tolerances: Mapping[str, float]) -> Floats:
    """Limit of each rate: the smallest tolerance of the notions that it belongs to; no gap is larger than 1."""
    return np.array([min(limit_of(rate, tolerances), 1.0) for rate in rates])


def limit_of(rate: Rate, tolerances: Mapping[str, float]) -> float:
    """Smallest tolerance of the notions that a rate belongs to; without any, there is no limit."""
    return min((value for name, value in tolerances.items() if rate in NOTIONS[name].rates), default=math.inf)


def added_by(q: Floats, rates: tuple[Rate, ...], base: Floats) -> tuple[Floats, Floats]:
    """What deciding 1 adds at each point: to accuracy, of shape (n, G), and to the rates, of shape (n, K, G)."""
    gain = q[:, :, 1] - q[:, :, 0]
    added = np.zeros((len(q), len(rates), q.shape[1]))
    for k, rate in enumerate(rates):
        event = np.asarray(rate.event)
        for y in rate.given:
            added[:, k] += q[:, :, y] * (event[y, 1] - event[y, 0])
    return gain, added / np.where(base > 0, base, np.inf)
