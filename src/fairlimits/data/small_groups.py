"""Groups too small to speak about: found before anything is solved, and set aside, joined, dropped or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast, get_args

import numpy as np

from fairlimits._util.names import in_a_sentence
from fairlimits._util.small_samples import ESTIMABLE_ROWS, enough, few_rows, listed, small
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Flags, Ints
from fairlimits.errors import DataError, InputError

SmallGroups: TypeAlias = Literal["set aside", "join", "drop rows", "refuse"]

SET_ASIDE: SmallGroups = "set aside"
"""What is done with small groups by default."""

_FEW = f"with fewer than {ESTIMABLE_ROWS} rows behind a rate"

# Groups that the name of the joined one lists.
_IN_A_NAME = 4


@dataclass(frozen=True, eq=False)
class Settled:
    """What becomes of the groups of a table.

    Parameters
    ----------
    groups : tuple of str
        Names of the groups that are left; the joined one is the last.
    place : ndarray of int of shape (G,)
        Position of each group among those that are left; -1 for one that is dropped.
    joined : tuple of str
        The groups that are joined, if any.
    note : str or None
        What was done, in a sentence; None if nothing was.
    """

    groups: tuple[str, ...]
    place: Ints
    joined: tuple[str, ...] = ()
    note: str | None = None


def check_small_groups(choice: str) -> SmallGroups:
    """Return what to do with small groups, of which "set-aside", "drop-rows" and "drop" are other spellings."""
    plain = choice.replace("-", " ").replace("_", " ").strip().lower() if isinstance(choice, str) else choice
    plain = "drop rows" if plain == "drop" else plain
    if plain not in get_args(SmallGroups):
        raise InputError(
            f"small_groups is {choice!r}: use 'set aside', 'join', 'drop rows' or 'refuse'."
            f"{did_you_mean(choice, get_args(SmallGroups))}",
            shell=f"--small-groups is {choice!r}; it must be 'set-aside', 'join', 'drop-rows' or 'refuse'."
            f"{did_you_mean(choice, ('set-aside', 'join', 'drop-rows', 'refuse'))}",
        )
    return cast(SmallGroups, plain)


def settle_small_groups(choice: SmallGroups, groups: tuple[str, ...], counts: Ints, rows: Ints) -> Settled:
    """Find the small groups, and say what becomes of them.

    A group is small if fewer than `ESTIMABLE_ROWS` of its rows count, in all or of one of the labels.

    Parameters
    ----------
    choice : {"set aside", "join", "drop rows", "refuse"}
        What to do with them. Set aside, they stay as they are: the notions leave their rates out.
    groups : tuple of str
        Names of the groups.
    counts : ndarray of int of shape (G, 2)
        Rows that count, of each group and label.
    rows : ndarray of int of shape (G,)
        All rows of each group.

    Raises
    ------
    DataError
        If there are some and they are refused, or none are left after they are dropped.
    """
    few = small(counts)
    untouched = Settled(groups, np.arange(len(groups)))
    if choice == SET_ASIDE or not few.any():
        return untouched
    names = tuple(np.array(groups, dtype=object)[few])
    named = listed(_counted(groups, counts))
    if choice == "refuse":
        raise DataError(
            f"Groups {_FEW}: {named}. Give more rows, or choose what to do with them: small_groups='set aside', 'join' "
            "or 'drop rows'."
        )
    if choice == "drop rows":
        if few.all():
            raise DataError(f"All groups are {_FEW}, so dropping them leaves nobody ({named}): give more rows.")
        place = np.where(few, -1, np.cumsum(~few) - 1)
        kept = tuple(np.array(groups, dtype=object)[~few])
        note = f"Dropped {int(rows[few].sum()):,} of {int(rows.sum()):,} rows, of groups {_FEW}: {named}."
        return Settled(kept, place, note=note)
    if len(names) < 2:
        return Settled(groups, untouched.place, note="Nothing joined, for only one group is small.")
    kept = tuple(np.array(groups, dtype=object)[~few])
    place = np.where(few, len(kept), np.cumsum(~few) - 1)
    size = int(counts[few].sum())
    note = f"Joined into one group of {size:,} rows, {_FEW} each: {named}."
    return Settled((*kept, joined_name(names)), place, names, note)


def joined_name(names: Sequence[str]) -> str:
    """Name of the group that some groups are joined into.

    Examples
    --------
    >>> joined_name(["Eskimo", "Other"])
    'Eskimo, Other (joined)'
    """
    return f"{listed(names, _IN_A_NAME)} (joined)"


def set_aside_note(
    groups: Sequence[str], counts: Ints, where: str = "", beyond: Ints | None = None, counted: bool = True
) -> str | None:
    """Say in a sentence whose rates are not compared, for want of rows; None if all are.

    Parameters
    ----------
    groups : sequence of str
        Names of the groups.
    counts : ndarray of int of shape (G, 2)
        Rows that count, of each group and label.
    where : str
        Which rows, if not all, such as " on the held-out rows".
    beyond : ndarray of int of shape (G, 2), optional
        Rows for which this was said already: None too if no further rates are set aside.
    counted : bool
        Whether to say how many rows there are of each.

    Examples
    --------
    >>> set_aside_note(["Black", "Other", "White"], np.array([[40, 12], [9, 2], [50, 60]]))  # doctest: +ELLIPSIS
    'Set aside, with fewer than 30 rows behind a rate: Black (12 rows with label 1), Other (11 rows); these people ...'
    """
    few = few_rows(groups, counts, counted=counted)
    if not few or (beyond is not None and not (_compared(beyond) & ~_compared(counts)).any()):
        return None
    return f"Set aside{where}, {_FEW}: {listed(few)}; these people count in accuracy, but such rates are not compared."


class _Grouped(Protocol):
    """People in groups."""

    @property
    def groups(self) -> tuple[str, ...]: ...

    @property
    def counts(self) -> Ints: ...

    @property
    def regrouped(self) -> str | None: ...


def small_groups_note(people: _Grouped, *, counted: bool = True) -> str | None:
    """Say which groups are too small to speak about, and what was done with them; None if none are.

    Parameters
    ----------
    people : Dataset
        The people.
    counted : bool
        Whether to say how many rows there are of each.
    """
    regrouped = people.regrouped
    if regrouped is not None and not counted:
        regrouped = f"Groups {_FEW} were joined or dropped when the table was read."
    notes = [regrouped, set_aside_note(people.groups, people.counts, counted=counted)]
    return " ".join(note for note in notes if note is not None) or None


def _compared(counts: Ints) -> Flags:
    """Whether the rates of each group's people in all, and of each label, are compared."""
    return enough(np.column_stack([counts, counts.sum(axis=1)]))


def _counted(groups: Sequence[str], counts: Ints) -> tuple[str, ...]:
    """Small groups with their counts, those without a row that counts too."""
    nobody = tuple(
        f"{in_a_sentence(name)} (0 rows)" for name, count in zip(groups, counts, strict=True) if not count.any()
    )
    return (*few_rows(groups, counts), *nobody)
