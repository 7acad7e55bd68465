"""`lp.Program`: proven optima, and errors for everything else; its proof; `parametric.follow` along a line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairlimits.errors import InfeasibleError, SolverError
from fairlimits.solvers import proofs
from fairlimits.solvers.lp import Draft, Program
from fairlimits.solvers.parametric import Line, certify, follow
from fairlimits.solvers.proofs import Ending, Failure, Optimum, certificates


@dataclass(frozen=True)
class Problem:
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    matrix: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray

    def program(self, sparse: bool = False) -> Program:
        program = Program(self.cost, self.lower, self.upper)
        if sparse:
            program.add_sparse_rows(sp.csr_array(self.matrix), self.row_lower, self.row_upper)
        elif len(self.matrix):
            program.add_dense_rows(self.matrix, self.row_lower, self.row_upper)
        return program

    def reference(self) -> float:
        rows = np.vstack([self.matrix, -self.matrix])
        most = np.concatenate([self.row_upper, -self.row_lower])
        answer = linprog(
            -self.cost,
            A_ub=rows[np.isfinite(most)],
            b_ub=most[np.isfinite(most)],
            bounds=np.column_stack([self.lower, self.upper]),
            method="highs",
        )
        assert answer.status == 0
        return float(-answer.fun)


@st.composite
def problems(draw: st.DrawFn, most_rows: int = 5, open_sides: bool = True) -> Problem:
    """Feasible programs with ties, equalities and, if wanted, rows without a bound on one side."""
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    n, m = draw(st.integers(1, 8)), draw(st.integers(0, most_rows))
    whole = draw(st.booleans())

    def pick(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape)

    lower = pick(n)
    upper = lower + np.abs(pick(n))
    inside = lower + rng.random(n) * (upper - lower)
    matrix = pick(m, n)
    middle = matrix @ inside
    row_lower, row_upper = middle - np.abs(pick(m)), middle + np.abs(pick(m))
    equal = rng.random(m) < 0.3
    row_lower[equal] = row_upper[equal] = middle[equal]
    if open_sides:
        row_lower[rng.random(m) < 0.3] = -np.inf
        row_upper[rng.random(m) < 0.3] = np.inf
    return Problem(pick(n), lower, upper, matrix, row_lower, row_upper)


def check_certificate(problem: Problem, found: Optimum) -> None:
    """Feasibility, dual signs and complementary slackness, from the definitions."""
    x, y = found.x, found.duals
    assert (x >= problem.lower).all()
    assert (x <= problem.upper).all()
    activity = problem.matrix @ x
    assert (activity >= problem.row_lower - 1e-8).all()
    assert (activity <= problem.row_upper + 1e-8).all()
    at_upper = np.isclose(activity, problem.row_upper, rtol=0, atol=1e-7)
    at_lower = np.isclose(activity, problem.row_lower, rtol=0, atol=1e-7)
    assert (at_upper | (y <= 1e-7)).all()
    assert (at_lower | (y >= -1e-7)).all()
    reduced = problem.cost - problem.matrix.T @ y
    assert (np.isclose(x, problem.upper, rtol=0, atol=1e-7) | (reduced <= 1e-7)).all()
    assert (np.isclose(x, problem.lower, rtol=0, atol=1e-7) | (reduced >= -1e-7)).all()
    assert found.value == pytest.approx(problem.cost @ x, abs=1e-12)
    assert abs(found.gap) <= proofs.OPTIMALITY * 10


@given(problems(), st.booleans())
def test_optimum_is_proven_and_agrees_with_linprog(problem: Problem, sparse: bool) -> None:
    found = problem.program(sparse).solve()
    check_certificate(problem, found)
    assert found.value == pytest.approx(problem.reference(), abs=1e-6)


@given(problems(), st.integers(0, 100_000))
def test_new_bounds_give_what_a_new_program_gives(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = problem.program()
    program.solve()
    for _ in range(3):
        wider = rng.exponential(size=len(problem.row_lower))
        moved = replace(problem, row_lower=problem.row_lower - wider, row_upper=problem.row_upper + wider)
        program.set_row_bounds(moved.row_lower, moved.row_upper)
        assert program.solve().value == pytest.approx(moved.program().solve().value, abs=1e-7)
    program.set_row_bounds(problem.row_lower, problem.row_upper)
    again = program.solve()
    check_certificate(problem, again)
    assert again.value == pytest.approx(problem.reference(), abs=1e-6)


@given(problems(), st.integers(0, 100_000))
def test_dropped_rows_bind_no_longer(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = len(problem.matrix)
    extra = rng.normal(size=(3, len(problem.cost)))
    value = extra @ ((problem.lower + problem.upper) / 2)
    program = problem.program()
    wide = np.full(3, 20.0)
    program.add_sparse_rows(sp.csr_array(extra), value - wide, value + wide)
    assert program.n_rows == m + 3
    program.solve()
    program.drop_rows(np.array([m, m + 2]))
    left = Problem(
        problem.cost,
        problem.lower,
        problem.upper,
        np.vstack([problem.matrix, extra[1:2]]),
        np.append(problem.row_lower, value[1] - 20.0),
        np.append(problem.row_upper, value[1] + 20.0),
    )
    check_certificate(left, program.solve())
    assert program.n_rows == m + 1


@given(problems(), st.integers(0, 100_000))
def test_columns_that_come_later_count_like_the_first(problem: Problem, seed: int) -> None:
    n = len(problem.cost)
    first = np.random.default_rng(seed).integers(1, n + 1)
    program = Program(problem.cost[:first], problem.lower[:first], problem.upper[:first])
    if len(problem.matrix):
        # Bounds that any point meets, until all columns are there.
        wide = np.full(len(problem.matrix), 1e3)
        program.add_dense_rows(problem.matrix[:, :first], -wide, wide)
    program.solve()
    program.add_columns(
        problem.cost[first:], problem.lower[first:], problem.upper[first:], sp.csc_array(problem.matrix[:, first:])
    )
    program.set_row_bounds(problem.row_lower, problem.row_upper)
    found = program.solve()
    check_certificate(problem, found)
    program.set_cost(-problem.cost)
    check_certificate(replace(problem, cost=-problem.cost), program.solve())


def test_program_without_rows_takes_the_better_bound() -> None:
    found = Program(np.array([1.0, -2.0, 0.0]), np.array([-1.0, -1.0, 0.0]), np.array([3.0, 3.0, 1.0])).solve()
    assert found.x[:2].tolist() == [3.0, -1.0]
    assert found.value == 5.0
    assert found.duals.shape == (0,)


def test_program_without_an_objective_is_feasible() -> None:
    program = Program(np.zeros(2), np.zeros(2), np.ones(2))
    program.add_dense_rows(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([1.5, -1.0]), np.array([1.5, 0.0]))
    found = program.solve()
    assert found.value == 0
    assert found.x.sum() == pytest.approx(1.5)


@given(problems(open_sides=False), st.sampled_from([1e-9, 1e-6, 1e5]), st.sampled_from([1e-7, 1e4]))
def test_units_do_not_matter(problem: Problem, of_cost: float, of_rows: float) -> None:
    scaled = replace(
        problem,
        cost=problem.cost * of_cost,
        matrix=problem.matrix * of_rows,
        row_lower=problem.row_lower * of_rows,
        row_upper=problem.row_upper * of_rows,
    )
    plain = problem.program().solve().value
    # The proof is absolute, so large units ask for more of it.
    try:
        found = scaled.program().solve().value
    except SolverError:
        assert of_cost > 1 or of_rows > 1
        return
    assert found / of_cost == pytest.approx(plain, abs=1e-6)


@given(problems())
def test_contradiction_is_infeasible_and_can_be_lifted(problem: Problem) -> None:
    program = problem.program()
    row = np.ones((1, len(problem.cost)))
    most = problem.upper.sum()
    program.add_dense_rows(row, np.array([most + 1]), np.array([np.inf]))
    with pytest.raises(InfeasibleError, match="relax"):
        program.solve()
    program.set_row_bounds(np.append(problem.row_lower, -np.inf), np.append(problem.row_upper, np.inf))
    assert program.solve().value == pytest.approx(problem.reference(), abs=1e-6)


def small() -> Program:
    program = Program(np.array([1.0, 1.0]), np.zeros(2), np.ones(2))
    program.add_dense_rows(np.array([[1.0, 2.0]]), np.array([-np.inf]), np.array([2.0]))
    return program


@pytest.mark.parametrize(
    ("name", "says"), [("OPTIMALITY", "below the optimum"), ("FEASIBILITY", "misses a constraint")]
)
def test_what_is_not_proven_is_an_error(monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    assert small().solve().value == pytest.approx(1.5)
    monkeypatch.setattr(proofs, name, -1.0)
    with pytest.raises(SolverError, match=says):
        small().solve()


def test_a_solver_that_gives_up_is_an_error() -> None:
    rng = np.random.default_rng(0)
    program = Program(rng.normal(size=50), np.zeros(50), np.ones(50))
    program.add_dense_rows(rng.normal(size=(20, 50)), np.full(20, -0.1), np.full(20, 0.1))
    program._highs.setOptionValue("simplex_iteration_limit", 1)
    with pytest.raises(SolverError, match="status"):
        program.solve()


def test_what_the_solver_does_not_answer_says_why() -> None:
    program = small()
    assert isinstance(program.draft(), Draft)
    program.set_row_bounds(np.array([4.0]), np.array([5.0]))
    assert program.draft() == Failure(Ending.INFEASIBLE, "HiGHS ended with the status 'Infeasible'")
    rng = np.random.default_rng(0)
    long = Program(rng.normal(size=50), np.zeros(50), np.ones(50))
    long.add_dense_rows(rng.normal(size=(20, 50)), np.full(20, -0.1), np.full(20, 0.1))
    stopped = long.draft(most_iterations=1)
    assert isinstance(stopped, Failure)
    assert stopped.ending is Ending.STOPPED
    # Stopped once, it can go on.
    assert long.prove(stopped).value == pytest.approx(long.solve().value, abs=1e-8)


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([1.0, 0.5], 0.5, None),
        ([1.0, 0.5 - 1e-6], 0.5, "below the optimum"),
        ([1.0, 0.5], 0.4, "below the optimum"),
        ([1.0, 0.5 + 1e-6], 0.5, "misses a constraint"),
        ([1.0, float("nan")], 0.5, "misses a constraint"),
        ([1.0, 0.5], float("nan"), "below the optimum"),
    ],
)
def test_the_proof_stands_on_its_own(x: list[float], y: float, says: str | None) -> None:
    """Maximise x0 + x1 in the unit square where x0 + 2 x1 <= 2."""
    cost, row = np.ones(2), np.array([1.0, 2.0])
    point, duals = np.array([x]), np.array([[y]])
    found = certificates(
        cost,
        (np.zeros(2), np.ones(2)),
        point,
        point @ row[:, None],
        duals,
        cost - duals * row,
        (np.array([[-np.inf]]), np.array([[2.0]])),
    )
    if says is None:
        assert not isinstance(found, Failure)
        assert found[0].value == pytest.approx(1.5)
        assert abs(found[0].gap) <= 1e-12
    else:
        assert isinstance(found, Failure)
        assert says in found.reason


def test_dense_rows_come_first() -> None:
    program = small()
    program.add_sparse_rows(sp.csr_array([[1.0, 0.0]]), np.array([0.0]), np.array([0.5]))
    with pytest.raises(SolverError, match="before sparse"):
        program.add_dense_rows(np.ones((1, 2)), np.zeros(1), np.ones(1))
    assert follow(program, Line(*(np.zeros(2),) * 4), 1.0) is None


@given(problems(open_sides=False), st.integers(0, 100_000))
def test_following_a_line_finds_the_optimum_at_every_point(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = len(problem.matrix)
    line = Line(problem.row_lower, problem.row_upper, -rng.exponential(size=m), rng.exponential(size=m))
    program = problem.program()
    pieces = follow(program, line, 1.0)
    if pieces is None:
        # The way may be lost, not the answer: without rows there is none at all.
        return
    assert pieces[0].start == 0
    assert pieces[-1].stop == 1
    assert all(one.stop == other.start for one, other in itertools.pairwise(pieces))
    at = np.sort(np.concatenate([rng.random(6), [0.0, 1.0], [piece.start for piece in pieces]]))
    found = certify(program, pieces, line, at)
    assert found is not None
    for t, optimum in zip(at.tolist(), found, strict=True):
        here = replace(problem, row_lower=line.lower + t * line.lower_move, row_upper=line.upper + t * line.upper_move)
        check_certificate(here, optimum)
        assert optimum.value == pytest.approx(here.program().solve().value, abs=1e-7)


def test_following_seldom_loses_its_way() -> None:
    rng = np.random.default_rng(1)
    lost = 0
    for _ in range(50):
        matrix = rng.normal(size=(3, 30))
        line = Line(np.zeros(3), np.zeros(3), -np.ones(3), np.ones(3))
        program = Program(rng.normal(size=30), -np.ones(30), np.ones(30))
        program.add_dense_rows(matrix, np.zeros(3), np.zeros(3))
        pieces = follow(program, line, 5.0)
        lost += pieces is None or certify(program, pieces, line, np.linspace(0, 5, 9)) is None
    assert lost == 0


def test_a_wrong_piece_is_not_certified() -> None:
    program = small()
    line = Line(np.array([-1.0]), np.array([1.0]), np.array([0.0]), np.array([1.0]))
    pieces = follow(program, line, 2.0)
    assert pieces is not None
    assert certify(program, pieces, line, np.array([0.5])) is not None
    cheap = [replace(piece, duals=piece.duals * 0) for piece in pieces]
    far = [replace(piece, rest=piece.rest * 0 + 1, basic=piece.basic[:0]) for piece in pieces]
    assert certify(program, cheap, line, np.array([0.5])) is None
    assert certify(program, far, line, np.array([0.5])) is None


def test_what_the_solver_gives_up_on_can_be_proven_infeasible() -> None:
    """A solver that says 'Unknown' of a program without a point is answered by the program of the least miss."""
    program = Program(np.array([1.0, 1.0]), np.zeros(2), np.ones(2))
    program.add_dense_rows(np.array([[1.0, 1.0]]), np.array([2.5]), np.array([3.0]))
    assert program._is_infeasible()
    program.set_row_bounds(np.array([1.5]), np.array([3.0]))
    assert not program._is_infeasible()
