"""How a rule decides a person: by the scores of cells, or by an estimate of P(A, Y | x) and the prices of rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Schema
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, OutcomeModel
from fairlimits.notions import Rate
from fairlimits.solvers import margin

# Below any probability that an estimate gives to a group; guards a division.
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class CellPolicy:
    """Everybody in a cell (and group) is decided alike.

    Parameters
    ----------
    law : CellDistribution
        The cells.
    scores : ndarray of shape (N,) or (N, G)
        Probability of deciding 1 in each cell; for each group too, if the policy is aware.
    aware : bool
        Whether the group is seen.
    """

    law: CellDistribution
    scores: Floats
    aware: bool

    @property
    def schema(self) -> Schema | None:
        """What the columns mean; None if the cells are bare numbers."""
        return self.law.schema

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.law.groups

    def locate(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> Ints:
        """Cell of each of some rows."""
        return self.law.cells_of(columns)

    def scores_at(self, cell: NDArray[Any], group: Ints | None) -> Floats:
        """Probability of deciding 1 for people in some cells; an aware policy needs the group too."""
        if not self.aware:
            return np.asarray(self.scores[cell])
        return np.asarray(self.scores[cell, _given(group)])


@dataclass(frozen=True, eq=False)
class OutcomePolicy:
    """A person is decided 1 where what that adds to accuracy exceeds what it costs in rates, softly near a tie.

    Parameters
    ----------
    law : OutcomeModel
        Estimates q for new rows.
    aware : bool
        Whether the group is seen.
    rates : tuple of Rate
        The rates that are held to limits.
    base : ndarray of shape (K, G)
        Probability of each rate's condition in each group, by q.
    multipliers : ndarray of shape (K, G)
        Price of each rate of each group.
    temperature : float
        How wide the band is in which people are decided at random.
    constant : float or None
        Score of everybody, if all are decided alike.
    """

    law: OutcomeModel
    aware: bool
    rates: tuple[Rate, ...]
    base: Floats
    multipliers: Floats
    temperature: float
    constant: float | None = None

    @property
    def schema(self) -> Schema:
        """What the columns mean."""
        return self.law.schema

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.law.schema.groups

    def locate(self, columns: Mapping[str, NDArray[Any]], n_rows: int) -> Floats:
        """Estimate of q for each of some rows, of shape (n, G, 2)."""
        return self.law.predict_columns(columns, n_rows)

    def scores_at(self, q: NDArray[Any], group: Ints | None) -> Floats:
        """Probability of deciding 1 for people of some estimates; an aware policy needs the group too."""
        if self.constant is not None:
            return np.full(len(q), self.constant)
        gain, rates = added_by(q, self.rates, self.base)
        if not self.aware:
            return np.asarray(expit(margin(gain.sum(axis=1), rates, self.multipliers) / self.temperature))
        rows, group = np.arange(len(q)), _given(group)
        share = np.maximum(q[rows, group].sum(axis=1), TINY)
        price = (rates[rows, :, group] * self.multipliers.T[group]).sum(axis=1)
        return np.asarray(expit((gain[rows, group] - price) / share / self.temperature))


Policy: TypeAlias = CellPolicy | OutcomePolicy


def added_by(q: Floats, rates: tuple[Rate, ...], base: Floats) -> tuple[Floats, Floats]:
    """What deciding 1 adds at each point: to accuracy, of shape (n, G), and to the rates, of shape (n, K, G)."""
    gain = q[:, :, 1] - q[:, :, 0]
    added = np.zeros((len(q), len(rates), q.shape[1]))
    for k, rate in enumerate(rates):
        event = np.asarray(rate.event)
        for y in rate.given:
            added[:, k] += q[:, :, y] * (event[y, 1] - event[y, 0])
    return gain, added / np.where(base > 0, base, np.inf)


def _given(group: Ints | None) -> Ints:
    if group is None:
        raise InputError("This rule sees the group, and none was given; give the group of each row.")
    return group
