r"""Rules whose gaps are certified on labels: tolerances that hold for people whom nobody has seen, with a confidence.

Three things stand between a rule's gap on the law and its gap among people: the law is off, what is known of it is
uncertain, and a gap that is small on the law is wide among people about every second time. So the program is solved
with the rates where labels put them, :math:`r_g + \delta_g`, and with room for their standard errors :math:`s_g`,

.. math:: |r_g + \delta_g - r_h - \delta_h| \le \epsilon - c \sqrt{s_g^2 + s_h^2} ,

where :math:`\delta` and s are read off the labels of the estimate's rows, out of fold, for the rule itself: some rounds
bring rule and correction together. The strict rule has c so large that all differences are certified at once
(Bonferroni), the lenient one as small as if there were only one. Between both, mixing their scores, lies the most
lenient rule that is certified (`fairlimits.notions.gap_limits`), and that is the one returned.

Where the strict rule is not certified either, the rows cannot show what is asked. Mixing a rule with a score that is
the same for everybody, which has no gaps, makes gaps and their errors smaller in proportion: any tolerance above 0 can
be certified that way, at a price that has to be asked for. Where tolerances leave hardly any room beside the errors,
a rule for wider ones, mixed so, can be more accurate than the strict rule; who asked for mixing gets the better one.
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

from fairlimits._util.types import Floats
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.limits.attained import plug_in_accuracy
from fairlimits.limits.determinism import Determinism
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.labels import LabelledRows
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.limits.rate_rows import Correction
from fairlimits.limits.rules import Rule
from fairlimits.notions import NOTIONS, Differences, Rate, alike_score

Uncertified = Literal["best", "raise", "constant"]
"""What to do where the rows cannot certify what is asked."""

# Rounds that bring a rule and the correction read off it together; a fourth changes rates by less than 0.001.
_ROUNDS = 3

# Of the correction by labels, how much is tried where all of it leaves no rule; without it there always is one.
_SHARES = (1.0, 0.5, 0.25, 0.0)

# Halvings that find the most lenient rule between two.
_HALVINGS = 12

# The same where rules without coins are searched for, each by a search of its own.
_HALVINGS_WHOLE = 4

# How far tolerances are widened before a rule is mixed with a constant: as little as it takes, and more, where a more
# accurate rule that is mixed with more of the constant may be better.
_WIDENED = (1.02, 1.1, 1.25, 1.6, 2.0, 3.0)


class UncertifiedWarning(UserWarning):
    """The rows are too few to certify the tolerances with the confidence asked for."""


def check_uncertified(choice: str) -> Uncertified:
    """Return the choice if it is one."""
    if choice not in get_args(Uncertified):
        raise InputError(f"uncertified is {choice!r}; give 'best', 'raise' or 'constant'.")
    return cast("Uncertified", choice)


def certify(
    program: FairProgram, rows: LabelledRows, rules: Sequence[Rule], confidence: float, uncertified: Uncertified
) -> tuple[Rule, ...]:
    """For each of some rules, the best on the law, return the most lenient that is certified; warn once for all."""
    found, trouble = [], []
    for rule in rules:
        search = _Search(program, rows, rule, confidence)
        certified = search.run(uncertified)
        found.append(certified if rule.determinism is None else _beside_coins(program, rows, certified, uncertified))
        trouble.extend([] if search.trouble is None else [search.trouble])
    if trouble:
        more = f" So it is at {len(trouble) - 1} more of {len(rules)} points." if len(trouble) > 1 else ""
        warnings.warn(trouble[0] + more, UncertifiedWarning, stacklevel=5)
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
    """The search for one rule, and what has to be said of it; scores are of shape (N,) or (N, G), as the rule's."""

    def __init__(self, program: FairProgram, rows: LabelledRows, rule: Rule, confidence: float) -> None:
        self._program, self._rows, self._rule = program, rows, rule
        self._confidence, self._asked = confidence, dict(rule.tolerances)
        self._whole = rule.determinism is not None
        self.trouble: str | None = None
        self._rates = tuple(dict.fromkeys(rate for name in self._asked for rate in NOTIONS[name].rates))
        plain = self._differences(rule.scores)
        allowed = 1 - confidence
        self._lenient = float(ndtri(1 - allowed))
        self._strict = float(ndtri(1 - allowed / 2 / max(len(plain), 1)))
        if len(rule.groups) > 2:
            # Of a band for all groups each keeps its own part free, and the sum of two is at least their hypotenuse.
            self._strict *= math.sqrt(2)

    def run(self, uncertified: Uncertified) -> Rule:
        if self._certified(self._rule.scores, self._asked):
            return self._made(self._rule.scores)
        strict = self._corrected(self._asked, self._strict, self._rule.scores)
        if self._certified(strict, self._asked):
            lenient = self._made(self._most_lenient(strict, self._asked))
            if uncertified != "constant":
                return lenient
            scores, share, found = self._diluted(1.0)
            return max(lenient, self._made(scores, None, 1 - share, found), key=lambda rule: rule.value)
        widening = self._differences(strict).if_none().widening(self._asked, self._confidence)
        needed = None if math.isinf(widening) else math.ceil(widening**2 * self._rows.n_rows)
        if uncertified == "raise":
            raise InfeasibleError(self._words(strict, needed) + " Give more rows or a wider tolerance.")
        if uncertified == "best":
            self.trouble = self._words(strict, needed) + " The rule that comes nearest is returned."
            return self._made(strict, needed)
        scores, share, found = self._diluted(widening)
        self.trouble = (
            self._words(strict, needed)
            + f" So {1 - share:.0%} of the decisions are left to a score that is the same for everybody."
        )
        return self._made(scores, needed, 1 - share, found)

    def _diluted(self, widening: float) -> tuple[Floats, float, Differences]:
        """The best rule that mixing with a constant certifies, the share of the rule in it, and its differences."""
        constant = np.full_like(
            self._rule.scores, alike_score(self._asked, float(self._rule.distribution.mass[:, :, 1].sum()))
        )
        if self._whole:
            constant = np.rint(constant)
        found = [(constant, 0.0, self._differences(constant))]
        if self._whole:
            return found[0]
        for factor in _WIDENED if math.isfinite(widening) else ():
            wider = {name: factor * widening * eps for name, eps in self._asked.items()}
            scores = self._corrected(wider, self._strict, self._rule.scores)
            if self._certified(scores, wider):
                scores = self._most_lenient(scores, wider)
            own = self._differences(scores)
            share = own.dilution(self._asked, self._confidence)
            found.append((share * scores + (1 - share) * constant, share, own.diluted(share)))
        return max(found, key=lambda own: self._value(own[0]))

    def _most_lenient(self, strict: Floats, tolerances: Mapping[str, float]) -> Floats:
        """Between a certified rule and a lenient one, the most lenient that is certified."""
        lenient = self._corrected(tolerances, self._lenient, strict)
        if self._certified(lenient, tolerances):
            return lenient
        if self._whole:
            return self._most_lenient_whole(strict, tolerances)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self._certified((1 - middle) * strict + middle * lenient, tolerances):
                low = middle
            else:
                high = middle
        return np.asarray((1 - low) * strict + low * lenient)

    def _most_lenient_whole(self, strict: Floats, tolerances: Mapping[str, float]) -> Floats:
        """The same without coins: rules are not mixed, but solved for with less and less room."""
        best, low, high = strict, 0.0, 1.0
        for _ in range(_HALVINGS_WHOLE):
            middle = (low + high) / 2
            tried = self._corrected(tolerances, (1 - middle) * self._strict + middle * self._lenient, strict)
            if self._certified(tried, tolerances):
                best, low = max(best, tried, key=self._value), middle
            else:
                high = middle
        return best

    def _corrected(self, tolerances: Mapping[str, float], reach: float, scores: Floats) -> Floats:
        """The best rule where rates are corrected by labels, with room for `reach` standard errors."""
        for _ in range(_ROUNDS):
            shift, error = self._rows.corrections(self._policy(scores), self._rates)
            margin = {rate: reach * own for rate, own in error.items()}
            scores, whole = self._solved(tolerances, shift, margin)
        return whole() if self._whole else scores

    def _solved(
        self, tolerances: Mapping[str, float], shift: Mapping[Rate, Floats], margin: Mapping[Rate, Floats]
    ) -> tuple[Floats, Callable[[], Floats]]:
        """The best rule with coins, and what finds one near it that does without."""
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
        """Scores of 0 and 1; where none keep to such narrow bounds, those next to a corner of the optimum."""
        x = self._program.whole_scores(solved, tolerances, correction)
        whole = np.rint(solved.x) if x is None else x
        return np.asarray(np.rint(self._program.variables.expand(whole[None])[0]))

    def _differences(self, scores: Floats) -> Differences:
        return self._rows.differences(self._policy(scores), tuple(self._asked))

    def _certified(self, scores: Floats, tolerances: Mapping[str, float]) -> bool:
        return self._differences(scores).chance(tolerances) <= 1 - self._confidence

    def _policy(self, scores: Floats) -> CellPolicy:
        return CellPolicy(self._rule.distribution, scores, self._rule.aware)

    def _value(self, scores: Floats) -> float:
        return replace(self._rule, policy=self._policy(scores), accuracy=self._accuracy(scores)).value

    def _accuracy(self, scores: Floats) -> float:
        return plug_in_accuracy(self._rule.distribution, scores, self._rule.aware)

    def _made(
        self, scores: Floats, rows_needed: int | None = None, diluted: float = 0.0, found: Differences | None = None
    ) -> Rule:
        found = self._differences(scores) if found is None else found
        limits = found.limits(self._asked, self._confidence)
        certified = found.chance(self._asked) <= 1 - self._confidence + 1e-9
        beside = self._rule.determinism
        if beside is not None:
            lost = self._rule.value - self._value(scores)
            beside = replace(beside, cost_at_most=max(beside.cost_at_most + lost, 0.0))
        return replace(
            self._rule,
            policy=self._policy(scores),
            accuracy=self._accuracy(scores),
            determinism=beside,
            guarantee=Guarantee(self._confidence, limits, certified, diluted, rows_needed),
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
