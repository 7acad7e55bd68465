"""The definitions, written down word for word and slowly: what the package is compared with.

Nothing here is taken from the package. Every rate is an explicit sum over cells, every pair of groups and
every pair of neighbours gives two inequalities, and `scipy.optimize.linprog` solves the result. A score of a
cell (and group) without mass is in no constraint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

GROUP_NOTIONS = ("DP", "EA", "EOp", "PE", "EOd")


@dataclass(frozen=True)
class Hood:
    """Which pairs are compared: a literal twin of ``fairlimits.Neighbourhood``."""

    percentile: float = 3.5
    eta: float | None = None
    theta: float = 1.0
    mode: str = "mean"


@dataclass
class Literal:
    """The program of one distribution, for one kind of rule.

    Parameters
    ----------
    mass : array (N, G, 2)
    aware : bool
    distances : array (N, N), or a list of edges (i, j, d), or None
    hood : Hood
    """

    mass: np.ndarray
    aware: bool = False
    distances: np.ndarray | list[tuple[int, int, float]] | None = None
    hood: Hood = field(default_factory=Hood)

    def __post_init__(self) -> None:
        self.mass = np.asarray(self.mass, dtype=float) / np.sum(self.mass)
        self.N: int
        self.G: int
        self.N, self.G, _ = self.mass.shape

    # A linear form of the scores is (constant, row); the scores are s[i, g], flat, also for unaware rules,
    # where a score is one variable s[i].
    @property
    def size(self) -> int:
        return self.N * self.G if self.aware else self.N

    def score(self, i: int, g: int) -> int:
        return i * self.G + g if self.aware else i

    def probability(self, g: int, labels: Iterable[int], correct: bool) -> tuple[float, np.ndarray] | None:
        """P(decided 1 | A = g, Y in labels), or P(decided Y | ...); None if nobody is there."""
        people = [(i, y, float(self.mass[i, g, y])) for i in range(self.N) for y in labels]
        total = math.fsum(m for _, _, m in people)
        if total == 0:
            return None
        constant, row = 0.0, np.zeros(self.size)
        for i, y, m in people:
            if correct and y == 0:
                constant += m / total
                row[self.score(i, g)] -= m / total
            else:
                row[self.score(i, g)] += m / total
        return constant, row

    def rates(self, notion: str) -> list[list[tuple[float, np.ndarray]]]:
        """For each rate of the notion, its value in every group that has one."""
        among: dict[str, list[tuple[tuple[int, ...], bool]]] = {
            "DP": [((0, 1), False)],
            "EA": [((0, 1), True)],
            "EOp": [((1,), False)],
            "PE": [((0,), False)],
            "EOd": [((1,), False), ((0,), False)],
        }
        found = []
        for labels, correct in among[notion]:
            values = [self.probability(g, labels, correct) for g in range(self.G)]
            found.append([value for value in values if value is not None])
        return found

    def accuracy_form(self) -> tuple[float, np.ndarray]:
        constant, row = 0.0, np.zeros(self.size)
        for i in range(self.N):
            for g in range(self.G):
                constant += self.mass[i, g, 0]
                row[self.score(i, g)] += self.mass[i, g, 1] - self.mass[i, g, 0]
        return constant, row

    def edges(self) -> list[tuple[int, int, float]]:
        """Neighbouring cells i < j with mass, and their distance."""
        if isinstance(self.distances, list):
            near = [(i, j, d) for i, j, d in self.distances if self.hood.eta is None or d <= self.hood.eta]
        else:
            distances = np.asarray(self.distances)
            everything = [(i, j, float(distances[i, j])) for i, j in combinations(range(self.N), 2)]
            eta = self.hood.eta
            if eta is None:
                apart = [d for _, _, d in everything]
                eta = float(np.percentile(apart, self.hood.percentile)) if apart else math.inf
            near = [(i, j, d) for i, j, d in everything if d <= eta]
        filled = self.mass.sum(axis=(1, 2)) > 0
        return [(i, j, d) for i, j, d in near if filled[i] and filled[j]]

    def comparisons(self) -> list[tuple[float, np.ndarray]]:
        """For each pair that individual fairness compares: its distance, and the difference of its scores."""
        found = []
        people = self.mass.sum(axis=2)

        def alone(i: int, g: int) -> np.ndarray:
            row = np.zeros(self.size)
            row[self.score(i, g)] = 1
            return row

        def together(i: int) -> np.ndarray:
            row = np.zeros(self.size)
            for g in range(self.G):
                if people[i, g] > 0:
                    of = people[:, g] if self.hood.mode == "paper" else people[i]
                    row[self.score(i, g)] += people[i, g] / of.sum()
            return row

        if not self.aware:
            return [(d, alone(i, 0) - alone(j, 0)) for i, j, d in self.edges()]
        if self.hood.mode in ("mean", "paper"):
            return [(d, together(i) - together(j)) for i, j, d in self.edges()]
        for i, j, d in self.edges():
            for g in range(self.G):
                for h in range(self.G):
                    if (g == h or self.hood.mode == "all") and people[i, g] > 0 and people[j, h] > 0:
                        found.append((d, alone(i, g) - alone(j, h)))
        if self.hood.mode == "all":
            for i in range(self.N):
                for g, h in combinations(range(self.G), 2):
                    if people[i, g] > 0 and people[i, h] > 0:
                        found.append((0.0, alone(i, g) - alone(i, h)))
        return found

    def inequalities(self, tolerances: Mapping[str, float]) -> list[tuple[np.ndarray, float]]:
        """All constraints as ``row . s <= bound``."""
        rows = []
        for notion, eps in tolerances.items():
            if math.isinf(eps):
                continue
            if notion == "IF":
                for d, row in self.comparisons():
                    nearness = math.exp(-self.hood.theta * d**2) if self.hood.theta * d**2 < 700 else 0.0
                    if nearness > 0:
                        rows += [(row, eps / nearness), (-row, eps / nearness)]
                continue
            for values in self.rates(notion):
                for (c, row), (other_c, other_row) in combinations(values, 2):
                    rows += [(row - other_row, eps - c + other_c), (other_row - row, eps - other_c + c)]
        return rows

    def optimum(self, tolerances: Mapping[str, float]) -> float | None:
        """Best accuracy under the tolerances; None if no rule meets them."""
        constant, row = self.accuracy_form()
        rows = self.inequalities(tolerances)
        answer = linprog(
            -row,
            A_ub=np.array([r for r, _ in rows]) if rows else None,
            b_ub=np.array([b for _, b in rows]) if rows else None,
            bounds=(0, 1),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.status == 2:
            return None
        assert answer.status == 0, answer.message
        return float(constant - answer.fun)

    def flat(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores, dtype=float).reshape(self.size)

    def accuracy(self, scores: np.ndarray) -> float:
        """Probability that the decision is the label, person by person."""
        s = self.flat(scores)
        total = 0.0
        for i in range(self.N):
            for g in range(self.G):
                chance = s[self.score(i, g)]
                total += self.mass[i, g, 1] * chance + self.mass[i, g, 0] * (1 - chance)
        return total

    def gap(self, notion: str, scores: np.ndarray) -> float:
        """Largest violation over all pairs; NaN if there is no pair to compare."""
        s = self.flat(scores)
        if notion == "IF":
            if self.distances is None:
                return math.nan
            return max(
                (math.exp(-min(self.hood.theta * d**2, 745)) * abs(row @ s) for d, row in self.comparisons()),
                default=0.0,
            )
        differences = [
            abs(c + row @ s - other_c - other_row @ s)
            for values in self.rates(notion)
            for (c, row), (other_c, other_row) in combinations(values, 2)
        ]
        return max(differences, default=math.nan)

    def gaps(self, scores: np.ndarray) -> dict[str, float]:
        return {notion: self.gap(notion, scores) for notion in (*GROUP_NOTIONS, "IF")}

    def majority(self) -> float:
        """Accuracy of the majority vote."""
        if self.aware:
            return float(self.mass.max(axis=2).sum())
        return float(self.mass.sum(axis=1).max(axis=1).sum())
