"""What an audit says of one model: its figures, and where it stands beside the frontier of each notion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairlimits._util.types import Floats
from fairlimits.notions import NOT_ESTIMABLE, Estimate

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
    not.

    Parameters
    ----------
    notions : tuple of str
        The notions in which the rule is as fair as the model: one, or several at once.
    rule_accuracy : Estimate
        The rule's accuracy.
    rule_gaps : mapping of str to Estimate
        The rule's gaps in these notions: at most the model's, or above them by no more than chance explains.
    avoidable : Estimate
        The rule's accuracy less the model's, from paired resamples. For several notions at once the rule is one and the
        same in all resamples, so the interval does not hold the chance in the model's gaps.
    unavoidable : Estimate
        Accuracy of the most accurate rule we found less that of this rule: what as much fairness costs any rule we
        could find.
    """

    notions: tuple[str, ...]
    rule_accuracy: Estimate
    rule_gaps: Mapping[str, Estimate]
    avoidable: Estimate
    unavoidable: Estimate

    @property
    def name(self) -> str:
        """The notions in one word."""
        return " + ".join(self.notions)

    @property
    def beaten(self) -> bool:
        """Whether the model is better than the rule beyond what chance explains, at its gap in one notion.

        A rule that is held to several measured gaps at once can fall behind a model by the chance in them.
        """
        return len(self.notions) == 1 and self.avoidable.high < -NO_LEAD


def not_estimable(notion: str) -> Standing:
    """The standing of a model whose gap has too few rows behind it."""
    return Standing((notion,), NOT_ESTIMABLE, {notion: NOT_ESTIMABLE}, NOT_ESTIMABLE, NOT_ESTIMABLE)


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
    gaps : mapping of str to Estimate
        Gap of every group notion; NaN ("not estimable") where no two groups have enough rows to be compared.
    standings : tuple of Standing
        One for each notion that was asked for; NaN where the model's gap is not estimable.
    joint : Standing or None
        The same for all of these notions at once; None if fewer than two can be estimated.
    """

    name: str
    decided: str
    accuracy: Estimate
    gaps: Mapping[str, Estimate]
    standings: tuple[Standing, ...]
    joint: Standing | None

    @property
    def lines(self) -> tuple[Standing, ...]:
        """All standings, the joint one last."""
        return self.standings if self.joint is None else (*self.standings, self.joint)

    @property
    def beaten(self) -> tuple[Standing, ...]:
        """Standings in which the model is better than what we found: there our estimate is too low."""
        return tuple(own for own in self.standings if own.beaten)

    @property
    def headline(self) -> Standing | None:
        """The standing that says most: all notions at once, or the one that can be estimated."""
        return self.joint or next((own for own in self.standings if own.avoidable.known), None)
