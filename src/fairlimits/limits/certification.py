r"""Rules whose gaps are certified on labels: tolerances that hold for new people, with a confidence.

Three things stand between a rule's gap on the law and its gap among people: the estimated law is biased, it is
uncertain, and where the law just meets a tolerance, people exceed it about every second time. So rates are taken to be
where labels put them, out of fold, and room is left for their standard errors. The best rule that leaves room for its
own errors is found (`fairlimits.limits.margins`), again and again with less room, and the most lenient one that is
certified (`fairlimits.notions.gap_limits`) is returned.

The strictest rule that is tried has room for all differences at once (Bonferroni). If not even that one is certified,
the rows cannot certify a rule like the one without a confidence. It is the optimum of the linear program with the rates
:math:`r_g + \delta_g` on labels and room for their standard errors :math:`s_g`,

.. math:: |r_g + \delta_g - r_h - \delta_h| \le \epsilon - c \sqrt{s_g^2 + s_h^2} .

Deciding people more alike makes gaps and their errors smaller: any tolerance above 0 can be certified that way, at a
cost that has to be asked for (``uncertified="constant"``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, cast, get_args

import numpy as np
from scipy.special import ndtri

from fairlimits._util.callers import outside
from fairlimits._util.types import Floats
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.limits.attained import plug_in_accuracy
from fairlimits.limits.determinism import Determinism
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.labels import LabelledRows
from fairlimits.limits.margins import MarginPath
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.limits.rate_rows import Correction
from fairlimits.limits.rules import Rule
from fairlimits.notions import NOTIONS, Differences, Rate, alike_score

Uncertified = Literal["best", "raise", "constant"]
"""What to do where the rows cannot certify what is asked."""

# Rounds of solving for a rule and computing its correction; a fourth changes rates by less than 0.001.
_ROUNDS = 3

# Shares of the correction by labels that are tried in turn until there is a rule; without any there always is one.
_SHARES = (1.0, 0.5, 0.25, 0.0)

# Steps of the bisection for the most lenient rule between two.
_HALVINGS = 12

# The same for rules without coins, where each step is a search of its own.
_HALVINGS_WHOLE = 4

# Largest share of decisions that may be independent of the person unless more is asked for.
_MOST_LEFT_OPEN = 0.05

# The smallest tolerance in which room can be left, and how far inside its tolerances a mixture stays.
_LEAST_TOLERANCE, _WITHIN = 1e-6, 1e-6


class UncertifiedWarning(UserWarning):
    """The rows are too few to certify the tolerances with the confidence asked for."""


def check_uncertified(choice: str) -> Uncertified:
    """Return the choice if it is a valid one."""
    if choice not in get_args(Uncertified):
        raise InputError(f"uncertified is {choice!r}; give 'best', 'raise' or 'constant'.")
    return cast("Uncertified", choice)


def certify(
    program: FairProgram, rows: LabelledRows, rules: Sequence[Rule], confidence: float, uncertified: Uncertified
) -> tuple[Rule, ...]:
    """Return for each rule, the best on the law, the most lenient that is certified; warn once for all."""
    found, trouble = [], []
    for rule in rules:
        search = _Search(program, rows, rule, confidence)
        certified = search.run(uncertified)
        found.append(certified if rule.determinism is None else _beside_coins(program, rows, certified, uncertified))
        trouble.extend([] if search.trouble is None else [search.trouble])
    if trouble:
        more = f" So it is at {len(trouble) - 1} more of {len(rules)} points." if len(trouble) > 1 else ""
        warnings.warn(trouble[0] + more, UncertifiedWarning, stacklevel=outside())
    return tuple(found)


def _beside_coins(program: FairProgram, rows: LabelledRows, rule: Rule, uncertified: Uncertified) -> Rule:
    """Put the rule with coins and with the same confidence beside one without."""
    guarantee, beside = rule.guarantee, rule.determinism
    assert guarantee is not None
    assert beside is not None
    tolerances = dict(rule.tolerances)
    x = program.scores(program.solve(tolerances), tolerances)
    scores = np.asarray(program.variables.expand(x[None])[0])
    free = replace(
        rule, policy=replace(rule.policy, scores=scores), accuracy=program.variables.accuracy(x), determinism=None
    )
    with_coins = _Search(program, rows, free, guarantee.confidence).run(
        "best" if uncertified == "raise" else uncertified
    )
    return replace(rule, determinism=Determinism.beside(with_coins, beside.cost_at_most, guarantee.confidence))


class _Search:
    """The search for one certified rule, and its warning; scores have the shape of the rule's, (N,) or (N, G)."""

    def __init__(self, program: FairProgram, rows: LabelledRows, rule: Rule, confidence: float) -> None:
        self._program, self._rows, self._rule = program, rows, rule
        self._confidence, self._asked = confidence, dict(rule.tolerances)
        self._whole = rule.determinism is not None
        self.trouble: str | None = None
        self._rates = tuple(dict.fromkeys(rate for name in self._asked for rate in NOTIONS[name].rates))
        plain = self._differences(rule.scores)
        allowed = 1 - confidence
        self._lenient = float(ndtri(1 - allowed))
        strict = float(ndtri(1 - allowed / 2 / max(len(plain), 1)))
        # In the one band of more than two groups, each keeps its margin / sqrt(2), which may be too little for two that
        # differ; times sqrt(2), the sum of two margins is at least the root of their summed squares.
        self._strict = (strict,) if len(rule.groups) == 2 else (strict, math.sqrt(2) * strict)

    def run(self, uncertified: Uncertified) -> Rule:
        plain = self._rule.scores
        if self._certified(plain):
            return self._made(plain)
        strict = self._strictest()
        if self._certified(strict):
            return self._mixed([strict]) if uncertified == "constant" else self._made(self._without_lots(strict))
        widening = self._differences(strict).if_none().widening(self._asked, self._confidence)
        needed = None if math.isinf(widening) else math.ceil(widening**2 * self._rows.n_rows)
        if uncertified == "raise":
            raise InfeasibleError(self._words(strict, needed) + " Give more rows or a wider tolerance.")
        if uncertified == "best":
            self.trouble = self._words(strict, needed) + " The rule that comes nearest is returned."
            return self._made(strict, needed)
        mixed = self._mixed([], needed)
        assert mixed.guarantee is not None
        share = f" So {mixed.guarantee.diluted:.0%} of the decisions do not depend on the person."
        self.trouble = self._words(strict, needed) + share
        return mixed

    def _mixed(self, certified: list[Floats], needed: int | None = None) -> Rule:
        """Return the best certified rule found, however many decisions it leaves to a lot."""
        if self._whole:
            scores = self._most_lenient_whole(certified[0]) if certified else self._constant()
        else:
            scores = self._best([*certified, *self._path()])
        return self._made(scores, needed, self._left_open(scores))

    def _without_lots(self, strict: Floats) -> Floats:
        """Return the best certified rule found that leaves hardly more to a lot than the rule without a confidence."""
        if self._whole:
            return self._most_lenient_whole(strict)
        few = [own for own in self._path() if self._left_open(own) <= _MOST_LEFT_OPEN]
        return self._best([strict, self._corrected(self._lenient, strict), *few])

    def _strictest(self) -> Floats:
        """Return the best rule with room for all differences at once (Bonferroni); it may still not be certified."""
        for reach in self._strict:
            scores = self._corrected(reach, self._rule.scores)
            if self._certified(scores):
                break
        return scores

    def _path(self) -> list[Floats]:
        """Return rules with room for their own errors; none where a tolerance leaves no room."""
        if min(self._asked.values()) <= _LEAST_TOLERANCE:
            return []
        path = MarginPath(self._program, self._rows, self._asked, self._policy)
        return path.rules(
            self._rule.scores, lambda own: self._differences(own).chance(self._asked), 1 - self._confidence
        )

    def _best(self, path: list[Floats]) -> Floats:
        """Return the best certified mixture: of two rules on a path, or of one with the constant."""
        certified = [own for own in path if self._certified(own)]
        if not certified:
            mixed = [self._constant()]
            for own in path:
                # A little less than the share at which the test begins to fail, so that it passes.
                share = (1 - _WITHIN) * self._differences(own).dilution(self._asked, self._confidence)
                mixed.append(share * own + (1 - share) * mixed[0])
            return max((own for own in mixed if self._certified(own)), key=self._value)
        best = max(certified, key=self._value)
        least = self._value(best)
        lenient = [own for own in path if self._value(own) > least]
        if not lenient:
            return best
        return self._most_lenient(best, min(lenient, key=lambda own: self._differences(own).chance(self._asked)))

    def _constant(self) -> Floats:
        """Return the scores that decide everybody alike."""
        score = alike_score(self._asked, float(self._rule.distribution.mass[:, :, 1].sum()))
        constant = np.full_like(self._rule.scores, score)
        return np.rint(constant) if self._whole else constant

    def _left_open(self, scores: Floats) -> float:
        """Return the share of decisions that do not depend on the person, beyond the rule without a confidence."""

        def by_lot(own: Floats) -> float:
            lot = 2 * np.minimum(own, 1 - own)
            held = self._rule.distribution.mass.sum(axis=2)
            return float((lot * (held if own.ndim == 2 else held.sum(axis=1))).sum())

        plain = self._rule.scores
        alike = 1 - float(np.ptp(scores)) / max(float(np.ptp(plain)), 1e-12)
        return min(max(by_lot(scores) - by_lot(plain), alike, 0.0), 1.0)

    def _most_lenient(self, strict: Floats, lenient: Floats) -> Floats:
        """Return the most lenient certified mixture of a certified rule and a lenient one."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self._certified((1 - middle) * strict + middle * lenient):
                low = middle
            else:
                high = middle
        return np.asarray((1 - low) * strict + low * lenient)

    def _most_lenient_whole(self, strict: Floats) -> Floats:
        """Return the same without coins: rules are not mixed, but solved for with less and less room."""
        best, low, high = strict, 0.0, 1.0
        for _ in range(_HALVINGS_WHOLE):
            middle = (low + high) / 2
            tried = self._corrected((1 - middle) * self._strict[-1] + middle * self._lenient, strict)
            if self._certified(tried):
                best, low = max(best, tried, key=self._value), middle
            else:
                high = middle
        return best

    def _corrected(self, reach: float, scores: Floats) -> Floats:
        """Return the best rule with rates corrected by labels, and room for `reach` standard errors."""
        for _ in range(_ROUNDS):
            shift, error = self._rows.corrections(self._policy(scores), self._rates)
            scores, whole = self._solved(shift, {rate: reach * each for rate, each in error.items()})
        return whole() if self._whole else scores

    def _solved(
        self, shift: Mapping[Rate, Floats], margin: Mapping[Rate, Floats]
    ) -> tuple[Floats, Callable[[], Floats]]:
        """Return the best rule with coins, and a function that finds one without coins near it."""
        tolerances = self._asked
        for share in _SHARES:
            correction = Correction({rate: share * own for rate, own in shift.items()}, margin)
            try:
                found = self._program.solve(tolerances, correction)
            except InfeasibleError:
                continue
            x = self._program.scores(found, tolerances, correction)
            scores = np.asarray(self._program.variables.expand(x[None])[0])
            return scores, partial(self._without_coins, found, tolerances, correction)
        raise AssertionError("Deciding everybody by the same coin meets every tolerance.")

    def _without_coins(self, solved: Solved, tolerances: Mapping[str, float], correction: Correction) -> Floats:
        """Return scores of 0 and 1; if none keep the narrow bounds, those next to a vertex of the optimum."""
        x = self._program.whole_scores(solved, tolerances, correction)
        whole = np.rint(solved.x) if x is None else x
        return np.asarray(np.rint(self._program.variables.expand(whole[None])[0]))

    def _differences(self, scores: Floats) -> Differences:
        return self._rows.differences(self._policy(scores), tuple(self._asked))

    def _certified(self, scores: Floats) -> bool:
        return self._differences(scores).chance(self._asked) <= 1 - self._confidence

    def _policy(self, scores: Floats) -> CellPolicy:
        return CellPolicy(self._rule.distribution, scores, self._rule.aware)

    def _value(self, scores: Floats) -> float:
        return replace(self._rule, policy=self._policy(scores), accuracy=self._accuracy(scores)).value

    def _accuracy(self, scores: Floats) -> float:
        return plug_in_accuracy(self._rule.distribution, scores, self._rule.aware)

    def _made(self, scores: Floats, rows_needed: int | None = None, diluted: float = 0.0) -> Rule:
        limits = self._differences(scores).limits(self._asked, self._confidence)
        beside = self._rule.determinism
        if beside is not None:
            lost = self._rule.value - self._value(scores)
            beside = replace(beside, cost_at_most=max(beside.cost_at_most + lost, 0.0))
        return replace(
            self._rule,
            policy=self._policy(scores),
            accuracy=self._accuracy(scores),
            determinism=beside,
            guarantee=Guarantee(self._confidence, limits, self._certified(scores), diluted, rows_needed),
        )

    def _words(self, strict: Floats, needed: int | None) -> str:
        limits = self._differences(strict).limits(self._asked, self._confidence)
        asked = ", ".join(
            f"{name} within {eps:g} (at most {limits[name]:.3f})"
            for name, eps in self._asked.items()
            if limits[name] > eps
        )
        more = "no number of rows could" if needed is None else f"about {needed:,} could"
        return f"The {self._rows.n_rows:,} rows cannot certify with confidence {self._confidence:g}: {asked}; {more}."
