r"""The best rules that keep room for their own errors: a path of them, from lenient to strict.

Of all rules with

.. math:: |\mu_g - \mu_h| + c_{gh} \sqrt{v_g + v_h} \le \epsilon

for every rate and two groups, the one that is best on the law is found by a convex program (`fairlimits.solvers`).
:math:`\mu` is the rate on the law and what labels add to it, v the variance of its estimate on labels, and both change
with the rule: less room is needed where decisions depend less on the person. Both are read off the labels for a rule,
and again for the rule that comes of it. What labels add, d with a standard error s, is believed to a part of
:math:`d^2 / (d^2 + s^2)`: they will judge the rule, and one that makes use of all that they say by chance is nearer to
its tolerance on them than among people. c is moved until the rule is just certified. Of two constraints that cost
differently the dearer one gets the smaller c: so the chance that one of them fails is to be had at the lowest cost.
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

# Programs that are solved along a path, and how near to its aim a chance has to be to stop.
_ROUNDS, _NEAR = 8, 0.1

# Standard errors that room is left for: at first, at least and at most.
_FIRST, _LEAST, _MOST = 2.0, 1.2, 4.0

# Of the way to the next number of them, what is gone.
_PART = 0.9

# Variances of people's values below this say nothing about those of other rules.
_SPREAD = 1e-3

# Squares of differences and errors below this are rounding.
_LEAST_SQUARE = 1e-30

# How far the squares of two constraints' c may be apart, and from which part of the dearest one on they count.
_APART, _COUNTS = 3.0, 0.01


class MarginPath:
    """Rules with room for more and more errors.

    Parameters
    ----------
    program : FairProgram
        The question, for its scores and its objective.
    rows : LabelledRows
        The rows that rules are judged on.
    asked : mapping of str to float
        Tolerances of group notions, above 0.
    policy : callable
        From scores to the policy that has them.
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
            # Means of a group depend on the scores of its people alone.
            self._known.sort(key=lambda own: own[1])
        self._ones, self._zeros = self._weights()
        self._first, self._second = self._pairs()
        self._limit = np.array([limits[self._known[at][0]] for at in self._first.tolist()])

    def _weights(self) -> tuple[Floats, Floats]:
        """Shares of people whose value is the score, and one less the score, of shape (r, n)."""
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
        """Scores of rules on the path, the last of them with a chance of failing of about what is allowed."""
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
            # What labels say changes with the rule: a mean of two goes back and forth less.
            at = (at + own) / 2 if number else own
            cheaper = (cheaper + _cheaper(weight)) / 2 if number else _cheaper(weight)
            # The first rule is read off the labels of another, so that its chance says little.
            reach = _next(reach, failing, allowed) if number else reach
        return found

    def _solve(self, scores: Floats, reach: Floats) -> tuple[Floats, Floats]:
        """The best rule with room for some errors, where labels are read for some scores; and what errors cost."""
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
            # What labels add is in proportion to how far decisions depend on the person, as it is for mixtures.
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
    """By how much the squares of c differ from their mean where errors cost as much as `weight` says.

    The least cost for a chance is where the density of each constraint's failing is in proportion to its cost.
    """
    binding = weight > _COUNTS * weight.max(initial=0.0)
    found = np.zeros(len(weight))
    if binding.any():
        own = np.maximum(2 * np.log(weight[binding] / weight.max()), -_APART)
        found[binding] = own - np.average(own, weights=weight[binding])
    return found


def _next(reach: float, failing: float, allowed: float) -> float:
    """The next c to try: a standard error more of it makes failing as much rarer as a normal distribution says."""
    off = float(ndtri(1 - allowed) - ndtri(1 - np.clip(failing, 1e-5, 0.5)))
    return float(np.clip(reach + _PART * np.clip(off, -0.5, 0.7), _LEAST, _MOST))
