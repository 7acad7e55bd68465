"""The group notions of fairness as plain data, in one registry, and the names and tolerances that ask for them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

import numpy as np

from fairlimits._util.callers import outside
from fairlimits._util.small_samples import ESTIMABLE_ROWS, enough, few_rows, listed
from fairlimits._util.suggestions import nearest
from fairlimits._util.types import Floats, Ints
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.notions.rates import (
    ACCURACY_RATE,
    FALSE_POSITIVE_RATE,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
    Rate,
    RateTable,
)

INDIVIDUAL = "IF"
"""Name of local individual fairness, which is not a group notion: it compares cells, not groups."""


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

    def includes(self, other: Notion) -> bool:
        """Return whether any rule that meets this notion meets the other one too."""
        return set(other.rates) <= set(self.rates)


NOTIONS: Mapping[str, Notion] = MappingProxyType(
    {
        notion.name: notion
        for notion in (
            Notion("DP", "demographic parity", (SELECTION_RATE,)),
            Notion("EA", "equal accuracy", (ACCURACY_RATE,)),
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
    """Return the name of a notion in words."""
    return "individual fairness" if name == INDIVIDUAL else NOTIONS[name].title


# Names that other libraries and people use; compared without case, spaces and underscores.
_ALIASES: Mapping[str, str] = {
    **{name.lower(): name for name in ALL_NOTIONS},
    **{title(name).replace(" ", ""): name for name in ALL_NOTIONS},
    "statisticalparity": "DP",
    "accuracyparity": "EA",
    "errorrateparity": "EA",
    "truepositiverateparity": "EOp",
    "equalisedopportunity": "EOp",
    "falsepositiverateparity": "PE",
    "equalisedodds": "EOd",
    "ind": "IF",  # the paper's short name
}


def notion_name(name: object) -> str:
    """Return the short name of a notion, from its code, its name in words or fairlearn's name for it."""
    plain = "".join(str(name).lower().replace("_", " ").replace("-", " ").split()).removesuffix("difference")
    if isinstance(name, str) and plain in _ALIASES:
        return _ALIASES[plain]
    several = [_ALIASES[part] for part in re.split(r"[+,&]", plain) if part in _ALIASES]
    if len(several) > 1:
        raise InputError(
            f"{name!r} is several notions in one text; name each by itself, as in {several}.",
            shell=f"{name!r} is several notions in one; give the option once for each of {', '.join(several)}.",
        )
    near = nearest(plain, _ALIASES)
    hint = f"; did you mean {_ALIASES[str(near)]}?" if near else f"; the known ones are {', '.join(ALL_NOTIONS)}."
    raise InputError(f"{name!r} is not a fairness notion{hint}")


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the short names of known notions, each once; say which are known if one is not."""
    checked = tuple(notion_name(name) for name in names)
    if len(set(checked)) < len(checked):
        raise InputError(f"A notion is named twice in {', '.join(checked)}; name each once.")
    return checked


def check_tolerances(tolerances: Mapping[str, float]) -> dict[str, float]:
    """Return the tolerances as a dict of known notions and numbers of at least 0."""
    if not isinstance(tolerances, Mapping):
        raise InputError(f"The tolerances are {tolerances!r}; give a dict such as {{'DP': 0.05}}.")
    checked = {}
    for name, given in zip(check_names(tolerances), tolerances.values(), strict=True):
        try:
            value = float(given)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"The tolerance of {name} is {given!r:.60}; give a number.") from None
        if math.isnan(value) or value < 0:
            raise InputError(f"The tolerance of {name} is {value:g}; it must be at least 0.")
        checked[name] = value
    return checked


def group_gaps(table: RateTable, scores: Floats) -> dict[str, Floats]:
    """Return the gap of every group notion for scores of shape (..., N, G).

    Returns
    -------
    dict of str to ndarray of shape (...)
        EOd is the larger gap of its two rates; a notion is NaN if none of its rates can be compared.
    """
    gaps = {rate: table.of(rate).gap(scores) for notion in NOTIONS.values() for rate in notion.rates}
    return {name: widest(gaps[rate] for rate in notion.rates) for name, notion in NOTIONS.items()}


def widest(gaps: Iterable[Floats]) -> Floats:
    """Return the gap of a notion from those of its rates: the largest that is known."""
    return reduce(np.fmax, gaps)


def enough_rows(name: str, counts: Ints) -> bool:
    """Return whether at least one rate of a group notion can be compared between two groups.

    A group whose rate has fewer than `ESTIMABLE_ROWS` rows behind it is set aside for this rate. So a notion
    that includes another, as EOd does EOp, can be compared wherever that one can.

    Parameters
    ----------
    name : str
        The notion.
    counts : ndarray of int of shape (G, 2)
        Rows of each group and label.
    """
    return any(enough(counts[:, list(rate.given)].sum(axis=1)).sum() >= 2 for rate in NOTIONS[name].rates)


def estimable(table: RateTable, name: str) -> bool:
    """Return whether at least one rate of a notion can be compared between two groups (see `enough_rows`).

    Without counts, any mass is enough. Individual fairness compares cells, and is always estimable.
    """
    return name == INDIVIDUAL or table.estimable(NOTIONS[name].rates)


def warn_of_nothing_to_compare(names: Iterable[str], groups: Sequence[str], counts: Ints | None) -> None:
    """Warn, once for all of them, of group notions that are asked for and can compare no two groups.

    Parameters
    ----------
    names : iterable of str
        Short names of the notions; individual fairness is ignored.
    groups : sequence of str
        The groups' names.
    counts : ndarray of int of shape (G, 2), or None
        Rows of each group and label; without counts, no notion is left out.
    """
    if counts is None or len(groups) < 2:
        return
    nothing = [name for name in names if name in NOTIONS and not enough_rows(name, counts)]
    if nothing:
        warnings.warn(
            f"Nothing to compare in {listed(nothing)}, which is left out: no two groups have {ESTIMABLE_ROWS} rows "
            f"behind a rate of it, for these are too small: {listed(few_rows(groups, counts))}. Give more rows, or "
            "join small groups.",
            SmallGroupsWarning,
            stacklevel=outside(),
        )


def alike_score(names: Iterable[str], positive: float) -> float:
    """Return the most accurate score that everybody can have without a gap in some notions.

    Deciding everybody as the majority label has no gap in a rate that counts the same decision for every label; in
    others, such as accuracy, only a fair coin has none.

    Parameters
    ----------
    names : iterable of str
        Short names of the notions.
    positive : float
        Share of label 1 among all people.
    """
    rates = (rate for name in names if name in NOTIONS for rate in NOTIONS[name].rates)
    return 0.5 if any(rate.depends_on_labels for rate in rates) else float(positive > 0.5)


def alike_accuracy(names: Iterable[str], positive: float) -> float:
    """Return the accuracy of giving everybody `alike_score`."""
    score = alike_score(names, positive)
    return score * positive + (1 - score) * (1 - positive)
