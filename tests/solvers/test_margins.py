"""Programs with room for their own errors, against a general solver, and in the ways they can be written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, minimize

from fairlimits._util.types import Floats
from fairlimits.solvers import Compared, Means, solve_with_margins

N = 10


def instance(seed: int, groups: int, seen: bool) -> tuple[Floats, list[Means], Compared]:
    """Each variable's people decided 1 with its score, in groups: as one program, or each with variables of its own."""
    rng = np.random.default_rng(seed)
    gain = rng.normal(0, 1, N * groups if seen else N)
    ones, zeros = rng.dirichlet(np.full(2 * N, 0.5), groups).reshape(groups, 2, N).transpose(1, 0, 2)
    if seed % 2:
        # All count if decided 1.
        ones, zeros = ones + zeros, np.zeros_like(zeros)
    scale = rng.uniform(1e-3, 1e-2, groups)
    shift = rng.normal(0, 0.05, groups)
    first, second = np.triu_indices(groups, 1)
    compared = Compared(first, second, np.full(len(first), 0.1), rng.uniform(1.5, 2.5, len(first)))
    # At one half the means are alike, whatever is added in proportion to how far scores are from it.
    matrix, offset = (ones - zeros) * (1 + shift[:, None]), zeros.sum(axis=1)
    offset = 0.5 - matrix.sum(axis=1) / 2
    if not seen:
        return gain, [Means(np.arange(N), matrix, offset, ones, zeros, scale)], compared
    blocks = [
        Means(np.arange(N) + g * N, *(own[g : g + 1] for own in (matrix, offset, ones, zeros, scale)))
        for g in range(groups)
    ]
    return gain, blocks, compared


def excess(means: list[Means], compared: Compared) -> Callable[[Floats], Floats]:
    """By how much the constraints are exceeded, word for word."""

    def of(x: Floats) -> Floats:
        mean, variance = [], []
        for own in means:
            for g in range(len(own.offset)):
                each = x[own.columns]
                mean.append(own.matrix[g] @ each + own.offset[g])
                values = np.concatenate([each, 1 - each])
                weights = np.concatenate([own.ones[g], own.zeros[g]])
                variance.append(own.scale[g] * (weights @ values**2 - (weights @ values) ** 2))
        found = []
        for i, j, limit, reach in zip(compared.first, compared.second, compared.limit, compared.reach, strict=True):
            error = np.sqrt(max(variance[i] + variance[j], 0.0))
            found.append(abs(mean[i] - mean[j]) + reach * error - limit)
        return np.array(found)

    return of


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_a_general_solver(seed: int, groups: int, seen: bool) -> None:
    gain, means, compared = instance(seed, groups, seen)
    x, weight = solve_with_margins(gain, means, compared)
    over = excess(means, compared)
    assert over(x).max() <= 1e-4
    assert ((x >= 0) & (x <= 1)).all()
    start = 0.5 + 0.02 * np.sign(gain)
    found = minimize(
        lambda y: -gain @ y,
        start,
        jac=lambda _: -gain,
        bounds=[(0, 1)] * len(gain),
        constraints=NonlinearConstraint(over, -np.inf, 0),
        method="SLSQP",
        options={"maxiter": 500},
    )
    if over(found.x).max() <= 1e-6:
        assert gain @ x >= gain @ found.x - 2e-3 * np.abs(gain).sum()
    # Errors cost something only where they bind.
    assert (weight >= 0).all()
    assert weight[over(x) < -0.02].max(initial=0.0) <= 1e-2 * max(weight.max(), 1e-9) + 1e-3


def test_without_errors_it_is_a_linear_program() -> None:
    gain, means, compared = instance(1, 2, seen=False)
    (own,) = means
    free = Means(own.columns, own.matrix, own.offset, own.ones, own.zeros, np.zeros_like(own.scale))
    x, _ = solve_with_margins(gain, [free], compared)
    row = own.matrix[0] - own.matrix[1]
    # The best of a line of thresholds: a linear program of one row has one fractional score.
    assert abs(own.offset[0] - own.offset[1] + row @ x) <= 0.1 + 1e-4
    assert ((x > 1e-2) & (x < 1 - 1e-2)).sum() <= 1


def test_room_that_nothing_needs_costs_nothing() -> None:
    gain, means, compared = instance(3, 3, seen=False)
    wide = Compared(compared.first, compared.second, np.full(len(compared.limit), 5.0), compared.reach)
    x, weight = solve_with_margins(gain, means, wide)
    assert x == pytest.approx((gain > 0).astype(float), abs=5e-3)
    assert weight.max() <= 1e-3
