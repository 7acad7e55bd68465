"""`CartGenerator`: one decision tree per column; each value is drawn from the leaf that the columns before lead to.

The law of a table is a product of conditional laws, P(A, Y) P(X1 | A, Y) P(X2 | A, Y, X1) and so on. P(A, Y) is
read off the rows. Every later factor is a classification tree (CART) for one column given all columns before it: a
row is drawn by walking each tree to a leaf and taking the column's value from one of the training rows there.

Group and label come first, so that every feature is drawn given both. The features follow by rising number of
distinct values: the trees of columns with few values are the most certain, and the later trees depend on
what they draw.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Schema, check_seed
from fairlimits.errors import InputError
from fairlimits.law.generators.protocol import check_size, check_weights, fitted
from fairlimits.law.generators.trees import Codes, LeafTree, grow

_KIND = "cart generator"

# A target with more values is cut into this many classes of about equal weight for finding splits.
_CLASSES = 32

# Rows drawn at a time: few enough for the columns of a chunk to stay in the processor's cache.
_CHUNK = 32_768


@dataclass(frozen=True, eq=False)
class _Column:
    """One feature: its distinct values, its tree, and the order in which the tree sees categories."""

    name: str
    values: NDArray[Any]  # sorted; a code is a position in it; a missing number is the last
    tree: LeafTree
    ranks: Mapping[int, Codes]  # predictor -> rank of each of its codes, for categories only


@dataclass(frozen=True, eq=False)
class _Model:
    schema: Schema
    joint: Floats  # chances of (group, label), flattened
    columns: tuple[_Column, ...]


@dataclass(frozen=True)
class CartGenerator:
    """Sequential CART synthesis: a tree for each column given the columns before it.

    Numbers and categories, missing values (a value of their own) and weights are learned as they are; rows of
    weight 0 are left out.

    Parameters
    ----------
    min_leaf : int, default=20
        Fewest training rows in a leaf. With fewer, more rows copy a person; more blur small groups.
    smooth : bool, default=False
        Draw a number between two neighbouring values of the leaf instead of one of them, rounded where the column
        holds whole numbers only. It protects columns in which single values identify people.

    Notes
    -----
    Splits are chosen by entropy, and for finding them the rows of a group and label count by the inverse square root
    of their share: small groups would otherwise be drawn like large ones. Draws follow the true weights.

    Categories stand in an order of their own for each tree: by the direction in which the classes of the target
    differ most between them (the first principal component of their class shares; for a numeric target, its mean
    class), shrunk towards the mean as if `min_leaf` more rows had been average, because rare categories would
    otherwise be ordered by chance. Numbers with more than 32 distinct values are cut into 32 classes of about
    equal weight for finding the splits; of a category with more than 32 values the 16 most frequent are classes,
    and the others are 16 classes by their rate of the label. Values that are drawn are never cut.

    A value that is drawn is one that some training row has in that column. No row is copied on purpose, but a
    combination that is frequent will be drawn again. A column that is nearly unique (an identifier, a survey
    weight) makes copies identifiable: leave it out.

    Examples
    --------
    >>> import fairlimits as fl
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> generator = fl.law.CartGenerator(min_leaf=20).fit(data, random_state=0)
    >>> rows = generator.sample(500, random_state=0)
    >>> rows.n_rows, rows.groups == data.groups
    (500, True)
    """

    min_leaf: int = 20
    smooth: bool = False
    _model: _Model | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.min_leaf, bool) or not isinstance(self.min_leaf, int | np.integer) or self.min_leaf < 1:
            raise InputError(f"min_leaf is {self.min_leaf!r}; it must be a whole number of at least 1, such as 20.")

    @property
    def name(self) -> str:
        """How the generator is called in tables and files."""
        return "cart"

    def fit(self, dataset: Dataset, random_state: int = 0, progress: Progress | None = None) -> CartGenerator:
        """Grow the trees and return the fitted generator.

        Parameters
        ----------
        dataset : Dataset
            The rows to learn.
        random_state : int, default=0
            Decides between equally good splits.
        progress : callable, optional
            Called with the fraction done and a few words.
        """
        check_weights(dataset)
        random_state = check_seed(random_state)
        if dataset.weight is not None:
            dataset = dataset.take(dataset.weight > 0)
        weight = None if dataset.weight is None else np.asarray(dataset.weight)
        pair = dataset.group * 2 + dataset.label
        joint = np.bincount(pair, weight, 2 * len(dataset.groups)).astype(np.float64)
        joint /= joint.sum()
        emphasis = joint[pair] ** -0.5
        if weight is not None:
            emphasis *= weight / weight.mean()
        drawn = [
            _Coded("", np.arange(len(dataset.groups)), dataset.group.astype(np.int32), True),
            _Coded("", np.arange(2), dataset.label.astype(np.int32), False),
        ]
        columns = []
        ordered = _ordered(dataset)
        for number, target in enumerate(ordered):
            if progress:
                progress(number / len(ordered), f"learning {target.name}")
            classes = _classes(target, dataset.label, weight)
            ranks = {
                at: _ranks(predictor, classes, weight, target.is_category, self.min_leaf)
                for at, predictor in enumerate(drawn)
                if predictor.is_category
            }
            predictors = _predictors([predictor.codes for predictor in drawn], ranks)
            tree = grow(predictors, classes, target.codes, weight, emphasis, self.min_leaf, random_state)
            columns.append(_Column(target.name, target.values, tree, ranks))
            drawn.append(target)
        return replace(self, _model=_Model(dataset.schema, joint, tuple(columns)))

    def sample(self, n: int, random_state: int = 0) -> Dataset:
        """Draw `n` rows; the same seed gives the same rows."""
        model = fitted(self._model)
        check_size(n, len(model.columns))
        group = np.empty(n, dtype=np.int64)
        label = np.empty(n, dtype=np.int8)
        columns = {column.name: np.empty(n, dtype=column.values.dtype) for column in model.columns}
        starts = range(0, n, _CHUNK)
        for start, seed in zip(
            starts, np.random.SeedSequence(check_seed(random_state)).spawn(len(starts)), strict=True
        ):
            rows = slice(start, min(start + _CHUNK, n))
            rng = np.random.default_rng(seed)
            pair = rng.choice(len(model.joint), rows.stop - start, p=model.joint).astype(np.int32)
            group[rows], label[rows] = pair // 2, pair % 2
            drawn = [pair // 2, pair % 2]
            for column in model.columns:
                at = column.tree.draw(column.tree.leaves(_predictors(drawn, column.ranks)), rng)
                drawn.append(column.tree.donors[at])
                columns[column.name][rows] = _between(column, at, rng) if self.smooth else column.values[drawn[-1]]
        return Dataset(model.schema, columns, group, label)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted generator to one file (``.npz``, without pickle).

        The file holds no rows, but it does hold real values: for each column, the values of the training rows,
        sorted within each leaf of at least `min_leaf` rows. Guard it as you guard the table.
        """
        write_archive(path, _KIND, *self._pack())

    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        model = fitted(self._model)
        header = {
            "schema": model.schema.to_dict(),
            "min_leaf": int(self.min_leaf),
            "smooth": bool(self.smooth),
            "columns": [column.name for column in model.columns],
        }
        arrays: dict[str, NDArray[Any]] = {"joint": model.joint}
        for number, column in enumerate(model.columns):
            parts = {"values": column.values, **column.tree.to_arrays()}
            parts |= {f"rank {at}": ranks for at, ranks in column.ranks.items()}
            arrays |= nest(str(number), parts)
        return header, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CartGenerator:
        """Read what `save` wrote."""
        header, arrays = read_archive(path, _KIND)
        with reading("generator"):
            found = cls(
                header["min_leaf"], plain.field(header, "smooth", bool, "The file"), _read_model(header, arrays)
            )
            check_members(arrays, found._pack()[1], "generator")
            return found


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column as positions in its sorted distinct values."""

    name: str
    values: NDArray[Any]
    codes: Codes
    is_category: bool


def _ordered(dataset: Dataset) -> list[_Coded]:
    """Return the features, coded, by rising number of distinct values."""
    columns = []
    for feature in dataset.schema.features:
        values, codes = np.unique(dataset.columns[feature.name], return_inverse=True)
        columns.append(_Coded(feature.name, values, codes.astype(np.int32), feature.kind == "categorical"))
    return sorted(columns, key=lambda column: len(column.values))


def _classes(target: _Coded, label: NDArray[np.int8], weight: Floats | None) -> Ints:
    """Return classes of the target's rows for finding splits: its codes, or bins of codes where there are many."""
    size = len(target.values)
    if size <= _CLASSES:
        return target.codes.astype(np.int64)
    mass: Floats = np.bincount(target.codes, weight, size).astype(np.float64)
    if not target.is_category:
        missing = int(np.isnan(target.values[-1]))
        bins = _bins(mass[: size - missing], _CLASSES)
        return np.concatenate([bins, np.full(missing, _CLASSES)])[target.codes]
    rate = np.bincount(target.codes, label if weight is None else label * weight, size) / mass
    frequent = np.argsort(-mass, kind="stable")[: _CLASSES // 2]
    rare = np.setdiff1d(np.argsort(rate, kind="stable"), frequent, assume_unique=True)
    classes = np.empty(size, dtype=np.int64)
    classes[frequent] = np.arange(len(frequent))
    classes[rare] = len(frequent) + _bins(mass[rare], _CLASSES - len(frequent))
    return np.asarray(classes[target.codes])


def _bins(mass: Floats, count: int) -> Ints:
    """Cut ordered values into bins of about equal mass; each goes to the bin that its middle lies in."""
    middle = np.cumsum(mass) - mass / 2
    return np.asarray(np.minimum(count * middle / mass.sum(), count - 1), dtype=np.int64)


def _ranks(predictor: _Coded, classes: Ints, weight: Floats | None, nominal: bool, prior: float) -> Codes:
    """Return the rank of each category of the predictor in an order by the target's classes."""
    rows, width = len(predictor.values), int(classes.max()) + 1
    cell = predictor.codes * width + classes
    counts = np.bincount(cell, weight, rows * width).reshape(rows, width).astype(np.float64)
    mass = counts.sum(axis=1)
    mean = counts.sum(axis=0) / counts.sum()
    scale = 1.0 if weight is None else float(weight.mean())
    shares = (counts + prior * scale * mean) / (mass + prior * scale)[:, None] - mean
    if nominal:
        direction = np.linalg.svd(np.sqrt(mass)[:, None] * shares, full_matrices=False)[2][0]
    else:
        direction = np.arange(width, dtype=np.float64)
    order = np.argsort(shares @ direction, kind="stable")
    ranks = np.empty(rows, dtype=np.int32)
    ranks[order] = np.arange(rows, dtype=np.int32)
    return ranks


def _between(column: _Column, at: Ints, rng: np.random.Generator) -> NDArray[Any]:
    """Return the donors' values at the positions `at`, numbers drawn between a donor and the next one of its leaf.

    Equal donors give their value as it is, so a value that many people share stays one.
    """
    tree, values = column.tree, column.values
    here = values[tree.donors[at]]
    if values.dtype.kind != "f":
        return here
    beyond = np.minimum(at + 1, len(tree.donors) - 1)
    after = values[tree.donors[beyond]]
    # There are no values between two leaves, or between a value and a missing one.
    same_leaf = np.searchsorted(tree.start, at, side="right") == np.searchsorted(tree.start, beyond, side="right")
    drawn = here + np.where(same_leaf & ~np.isnan(after), rng.random(len(at)) * (after - here), 0.0)
    present = values[~np.isnan(values)]
    return np.rint(drawn) if (present == np.rint(present)).all() else drawn


def _predictors(drawn: list[Codes], ranks: Mapping[int, Codes]) -> Codes:
    matrix = np.empty((len(drawn[0]), len(drawn)), dtype=np.int32)
    for at, codes in enumerate(drawn):
        matrix[:, at] = ranks[at][codes] if at in ranks else codes
    return matrix


def _read_model(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> _Model:
    """Build the model from a file, refusing a model that cannot draw rows of its schema."""
    schema = Schema.from_dict(header["schema"])
    kinds = {feature.name: feature.kind for feature in schema.features}
    if sorted(header["columns"]) != sorted(kinds):
        raise ValueError("its columns are not those of its schema")
    joint = np.asarray(arrays["joint"], dtype=np.float64)
    sizes = [len(schema.groups), 2]
    if joint.shape != (2 * sizes[0],):
        raise ValueError("its groups are not those of its schema")
    if not (joint >= 0).all() or not abs(joint.sum() - 1) < 1e-9:
        raise ValueError("the shares of its groups and labels are not probabilities")
    categories = {feature.name: len(feature.categories) for feature in schema.features}
    columns = []
    for number, name in enumerate(header["columns"]):
        parts = unnest(str(number), arrays)
        values = np.asarray(parts["values"], dtype=np.float64 if kinds[name] == "numeric" else np.int32)
        _check_values(values, categories[name])
        tree = LeafTree.from_arrays(parts, len(sizes), len(values))
        known = {at: parts[f"rank {at}"] for at in range(len(sizes)) if f"rank {at}" in parts}
        ranks = {at: np.asarray(ranks, dtype=np.int32) for at, ranks in known.items()}
        if any(rank.shape != (sizes[at],) for at, rank in ranks.items()):
            raise ValueError(f"the categories of column {name!r} do not fit")
        columns.append(_Column(name, values, tree, ranks))
        sizes.append(len(values))
    return _Model(schema, joint, tuple(columns))


def _check_values(values: NDArray[Any], categories: int) -> None:
    """Refuse values of a column that are neither codes of its categories nor numbers in order, the missing one last."""
    known = values if categories else values[~np.isnan(values)]
    if values.ndim != 1 or not (np.diff(known) > 0).all():
        raise ValueError("the values of a column are not in order")
    if categories and len(values) and (values[0] < -1 or values[-1] >= categories):
        raise ValueError("the values of a column are not among its categories")
    if not categories and (not np.isfinite(known).all() or len(values) - len(known) > 1 or np.isnan(values[:-1]).any()):
        raise ValueError("the values of a column are not numbers")
