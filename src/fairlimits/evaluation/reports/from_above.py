"""The limit from above in a report: beside what was found, what no rule passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits.data import Dataset, Stream
from fairlimits.evaluation.ceilings import Ceiling, Study
from fairlimits.evaluation.reports.held_out import HeldOut
from fairlimits.evaluation.reports.parts import HeldOutCurve, HeldOutFigure

# Where fewer people have a twin, coarser steps of numeric features are looked for.
_FEW_TWINS = 0.5

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Bracket:
    """What was found on new people, and what no rule passes, with the group hidden.

    Parameters
    ----------
    notions : list of str
        What is constrained; empty for rules without constraint.
    tolerances : list of float
        The tolerances of all points.
    found : list of HeldOutFigure
        Accuracy of the best rules found, on people held out.
    ceiling, upper : list of float
        Estimate of the bound, and what no rule passes with the confidence, all points at once.
    upper_on_twins : list of float or None
        The same for people who have a twin; None where nobody has.
    """

    notions: list[str]
    tolerances: list[float]
    found: list[HeldOutFigure]
    ceiling: list[float]
    upper: list[float]
    upper_on_twins: list[float | None]

    def point(self, tolerance: float) -> int:
        """Which point has a tolerance, or the nearest to it."""
        return int(np.argmin(np.abs(np.array(self.tolerances) - tolerance)))


@dataclass(frozen=True)
class FromAbove:
    """The limit from above: no assumption about the law.

    Parameters
    ----------
    confidence : float
    twins : float
        Share of people who have a twin, alike in all features as rules see them.
    kinds : int
        Number of kinds of people.
    resolution : dict
        Steps in which the rules see numeric features; empty if they see them as they are.
    lost_by_steps : HeldOutFigure or None
        What the best rule found loses by these steps, on people set apart, if they were proposed.
    says_little : bool
        Whether so few people have a twin that the data cannot say what is out of reach.
    brackets : tuple of Bracket
        Without constraint, then notion by notion.
    """

    confidence: float
    twins: float
    kinds: int
    resolution: dict[str, float]
    lost_by_steps: HeldOutFigure | None
    says_little: bool
    brackets: tuple[Bracket, ...]

    def at(self, notion: str | None) -> Bracket:
        """The bracket of a notion, or that of rules without constraint."""
        return next(own for own in self.brackets if own.notions == ([] if notion is None else [notion]))


def find_from_above(data: Dataset | Stream, judged: HeldOut, random_state: int, tell: Progress) -> FromAbove:
    """Find the limit from above for all that was judged with the group hidden.

    Parameters
    ----------
    data : Dataset or Stream
        All people.
    judged : HeldOut
        What was found on those held out.
    random_state : int
        Seed.
    tell : callable
        Told the fraction done and a few words.
    """
    study = Study.of(data, "auto", random_state, tell, enough_twins=_FEW_TWINS)
    free = study.ceiling({}, confidence=CONFIDENCE)
    brackets = [_bracket([], [0.0], [judged.best_hidden], free)]
    for own in judged.curves:
        if own.aware or len(own.notions) > 1:
            continue
        name = own.notions[0]
        top = study.ceiling({name: np.array(own.tolerances)}, confidence=CONFIDENCE)
        brackets.append(_bracket(own.notions, own.tolerances, _figures(own), top))
    lost = None if study.proposal is None else study.proposal.loss
    return FromAbove(
        CONFIDENCE,
        free.twins,
        free.kinds,
        dict(study.resolution),
        None if lost is None else HeldOutFigure(lost.value, lost.low, lost.high),
        free.says_little,
        tuple(brackets),
    )


def _figures(curve: HeldOutCurve) -> list[HeldOutFigure]:
    return [HeldOutFigure(*point) for point in zip(curve.accuracy, curve.low, curve.high, strict=True)]


def _bracket(notions: list[str], tolerances: list[float], found: list[HeldOutFigure], top: Ceiling) -> Bracket:
    twins = np.atleast_1d(top.on_twins.upper).tolist()
    return Bracket(
        list(notions),
        list(tolerances),
        found,
        top.curve.value.tolist(),
        top.curve.upper.tolist(),
        [None if own != own else own for own in twins],
    )
