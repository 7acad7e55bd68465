"""`Trees`: many small decision trees over coded features as plain arrays, evaluated by bit masks.

Number the leaves of a tree from left to right, and write a set of leaves as the bits of one number. Wherever a row
goes at a node, it rules out the leaves on the node's other side. What a node rules out depends on one code only, so for
each feature, code and tree the leaves that the nodes on that feature leave are computed beforehand:

    mask(f, c, t) = AND over the nodes of tree t on feature f of the leaves that code c does not rule out.

The row's leaf is the only bit in the AND of mask(f, code of f, t) over all features: every other leaf is ruled
out at the node where its path and the row's separate. No node is visited, and all trees are done at once. (This is
QuickScorer of Lucchese et al., 2015, with tables in place of sorted thresholds.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Flags, Ints
from fairlimits.errors import FileError
from fairlimits.law.outcome.codes import Bytes

Masks: TypeAlias = NDArray[Any]
Singles: TypeAlias = NDArray[np.float32]

MOST_LEAVES = 32
"""Leaves of a tree: the bits of the widest mask."""

# Bytes of a set of up to 256 codes.
_SET = 32

# Rows at a time: few enough for their masks to stay in the processor's cache.
_BLOCK = 1_024

# Exponent of the float32 number 1.
_BIAS = 127


@dataclass(frozen=True, eq=False)
class Trees:
    """Decision trees, one after the other.

    Parameters
    ----------
    sizes : tuple of int
        Number of codes of each feature; one more code stands for a missing value.
    leaves : ndarray of uint8 of shape (T,)
        Leaves of each tree.
    values : ndarray of float32
        What the leaves add to the score, from left to right, tree by tree.
    feature : ndarray of uint16
        Feature that each inner node looks at; a tree has one node fewer than leaves.
    lower, middle, upper : ndarray of uint8
        Leaves ``lower`` to ``middle - 1`` are on the left of the node, ``middle`` to ``upper - 1`` on its right.
    goes_left : ndarray of uint8 of shape (nodes, 32)
        Codes that go left, as bits, the lowest first.
    """

    sizes: tuple[int, ...]
    leaves: Bytes
    values: Singles
    feature: NDArray[np.uint16]
    lower: Bytes
    middle: Bytes
    upper: Bytes
    goes_left: Bytes

    @classmethod
    def none(cls, sizes: tuple[int, ...]) -> Trees:
        """Return no trees."""
        empty = np.zeros(0, dtype=np.uint8)
        no_sets = np.zeros((0, _SET), dtype=np.uint8)
        return cls(sizes, empty, np.zeros(0, np.float32), np.zeros(0, np.uint16), empty, empty, empty, no_sets)

    @classmethod
    def joined(cls, parts: Sequence[Trees]) -> Trees:
        """Put trees over the same features together."""
        return cls(parts[0].sizes, *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS))

    def __len__(self) -> int:
        return len(self.leaves)

    def first(self, count: int) -> Trees:
        """Return only the first trees."""
        leaves = self.leaves[:count]
        ends = int(leaves.sum(dtype=np.int64))
        nodes = ends - len(leaves)
        inner = (getattr(self, name)[:nodes] for name in _ARRAYS[2:])
        return Trees(self.sizes, leaves, self.values[:ends], *inner)

    def chosen(self, which: Flags) -> Trees:
        """Return only some of the trees, in their order."""
        leaves = self.leaves.astype(np.int64)
        values, nodes = np.repeat(which, leaves), np.repeat(which, leaves - 1)
        inner = (getattr(self, name)[nodes] for name in _ARRAYS[2:])
        return Trees(self.sizes, self.leaves[which], self.values[values], *inner)

    def masks(self, codes: Bytes) -> Masks:
        """Return the leaves that each row can still reach by its first features, of shape (rows, T).

        Parameters
        ----------
        codes : ndarray of uint8 of shape (rows, at most as many features as the trees know)
        """
        found: Masks | None = None
        for feature in self._used:
            if feature < codes.shape[1]:
                left = self._table[codes[:, feature].astype(np.intp) + self._starts[feature]]
                found = left if found is None else np.bitwise_and(found, left, out=found)
        if found is None:
            return np.broadcast_to(self._everything, (len(codes), len(self)))
        return found

    def masks_of(self, feature: int, code: int) -> Masks:
        """Return the leaves that a code of one feature leaves reachable, of shape (T,)."""
        return np.asarray(self._table[self._starts[feature] + code])

    def reached(self, masks: Masks) -> Singles:
        """Return the values of the leaves that the masks of all features leave, of shape (rows, T)."""
        # The exponent of a power of two says which bit it is; a sign, of the bit 31, is dropped by uint8.
        exponent = (masks.astype(np.float32).view(np.uint32) >> 23).astype(np.uint8)
        return np.asarray(self._values[exponent + self._first_value])

    def scores(self, codes: Bytes) -> Singles:
        """Return the sum of all trees for each row."""
        parts = [
            self.reached(self.masks(codes[start : start + _BLOCK])).sum(axis=1)
            for start in range(0, max(len(codes), 1), _BLOCK)
        ]
        return np.concatenate(parts)

    @cached_property
    def _used(self) -> list[int]:
        return [int(feature) for feature in np.unique(self.feature)]

    @cached_property
    def _starts(self) -> Ints:
        """Row of the table where each feature starts."""
        return np.concatenate([[0], np.cumsum(np.asarray(self.sizes, dtype=np.int64) + 1)])

    @cached_property
    def _first_value(self) -> Ints:
        """Where the values of each tree start, minus the bias of the exponent."""
        return np.arange(len(self)) * MOST_LEAVES - _BIAS

    @cached_property
    def _values(self) -> Singles:
        """Values with room for 32 leaves in each tree."""
        spread = np.zeros((len(self), MOST_LEAVES), dtype=np.float32)
        spread[np.arange(MOST_LEAVES) < self.leaves[:, None]] = self.values
        return spread.ravel()

    @cached_property
    def _everything(self) -> Masks:
        """All leaves of each tree."""
        most = int(self.leaves.max(initial=1))
        bits = ((np.uint64(1) << self.leaves.astype(np.uint64)) - np.uint64(1)).astype(np.uint64)
        return bits.astype(np.uint8 if most <= 8 else np.uint16 if most <= 16 else np.uint32)

    @cached_property
    def _table(self) -> Masks:
        """Masks by feature and code (rows) and tree (columns)."""
        everything = self._everything
        table = np.repeat(everything[None], self._starts[-1], axis=0)
        one = np.uint64(1)
        below = [(one << edge.astype(np.uint64)) - one for edge in (self.lower, self.middle, self.upper)]
        tree = self.tree_of_node
        without_left = (~(below[1] - below[0])).astype(everything.dtype)
        without_right = (~(below[2] - below[1])).astype(everything.dtype)
        for feature in self._used:
            nodes = np.flatnonzero(self.feature == feature)
            size = self.sizes[feature] + 1
            left = np.unpackbits(self.goes_left[nodes], axis=1, count=size, bitorder="little").astype(bool)
            allowed = np.where(left, without_right[nodes, None], without_left[nodes, None])
            first = np.flatnonzero(np.diff(tree[nodes], prepend=-1))
            remaining = np.bitwise_and.reduceat(allowed, first, axis=0).T
            start, trees = int(self._starts[feature]), tree[nodes[first]]
            table[start : start + size, trees] &= remaining
        return table

    @property
    def tree_of_node(self) -> Ints:
        """Tree of each inner node."""
        return np.repeat(np.arange(len(self)), self.leaves.astype(np.int64) - 1)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return what evaluation needs as named arrays: masks by feature and code, and values of the leaves."""
        return {
            "masks": self._table,
            "starts": self._starts,
            "used": np.array(self._used, dtype=np.int64),
            "everything": self._everything,
            "values": self._values,
            "first": self._first_value,
        }

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the trees as named arrays."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def unpack(cls, sizes: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]) -> Trees:
        """Build trees from what `pack` returned, after checking that they are trees."""
        found = [arrays.get(name) for name in _ARRAYS]
        parts = [array for array in found if array is not None]
        if len(parts) == len(found) and all(array.dtype == kind for array, kind in zip(parts, _KINDS, strict=True)):
            trees = cls(sizes, *parts)
            if trees._is_sound():
                return trees
        raise FileError("The file's trees are damaged; save the model again.")

    def _is_sound(self) -> bool:
        if self.leaves.ndim != 1 or not ((self.leaves >= 1) & (self.leaves <= MOST_LEAVES)).all():
            return False
        ends = int(self.leaves.sum(dtype=np.int64))
        nodes = ends - len(self)
        if self.values.shape != (ends,) or self.goes_left.shape != (nodes, _SET):
            return False
        if any(getattr(self, name).shape != (nodes,) for name in _ARRAYS[2:6]):
            return False
        within = bool((self.feature < len(self.sizes)).all())
        rising = bool(((self.lower < self.middle) & (self.middle < self.upper)).all())
        return within and rising and bool(np.isfinite(self.values).all()) and self._are_nested()

    def _are_nested(self) -> bool:
        """Return whether each node's leaves are all of its tree, or one side of exactly one other node.

        Ranges shrink from parent to child, so this is a tree: following parents ends at the root.
        """
        tree = self.tree_of_node

        def ranges(start: NDArray[Any], stop: NDArray[Any], chosen: Flags) -> Ints:
            return np.asarray(((tree * 64 + start) * 64 + stop)[chosen])

        inner = self.leaves > 1
        roots = np.flatnonzero(inner) * 4096 + self.leaves[inner]
        left, right = self.middle - self.lower > 1, self.upper - self.middle > 1
        asked = [roots, ranges(self.lower, self.middle, left), ranges(self.middle, self.upper, right)]
        there = ranges(self.lower, self.upper, np.ones(len(tree), dtype=bool))
        return bool(np.array_equal(np.sort(np.concatenate(asked)), np.sort(there)))


_ARRAYS = ("leaves", "values", "feature", "lower", "middle", "upper", "goes_left")
_KINDS = (np.uint8, np.float32, np.uint16, np.uint8, np.uint8, np.uint8, np.uint8)
