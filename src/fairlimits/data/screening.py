"""What to look at before a table is trusted: columns that may be leaks, ids, codes, or proxies of the group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.small_samples import ESTIMABLE_ROWS, listed
from fairlimits._util.types import Floats, Ints
from fairlimits.data.dataset import Dataset
from fairlimits.data.features import date_note, grouped_note
from fairlimits.data.schema import Feature, value_text
from fairlimits.data.spellings import alike

ConcernKind: TypeAlias = Literal[
    "label values",
    "leak",
    "missingness follows the label",
    "reveals the group",
    "id",
    "noise",
    "spelling",
    "codes",
    "empty",
    "grouped",
    "dates",
]

# A feature nearly decides by itself if its AUC is above the first, and, less sampling error, above the second.
_DECIDES, _SURELY = 0.98, 0.9

# Standard errors by which an estimate must be beyond a threshold.
_ERRORS = 2.5

# Share of one group, or label, among the people with a value, from which on the value gives it away.
_PURE = 0.98

# Of two groups a feature that repeats their column tells one from the other; of more, it may tell some from others.
_TWO, _NEARLY_ALL = 2, 0.98

# A feature reveals the group if it gives away the group of this share of people.
_MANY = 0.2

# Missing values follow the label if its rates with and without a value differ by more than this.
_FOLLOWS = 0.2

# Rates are estimated out of fold, with one pseudo-row at the overall rate.
_FOLDS = 5
_PRIOR = 1.0

# Most ranges, of equal numbers of rows, that numbers are cut into, and fewest rows of a range.
_RANGES, _IN_A_RANGE = 50, 10

# Fewest rows on which numbers can be found to be noise.
_TO_SAY_NOTHING = 100

# Values spelt alike, and columns of noise, that a sentence names.
_SPELLINGS, _NOISE_NAMED = 3, 8

# Larger tables are sampled down to this many rows.
_MOST_ROWS = 50_000

# Most different whole numbers that may be codes, and by how much their order must tell the label worse than they do.
_CODES, _ORDER = 20, 0.1


@dataclass(frozen=True)
class Concern:
    """Something about the columns of a table that a person should look at.

    Parameters
    ----------
    kind : str
        "label values": of more than two values of the label, one counts as 1. "leak": a feature that nearly decides
        the label by itself. "missingness follows the label": whether it has a value does. "reveals the group": by
        itself it tells the group of all, or of many. "id": it has another whole number in every row. "noise": its
        numbers are nearly all different, and tell neither label nor group. "spelling": values differ in case or spaces
        only. "codes": its numbers look like names without an order. "empty": it has no value, next to none, or the
        same in every row. "grouped": its rare values are one category. "dates": they were read as numbers of days.
    columns : tuple of str
        The columns.
    text : str
        The same in a sentence, with what can be done.
    """

    kind: ConcernKind
    columns: tuple[str, ...]
    text: str


class _Rows(NamedTuple):
    """The rows that are examined: their position, fold, group and label."""

    chosen: Ints
    fold: Ints
    group: Ints
    label: Ints
    groups: tuple[str, ...]


class _Coded(NamedTuple):
    """A feature in few codes, of which the last stands for missing values, if `missing`."""

    codes: Ints
    missing: bool
    # Of numbers: position among the different values that are there, and how many rows there are of each.
    places: Ints | None = None
    present: Ints | None = None


def concerns(dataset: Dataset) -> tuple[Concern, ...]:
    """Find what a person should look at before the answers about a table are trusted.

    Every feature is examined by itself, on rows that count, by rates of the label and of the groups that are
    estimated without the fold a row is in, so that a category of few rows does not look predictive. What few rows
    may show by chance is left out.

    Parameters
    ----------
    dataset : Dataset
        The table.

    Returns
    -------
    tuple of Concern
        The gravest kinds first; empty if there is nothing to be said.

    Examples
    --------
    >>> from fairlimits import load_dataset
    >>> [(own.kind, own.columns) for own in concerns(load_dataset("adult"))]
    [('reveals the group', ('relationship',))]
    """
    rows = _sample(dataset)
    found = [concern for feature in dataset.schema.features for concern in _of_feature(dataset, feature, rows)]
    noise = tuple(own.columns[0] for own in found if own.kind == "noise")
    if len(noise) > 1:
        found = [*(own for own in found if own.kind != "noise"), _noise(noise)]
    label, positive = dataset.schema.label, dataset.schema.positive
    if dataset.schema.negative is None:
        words = f"{label} has more than two values: {label} = {value_text(positive)} counts as 1, and all others as 0."
        found.append(Concern("label values", (label,), words))
    dates = date_note(dataset.schema.features)
    if dates is not None:
        names = tuple(feature.name for feature in dataset.schema.features if feature.date)
        found.append(Concern("dates", names, dates))
    order = get_args(ConcernKind)
    return tuple(sorted(found, key=lambda concern: order.index(concern.kind)))


def _sample(dataset: Dataset) -> _Rows:
    rng = np.random.default_rng(0)
    chosen = np.arange(dataset.n_rows) if dataset.weight is None else np.flatnonzero(dataset.weight > 0)
    if len(chosen) > _MOST_ROWS:
        chosen = np.sort(rng.choice(chosen, _MOST_ROWS, replace=False))
    fold = rng.permutation(len(chosen)) % _FOLDS
    label = dataset.label[chosen].astype(np.int64)
    return _Rows(chosen, fold, dataset.group[chosen], label, dataset.groups)


def _of_feature(dataset: Dataset, feature: Feature, rows: _Rows) -> Iterator[Concern]:
    name = feature.name
    values = dataset.columns[name][rows.chosen]
    coded = _of_numbers(values) if feature.kind == "numeric" else _of_categories(values, feature)
    there = int((coded.codes < coded.codes.max(initial=-1)).sum()) if coded.missing else len(coded.codes)
    if feature.other is not None:
        others = int((dataset.columns[name] == feature.categories.index(feature.other)).sum())
        yield Concern("grouped", (name,), grouped_note(feature, others, dataset.n_rows))
    if there < 0.01 * len(values):
        what = "has no value" if there == 0 else f"has a value in {there:,} of {len(values):,} rows only"
        yield Concern("empty", (name,), f"{name} {what}: leave it out, for it says nothing.")
    if not len(values):
        return
    if there == len(values) and (coded.codes == coded.codes[0]).all():
        yield Concern("empty", (name,), f"{name} has the same value in every row: leave it out, for it says nothing.")
    yield from _of_spelling(feature)
    counts = _counts(coded.codes, rows)
    by_label = np.stack([counts[:, :, 0::2].sum(axis=2), counts[:, :, 1::2].sum(axis=2)], axis=2)
    yield from _of_label(name, coded, by_label, rows)
    by_group = counts[:, :, 0::2] + counts[:, :, 1::2]
    yield from _of_group(dataset, name, by_group)
    if coded.places is not None and coded.present is not None and not feature.date:
        yield from _of_ids(name, values, coded, by_label, by_group, rows)


def _of_spelling(feature: Feature) -> Iterator[Concern]:
    kinds = alike(feature.categories)
    if kinds:
        shown = listed([" and ".join(map(repr, kind)) for kind in kinds], _SPELLINGS)
        yield Concern(
            "spelling",
            (feature.name,),
            f"{feature.name} holds values that differ in case or spaces only ({shown}): tidy it, or rename those that "
            "are not the same.",
        )


def _of_label(name: str, coded: _Coded, by_label: Ints, rows: _Rows) -> Iterator[Concern]:
    totals = by_label.sum(axis=(0, 1))
    if coded.missing and _follows(by_label.sum(axis=0)):
        yield Concern(
            "missingness follows the label",
            (name,),
            f"Whether {name} has a value follows the label: leave it out if it is filled in after the decision.",
        )
        return
    area = _crossfit_area(by_label)
    if coded.places is not None and not coded.missing:
        ordered = _order_area(coded.places, rows.label)
        area = max(area, ordered, 1 - ordered)
    if _decides(area, *totals.tolist()):
        yield Concern(
            "leak",
            (name,),
            f"{name} nearly decides the label by itself (AUC {area:.3f}): leave it out if it is not known before the "
            "decision.",
        )


def _of_group(dataset: Dataset, name: str, by_group: Ints) -> Iterator[Concern]:
    sensitive = " and ".join(dataset.schema.sensitive)
    sizes = by_group.sum(axis=(0, 1))
    enough = np.flatnonzero((sizes >= ESTIMABLE_ROWS) & (sizes.sum() - sizes >= ESTIMABLE_ROWS))
    for group in enough.tolist():
        split = np.stack([by_group.sum(axis=2) - by_group[:, :, group], by_group[:, :, group]], axis=2)
        area = _crossfit_area(split)
        if _decides(area, int(sizes.sum() - sizes[group]), int(sizes[group])):
            whose = sensitive if len(sizes) == 2 else f"who is {dataset.groups[group]}"
            yield Concern(
                "reveals the group",
                (name,),
                f"{name} gives {whose} away by itself (AUC {area:.3f}), like a second column of {sensitive}: leave it "
                "out where the group is to be hidden.",
            )
            return
    share = _known_share(by_group.sum(axis=0))
    if share >= _MANY:
        yield Concern(
            "reveals the group",
            (name,),
            f"{name} gives {sensitive} away for {share:.0%} of the people: where the group is to be hidden, it is not "
            "hidden from a rule that sees this.",
        )
    elif len(enough) > _TWO and _follows_from_group(by_group.sum(axis=0)[:, enough]):
        yield Concern(
            "reveals the group",
            (name,),
            f"{name} is nearly the same for all people of a group, and not for all groups, like a second column of one "
            f"of {sensitive}: leave it out where the group is to be hidden.",
        )


def _follows_from_group(counts: Ints) -> bool:
    """Whether nearly all people of each group have one value, which is not that of all groups."""
    most = counts.argmax(axis=0)
    return bool((counts.max(axis=0) >= _NEARLY_ALL * counts.sum(axis=0)).all() and len(set(most.tolist())) > 1)


def _of_ids(name: str, values: Floats, coded: _Coded, by_label: Ints, by_group: Ints, rows: _Rows) -> Iterator[Concern]:
    assert coded.places is not None
    assert coded.present is not None
    there = values[~np.isnan(values)]
    n, distinct = len(there), len(coded.present)
    if n < ESTIMABLE_ROWS:
        return
    if not (there == np.round(there)).all():
        if n >= _TO_SAY_NOTHING and distinct >= 0.95 * n and _says_nothing(coded, by_label, by_group, rows):
            yield _noise((name,))
        return
    if distinct >= 0.95 * n:
        # Row numbers, some of which may have been left out; or numbers whose order does not matter.
        running = there.max() - there.min() < 2 * n
        if running or (n >= _TO_SAY_NOTHING and _says_nothing(coded, by_label, by_group, rows)):
            yield Concern(
                "id",
                (name,),
                f"{name} has another whole number in {'every' if distinct == n else 'nearly every'} row, like an id: "
                "leave it out.",
            )
    elif 3 <= distinct <= _CODES and n == len(values):
        ordered = _order_area(coded.places, rows.label)
        gain = _crossfit_area(by_label) - max(ordered, 1 - ordered)
        totals = by_label.sum(axis=(0, 1)).tolist()
        if gain > _ORDER + _ERRORS * _area_error(0.5, *totals):
            yield Concern(
                "codes",
                (name,),
                f"The order of the {distinct} whole numbers of {name} says little of the label, and the numbers say "
                "more: if they are codes, read it as categories.",
            )


def _noise(names: tuple[str, ...]) -> Concern:
    """Numbers that may be ids or noise, all in one sentence, for there can be many."""
    if len(names) == 1:
        whose, what = f"{names[0]} has another number in nearly every row, and by itself tells", "it if it is"
    else:
        whose = f"{listed(names, _NOISE_NAMED)} have another number in nearly every row, and by themselves tell"
        what = "those that are"
    return Concern("noise", names, f"{whose} neither label nor group: leave out {what} an id or noise.")


def _says_nothing(coded: _Coded, by_label: Ints, by_group: Ints, rows: _Rows) -> bool:
    """Whether a feature is as good as chance at telling the label, and the largest group from the others."""
    group = int(np.argmax(by_group.sum(axis=(0, 1))))
    split = np.stack([by_group.sum(axis=2) - by_group[:, :, group], by_group[:, :, group]], axis=2)
    tables = [(by_label, rows.label), (split, (rows.group == group).astype(np.int64))]
    for table, side in tables:
        error = _area_error(0.5, *table.sum(axis=(0, 1)).tolist())
        areas = [_crossfit_area(table) - 0.5]
        if coded.places is not None and not coded.missing:
            areas.append(abs(_order_area(coded.places, side) - 0.5))
        if max(areas) > _ERRORS * error:
            return False
    return True


def _of_numbers(values: Floats) -> _Coded:
    """Cut numbers into ranges of about as many rows each, equal numbers together."""
    absent = np.isnan(values)
    different, places, present = np.unique(values[~absent], return_inverse=True, return_counts=True)
    n = len(places)
    ranges = int(np.clip(n // _IN_A_RANGE, 1, _RANGES))
    middle = np.cumsum(present) - present / 2
    # Where there are few values, each is a range of its own.
    of_value = (
        np.arange(len(different)) if len(different) <= _RANGES else (middle / max(n, 1) * ranges).astype(np.int64)
    )
    codes = np.full(len(values), of_value.max(initial=-1) + 1, dtype=np.int64)
    codes[~absent] = of_value[places]
    return _Coded(codes, bool(absent.any()), places, present)


def _of_categories(values: NDArray[Any], feature: Feature) -> _Coded:
    codes = values.astype(np.int64)
    # A value that is not known counts as missing.
    missing = feature.categories[-1] is None or bool((codes < 0).any())
    last = len(feature.categories) - (feature.categories[-1] is None)
    codes = np.where(codes < 0, last, codes)
    return _Coded(codes, missing and bool((codes == last).any()))


def _counts(codes: Ints, rows: _Rows) -> Ints:
    """Rows of each fold, code, and group and label, of shape (folds, codes, 2 * groups)."""
    n, strata = int(codes.max()) + 1, 2 * len(rows.groups)
    at = (rows.fold * n + codes) * strata + rows.group * 2 + rows.label
    return np.bincount(at, minlength=_FOLDS * n * strata).reshape(_FOLDS, n, strata).astype(np.int64)


def _crossfit_area(table: Ints) -> float:
    """Return the AUC of the out-of-fold rate of each code, given the rows of each fold, code and side."""
    outside = table.sum(axis=0) - table
    base = table[:, :, 1].sum() / max(table.sum(), 1)
    rate = (outside[:, :, 1] + _PRIOR * base) / (outside.sum(axis=2) + _PRIOR)
    _, places = np.unique(rate.ravel(), return_inverse=True)
    return _area(np.bincount(places, table[:, :, 0].ravel()), np.bincount(places, table[:, :, 1].ravel()))


def _order_area(places: Ints, side: Ints) -> float:
    n = int(places.max(initial=-1)) + 1
    return _area(np.bincount(places[side == 0], minlength=n), np.bincount(places[side == 1], minlength=n))


def _area(below: NDArray[Any], above: NDArray[Any]) -> float:
    """Return the AUC, the chance that one above has a higher score than one below, given the rows of each score."""
    pairs = float(below.sum()) * float(above.sum())
    return float(above @ (np.cumsum(below) - below / 2)) / pairs if pairs else 0.5


def _area_error(area: float, one: int, other: int) -> float:
    """Return the standard error of an AUC, by Hanley and McNeil (1982)."""
    if not one or not other:
        return math.inf
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (other - 1) * (first - area**2) + (one - 1) * (second - area**2)
    return math.sqrt(max(spread, 0.0) / (one * other))


def _decides(area: float, one: int, other: int) -> bool:
    """Return whether an AUC is that of a feature that nearly decides, beyond what few rows show by chance."""
    fewer = min(one, other)
    # Two pseudo-rows, one of them out of order: that all rows are in order does not prove that the next ones are.
    shrunk = (area * fewer + 1.0) / (fewer + 2.0)
    return area > _DECIDES and shrunk - _ERRORS * _area_error(shrunk, one, other) > _SURELY


def _follows(table: Ints) -> bool:
    """Return whether missing values follow the label, given the rows of each code (the last: missing) and label."""
    with_value, without = table[:-1].sum(axis=0), table[-1]
    sizes = np.array([with_value.sum(), without.sum()])
    if sizes.min() < ESTIMABLE_ROWS:
        return False
    rates = np.array([with_value[1], without[1]]) / sizes
    error = math.sqrt(float((rates * (1 - rates) / sizes).sum()))
    apart = abs(float(rates[0] - rates[1])) - _ERRORS * error > _FOLLOWS
    return bool(apart and (np.maximum(rates, 1 - rates) > _PURE).any())


def _known_share(table: Ints) -> float:
    """Return the share of rows whose code nearly always has one group, given the rows of each code and group."""
    sizes = table.sum(axis=1)
    top = table.argmax(axis=1)
    others = sizes - table.max(axis=1)
    base = 1 - table.sum(axis=0)[top] / max(table.sum(), 1)
    # An upper bound of the share of others, which must also be far below theirs in all rows.
    bound = (others + 2.0 + _ERRORS * np.sqrt(others)) / np.maximum(sizes, 1)
    known = (sizes >= ESTIMABLE_ROWS) & (others <= (1 - _PURE) * sizes) & (bound < 0.1) & (bound < base / 4)
    return float(sizes[known].sum() / max(sizes.sum(), 1))
