r"""Rates as rows of a linear program: the one compiler, for rules and for maps alike.

A gap of at most eps between the groups' values of a rate is

- for two groups one row, :math:`-\epsilon \le r_a - r_b \le \epsilon`;
- for more, a row for each group and one auxiliary variable z in [0, 1]: :math:`0 \le r_g - z \le \epsilon`.

Shares can differ by twelve orders of magnitude, and rounding errors in a row must neither bind nor contradict
another row. So every row is repaired in the same two ways: coefficients that cancel up to rounding become 0, and
deciding by a fair coin, which makes every rate 1/2, gives the row exactly the value that it should.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.limits.variables import Variables
from fairlimits.notions import NOTIONS, ROUNDING, Rate, Rows


@dataclass(frozen=True, eq=False)
class Correction:
    r"""Where the rates of groups are taken to be, relative to the law, and how far they may be off from there.

    Parameters
    ----------
    shift : mapping of Rate to ndarray of shape (G,)
        By how much the rate of each group is above that of the law.
    margin : mapping of Rate to ndarray of shape (G,)
        How much room is left for the rate of each group: between two groups with margins m and n, the gap has to stay
        the square root of :math:`m^2 + n^2` below the tolerance. With more than two groups there is one band for all,
        and each group keeps :math:`m / \sqrt 2` from both of its ends, which is as much where margins are equal.
        Where that is more than the tolerance, the gap has to be 0.
    """

    shift: Mapping[Rate, Floats]
    margin: Mapping[Rate, Floats]


@dataclass(frozen=True, eq=False)
class Block:
    """Rows ``lower + down * eps <= matrix . scores + shared * z <= upper + up * eps`` that belong together.

    Parameters
    ----------
    askers : tuple of str
        The notions whose smallest tolerance is eps; none if the rows are the same at any tolerances.
    matrix : ndarray of shape (m, n)
        Entries of the scores.
    shared : ndarray of shape (m,)
        Entries of z, an auxiliary variable that only these rows have; all 0 if there is none.
    lower, upper : ndarray of shape (m,)
        Bounds at a tolerance of 0.
    down, up : float
        How the bounds move with the tolerance.
    rate : Rate, optional
        The rate whose gap the rows bound, if they do.
    compared : ndarray of int
        The groups that are compared in it.
    """

    askers: tuple[str, ...]
    matrix: Floats
    shared: Floats
    lower: Floats
    upper: Floats
    down: float
    up: float
    rate: Rate | None = None
    compared: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def has_auxiliary(self) -> bool:
        """Whether the rows share an auxiliary variable."""
        return bool(self.shared.any())

    def tolerance(self, tolerances: Mapping[str, float]) -> float:
        """Return the smallest tolerance of the askers; 0 if there are none."""
        return min((tolerances[name] for name in self.askers), default=0.0)

    def lower_at(self, tolerances: Mapping[str, float], correction: Correction | None = None) -> Floats:
        """Return the lower bounds at some tolerances."""
        # A bound that does not move stays finite where the tolerance is not: 0 * inf would be NaN.
        bound = self.lower + self.down * self.tolerance(tolerances) if self.down else self.lower
        return bound if correction is None else bound - self._shift(correction) + self._room(tolerances, correction)

    def upper_at(self, tolerances: Mapping[str, float], correction: Correction | None = None) -> Floats:
        """Return the upper bounds at some tolerances."""
        bound = self.upper + self.up * self.tolerance(tolerances) if self.up else self.upper
        return bound if correction is None else bound - self._shift(correction) - self._room(tolerances, correction)

    def _shift(self, correction: Correction) -> Floats:
        """Return what a correction adds to the values of the rows."""
        if self.rate is None:
            return np.zeros(len(self))
        shift = correction.shift[self.rate][self.compared]
        return np.asarray(shift if self.has_auxiliary else shift[:1] - shift[1:])

    def _room(self, tolerances: Mapping[str, float], correction: Correction) -> Floats:
        """Return by how much a correction moves both bounds of the rows inwards."""
        if self.rate is None:
            return np.zeros(len(self))
        margin = correction.margin[self.rate][self.compared]
        room = margin / math.sqrt(2) if self.has_auxiliary else np.hypot(margin[:1], margin[1:])
        return np.minimum(room, (self.up - self.down) / 2 * self.tolerance(tolerances))

    def moves_on_a_line(self, start: Mapping[str, float], stop: Mapping[str, float]) -> bool:
        """Return whether one asker's tolerance is the smallest all the way, so that the bounds move linearly."""
        least, least_end = self.tolerance(start), self.tolerance(stop)
        return not self.askers or any(start[name] == least and stop[name] == least_end for name in self.askers)

    def slope(self, duals: Floats, tolerances: Mapping[str, float], move: Mapping[str, float]) -> float:
        """Return how fast the optimum rises with the bounds when each tolerance rises at the rate in `move`."""
        if not self.askers:
            return 0.0
        # At the upper bound the row moves with the tolerance, at the lower one against it (or not at all).
        pressure = float(np.where(duals > 0, duals * self.up, duals * self.down).sum())
        tightest = self.tolerance(tolerances)
        return pressure * min(move.get(name, 0.0) for name in self.askers if tolerances[name] == tightest)


@dataclass(frozen=True, eq=False)
class RateRows:
    """Rows of a program whose columns are the scores, then the auxiliary variables of the blocks, in their order.

    Parameters
    ----------
    blocks : tuple of Block
        The rows, in this order.
    n_scores : int
        Number of scores.
    """

    blocks: tuple[Block, ...]
    n_scores: int

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    @property
    def n_auxiliary(self) -> int:
        """Number of auxiliary variables, each between 0 and 1."""
        return sum(block.has_auxiliary for block in self.blocks)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Which rows are those of each block."""
        ends = accumulate(map(len, self.blocks))
        return tuple(slice(end - len(block), end) for block, end in zip(self.blocks, ends, strict=True))

    @cached_property
    def matrix(self) -> Floats:
        """The rows, of shape (m, n_scores + n_auxiliary)."""
        matrix = np.zeros((len(self), self.n_scores + self.n_auxiliary))
        auxiliary = self.n_scores
        for block, place in zip(self.blocks, self.places, strict=True):
            matrix[place, : self.n_scores] = block.matrix
            if block.has_auxiliary:
                matrix[place, auxiliary] = block.shared
                auxiliary += 1
        return matrix

    def lower(self, tolerances: Mapping[str, float], correction: Correction | None = None) -> Floats:
        """Return the lower bounds of the rows at some tolerances, one for each asker."""
        return np.concatenate([np.zeros(0), *(block.lower_at(tolerances, correction) for block in self.blocks)])

    def upper(self, tolerances: Mapping[str, float], correction: Correction | None = None) -> Floats:
        """Return the upper bounds of the rows at some tolerances, one for each asker."""
        return np.concatenate([np.zeros(0), *(block.upper_at(tolerances, correction) for block in self.blocks)])

    def moves_on_a_line(self, start: Mapping[str, float], stop: Mapping[str, float]) -> bool:
        """Return whether all bounds move linearly as the tolerances do."""
        return all(block.moves_on_a_line(start, stop) for block in self.blocks)

    def slope(self, duals: Floats, tolerances: Mapping[str, float], move: Mapping[str, float]) -> float:
        """Return how fast the optimum rises when each tolerance rises at the rate that `move` gives.

        Parameters
        ----------
        duals : ndarray of shape (m,)
            Duals of the rows.
        tolerances, move : mapping of str to float
            One for each asker; a move that is left out is 0.
        """
        return math.fsum(
            block.slope(duals[place], tolerances, move) for block, place in zip(self.blocks, self.places, strict=True)
        )


def compile_rows(variables: Variables, notions: Iterable[str], fixed: Iterable[Rows] = ()) -> RateRows:
    """Write notions, and further rows that are the same at any tolerances, as rows of a program.

    A rate that several notions ask for is constrained once, by their smallest tolerance; one that fewer than two groups
    have is not constrained. Notions other than group notions are ignored.

    Parameters
    ----------
    variables : Variables
        The scores.
    notions : iterable of str
        Short names of the notions.
    fixed : iterable of Rows
        Further rows, such as those of requirements.
    """
    askers: dict[Rate, list[str]] = {}
    for name in notions:
        for rate in NOTIONS[name].rates if name in NOTIONS else ():
            askers.setdefault(rate, []).append(name)
    found = (_rate_block(variables, rate, tuple(names)) for rate, names in askers.items())
    blocks = [*(block for block in found if block is not None), *(_fixed_block(variables, rows) for rows in fixed)]
    return RateRows(tuple(blocks), len(variables))


def _rate_block(variables: Variables, rate: Rate, askers: tuple[str, ...]) -> Block | None:
    """Return the rows that bound the gap of one rate; None if fewer than two groups have it."""
    rates = variables.dist.rates.of(rate)
    constant, compared = rates.constant[rates.defined], np.flatnonzero(rates.defined)
    if len(constant) < 2:
        return None
    matrix = variables.coefficients(rates.coefficient)[rates.defined]
    size = variables.coefficients(rates.size)[rates.defined]
    if len(constant) == 2:
        offset = constant[1:] - constant[:1]
        offset[np.abs(offset) <= ROUNDING] = 0
        forms = _repaired(matrix[:1] - matrix[1:], size.sum(axis=0, keepdims=True), offset)
        return Block(askers, forms, np.zeros(1), offset, offset, down=-1.0, up=1.0, rate=rate, compared=compared)
    forms, auxiliary = _repaired(matrix, size, 0.5 - constant), np.full(len(constant), -1.0)
    return Block(askers, forms, auxiliary, -constant, -constant, down=0.0, up=1.0, rate=rate, compared=compared)


def _fixed_block(variables: Variables, rows: Rows) -> Block:
    forms = _repaired(variables.forms(rows.coefficient), variables.forms(rows.size), rows.coin)
    return Block((), forms, rows.shared, rows.lower, rows.upper, down=0.0, up=0.0)


def _repaired(forms: Floats, size: Floats, coin: Floats) -> Floats:
    """Return linear forms (m, n) without rounding errors, and with the value (m,) that a coin should give them.

    Without the first repair, groups that are alike would be constrained. Without the second, rounding makes the coin
    violate rows of tiny entries, and two of them may then leave no rule at all.
    """
    repaired = np.where(np.abs(forms) <= ROUNDING * size, 0.0, forms)
    largest = np.abs(repaired).argmax(axis=1)
    repaired[np.arange(len(repaired)), largest] -= repaired.sum(axis=1) - 2 * coin
    return repaired
