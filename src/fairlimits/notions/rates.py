"""Group notions of fairness as plain data: an event and a condition, in one registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.errors import InputError
from fairlimits.law.cells.distributions import CellDistribution

INDIVIDUAL = "IF"
"""Name of local individual fairness, which is no group notion: it compares cells, not groups."""

ESTIMABLE_ROWS = 30
"""Rows that must stand behind a rate before it is shown as a figure."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Probabilities are sums of masses: a difference below this share of their size is rounding."""


@dataclass(frozen=True)
class Rate:
    """Probability of an event in a group: ``P(event | A = g, Y in given)``.

    Parameters
    ----------
    name : str
    event : ((float, float), (float, float))
        ``event[y][d]`` is 1 if a person of label y who is decided d counts, else 0.
    given : tuple of int
        The labels of the people who are looked at.
    """

    name: str
    event: tuple[tuple[float, float], tuple[float, float]]
    given: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class Notion:
    """A group notion: its gap is the largest, over its rates, of highest minus lowest group rate.

    Parameters
    ----------
    name : str
        Short name, as in tolerances.
    title : str
        Name in words.
    rates : tuple of Rate
        The rates that must agree between groups.
    """

    name: str
    title: str
    rates: tuple[Rate, ...]


_DECIDED_1 = ((0.0, 1.0), (0.0, 1.0))
_CORRECT = ((1.0, 0.0), (0.0, 1.0))

SELECTION_RATE = Rate("selection rate", _DECIDED_1)
ACCURACY = Rate("accuracy", _CORRECT)
TRUE_POSITIVE_RATE = Rate("true positive rate", _DECIDED_1, given=(1,))
FALSE_POSITIVE_RATE = Rate("false positive rate", _DECIDED_1, given=(0,))

NOTIONS: Mapping[str, Notion] = MappingProxyType(
    {
        notion.name: notion
        for notion in (
            Notion("DP", "demographic parity", (SELECTION_RATE,)),
            Notion("EA", "equal accuracy", (ACCURACY,)),
            Notion("EOp", "equal opportunity", (TRUE_POSITIVE_RATE,)),
            Notion("PE", "predictive equality", (FALSE_POSITIVE_RATE,)),
            Notion("EOd", "equalized odds", (TRUE_POSITIVE_RATE, FALSE_POSITIVE_RATE)),
        )
    }
)
"""Every group notion by its short name."""

ALL_NOTIONS: tuple[str, ...] = (*NOTIONS, INDIVIDUAL)
"""Short names of all notions, individual fairness last."""


def title(name: str) -> str:
    """Name of a notion in words."""
    return "individual fairness" if name == INDIVIDUAL else NOTIONS[name].title


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names if all are known notions, each once; say which are known if not."""
    checked = tuple(names)
    for name in checked:
        if name not in ALL_NOTIONS:
            raise InputError(f"{name!r} is no fairness notion; the known ones are {', '.join(ALL_NOTIONS)}.")
    if len(set(checked)) < len(checked):
        raise InputError(f"A notion is named twice in {', '.join(checked)}; name each once.")
    return checked


@dataclass(frozen=True)
class AffineRates:
    """Rates of all groups as affine functions of the scores.

    ``rate[g] = constant[g] + sum_i coefficient[g, i] * score[i, g]``, NaN for a group without mass in the
    condition.

    Parameters
    ----------
    coefficient : ndarray of shape (G, N)
    constant : ndarray of shape (G,)
    defined : ndarray of bool of shape (G,)
        Whether the group has mass in the condition.
    size : ndarray of shape (G, N)
        Share of the condition's mass in each cell: what a coefficient is rounded in proportion to.
    """

    coefficient: Floats
    constant: Floats
    defined: Flags
    size: Floats

    def values(self, scores: Floats) -> Floats:
        """Rates of the groups for scores of shape (..., N, G), as an array of shape (..., G)."""
        return np.asarray(self.constant + np.einsum("gi,...ig->...g", self.coefficient, scores))

    def gap(self, scores: Floats) -> Floats:
        """Highest minus lowest rate; NaN where fewer than two groups have a rate."""
        rates = self.values(scores)[..., self.defined]
        if rates.shape[-1] < 2:
            return np.full(rates.shape[:-1], np.nan)
        return np.asarray(rates.max(axis=-1) - rates.min(axis=-1))


# A distribution never changes, and its rates are asked for by every solve, plan and gap.
_KNOWN: WeakKeyDictionary[CellDistribution, dict[Rate, AffineRates]] = WeakKeyDictionary()


def affine_rates(dist: CellDistribution, rate: Rate) -> AffineRates:
    """Express a rate's value in each group as an affine function of the scores."""
    known = _KNOWN.setdefault(dist, {})
    if rate not in known:
        known[rate] = _affine_rates(dist, rate)
    return known[rate]


def _affine_rates(dist: CellDistribution, rate: Rate) -> AffineRates:
    event = np.asarray(rate.event)
    chosen = np.zeros(2)
    chosen[list(rate.given)] = 1
    mass = dist.mass * chosen
    total = mass.sum(axis=(0, 2))
    defined = total > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        constant = (mass @ event[:, 0]).sum(axis=0) / total
        coefficient = (mass @ (event[:, 1] - event[:, 0])).T / total[:, None]
        size = mass.sum(axis=2).T / total[:, None]
    coefficient[~defined] = size[~defined] = 0
    constant[~defined] = np.nan
    for array in (coefficient, constant, defined, size):
        array.setflags(write=False)
    return AffineRates(coefficient, constant, defined, size)


def group_gaps(dist: CellDistribution, scores: Floats) -> dict[str, Floats]:
    """Gap of every group notion for scores of shape (..., N, G).

    Returns
    -------
    dict of str to ndarray of shape (...)
        EOd is the larger of its two; a notion is NaN if none of its rates can be compared.
    """
    rates = {rate: affine_rates(dist, rate).gap(scores) for notion in NOTIONS.values() for rate in notion.rates}
    gaps = {}
    for notion in NOTIONS.values():
        gap = rates[notion.rates[0]]
        for rate in notion.rates[1:]:
            gap = np.fmax(gap, rates[rate])
        gaps[notion.name] = gap
    return gaps


def enough_rows(name: str, counts: Ints) -> bool:
    """Whether enough rows stand behind every rate of a group notion for its gap to be shown as a figure.

    A rate needs `ESTIMABLE_ROWS` rows in each group that has any, in at least two groups.

    Parameters
    ----------
    name : str
        The notion.
    counts : ndarray of int of shape (G, 2)
        Rows of each group and label.
    """
    rows = [counts[:, list(rate.given)].sum(axis=1) for rate in NOTIONS[name].rates]
    return all(_enough(own[own > 0]) for own in rows)


def estimable(dist: CellDistribution, name: str) -> bool:
    """Whether enough rows stand behind every rate of a notion for its gap to be shown as a figure.

    A distribution without counts is taken at its word. Individual fairness compares cells and is always shown.
    """
    if name == INDIVIDUAL:
        return True
    for rate in NOTIONS[name].rates:
        defined = affine_rates(dist, rate).defined
        if dist.counts is None:
            if defined.sum() < 2:
                return False
        # A generator can put mass where there are no rows.
        elif not _enough(dist.counts[:, :, list(rate.given)].sum(axis=(0, 2))[defined]):
            return False
    return True


def _enough(rows: Ints) -> bool:
    return len(rows) >= 2 and bool((rows >= ESTIMABLE_ROWS).all())
