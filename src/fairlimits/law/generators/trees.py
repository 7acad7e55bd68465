"""A decision tree as plain arrays: found by scikit-learn, walked by NumPy, with training values in its leaves.

Plain arrays can be saved without pickle, and checked when they are read.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.errors import FileError

Codes = NDArray[np.int32]

_BEYOND = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class LeafTree:
    """A binary tree over coded predictors, and the donors of its leaves.

    Parameters
    ----------
    feature : ndarray of int32 of shape (nodes,)
        The predictor that each node tests.
    threshold : ndarray of int32 of shape (nodes,)
        Rows with a larger code go to the second child. No code is larger than that of a leaf.
    child : ndarray of int32 of shape (nodes,)
        The first child; the second is the node after it. A leaf is its own child.
    start : ndarray of int64 of shape (nodes + 1,)
        Where the donors of each node begin; only leaves have any.
    donors : ndarray of int32 of shape (rows,)
        Codes of the target in the training rows of each leaf, sorted within the leaf, so that their order says
        nothing about the rows that they came from.
    ends : ndarray of float64 of shape (rows,), optional
        Running total of the donors' weights; without it all count the same.
    """

    feature: Codes
    threshold: Codes
    child: Codes
    start: Ints
    donors: Codes
    ends: Floats | None = None

    def leaves(self, predictors: Codes) -> Codes:
        """Return the leaf of each row of `predictors`, of shape (rows, predictors)."""
        rows, width = predictors.shape
        found = np.zeros(rows, dtype=np.int32)
        flat = predictors.ravel()
        # Rows that have reached a leaf drop out, so that the work grows with the mean depth, not with the largest.
        at, node = np.arange(rows), np.zeros(rows, dtype=np.int32)
        while len(at):
            right = flat[at * width + self.feature[node]] > self.threshold[node]
            after = self.child[node] + right
            moved = after != node
            found[at] = after
            at, node = at[moved], after[moved]
        return found

    def draw(self, leaves: Codes, rng: np.random.Generator) -> Ints:
        """Return the position of a donor drawn from each of the leaves, by weight."""
        first, beyond = self.start[leaves], self.start[leaves + 1]
        share = rng.random(len(leaves))
        if self.ends is None:
            drawn = first + (share * (beyond - first)).astype(np.int64)
        else:
            total = np.concatenate([[0.0], self.ends])
            low, high = total[first], total[beyond]
            drawn = np.searchsorted(self.ends, low + share * (high - low), side="right")
        # Rounding may reach the end of the leaf.
        return np.asarray(np.clip(drawn, first, beyond - 1), dtype=np.int64)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the tree as named arrays."""
        names = ("feature", "threshold", "child", "start", "donors", "ends")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], predictors: int, codes: int) -> LeafTree:
        """Build the tree from what `to_arrays` returned, refusing arrays that are not a tree.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            The arrays.
        predictors : int
            Number of predictors.
        codes : int
            Number of codes of the target.
        """
        feature, threshold, child = (
            np.asarray(arrays[name], dtype=np.int32) for name in ("feature", "threshold", "child")
        )
        start = np.asarray(arrays["start"], dtype=np.int64)
        donors = np.asarray(arrays["donors"], dtype=np.int32)
        ends = np.asarray(arrays["ends"], dtype=np.float64) if "ends" in arrays else None
        nodes = len(feature)
        itself = np.arange(nodes)
        leaf = child == itself
        sound = (
            nodes > 0
            and feature.shape == threshold.shape == child.shape == (nodes,)
            and start.shape == (nodes + 1,)
            and donors.ndim == 1
            and (ends is None or (ends.shape == donors.shape and (np.diff(ends, prepend=0.0) >= 0).all()))
            # Children come after their parents: a walk through the tree must end.
            and bool((child >= itself).all() and (child[~leaf] < nodes - 1).all())
            and bool((threshold[leaf] == _BEYOND).all())
            and bool((feature >= 0).all() and (feature < max(predictors, 1)).all())
            and bool(start[0] == 0 and start[-1] == len(donors) and (np.diff(start) >= leaf).all())
            and bool((donors >= 0).all() and (donors < codes).all())
        )
        if not sound:
            raise FileError("A tree of the stored generator is damaged; fit and save the generator again.")
        return cls(feature, threshold, child, start, donors, ends)


def grow(
    predictors: Codes,
    classes: Ints,
    target: Codes,
    weight: Floats | None,
    emphasis: Floats,
    min_leaf: int,
    random_state: int,
) -> LeafTree:
    """Find a tree for the classes of the target, and put the target's codes into its leaves.

    Parameters
    ----------
    predictors : ndarray of int32 of shape (rows, predictors)
        Coded predictors in an order that thresholds can cut.
    classes : ndarray of int64 of shape (rows,)
        What the splits tell apart.
    target : ndarray of int32 of shape (rows,)
        What the leaves hold.
    weight : ndarray of shape (rows,), optional
        Weights of the rows, all above 0, for drawing from the leaves.
    emphasis : ndarray of shape (rows,)
        Weights of the rows for finding the splits.
    min_leaf : int
        Fewest rows in a leaf.
    random_state : int
        Decides between equally good splits.
    """
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=min_leaf, random_state=random_state)
    values = predictors.astype(np.float32)
    with warnings.catch_warnings():
        # In a small table nearly every row may have a class of its own, of which scikit-learn warns.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(values, classes, sample_weight=emphasis)
    tree = model.tree_
    order, child = _by_level(tree.children_left, tree.children_right)
    leaf = child == np.arange(len(child))
    # Codes are whole numbers, so that rounding a threshold down cuts them at the same place.
    threshold = np.where(leaf, _BEYOND, np.floor(tree.threshold[order])).astype(np.int32)
    feature = np.where(leaf, 0, tree.feature[order]).astype(np.int32)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    node = place[model.apply(values)]
    rows = np.lexsort((target, node))
    start = np.searchsorted(node[rows], np.arange(len(order) + 1))
    ends = None if weight is None else np.cumsum(weight[rows])
    return LeafTree(feature, threshold, child.astype(np.int32), start, target[rows], ends)


def _by_level(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return the order of the nodes, level by level, siblings together, and each one's first child in that order."""
    levels = [np.zeros(1, dtype=np.int64)]
    child: list[Ints] = []
    size = 1
    while len(levels[-1]):
        level = levels[-1]
        inner = left[level] >= 0
        first = np.arange(size - len(level), size)
        first[inner] = size + 2 * np.arange(inner.sum())
        child.append(first)
        levels.append(np.column_stack([left[level[inner]], right[level[inner]]]).ravel())
        size += len(levels[-1])
    return np.concatenate(levels), np.concatenate(child)
