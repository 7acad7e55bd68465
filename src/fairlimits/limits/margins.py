r"""The best rules that keep room for their own errors: a path of them, from lenient to strict.

Of all rules with

.. math:: |\mu_g - \mu_h| + c_{gh} \sqrt{v_g + v_h} \le \epsilon

for every rate and two groups, the one that is best on the law is found by a convex program (`fairlimits.solvers`).
:math:`\mu` is the rate on the law plus its correction by labels, v the variance of its estimate on labels, and both
change with the rule: less room is needed where decisions depend less on the person. Both are estimated on the labels
for a rule, and again for the rule that follows from them. The correction d, with a standard error s, is shrunk to
:math:`d^2 / (d^2 + s^2)` of itself: the same labels will judge the rule, and one that uses all their noise is nearer to
its tolerance on them than among people. c is changed until the rule is just certified. Of two constraints the one that
costs more gets the smaller c, so that a given chance that any of them fails is reached at the lowest cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtri

from fairlimits._util.types import Floats, Ints
from fairlimits.limits.labels import LabelledRows
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.programs import FairProgram
from fairlimits.notions import NOTIONS, Rate
from fairlimits.solvers import Compared, Means, solve_with_margins

# Most programs solved along a path, and how near, relatively, the chance of failing must come to its aim to stop.
_ROUNDS, _NEAR = 8, 0.1

# Standard errors that room is left for (c): first, least and most.
_FIRST, _LEAST, _MOST = 2.0, 1.2, 4.0

# Damping: the share of each step of c that is taken.
_PART = 0.9

# Variances of people's values below this tell nothing about those under other rules.
_SPREAD = 1e-3

# Squares of differences and errors below this are rounding.
_LEAST_SQUARE = 1e-30

# Most that the squares of two constraints' c may differ, and least cost, relative to the dearest, that counts.
_APART, _COUNTS = 3.0, 0.01


class MarginPath:
    """Rules with room for more and more errors.

    Parameters
    ----------
    program : FairProgram
        The program, for its scores and its objective.
    rows : LabelledRows
        The rows that rules are judged on.
    asked : mapping of str to float
        Tolerances of group notions, above 0.
    policy : callable
        Returns the policy with given scores.
    """

    def __init__(
        self,
        program: FairProgram,
        rows: LabelledRows,
        asked: Mapping[str, float],
        policy: Callable[[Floats], CellPolicy],
    ) -> None:
        self._variables, self._rows, self._policy = program.variables, rows, policy
        self._gain = program.cost[: len(self._variables)]
        limits: dict[Rate, float] = {}
        for name, limit in asked.items():
            for rate in NOTIONS[name].rates:
                limits[rate] = min(limits.get(rate, limit), limit)
        table = self._variables.dist.rates
        self._rates = {rate: table.of(rate) for rate in limits if table.of(rate).defined.sum() > 1}
        self._known = [(rate, g) for rate, own in self._rates.items() for g in np.flatnonzero(own.defined).tolist()]
        if self._variables.group is not None:
            # The mean of a group depends on the scores of its people alone.
            self._known.sort(key=lambda own: own[1])
        self._ones, self._zeros = self._weights()
        self._first, self._second = self._pairs()
        self._limit = np.array([limits[self._known[at][0]] for at in self._first.tolist()])

    def _weights(self) -> tuple[Floats, Floats]:
        """Return shares of people whose value is the score, and one minus the score, of shape (r, n)."""
        own = {
            rate: (self._variables.coefficients(rates.size), self._variables.coefficients(rates.coefficient))
            for rate, rates in self._rates.items()
        }
        size, slope = (np.stack([own[rate][part][g] for rate, g in self._known]) for part in (0, 1))
        return (size + slope) / 2, (size - slope) / 2

    def _pairs(self) -> tuple[Ints, Ints]:
        rate = np.array([list(self._rates).index(own) for own, _ in self._known])
        first, second = np.nonzero(np.triu(rate[:, None] == rate[None], 1))
        return first.astype(np.int64), second.astype(np.int64)

    def rules(self, scores: Floats, chance: Callable[[Floats], float], allowed: float) -> list[Floats]:
        """Return the scores of rules on the path, the last with about the allowed chance of failing."""
        found: list[Floats] = []
        reach, at = _FIRST, scores
        cheaper = np.zeros(len(self._limit))
        for number in range(_ROUNDS):
            x, weight = self._solve(at, np.sqrt(np.maximum(reach**2 - cheaper, 1.0)))
            own = self._variables.expand(x[None])[0]
            failing = chance(own)
            found.append(own)
            near = number > 0 and abs(failing / allowed - 1) < _NEAR
            if near or (failing <= allowed and reach <= _LEAST):
                break
            # The correction changes with the rule: the mean of two rules oscillates less.
            at = (at + own) / 2 if number else own
            cheaper = (cheaper + _cheaper(weight)) / 2 if number else _cheaper(weight)
            # The correction of the first rule is that of another rule, so that its chance says little.
            reach = _next(reach, failing, allowed) if number else reach
        return found

    def _solve(self, scores: Floats, reach: Floats) -> tuple[Floats, Floats]:
        """Return the best rule with room for errors, with labels read for `scores`; and what errors cost."""
        rates = tuple(self._rates)
        shift, error = self._rows.corrections(self._policy(scores), rates)
        x = scores[self._variables.filled]
        matrix, offset = self._ones - self._zeros, self._zeros.sum(axis=1)
        mean = matrix @ x + offset
        spread = self._ones @ x**2 + self._zeros @ (1 - x) ** 2 - mean**2
        added = np.array([shift[rate][g] for rate, g in self._known])
        squared = np.array([error[rate][g] for rate, g in self._known]) ** 2
        scale = squared / np.maximum(spread, _SPREAD)
        believed = added**3 / np.maximum(added**2 + squared, _LEAST_SQUARE)
        for at, (rate, _) in enumerate(self._known):
            size = self._ones[at] + self._zeros[at]
            # The correction scales with how much decisions depend on the person, which is exact for mixtures.
            middle = 0.5 if rate.depends_on_labels else float(size @ x)
            along = size * (x - middle)
            whole = float(along @ (x - middle))
            if whole > _SPREAD**2:
                matrix[at] += believed[at] / whole * along
                offset[at] -= believed[at] / whole * middle * float(along.sum())
        compared = Compared(self._first, self._second, self._limit, reach)
        return solve_with_margins(self._gain, self._means(matrix, offset, scale), compared)

    def _means(self, matrix: Floats, offset: Floats, scale: Floats) -> list[Means]:
        group = self._variables.group
        if group is None:
            columns = np.arange(matrix.shape[1], dtype=np.int64)
            return [Means(columns, matrix, offset, self._ones, self._zeros, scale)]
        found, of = [], np.array([g for _, g in self._known])
        for g in np.unique(of).tolist():
            rows, columns = of == g, np.flatnonzero(group == g).astype(np.int64)
            parts = (own[np.ix_(rows, columns)] for own in (matrix, self._ones, self._zeros))
            own, ones, zeros = (np.ascontiguousarray(part) for part in parts)
            found.append(Means(columns, own, offset[rows], ones, zeros, scale[rows]))
        return found


def _cheaper(weight: Floats) -> Floats:
    """Return by how much the squares of c differ from their mean where errors cost as much as `weight` says.

    A chance of failing is cheapest where the density of each constraint's failing is in proportion to its cost.
    """
    binding = weight > _COUNTS * weight.max(initial=0.0)
    found = np.zeros(len(weight))
    if binding.any():
        own = np.maximum(2 * np.log(weight[binding] / weight.max()), -_APART)
        found[binding] = own - np.average(own, weights=weight[binding])
    return found


def _next(reach: float, failing: float, allowed: float) -> float:
    """Return the next c to try, as if the chance of failing fell with c like the tail of a normal distribution."""
    off = float(ndtri(1 - allowed) - ndtri(1 - np.clip(failing, 1e-5, 0.5)))
    return float(np.clip(reach + _PART * np.clip(off, -0.5, 0.7), _LEAST, _MOST))
