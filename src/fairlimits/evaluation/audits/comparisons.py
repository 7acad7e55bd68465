"""What an audit says of one model: its figures, and where it stands beside the frontier of each notion."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from fairlimits._util.types import Floats
from fairlimits.notions import NOT_ESTIMABLE, Estimate, GroupRates, suppress_rates

NO_LEAD = 5e-4
"""A lead that tables round to 0.0 points is none: rules decide a few people by lot, which costs about as much."""


class BeatenWarning(UserWarning):
    """A model is better than the estimated frontier, beyond what chance explains: the estimate is too low."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Accuracy of the rules we found at each gap of one notion.

    Parameters
    ----------
    notion : str
        The notion.
    gap : ndarray of shape (P,)
        Gaps, from 0.
    accuracy : ndarray of shape (P,)
        Accuracy at each of them, on the rows that the models are judged on.
    low, high : ndarray of shape (P,)
        Ends of its interval; NaN where there is none.
    """

    notion: str
    gap: Floats
    accuracy: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Standing:
    """A model beside the best rule we found that is as fair as the model, on the same rows.

    The loss against the most accurate rule we found, whatever its gaps, is the sum of what is avoidable and what is
    not. Where the model is ahead of the rule, nothing is avoidable, and no rule that we found gains the whole loss.

    Parameters
    ----------
    notions : tuple of str
        The notions in which the rule is as fair as the model: one, or several at once.
    rule_accuracy : Estimate
        The rule's accuracy.
    rule_gaps : mapping of str to Estimate
        The rule's gaps in these notions: at most the model's, or above them by no more than chance explains.
    avoidable : Estimate
        The rule's accuracy less the model's, from paired resamples; below 0 where the model is ahead. For several
        notions at once the rule is one and the same in all resamples, so the interval does not hold the chance in the
        model's gaps.
    unavoidable : Estimate
        Accuracy of the most accurate rule we found less that of this rule, or of the model where it is ahead: what as
        much fairness costs any rule we could find.
    rule_rates : GroupRates or None
        How each group fares under the rule; None where the gap is not estimable.
    """

    notions: tuple[str, ...]
    rule_accuracy: Estimate
    rule_gaps: Mapping[str, Estimate]
    avoidable: Estimate
    unavoidable: Estimate
    rule_rates: GroupRates | None = None

    def suppressed(self, least: int | None, hidden: Collection[str]) -> Standing:
        """Leave out what rests on too few people (see `suppress_rates`)."""
        if self.rule_rates is None:
            return self
        own = suppress_rates(self.rule_rates, least, hidden)
        return replace(self, rule_rates=own, rule_gaps=_shown(self.rule_gaps, own))

    @property
    def name(self) -> str:
        """The notions in one word."""
        return " + ".join(self.notions)

    @property
    def beaten(self) -> bool:
        """Whether the model is more accurate than the rule on these rows, beyond the chance in who they are.

        A rule that is held to several measured gaps at once can fall behind a model by the chance in the gaps too.
        """
        return self.avoidable.high < -NO_LEAD

    @property
    def verdict(self) -> str:
        """What the figures show, in a few words."""
        if not self.avoidable.known:
            return str(self.avoidable)
        if self.beaten:
            return "the model is ahead of the best rule found"
        return "a better rule was found" if above_zero(self.avoidable) else "no clearly better rule was found"


# A difference of exact figures that is smaller than this is rounding.
ROUNDING = 1e-9


def above_zero(difference: Estimate) -> bool:
    """Whether a difference is above 0 beyond chance, or, of exact figures, beyond rounding."""
    return difference.value > ROUNDING if math.isnan(difference.low) else difference.low > 0


def not_estimable(notion: str) -> Standing:
    """The standing of a model whose gap has too few rows behind it."""
    return Standing((notion,), NOT_ESTIMABLE, {notion: NOT_ESTIMABLE}, NOT_ESTIMABLE, NOT_ESTIMABLE)


def _shown(gaps: Mapping[str, Estimate], rates: GroupRates) -> dict[str, Estimate]:
    """Gaps, without those that are suppressed beside the rates of the groups."""
    return {name: rates.gaps[name].estimate if name in rates.gaps else own for name, own in gaps.items()}


@dataclass(frozen=True)
class Reach:
    """The distance of a model from perfect accuracy: what is out of reach, what is reachable, what is unknown.

    Parameters
    ----------
    gaps : mapping of str to float
        Upper limits of the model's gaps, within which rules are meant to stay.
    upper : float
        Accuracy that no rule within these gaps passes.
    twins : float
        Share of people who have a twin, alike in all that a rule sees: what the limit rests on.
    confidence : float
        Of both limits together.
    accuracy, best : float
        Accuracy of the model, and of the better one of the model and the rule that was found to be as fair.
    """

    gaps: Mapping[str, float]
    upper: float
    twins: float
    confidence: float
    accuracy: float
    best: float

    @property
    def out_of_reach(self) -> float:
        """The part of the distance from perfect accuracy that no rule gains."""
        return 1 - max(self.upper, self.best)

    @property
    def reachable(self) -> float:
        """By how much the rule that was found to be as fair is more accurate than the model, at least 0."""
        return self.best - self.accuracy

    @property
    def unknown(self) -> float:
        """Accuracy between the better of both and the limit, where there may be rules, or not."""
        return max(self.upper - self.best, 0.0)

    @property
    def above(self) -> bool:
        """Whether model or rule lie above the limit on the rows that they were judged on."""
        return self.best > self.upper

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "out of reach": self.out_of_reach,
            "found reachable": self.reachable,
            "unknown": self.unknown,
            "no rule passes": self.upper,
            "within gaps of": dict(self.gaps),
            "share with a twin": self.twins,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """Figures of one model.

    Parameters
    ----------
    name : str
        The model's name.
    decided : str
        How its predictions became decisions, in words.
    accuracy : Estimate
        Share of decisions that equal the label.
    loss : Estimate
        Accuracy of the most accurate rule we found, whatever its gaps, less the model's; below 0 if that is higher.
    by_group : GroupRates
        How each group fares under the model.
    gaps : mapping of str to Estimate
        Gap of every group notion; NaN ("not estimable") where no two groups have enough rows to be compared.
    standings : tuple of Standing
        One for each notion that was asked for; NaN where the model's gap is not estimable.
    joint : Standing or None
        The same for all of these notions at once; None if fewer than two can be estimated.
    reach : Reach or None
        What is out of reach at the model's own gaps, what was found reachable, and what is unknown, if it was asked
        for.
    """

    name: str
    decided: str
    accuracy: Estimate
    loss: Estimate
    by_group: GroupRates
    gaps: Mapping[str, Estimate]
    standings: tuple[Standing, ...]
    joint: Standing | None
    reach: Reach | None = None

    def suppressed(self, least: int | None, hidden: Collection[str]) -> AuditedModel:
        """Leave out what rests on too few people (see `suppress_rates`)."""
        own = suppress_rates(self.by_group, least, hidden)
        return replace(
            self,
            by_group=own,
            gaps=_shown(self.gaps, own),
            standings=tuple(standing.suppressed(least, hidden) for standing in self.standings),
            joint=None if self.joint is None else self.joint.suppressed(least, hidden),
        )

    @property
    def lines(self) -> tuple[Standing, ...]:
        """All standings, the joint one last."""
        return self.standings if self.joint is None else (*self.standings, self.joint)

    @property
    def beaten(self) -> tuple[Standing, ...]:
        """Standings in which the model is better than what we found."""
        return tuple(own for own in self.lines if own.beaten)

    @property
    def too_low(self) -> tuple[Standing, ...]:
        """Those of one notion: there our estimate of the limit is too low."""
        return tuple(own for own in self.standings if own.beaten)

    @property
    def deciders(self) -> dict[str, GroupRates]:
        """How each group fares under the model, and under the rule of the headline."""
        rule = None if self.headline is None else self.headline.rule_rates
        return {"model": self.by_group} if rule is None else {"model": self.by_group, "rule as fair": rule}

    @property
    def headline(self) -> Standing | None:
        """The standing that says most: all notions at once, or the one that can be estimated."""
        return self.joint or next((own for own in self.standings if own.avoidable.known), None)
