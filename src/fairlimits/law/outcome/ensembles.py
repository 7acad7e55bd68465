"""`Ensemble`: the chance of one of two classes, averaged over members: boosted trees, linear models, constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairlimits._util.types import Floats, Ints
from fairlimits.errors import FileError
from fairlimits.law.outcome.codes import Bytes
from fairlimits.law.outcome.splits import LEAST_CHANCE
from fairlimits.law.outcome.trees import Singles, Trees

# Rows at a time: few enough for the masks of all trees to stay in the processor's cache.
_MASKS = 60_000


@dataclass(frozen=True, eq=False)
class Member:
    """One fitted learner: its score is ``base``, plus its trees, plus ``encoded features @ coefficients``.

    Parameters
    ----------
    base : float
    trees : Trees, optional
    coefficients : ndarray of shape (columns,), optional
        One for each encoded column, and one for a given variable.
    """

    base: float
    trees: Trees | None = None
    coefficients: Singles | None = None


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Chance of the second of two classes: the mean over members of 1 / (1 + exp(-score)).

    Parameters
    ----------
    base : ndarray of shape (M,)
        Score of each member before its trees and coefficients.
    trees : Trees
        Trees of all members.
    member : ndarray of uint16 of shape (T,)
        Member of each tree.
    linear : ndarray of uint16
        Members that are linear in the encoded features.
    coefficients : ndarray of float32 of shape (linear members, columns)
    """

    base: Floats
    trees: Trees
    member: NDArray[np.uint16]
    linear: NDArray[np.uint16]
    coefficients: Singles

    @classmethod
    def of(cls, members: Sequence[Member], sizes: tuple[int, ...], columns: int) -> Ensemble:
        """Put members together; `columns` counts the encoded columns, and a given variable."""
        grown = [(at, member.trees) for at, member in enumerate(members) if member.trees is not None]
        linear = [(at, member.coefficients) for at, member in enumerate(members) if member.coefficients is not None]
        return cls(
            np.array([member.base for member in members], dtype=np.float64),
            Trees.joined([Trees.none(sizes), *(trees for _, trees in grown)]),
            np.repeat([at for at, _ in grown], [len(trees) for _, trees in grown]).astype(np.uint16),
            np.array([at for at, _ in linear], dtype=np.uint16),
            np.array([coefficients for _, coefficients in linear], dtype=np.float32).reshape(len(linear), columns),
        )

    def part(self, number: int, parts: int) -> Ensemble:
        """Return the members of one of some equal parts, in their order."""
        size = len(self.base) // parts
        first, end = number * size, (number + 1) * size
        trees, lines = ((members >= first) & (members < end) for members in (self.member, self.linear))
        return Ensemble(
            self.base[first:end],
            self.trees.chosen(trees),
            (self.member[trees] - first).astype(np.uint16),
            (self.linear[lines] - first).astype(np.uint16),
            self.coefficients[lines],
        )

    def chances(self, codes: Bytes, encoded: Singles | None, values: int | None = None) -> Floats:
        """Return the chance of the second class.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (n, features)
            Coded features.
        encoded : ndarray of float32 of shape (n, columns), optional
            Encoded features; needed if a member is linear.
        values : int, optional
            If a variable is given beside the features, how many values it can take; its codes are the last feature of
            the trees.

        Returns
        -------
        ndarray of shape (n, values or 1)
        """
        out = np.empty((len(codes), values or 1))
        block = max(_MASKS // max(len(self.trees), 1), 16)
        for start in range(0, len(codes), block):
            rows = slice(start, start + block)
            score = np.repeat(self.base[None], len(codes[rows]), axis=0)
            if len(self.linear):
                assert encoded is not None
                width = encoded.shape[1]
                score[:, self.linear] += encoded[rows] @ self.coefficients[:, :width].T
            masks = self.trees.masks(codes[rows])
            for value in range(values or 1):
                total, reachable = score, masks
                if values is not None:
                    total, reachable = score.copy(), masks & self.trees.masks_of(codes.shape[1], value)
                    total[:, self.linear] += self.coefficients[:, -1] * value
                if len(self.trees):
                    total += self.trees.reached(reachable) @ self._membership
                out[rows, value] = expit(total).mean(axis=1)
        return np.clip(out, LEAST_CHANCE, 1 - LEAST_CHANCE, out=out)

    @cached_property
    def _membership(self) -> Singles:
        """1 where a tree (row) belongs to a member (column)."""
        return np.asarray(self.member[:, None] == np.arange(len(self.base)), dtype=np.float32)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return all that `chances` needs as named arrays."""
        return {
            "base": self.base,
            "linear": self.linear,
            "coefficients": self.coefficients,
            "membership": self._membership,
            **self.trees.tables(),
        }

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return the ensemble as named arrays."""
        return {
            "base": self.base,
            "member": self.member,
            "linear": self.linear,
            "coefficients": self.coefficients,
            **self.trees.pack(),
        }

    @classmethod
    def unpack(cls, sizes: tuple[int, ...], columns: int, arrays: Mapping[str, NDArray[Any]]) -> Ensemble:
        """Build the ensemble from what `pack` returned, after checking it."""
        trees = Trees.unpack(sizes, arrays)
        try:
            ensemble = cls(arrays["base"], trees, arrays["member"], arrays["linear"], arrays["coefficients"])
        except LookupError as error:
            raise FileError(f"The file's model has no {error.args[0]}; save the model again.") from error
        if not ensemble._is_sound(columns):
            raise FileError("The file's model is damaged; save the model again.")
        return ensemble

    def _is_sound(self, columns: int) -> bool:
        members = len(self.base) if self.base.ndim == 1 else 0
        shapes = (self.member.shape, self.coefficients.shape)
        if members == 0 or self.linear.ndim != 1 or shapes != ((len(self.trees),), (len(self.linear), columns)):
            return False
        kinds = [array.dtype.name for array in (self.base, self.member, self.linear, self.coefficients)]
        if kinds != ["float64", "uint16", "uint16", "float32"]:
            return False
        within = bool((self.member < members).all()) and bool((self.linear < members).all())
        finite = bool(np.isfinite(self.base).all()) and bool(np.isfinite(self.coefficients).all())
        return within and finite and len(np.unique(self.linear)) == len(self.linear)


def distinct_rows(columns: Mapping[str, NDArray[Any]], n_rows: int) -> tuple[Ints, Ints] | None:
    """Return positions of distinct rows, and which of them each row equals; None if hardly any row is repeated.

    Where features are categories, most people have a twin.
    """
    if n_rows < 2 or not columns:
        return None
    bits = [np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) for values in columns.values()]
    key = np.zeros(n_rows, dtype=np.uint64)
    for column in bits:
        # Odd multipliers lose nothing; the shift brings high bits, where floats differ, to the low ones.
        key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    if len(first) > 0.9 * n_rows:
        return None
    same = all((column == column[first][kind]).all() for column in bits)
    return (first, kind) if same else None
