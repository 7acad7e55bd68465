"""What the comparison of solvers says of its own figures, and that both sides of it solve the same programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.ablation import room
from benchmarks.ablation.highs import Attempt
from benchmarks.ablation.lines import Line, read
from benchmarks.ablation.pages import conclusions, markdown

from fairlimits._util.types import Floats
from fairlimits.solvers import Compared, Means


def test_the_best_other_is_proven_and_the_ratio_its_own() -> None:
    others = {"fast": Attempt(0.1, None, "stopped"), "right": Attempt(4.0, 1.0), "slow": Attempt(9.0, 1.0)}
    line = Line("ours", "a program", Attempt(1.0, 1.0), others)
    assert line.best == "right"
    assert line.ratio == pytest.approx(4.0)


def test_a_ratio_of_methods_that_were_stopped_is_a_bound() -> None:
    others = {name: Attempt(seconds, None, "stopped") for name, seconds in (("one", 2.0), ("other", 8.0))}
    line = Line("ties", "a program", Attempt(2.0, 1.0), others)
    assert (line.best, line.ratio) == ("other", 4.0)
    assert "| > 4.0 |" in markdown({"ties": [line]})


def test_the_page_is_what_was_measured() -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmarks" / "ablation.md"
    assert markdown() in page.read_text(encoding="utf-8")
    assert len(conclusions(read())) == len(read())


def small(seen: bool) -> room.Question:
    """Two groups on a few cells, with room for errors that binds."""
    rng = np.random.default_rng(3)
    ones, zeros = rng.dirichlet(np.full(16, 0.5), 2).reshape(2, 2, 8).transpose(1, 0, 2)
    matrix, offset, scale = ones - zeros, zeros.sum(axis=1), np.array([2e-3, 5e-3])
    compared = Compared(np.array([0]), np.array([1]), np.array([0.1]), np.array([1.6]))
    if not seen:
        means = [Means(np.arange(8), matrix, offset, ones, zeros, scale)]
        return room.Question(rng.normal(size=8), means, compared)
    means = [
        Means(np.arange(8) + 8 * g, *(own[g : g + 1] for own in (matrix, offset, ones, zeros, scale))) for g in (0, 1)
    ]
    return room.Question(rng.normal(size=16), means, compared)


@pytest.mark.parametrize("seen", [False, True])
def test_all_methods_solve_the_same_program(seen: bool) -> None:
    question = small(seen)
    x, dual = room.ours(question)
    missed, lost = question.proof(x, dual)
    assert missed <= 1e-4
    assert abs(lost) <= 1e-3
    cut, _ = room.by_cuts(question, 1e-6)
    assert question.gain @ cut == pytest.approx(float(question.gain @ x), abs=1e-3 * question.unit)
    # What is given to solvers of cones admits the same points.
    cost, matrix, right, plain, sizes = room.cones(question)
    assert plain + sum(sizes) == len(right) == matrix.shape[0]
    value, _ = question.linearised(cut)
    room_left = right - matrix @ _with_errors(question, cut)
    heads = np.cumsum([plain, *sizes])[:-1]
    for head, size in zip(heads.tolist(), sizes, strict=True):
        assert room_left[head] - np.linalg.norm(room_left[head + 1 : head + size]) >= -2e-6 / 1.6
    assert -cost @ _with_errors(question, cut) * question.unit == pytest.approx(float(question.gain @ cut))
    assert value.max() <= 1e-6


def _with_errors(question: room.Question, x: Floats) -> Floats:
    """The point with the means of people's values, and the standard errors, behind it."""
    means = [own.ones @ x[own.columns] + own.zeros @ (1 - x[own.columns]) for own in question.means]
    errors = [np.sqrt(own.values(x)[1]) for own in question.means]
    return np.concatenate([x, *means, *errors])
