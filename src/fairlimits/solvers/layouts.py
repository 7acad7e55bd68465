"""Rows or columns of a program as named blocks, so that no caller computes where a block begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from fairlimits._util.types import Ints


@dataclass(frozen=True)
class Layout:
    """Blocks of rows, or of columns, one behind the other.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        The shape of each block: how many rows it has along each of its axes, the last one fastest.
    """

    shapes: Mapping[str, tuple[int, ...]]

    def __len__(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def block(self, name: str) -> slice:
        """Where a block is."""
        ends = dict(zip(self.shapes, accumulate(int(np.prod(shape)) for shape in self.shapes.values()), strict=True))
        return slice(ends[name] - int(np.prod(self.shapes[name])), ends[name])

    def at(self, name: str, *place: int | Ints) -> Ints:
        """Rows of a block, by their indices along its axes; without indices all of them, in the block's shape."""
        block = self.block(name)
        numbers = np.arange(block.start, block.stop).reshape(self.shapes[name])
        return np.asarray(numbers[place] if place else numbers)
