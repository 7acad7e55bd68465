"""Systems of weighted graphs: what is solved is what a dense solver finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, cg

from fairlimits.solvers.interior.laplacian import Graph


def random_graph(seed: int, points: int, edges: int) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Edges of very different weights, in no order; some may be there twice."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, points, edges)
    second = (first + rng.integers(1, max(points, 2), edges)) % points
    keep = first != second
    first, second = np.minimum(first, second)[keep], np.maximum(first, second)[keep]
    weights = 10.0 ** rng.uniform(-6, 6, len(first))
    return Graph(points, first, second), weights, 10.0 ** rng.uniform(-6, 2, points)


def dense(graph: Graph, weights: np.ndarray, ground: np.ndarray) -> np.ndarray:
    incidence = np.zeros((len(weights), graph.n_points))
    incidence[np.arange(len(weights)), graph.first] += 1
    incidence[np.arange(len(weights)), graph.second] -= 1
    return incidence.T @ (weights[:, None] * incidence) + np.diag(ground)


seeds, sizes = st.integers(0, 10_000), st.integers(1, 9)


@given(seeds, sizes, st.integers(0, 30))
def test_the_matrix_is_that_of_the_graph(seed: int, points: int, edges: int) -> None:
    graph, weights, ground = random_graph(seed, points, edges)
    whole = dense(graph, weights, ground)
    np.testing.assert_allclose(graph.matrix(weights, ground).toarray(), whole, rtol=1e-12)
    values = np.random.default_rng(seed).normal(size=points)
    flow = weights * graph.differences(values)
    rounding = 1e-13 * float(np.abs(whole).max()) * max(1.0, float(np.abs(values).max()))
    np.testing.assert_allclose(graph.divergence(flow) + ground * values, whole @ values, atol=rounding)


def exactly(matrix: list[list[Fraction]], values: list[Fraction]) -> list[float]:
    """Solve a positive definite system without rounding."""
    n = len(values)
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for at in range(n):
        for below in range(at + 1, n):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [one - factor * other for one, other in zip(rows[below], rows[at], strict=True)]
    found = [Fraction(0)] * n
    for at in reversed(range(n)):
        rest = sum((rows[at][k] * found[k] for k in range(at + 1, n)), Fraction(0))
        found[at] = (rows[at][n] - rest) / rows[at][at]
    return [float(value) for value in found]


@given(seeds, sizes)
def test_a_tree_is_solved_to_the_last_digits(seed: int, points: int) -> None:
    # A path whose edges are heavier than any tie to the ground is in its spanning tree; all ties count.
    rng = np.random.default_rng(seed)
    graph = Graph(points, np.arange(points - 1), np.arange(1, points))
    weights, ground = 10.0 ** rng.uniform(3, 12, points - 1), 10.0 ** rng.uniform(-12, 0, points)
    matrix = [[Fraction(0)] * points for _ in range(points)]
    for point, tie in enumerate(ground.tolist()):
        matrix[point][point] += Fraction(tie)
    for point, weight in enumerate(weights.tolist()):
        for one, other, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
            matrix[point + one][point + other] += sign * Fraction(weight)
    values = rng.random(points)
    found = graph.tree(weights, ground)(values)
    np.testing.assert_allclose(found, exactly(matrix, [Fraction(v) for v in values.tolist()]), rtol=1e-9)


@given(seeds, sizes, st.integers(0, 30))
def test_the_tree_is_the_heaviest(seed: int, points: int, edges: int) -> None:
    """Its inverse is positive definite, and no edge left out is heavier than the way along the tree."""
    graph, weights, ground = random_graph(seed, points, edges)
    solve = graph.tree(weights, ground)
    inverse = np.stack([solve(unit) for unit in np.eye(points)])
    np.testing.assert_allclose(inverse, inverse.T, rtol=1e-6)
    # A tree is less than the whole, so its inverse is more, in the order of quadratic forms.
    values = np.random.default_rng(seed).normal(size=(5, points))
    for each in values:
        image = dense(graph, weights, ground) @ each
        assert image @ solve(image) >= (each @ image) * (1 - 1e-6)


@given(seeds, sizes, st.integers(0, 30))
def test_a_graph_is_solved_with_its_tree_as_preconditioner(seed: int, points: int, edges: int) -> None:
    graph, weights, ground = random_graph(seed, points, edges)
    weights, ground = weights**0.2, ground**0.2
    matrix = graph.matrix(weights, ground)
    values = np.random.default_rng(seed).normal(size=points)
    tree = LinearOperator((points, points), matvec=graph.tree(weights, ground), dtype=np.float64)
    found, unfinished = cg(matrix, values, rtol=1e-10, M=tree)
    assert not unfinished
    np.testing.assert_allclose(matrix @ found, values, atol=1e-8 * max(1.0, float(np.abs(matrix.toarray()).max())))
