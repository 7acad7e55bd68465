"""Problems (5) and (31) word for word: a variable for every entry of T, solved by `scipy.optimize.linprog`.

Nothing here is taken from the package. Columns of T are cells (aware: cells and groups) with mass, and so are its
rows; the correlation is the largest L1 distance over all pairs of groups, with two inequalities for each absolute
value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from literal import Literal


@dataclass
class LiteralMaps:
    """The program of the maps of one rule.

    Parameters
    ----------
    literal : Literal
        The distribution, and whether the rule sees the group.
    scores : array (N,) or (N, G)
    tolerances : mapping of str to float
    distances : array (N, N) or None
        For distortion; None means that any move costs 1.
    """

    literal: Literal
    scores: np.ndarray
    tolerances: Mapping[str, float]
    distances: np.ndarray | None = None

    def __post_init__(self) -> None:
        lit = self.literal
        people = lit.mass.sum(axis=2)
        if lit.aware:
            self.places = [(i, g) for i in range(lit.N) for g in range(lit.G) if people[i, g] > 0]
        else:
            self.places = [(i, 0) for i in range(lit.N) if people[i].sum() > 0]
        self.n = len(self.places)
        self.s = np.array([self.scores[i, g] if lit.aware else self.scores[i] for i, g in self.places])
        self.groups = [g for g in range(lit.G) if people[:, g].sum() > 0]
        self.pairs = list(combinations(self.groups, 2))
        # P(column j | group g)
        self.law = np.zeros((lit.G, self.n))
        for g in self.groups:
            for j, (i, h) in enumerate(self.places):
                if not lit.aware or h == g:
                    self.law[g, j] = people[i, g] / people[:, g].sum()
        self.weight = np.array([people[i, g] if lit.aware else people[i].sum() for i, g in self.places])
        d = 1 - np.eye(lit.N) if self.distances is None else self.distances
        self.moves = np.array([[d[i, j] for j, _ in self.places] for i, _ in self.places])
        self.size = self.n * self.n + len(self.pairs) * self.n + 1

    def entry(self, i: int, j: int) -> int:
        return i * self.n + j

    def of_scores(self, row: np.ndarray) -> np.ndarray:
        """A linear form of all scores after the map as a form of the entries of T."""
        out = np.zeros(self.size)
        for j, (cell, g) in enumerate(self.places):
            for i in range(self.n):
                out[self.entry(i, j)] += row[self.literal.score(cell, g)] * self.s[i]
        return out

    def constraints(self) -> tuple[list[np.ndarray], list[float], list[np.ndarray], list[float]]:
        upper, bounds, equal, values = [], [], [], []
        for row, bound in self.literal.inequalities(self.tolerances):
            upper.append(self.of_scores(row))
            bounds.append(bound)
        for j in range(self.n):
            row = np.zeros(self.size)
            for i in range(self.n):
                row[self.entry(i, j)] = 1
            equal.append(row)
            values.append(1.0)
        for k, (g, h) in enumerate(self.pairs):
            total = np.zeros(self.size)
            for i in range(self.n):
                at = self.n * self.n + k * self.n + i
                total[at] = 1
                for sign in (1, -1):
                    row = np.zeros(self.size)
                    for j in range(self.n):
                        row[self.entry(i, j)] = sign * (self.law[g, j] - self.law[h, j])
                    row[at] = -1
                    upper.append(row)
                    bounds.append(0.0)
            total[-1] = -1
            upper.append(total)
            bounds.append(0.0)
        return upper, bounds, equal, values

    def objective(self, accuracy_weight: float, correlation_weight: float) -> tuple[float, np.ndarray]:
        constant, row = self.literal.accuracy_form()
        out = accuracy_weight * self.of_scores(row)
        out[-1] -= correlation_weight
        return accuracy_weight * constant, out

    def distortion_row(self) -> np.ndarray:
        out = np.zeros(self.size)
        out[: self.n * self.n] = (self.moves * self.weight).ravel()
        return out

    def _solve(self, cost: np.ndarray, extra: list[tuple[np.ndarray, float]]) -> float | None:
        upper, bounds, equal, values = self.constraints()
        upper, bounds = [*upper, *(row for row, _ in extra)], [*bounds, *(bound for _, bound in extra)]
        answer = linprog(
            cost,
            A_ub=np.array(upper) if upper else None,
            b_ub=np.array(bounds) if bounds else None,
            A_eq=np.array(equal),
            b_eq=np.array(values),
            bounds=[(0, 1)] * (self.n * self.n) + [(0, 2)] * (self.size - self.n * self.n),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.status == 2:
            return None
        assert answer.status == 0, answer.message
        return float(answer.fun)

    def optimum(self, accuracy_weight: float, correlation_weight: float) -> float | None:
        """Largest objective of any map; None if none meets the tolerances."""
        constant, row = self.objective(accuracy_weight, correlation_weight)
        found = self._solve(-row, [])
        return None if found is None else constant - found

    def least_distortion(self, accuracy_weight: float, correlation_weight: float, slack: float = 1e-9) -> float | None:
        """Least distortion of all maps whose objective is within `slack` of the optimum."""
        optimum = self.optimum(accuracy_weight, correlation_weight)
        if optimum is None:
            return None
        constant, row = self.objective(accuracy_weight, correlation_weight)
        return self._solve(self.distortion_row(), [(-row, constant - optimum + slack)])

    def traded(self, accuracy_weight: float, correlation_weight: float, distortion_weight: float) -> float | None:
        """Largest objective less weighted distortion."""
        constant, row = self.objective(accuracy_weight, correlation_weight)
        found = self._solve(distortion_weight * self.distortion_row() - row, [])
        return None if found is None else constant - found
