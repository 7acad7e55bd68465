"""`export_trees`: the trees of scikit-learn's fitted boosting as `Trees`.

Scikit-learn has no public way to read them, so this file alone reads private attributes. It trusts nothing: the
trees are compared with the public ``decision_function``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.law.outcome.codes import Bytes
from fairlimits.law.outcome.trees import Trees

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

# By how much exported trees may differ from scikit-learn's: their values are kept in single precision.
_SAME = 1e-5


class UnknownLayoutError(Exception):
    """The installed scikit-learn lays out its trees in a way that is not known here."""


def export_trees(
    model: HistGradientBoostingClassifier,
    sizes: tuple[int, ...],
    features: Sequence[int],
    seen_as: Sequence[Floats],
    codes: Bytes,
) -> tuple[Trees, float]:
    """Read a binary classifier's trees.

    Parameters
    ----------
    model : HistGradientBoostingClassifier
        Fitted to two classes. If it has categorical columns, they come first, each with the values 0, 1, ...
    sizes : tuple of int
        Number of codes of each feature, as in `Codes.sizes`.
    features : sequence of int
        Feature behind each of the model's columns.
    seen_as : sequence of ndarray
        For each column, the value that stands for each code of its feature, the missing one included; NaN is missing.
    codes : ndarray of uint8 of shape (rows, features)
        A few rows, at least one, to compare the result with the model on.

    Returns
    -------
    trees : Trees
    base : float
        Score before the first tree.

    Raises
    ------
    UnknownLayoutError
        If the trees cannot be read, or do not agree with the model.
    """
    try:
        predictors = [own for (own,) in model._predictors]
        nodes = np.concatenate([own.nodes for own in predictors])
        trees = _read(predictors, nodes, sizes, np.asarray(features), seen_as)
        added = trees.reached(trees.masks(codes)).sum(axis=1, dtype=np.float64)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnknownLayoutError(f"The trees of this scikit-learn cannot be read: {error}") from error
    rows = np.column_stack([values[codes[:, own]] for own, values in zip(features, seen_as, strict=True)])
    base = model.decision_function(rows) - added
    if not np.isfinite(base).all() or np.ptp(base) > _SAME * max(1.0, float(np.abs(added).max())):
        raise UnknownLayoutError("The trees read from this scikit-learn do not agree with its decisions.")
    return trees, float(base.mean())


def _read(
    predictors: list[Any], nodes: NDArray[Any], sizes: tuple[int, ...], features: Ints, seen_as: Sequence[Floats]
) -> Trees:
    counts = np.array([len(own.nodes) for own in predictors])
    roots = np.cumsum(counts) - counts
    shift = np.repeat(roots, counts)
    leaf = nodes["is_leaf"].astype(bool)
    left, right = nodes["left"] + shift, nodes["right"] + shift
    lower, size = _leaf_ranges(leaf, left, right, roots)
    inner = np.flatnonzero(~leaf)
    column = nodes["feature_idx"][inner]
    goes_left = np.zeros((len(inner), 32), dtype=np.uint8)
    by_category = nodes["is_categorical"][inner].astype(bool)
    bitsets = np.concatenate([own.raw_left_cat_bitsets.reshape(-1, 8) for own in predictors])
    sets_before = np.cumsum([0, *(len(own.raw_left_cat_bitsets) for own in predictors[:-1])])
    tree = np.repeat(np.arange(len(counts)), counts)[inner]
    # Bits of a category: the lowest of the first word is category 0.
    words = bitsets[(nodes["bitset_idx"][inner] + sets_before[tree])[by_category]].astype("<u4")
    categories = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little").astype(bool)
    position = np.cumsum(by_category) - 1
    for at, values in enumerate(seen_as):
        own = np.flatnonzero(column == at)
        known = ~np.isnan(values)
        chosen = np.repeat(nodes["missing_go_to_left"][inner[own]].astype(bool)[:, None], len(values), axis=1)
        ordered, named = own[~by_category[own]], own[by_category[own]]
        thresholds = nodes["num_threshold"][inner[ordered], None]
        chosen[np.ix_(~by_category[own], known)] = values[known] <= thresholds
        chosen[np.ix_(by_category[own], known)] = categories[position[named]][:, values[known].astype(np.intp)]
        packed = np.packbits(chosen, axis=1, bitorder="little")
        goes_left[own, : packed.shape[1]] = packed
    ends = np.flatnonzero(leaf)
    # Leaves from left to right, tree by tree.
    ends = ends[np.lexsort((lower[ends], shift[ends]))]
    return Trees(
        sizes,
        size[roots].astype(np.uint8),
        nodes["value"][ends].astype(np.float32),
        features[column].astype(np.uint16),
        lower[inner].astype(np.uint8),
        (lower + size[left * ~leaf])[inner].astype(np.uint8),
        (lower + size)[inner].astype(np.uint8),
        goes_left,
    )


def _leaf_ranges(leaf: Flags, left: Ints, right: Ints, roots: Ints) -> tuple[Ints, Ints]:
    """Return the first leaf below each node, numbered from left to right, and the number of leaves below it."""
    levels, current = [], roots
    while len(current):
        inner = current[~leaf[current]]
        levels.append(inner)
        current = np.concatenate([left[inner], right[inner]])
    size = np.ones(len(leaf), dtype=np.int64)
    for inner in reversed(levels):
        size[inner] = size[left[inner]] + size[right[inner]]
    lower = np.zeros(len(leaf), dtype=np.int64)
    for inner in levels:
        lower[left[inner]] = lower[inner]
        lower[right[inner]] = lower[inner] + size[left[inner]]
    return lower, size
