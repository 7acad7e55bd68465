"""Random programs against a second solver and, where they are small, against exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

import fairlimits as fl
from attack.area import Area, Case

_PRECISION = 1e-7
_RATES = {"DP": (None,), "EOp": (1,), "PE": (0,), "EOd": (0, 1)}


@contextmanager
def _against_linprog(_: Path) -> Iterator[Case]:
    def case(rng: np.random.Generator) -> str | None:
        cells, groups = int(rng.integers(1, 40)), int(rng.integers(2, 5))
        mass = rng.random((cells, groups, 2)) ** float(rng.choice([1, 4, 12]))
        mass[rng.random(mass.shape) < 0.2] = 0
        if not (mass.sum(axis=0) > 0).all():
            return None
        dist = fl.CellDistribution.from_mass(mass)
        chosen = rng.choice(list(_RATES), size=int(rng.integers(1, 4)), replace=False)
        tolerances = {str(name): float(rng.choice([0.0, 0.01, 0.1, rng.random()])) for name in chosen}
        ours = fl.solve(dist, tolerances, aware=True).accuracy
        theirs = _linprog(dist.mass, tolerances)
        if abs(ours - theirs) > _PRECISION:
            return f"{cells} cells, {groups} groups, {tolerances}: {ours!r} against {theirs!r}"
        return None

    yield case


def _linprog(mass: np.ndarray, tolerances: dict[str, float]) -> float:
    """Best accuracy of a rule that sees the group, written down once more without the package."""
    cells, groups, _ = mass.shape
    gain = (mass[:, :, 1] - mass[:, :, 0]).ravel()
    rows, limits = [], []
    for name, tolerance in tolerances.items():
        for label in _RATES[name]:
            part = mass.sum(axis=2) if label is None else mass[:, :, label]
            rates = np.zeros((groups, cells, groups))
            for g in range(groups):
                rates[g, :, g] = part[:, g] / part[:, g].sum()
            for g, h in itertools.permutations(range(groups), 2):
                rows.append((rates[g] - rates[h]).ravel())
                limits.append(tolerance)
    found = linprog(-gain, A_ub=np.array(rows), b_ub=np.array(limits), bounds=(0, 1), method="highs-ds")
    return float(mass[:, :, 0].sum() - found.fun)


@contextmanager
def _against_fractions(_: Path) -> Iterator[Case]:
    def case(rng: np.random.Generator) -> str | None:
        cells = int(rng.integers(1, 5))
        counts = rng.integers(0, 9, (cells, 2, 2))
        if (counts.sum(axis=(0, 2)) == 0).any():
            return None
        tolerance = Fraction(int(rng.integers(0, 6)), 10)
        rule = fl.solve(fl.CellDistribution.from_mass(counts), {"DP": float(tolerance)})
        exact = _best(counts.tolist(), tolerance)
        if abs(rule.accuracy - float(exact)) > _PRECISION:
            return f"{counts.tolist()} at {tolerance}: {rule.accuracy!r} against {exact}"
        return None

    yield case


def _best(counts: list[list[list[int]]], tolerance: Fraction) -> Fraction:
    """Best accuracy of a rule that does not see the group, under demographic parity, over all vertices."""
    total = sum(itertools.chain.from_iterable(itertools.chain.from_iterable(counts)))
    sizes = [sum(sum(cell[g]) for cell in counts) for g in (0, 1)]
    gain = [Fraction(sum(own[1] for own in cell) - sum(own[0] for own in cell), total) for cell in counts]
    base = Fraction(sum(own[0] for cell in counts for own in cell), total)
    slope = [Fraction(sum(cell[0]), sizes[0]) - Fraction(sum(cell[1]), sizes[1]) for cell in counts]
    best = None
    corners = itertools.product((Fraction(0), Fraction(1)), repeat=len(counts))
    for corner in corners:
        gap = sum((a * s for a, s in zip(slope, corner, strict=True)), Fraction(0))
        points = [list(corner)] if abs(gap) <= tolerance else []
        # A vertex that is not a corner of the box has one score between 0 and 1, and lies at a bound of the constraint.
        for free, own in enumerate(slope):
            rest = gap - own * corner[free]
            for edge in (tolerance, -tolerance):
                score = (edge - rest) / own if own else Fraction(-1)
                if 0 <= score <= 1:
                    points.append([score if at == free else value for at, value in enumerate(corner)])
        for point in points:
            value = base + sum((a * s for a, s in zip(gain, point, strict=True)), Fraction(0))
            best = value if best is None else max(best, value)
    assert best is not None
    return best


AREAS = (
    Area("programs, linprog", "the optimum of scipy's linprog, to 1e-7", 4_000, _against_linprog),
    Area("programs, fractions", "the optimum in exact fractions, to 1e-7", 2_000, _against_fractions),
)
