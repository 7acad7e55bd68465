r"""Recalibrate q(x) = P(A, Y | x) once, for each group and label, as strongly as the rows justify.

Learners are a little off on average: too sure of the label, or they make a group's label too likely. The rates of
rules would be off by as much. With z(x) the standardised log-odds of the label,

.. math:: q'_{gy}(x) \propto q_{gy}(x) \, e^{a_y + a_{gy} + (b_y + b_{gy}) z(x)} ,

where all a and b maximise the likelihood of group and label in rows that q did not see, minus :math:`c^2 / 2\tau^2`
for each of them. That is a normal prior of width :math:`\tau`, wide for what all groups have in common and narrow for
what is a group's own: a coefficient with a standard error s is shrunk to about :math:`\tau^2 / (\tau^2 + s^2)` of
itself. A hundred rows of a group and label move its coefficients half of the way, and fewer than 30 not at all. The
result is a law again, so that a program on it always has a solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import FileError

# Widths of the prior: of the coefficients common to all groups, and of a group's own.
_COMMON_WIDTH, _OWN_WIDTH = 1.0, 0.1

# Fewest rows of a group and label that have coefficients of their own.
_FEWEST_ROWS = 30

# A chance of 0 that came true would have no logarithm.
_LEAST_CHANCE = 1e-12

# Probabilities nearer to 0 or 1 than this have no log-odds of their own.
_LEAST = 1e-6

# No fit comes near this: coefficients are shrunk to 0, and the log-odds of such probabilities are below 14.
_LARGEST = 50.0


@dataclass(frozen=True, eq=False)
class Recalibration(Checked):
    """How an estimate of q is corrected.

    Parameters
    ----------
    centre, scale : float
        Mean and standard deviation of the label's log-odds in the rows.
    coefficient : ndarray of shape (2, G, 2)
        a and b of each group and label.
    """

    centre: float
    scale: float
    coefficient: Floats

    @classmethod
    def fit(cls, q: Floats, weight: Floats, group: Ints, label: Ints) -> Recalibration:
        """Learn from rows that `q`, of shape (n, G, 2), did not see.

        Parameters
        ----------
        q : ndarray of shape (n, G, 2)
            The estimate.
        weight : ndarray of shape (n,)
            Weight of each row; the weights sum to 1.
        group, label : ndarray of int of shape (n,)
            Group and label of each row.
        """
        n, groups, _ = q.shape
        odds = _log_odds(q)
        centre = float(weight @ odds)
        scale = float(np.sqrt(weight @ (odds - centre) ** 2)) or 1.0
        features = np.stack([np.ones(n), (odds - centre) / scale])
        logs = np.log(np.maximum(q.reshape(n, -1), _LEAST_CHANCE))
        rows, true = np.arange(n), np.asarray(group * 2 + label)
        # Rows of unequal weight have a smaller effective number.
        amount = weight / (weight @ weight)
        counts = np.bincount(true[weight > 0], minlength=2 * groups)
        moved = np.flatnonzero(counts >= _FEWEST_ROWS)

        # The label of each class; the first two numbers in each row of `free` are those that the groups have in common.
        label_of = np.arange(2 * groups) % 2
        precision = np.tile(np.r_[np.full(2, _COMMON_WIDTH), np.full(len(moved), _OWN_WIDTH)] ** -2.0, 2)

        def spread(free: Floats) -> Floats:
            numbers = free.reshape(2, -1)
            coefficient = numbers[:, label_of]
            coefficient[:, moved] += numbers[:, 2:]
            return coefficient

        def loss(free: Floats) -> tuple[float, Floats]:
            coefficient = spread(free)
            tilted = logs + features.T @ coefficient
            tilted -= tilted.max(axis=1, keepdims=True)
            of_true = tilted[rows, true]
            chance = np.exp(tilted, out=tilted)
            total = chance.sum(axis=1)
            chance *= (amount / total)[:, None]
            chance[rows, true] -= amount
            value = amount @ (np.log(total) - of_true) + precision @ free**2 / 2
            slope = features @ chance
            common = np.stack([slope[:, label_of == y].sum(axis=1) for y in (0, 1)], axis=1)
            return float(value), np.hstack([common, slope[:, moved]]).ravel() + precision * free

        found = minimize(loss, np.zeros(len(precision)), jac=True, method="L-BFGS-B")
        return cls(centre, scale, spread(found.x).reshape(2, groups, 2))

    def apply(self, q: Floats) -> Floats:
        """Correct estimates of shape (n, G, 2)."""
        standard = (_log_odds(q) - self.centre) / self.scale
        tilt = self.coefficient[0] + standard[:, None, None] * self.coefficient[1]
        tilted = q * np.exp(tilt)
        return np.asarray(tilted / tilted.sum(axis=(1, 2), keepdims=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data that JSON can hold."""
        return {"centre": self.centre, "scale": self.scale, "coefficient": self.coefficient.tolist()}

    @classmethod
    def from_dict(cls, record: Any, groups: int) -> Recalibration:
        """Read what `to_dict` returned, for some number of groups."""
        try:
            coefficient = np.asarray(record["coefficient"], dtype=np.float64)
            centre, scale = float(record["centre"]), float(record["scale"])
        except (LookupError, TypeError, ValueError) as error:
            raise FileError(f"The correction of the file's estimate is damaged ({error}); save it again.") from error
        found = cls(centre, scale, coefficient)
        found._check()
        found.check_groups(groups)
        return found

    def _check(self) -> None:
        """Refuse numbers that correct nothing, or make a probability something else."""
        check_kinds(self, centre=float, scale=float, coefficient=np.ndarray)
        whole = self.coefficient.dtype == np.float64 and self.coefficient.ndim == 3
        numbers = np.append(self.coefficient, [self.centre, self.scale]) if whole else np.array([np.nan])
        if not (np.abs(numbers) < _LARGEST).all() or not self.scale > 0:
            raise FileError("The file's estimate has a correction by numbers that cannot be; save it again.")

    def check_groups(self, groups: int) -> None:
        """Refuse a correction for another number of groups."""
        if self.coefficient.shape != (2, groups, 2):
            raise FileError("The file's estimate has a correction that does not fit its groups; save it again.")


def _log_odds(q: Floats) -> Floats:
    """Return the log-odds of label 1."""
    positive = np.clip(q[:, :, 1].sum(axis=1), _LEAST, 1 - _LEAST)
    return np.asarray(np.log(positive / (1 - positive)))
