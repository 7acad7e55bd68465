"""The program of a map with some of its entries, to which more can be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.decorrelation.exact import LARGEST_CORRELATION, ExactProgram, Face
from fairlimits.decorrelation.problems import SAME_SCORE, Targets, pairs_of_groups
from fairlimits.notions import INDIVIDUAL
from fairlimits.solvers import Layout, LazyPairs, Optimum, Program, difference_rows

# Nearest targets that each source starts with, and those it may take in at a time.
_FIRST_TARGETS = 20
_MORE_TARGETS = 10

# Gain per person below which a target is not taken in: all together, no more than that is left to gain.
_NO_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Goal:
    """What is optimized, and among which points of the exact program.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective of the exact program's columns, to be maximised.
    distortion_weight : float
        What a unit of distortion takes off that.
    face : Face
        Bounds of the exact program's columns and rows.
    correlation : {"any", "none", "priced"}
        Whether groups may end up apart: anyhow, not at all, or by no more than the exact program's last column.
    unit : float
        What the weights were divided by, so that none is above 1.
    """

    cost: Floats
    distortion_weight: float
    face: Face
    correlation: Literal["any", "none", "priced"]
    unit: float = 1.0


class Master:
    """The program of a map with some of its entries.

    `_row_layout` and `_column_layout` say what its rows and columns are; the columns of the entries come last, so that
    more can be added.

    Parameters
    ----------
    program : ExactProgram
    goal : Goal
    targets : Targets
    needed : ndarray of bool of shape (targets, sources)
        Entries without which no point may be feasible; the nearest targets of each source come on top.
    """

    def __init__(self, program: ExactProgram, goal: Goal, targets: Targets, needed: Flags) -> None:
        problem = program.problem
        self._targets, self._sources = targets, len(problem.variables)
        self._moves = goal.distortion_weight * problem.distances(targets) * problem.mass
        self._least_gain = _NO_GAIN * problem.mass
        self._barred = _barred(program, goal.face, targets)
        self._apart = _differences(problem.laws, goal.correlation)
        # A score that the face fixes needs no row: only targets of that score are open to its source.
        free = np.flatnonzero(goal.face.lower[: self._sources] < goal.face.upper[: self._sources])
        self._layout = _row_layout(program, goal, len(targets), len(self._apart), len(free))
        self._scored_in = np.full(self._sources, -1, dtype=np.int64)
        self._scored_in[free] = self._layout.at("scores")
        columns = _column_layout(goal, len(targets), len(self._apart))
        head, self._row_lower, self._row_upper = _head(program, goal, self._layout, columns, free)
        self._head = len(columns)
        self._row, self._column = np.nonzero((needed | self._nearest()) & ~self._barred)
        self._lp = self._first_program(goal, head)
        self._pairs = None if program.comparison is None else LazyPairs(program.comparison)
        self._tolerance = problem.tolerances.get(INDIVIDUAL, np.inf)

    def _first_program(self, goal: Goal, head: sp.csr_array) -> Program:
        """The program with the entries to begin with, behind the columns of the head."""
        slacks, row, column = self._head - len(goal.face.lower), self._row, self._column
        program = Program(
            np.concatenate([goal.cost, np.zeros(slacks), -self._moves[row, column]]),
            np.concatenate([goal.face.lower, np.zeros(slacks + len(row))]),
            np.concatenate([goal.face.upper, np.full(slacks, LARGEST_CORRELATION), np.ones(len(row))]),
        )
        whole = sp.csr_array(sp.hstack([head, self._entries(row, column, head.shape[0])], format="csr"))
        program.add_sparse_rows(whole, self._row_lower, self._row_upper)
        return program

    @property
    def size(self) -> int:
        """Number of entries of the map that are in the program."""
        return len(self._row)

    def solve(self) -> Optimum:
        """Solve the program as it stands."""
        if self._pairs is None:
            return self._lp.solve()
        return self._pairs.solve(self._lp, self._row_lower, self._row_upper, self._tolerance)

    def gains(self, optimum: Optimum) -> Floats:
        """What each entry outside the program would gain at the present duals.

        Returns
        -------
        ndarray of shape (targets, sources)
            Minus infinity for entries in the program.
        """
        duals = optimum.duals
        by_target = duals[self._layout.at("differences")]
        by_score = np.where(self._scored_in >= 0, duals[self._scored_in], 0.0)
        gains = -self._moves - duals[self._layout.at("all sent")]
        gains -= by_target.T @ self._apart
        gains -= np.outer(self._targets.score, by_score)
        gains[self._barred] = -np.inf
        gains[self._row, self._column] = -np.inf
        return gains

    def take_in(self, gains: Floats) -> bool:
        """Take in the entries that promise most for each source; False if none promises anything."""
        most = min(_MORE_TARGETS, len(gains))
        best = np.argpartition(-gains, most - 1, axis=0)[:most]
        worth = np.take_along_axis(gains, best, axis=0) > self._least_gain
        if not worth.any():
            return False
        row, column = best[worth], np.nonzero(worth)[1]
        none, one = np.zeros(len(row)), np.ones(len(row))
        self._lp.add_columns(-self._moves[row, column], none, one, self._entries(row, column, self._lp.n_rows))
        self._row, self._column = np.concatenate([self._row, row]), np.concatenate([self._column, column])
        return True

    def map(self, optimum: Optimum) -> Floats:
        """The map, of shape (targets, sources), its columns summing to 1 exactly."""
        entries = np.zeros(self._moves.shape)
        entries[self._row, self._column] = optimum.x[self._head :]
        return np.asarray(entries / entries.sum(axis=0))

    def _nearest(self) -> Flags:
        """The nearest open targets of each source."""
        moves = np.where(self._barred, np.inf, self._moves)
        most = min(_FIRST_TARGETS, len(moves))
        nearest = np.zeros(moves.shape, dtype=bool)
        np.put_along_axis(nearest, np.argpartition(moves, most - 1, axis=0)[:most], True, axis=0)
        return nearest

    def _entries(self, row: Ints, column: Ints, rows: int) -> sp.csc_array:
        """Columns of the program for some entries of the map."""
        parts = [(self._layout.at("all sent", column), np.arange(len(row)), np.ones(len(row)))]
        for pair, apart in enumerate(self._apart):
            met = np.flatnonzero(apart[column])
            parts.append((self._layout.at("differences", pair, row[met]), met, apart[column[met]]))
        scored = np.flatnonzero(self._scored_in[column] >= 0)
        parts.append((self._scored_in[column[scored]], scored, self._targets.score[row[scored]]))
        return sp.csc_array(_coordinates(parts), shape=(rows, len(row)))


def _row_layout(program: ExactProgram, goal: Goal, targets: int, pairs: int, free: int) -> Layout:
    """Rows of the program, before those of neighbours."""
    return Layout(
        {
            # Every source sends all its people somewhere.
            "all sent": (len(program.problem.variables),),
            # At a target, the masses of two groups differ by the excess of one over the other.
            "differences": (pairs, targets),
            # The score of a source after the map, where the face leaves it free.
            "scores": (free,),
            "exact": (len(program.matrix),),
            # The excesses of both groups of a pair, summed over targets, are at most the correlation.
            "correlation": (pairs if goal.correlation == "priced" else 0,),
        }
    )


def _column_layout(goal: Goal, targets: int, pairs: int) -> Layout:
    """Columns of the program, before those of the entries of the map."""
    priced = (pairs, targets) if goal.correlation == "priced" else (0, targets)
    return Layout({"exact": (len(goal.face.lower),), "first has more": priced, "second has more": priced})


def _head(
    program: ExactProgram, goal: Goal, rows: Layout, columns: Layout, free: Ints
) -> tuple[sp.csr_array, Floats, Floats]:
    """All columns before those of the entries, and the bounds of all rows."""
    face = goal.face
    parts = [(rows.at("scores"), free, -np.ones(len(free)))]
    row, column = np.nonzero(program.matrix)
    parts.append((rows.at("exact", row), column, program.matrix[row, column]))
    if goal.correlation == "priced":
        differences, sums = rows.at("differences"), rows.at("correlation")
        for name, sign in (("first has more", -1.0), ("second has more", 1.0)):
            more = columns.at(name)
            parts.append((differences.ravel(), more.ravel(), np.full(more.size, sign)))
            parts.append((np.repeat(sums, more.shape[1]), more.ravel(), np.ones(more.size)))
        correlation = columns.block("exact").start + program.columns.block("correlation").start
        parts.append((sums, np.full(len(sums), correlation), -np.ones(len(sums))))
    top = sp.csr_array(_coordinates(parts), shape=(len(rows), len(columns)))
    lower, upper = np.zeros(len(rows)), np.zeros(len(rows))
    lower[rows.block("all sent")] = upper[rows.block("all sent")] = 1.0
    lower[rows.block("exact")], upper[rows.block("exact")] = face.row_lower, face.row_upper
    lower[rows.block("correlation")] = -LARGEST_CORRELATION
    if program.comparison is None:
        return top, lower, upper
    differ = face.signs * program.allowed(face.pairs)
    tight = difference_rows(program.comparison, face.pairs, len(columns))
    everything = sp.csr_array(sp.vstack([top, tight], format="csr"))
    return everything, np.concatenate([lower, differ]), np.concatenate([upper, differ])


def _coordinates(
    parts: list[tuple[Ints, Ints, Floats]],
) -> tuple[Floats, tuple[Ints, Ints]]:
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return value, (row, column)


def _differences(laws: Floats, correlation: Literal["any", "none", "priced"]) -> Floats:
    """Differences of the groups' laws whose images the program looks at."""
    if correlation == "any" or len(laws) < 2:
        return np.zeros((0, laws.shape[1]))
    # All groups agree if each agrees with the first; how far apart they are is a matter of all pairs.
    return laws[1:] - laws[0] if correlation == "none" else pairs_of_groups(laws)


def _barred(program: ExactProgram, face: Face, targets: Targets) -> Flags:
    """Targets (rows) that a source (column) cannot use, because the face fixes its score at another one."""
    sources = len(program.problem.variables)
    score = targets.score[:, None]
    at_low = face.upper[:sources] <= program.low
    at_high = face.lower[:sources] >= program.high
    barred: Flags = (at_low & (score > program.low + SAME_SCORE)) | (at_high & (score < program.high - SAME_SCORE))
    return barred
