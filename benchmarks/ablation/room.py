r"""Rules with a confidence: the convex programs that keep room for errors, with as many groups and cells as users have.

Each line is all programs that one rule with a confidence is searched for with (`fairlimits.limits.margins`), as they
come up on Adult, Law and Dutch. Others are given the same programs. HiGHS finds them by Kelley's cutting planes, a
linearisation of each constraint that is missed, warm-started from round to round and from its own last program;
Clarabel and ECOS, interior-point methods for second-order cones, get each standard error as a cone of its own; making
their matrices, which cvxpy would do, is not counted.

What is asked of all is what ours reaches on that program, or better: by how much a constraint is missed at most, and
how far the objective may be below its bound. Both are computed here, for everybody alike. With multipliers
:math:`\lambda \ge 0` of the constraints f and any point z, convexity gives for all x in the box

.. math:: g \cdot x \le \max_{0 \le x \le 1}\; g \cdot x - \lambda \cdot (f(z) + \nabla f(z) (x - z)) .

Clarabel and ECOS are run with looser and tighter tolerances, and the fastest run that reaches it counts.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import scipy.sparse as sp

import fairlimits as fl
from benchmarks.ablation.highs import Attempt, limited, on_one_thread, patience, replaced
from benchmarks.ablation.lines import Line
from benchmarks.rules import Known
from fairlimits._util.types import Floats
from fairlimits.limits import margins
from fairlimits.solvers import Compared, Means, Program
from fairlimits.solvers import margins as solver

CONFIDENCE = 0.95

# Constraints may always be missed, and objectives lost, by as much as this: linear programs are proven no better.
_LEAST = 1e-7

# Tolerances that Clarabel and ECOS are run with.
_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-8)

# Rounds of cuts at most; each adds cuts for the constraints that are missed by more than is asked.
_ROUNDS = 2_000

_PEOPLE = 40_000


@dataclass(frozen=True, eq=False)
class Question:
    """One program, and its constraints as functions of the variables."""

    gain: Floats
    means: Sequence[Means]
    compared: Compared

    @property
    def unit(self) -> float:
        """By how much the objective can change."""
        return float(np.abs(self.gain).sum())

    @property
    def least(self) -> Floats:
        """What is added to the variance of each pair, so that its root has a derivative everywhere."""
        return (solver._SMOOTH * self.compared.limit / np.maximum(self.compared.reach, 1)) ** 2

    def linearised(self, x: Floats) -> tuple[Floats, Floats]:
        """Constraints, of one sign and then of the other, and their derivatives, of shape (2 P, n)."""
        rows = sum(len(own.offset) for own in self.means)
        mean, variance = np.zeros(rows), np.zeros(rows)
        of_mean, of_variance = np.zeros((rows, len(x))), np.zeros((rows, len(x)))
        start = 0
        for own in self.means:
            at = slice(start, start + len(own.offset))
            mean[at], variance[at] = own.values(x)
            of_mean[at, own.columns], of_variance[at, own.columns] = own.matrix, own.slopes(x)[0]
            start = at.stop
        i, j = self.compared.first, self.compared.second
        norm = np.sqrt(variance[i] + variance[j] + self.least)
        room = self.compared.reach * norm - self.compared.limit
        bent = (self.compared.reach / (2 * norm))[:, None] * (of_variance[i] + of_variance[j])
        apart, turned = mean[i] - mean[j], of_mean[i] - of_mean[j]
        return np.concatenate([room + apart, room - apart]), np.vstack([bent + turned, bent - turned])

    def proof(self, x: Floats, dual: Floats | None) -> tuple[float, float]:
        """By how much a constraint is missed at most, and how far the objective may lie below the best one's."""
        value, slope = self.linearised(x)
        if dual is None:
            return max(float(value.max()), 0.0), 0.0
        reduced = self.gain - dual @ slope
        lost = -float(dual @ value) + float(np.maximum(-reduced * x, reduced * (1 - x)).sum())
        return max(float(value.max()), 0.0), lost / self.unit


Answer = tuple[Floats, Floats | None]
"""A point, and a multiplier for each constraint, as `Question.linearised` counts them; None if nothing is lost."""


def ours(question: Question) -> Answer:
    """The solver of `fairlimits.solvers.margins`, with the multipliers that its weights come from."""
    x, weight = solver.solve_with_margins(question.gain, question.means, question.compared)
    value, _ = question.linearised(x)
    pairs = len(weight)
    room = (value[:pairs] + value[pairs:]) / 2 + question.compared.limit
    # Of the two sides of a pair the one that is nearer to its bound carries the multiplier.
    dual = weight / np.maximum(room / question.compared.reach, 1e-300) * np.abs(question.gain).mean()
    first = value[:pairs] >= value[pairs:]
    return x, np.concatenate([np.where(first, dual, 0), np.where(first, 0, dual)])


def by_cuts(question: Question, missed: float) -> Answer:
    """Kelley's method: a linear program, with a further row for each constraint that its optimum misses.

    All rows are implied by the constraints, so the optimum, which HiGHS proves, is beaten by no point that meets them.
    """
    n = len(question.gain)
    program = Program(question.gain / question.unit, np.zeros(n), np.ones(n))
    at: Floats = np.where(question.gain > 0, 1.0, 0.0)
    for _ in range(_ROUNDS):
        value, slope = question.linearised(at)
        wrong = np.flatnonzero(value > missed)
        if not len(wrong):
            break
        program.add_dense_rows(slope[wrong], np.full(len(wrong), -np.inf), slope[wrong] @ at - value[wrong])
        at = program.solve().x
    return at, None


def cones(question: Question) -> tuple[Floats, sp.csc_array, Floats, int, list[int]]:
    """The same program as ``min q z, A z + s = b``, s first at least 0 and then in second-order cones.

    Variables are x, the mean m and the standard error s of each of the means. ``s >= |(sqrt(k u) (x - m), sqrt(k w)
    (1 - x - m))|`` is a cone for each mean, and ``(e - (+-(mean_i - mean_j))) / c >= |(s_i, s_j, little)|`` for each
    pair and sign.
    """
    n, rows = len(question.gain), sum(len(own.offset) for own in question.means)
    width, blocks, right, sizes = n + 2 * rows, [], [], []
    box = sp.csr_array((np.concatenate([np.ones(n), -np.ones(n)]), (np.arange(2 * n), np.tile(np.arange(n), 2))))
    box.resize((2 * n, width))
    plain, plain_right = [box], [np.concatenate([np.ones(n), np.zeros(n)])]
    ahead, ahead_offset = np.zeros((rows, n)), np.zeros(rows)
    defined = np.zeros((rows, width))
    at = 0
    for own in question.means:
        for g in range(len(own.offset)):
            ahead[at, own.columns], ahead_offset[at] = own.matrix[g], own.offset[g]
            defined[at, own.columns], defined[at, n + at] = own.ones[g] - own.zeros[g], -1.0
            block, own_right = _cone(own, g, n + at, n + rows + at, width)
            blocks.append(block)
            right.append(own_right)
            sizes.append(len(own_right))
            at += 1
    total = np.array([own.zeros[g].sum() for own in question.means for g in range(len(own.offset))])
    for sign in (1.0, -1.0):
        for k, (i, j) in enumerate(zip(question.compared.first, question.compared.second, strict=True)):
            reach = question.compared.reach[k]
            block = np.zeros((4, width))
            block[0, :n] = sign * (ahead[i] - ahead[j]) / reach
            block[1, n + rows + i] = block[2, n + rows + j] = -1.0
            room = question.compared.limit[k] - sign * (ahead_offset[i] - ahead_offset[j])
            blocks.append(sp.csr_array(block))
            right.append(np.array([room / reach, 0.0, 0.0, np.sqrt(question.least[k])]))
            sizes.append(4)
    # The equalities that define the means of people's values, as two inequalities each, which all solvers take.
    both = sp.csr_array(np.vstack([defined, -defined]))
    whole = sp.csc_array(sp.vstack([*plain, both, *blocks], format="csc"))
    vector = np.concatenate([*plain_right, -total, total, *right])
    cost = np.concatenate([-question.gain / question.unit, np.zeros(2 * rows)])
    return cost, whole, vector, 2 * n + 2 * rows, sizes


def _cone(own: Means, g: int, mean: int, error: int, width: int) -> tuple[sp.csr_array, Floats]:
    """``(s, sqrt(k u) (x - m), sqrt(k w) (1 - x - m))`` of one of the means."""
    ones, zeros = np.flatnonzero(own.ones[g]), np.flatnonzero(own.zeros[g])
    one = np.sqrt(own.scale[g] * own.ones[g][ones])
    zero = np.sqrt(own.scale[g] * own.zeros[g][zeros])
    size = 1 + len(one) + len(zero)
    of_one, of_zero = np.arange(1, 1 + len(one)), np.arange(1 + len(one), size)
    entries = np.concatenate([[-1.0], -one, one, zero, zero])
    at = np.concatenate([[0], of_one, of_one, of_zero, of_zero])
    columns = np.concatenate(
        [[error], own.columns[ones], np.full(len(one), mean), own.columns[zeros], np.full(len(zero), mean)]
    )
    right = np.concatenate([np.zeros(1 + len(one)), zero])
    return sp.csr_array((entries, (at, columns)), shape=(size, width)), right


def by_clarabel(question: Question, tolerance: float) -> Callable[[], Answer]:
    """Return a solver of the program by Clarabel, an interior-point method for cones."""
    clarabel = importlib.import_module("clarabel")
    cost, matrix, right, plain, sizes = cones(question)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    kinds = [clarabel.NonnegativeConeT(plain), *(clarabel.SecondOrderConeT(size) for size in sizes)]
    none = sp.csc_matrix((len(cost), len(cost)))
    columns = sp.csc_matrix(matrix)

    def solve() -> Answer:
        found = clarabel.DefaultSolver(none, cost, columns, right, kinds, settings).solve()
        return _read(question, np.array(found.x), np.array(found.z), sizes)

    return solve


def by_ecos(question: Question, tolerance: float) -> Callable[[], Answer]:
    """Return a solver of the program by ECOS, another interior-point method for cones."""
    ecos = importlib.import_module("ecos")
    cost, matrix, right, plain, sizes = cones(question)
    limits = {"abstol": tolerance, "reltol": tolerance, "feastol": tolerance}
    sides = {"l": plain, "q": sizes, "e": 0}
    columns = sp.csc_matrix(matrix)

    def solve() -> Answer:
        found = ecos.solve(cost, columns, right, sides, verbose=False, **limits)
        return _read(question, found["x"], found["z"], sizes)

    return solve


def _read(question: Question, z: Floats, duals: Floats, sizes: list[int]) -> Answer:
    """The point, and the multiplier of each pair's room, which is the dual of the head of its cone over c."""
    pairs = len(question.compared.limit)
    heads = np.cumsum([0, *sizes])[:-1][-2 * pairs :] + len(duals) - sum(sizes)
    dual = duals[heads] / np.tile(question.compared.reach, 2) * question.unit
    return np.clip(z[: len(question.gain)], 0, 1), np.maximum(dual, 0)


def room() -> Iterator[Line]:
    """Programs of rules with a confidence, with the group hidden and seen."""
    for name, asked in _ASKED:
        for aware in (False, True):
            questions, cells = _questions(name, asked, aware)
            yield _line(questions, f"{name}, {cells:,} cells, {'+'.join(asked)}, group {'seen' if aware else 'hidden'}")


_ASKED: tuple[tuple[str, dict[str, float]], ...] = (
    ("Adult, 2 groups", {"EA": 0.03, "EOd": 0.05}),
    ("Dutch, 2 groups", {"EOd": 0.05}),
    ("Law, 2 groups", {"EOd": 0.1}),
    ("simulated, 4 groups", {"EOd": 0.1}),
    ("simulated, 6 groups", {"EOd": 0.1}),
)


@cache
def outcome_of(name: str) -> fl.Outcome:
    """The estimate of a table, made once."""
    of = {
        "Adult, 2 groups": lambda: fl.load_dataset("adult"),
        "Dutch, 2 groups": lambda: fl.load_dataset("dutch"),
        "Law, 2 groups": lambda: fl.load_dataset("law"),
        "simulated, 4 groups": lambda: Known(4, 400).draw(_PEOPLE, 7),
        "simulated, 6 groups": lambda: Known(6, 600).draw(_PEOPLE, 7),
    }
    return fl.estimate_outcome(of[name](), n_jobs=1)


def _questions(name: str, asked: dict[str, float], aware: bool) -> tuple[list[Question], int]:
    """The programs that come up in the search for one rule, and the number of cells."""
    found: list[Question] = []

    def seen(gain: Floats, means: Sequence[Means], compared: Compared) -> Answer:
        found.append(Question(gain, means, compared))
        return solver.solve_with_margins(gain, means, compared)

    with replaced(margins, "solve_with_margins", seen):
        rule = fl.solve(outcome_of(name), asked, aware=aware, confidence=CONFIDENCE, uncertified="constant")
    return found, rule.distribution.n_cells


def _line(questions: list[Question], case: str) -> Line:
    """Measure all solvers on some programs, to what ours reaches on each of them."""
    total, reached = 0.0, []
    for question in questions:
        seconds, answer = on_one_thread(partial(ours, question))
        total += seconds
        reached.append(question.proof(*answer))
    worst = tuple(max(own[side] for own in reached) for side in (0, 1))
    case = f"{case}, {len(questions)} programs (missed {worst[0]:.0e}, lost {worst[1]:.0e})"
    bars = [(max(missed, _LEAST), max(lost, _LEAST)) for missed, lost in reached]
    least = patience(Attempt(total, None))
    cut = [partial(by_cuts, question, missed) for question, (missed, _) in zip(questions, bars, strict=True)]
    others = {"HiGHS, cutting planes": limited(partial(_all_of, questions, cut, bars), least)}
    for name, call in (("Clarabel", by_clarabel), ("ECOS", by_ecos)):
        if importlib.util.find_spec(name.lower()) is None:
            raise SystemExit(f"{name} is not installed: pip install clarabel ecos.")
        runs = []
        for size in _TOLERANCES:
            ready = [call(question, size) for question in questions]
            runs.append(limited(partial(_all_of, questions, ready, bars), least))
        proven = [own for own in runs if not own.failure]
        others[name] = min(proven or runs, key=lambda own: own.seconds)
    return Line("room for errors", case, Attempt(total, None), others)


def _all_of(
    questions: list[Question], calls: Sequence[Callable[[], Answer]], bars: list[tuple[float, float]]
) -> Attempt:
    """Seconds of all programs, and how many of them were not solved as well as by ours."""
    total, failed = 0.0, []
    for question, call, bar in zip(questions, calls, bars, strict=True):
        seconds, answer = on_one_thread(call)
        total += seconds
        reached = question.proof(*answer)
        if not (reached[0] <= bar[0] and reached[1] <= bar[1]):
            failed.append(reached)
    if not failed:
        return Attempt(total, None)
    missed, lost = (max(own[side] for own in failed) for side in (0, 1))
    return Attempt(total, None, f"{len(failed)} of {len(calls)} less well: missed {missed:.0e}, lost {lost:.0e}")
