"""How each group fares under the rules of a report, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from fairlimits.evaluation.reports.parts import Figure, HeldOutFigure
from fairlimits.notions import Evaluation


@dataclass(frozen=True)
class GroupLine:
    """One group's held-out rates under a rule; None where too few rows stand behind one, a word if it is suppressed."""

    group: str
    rows: int | str
    figures: dict[str, Figure]


@dataclass(frozen=True)
class GroupGap:
    """Between which groups, and in which rate, a notion's gap lies, and how much of it chance may explain.

    The gap is None where nothing can be compared.
    """

    notion: str
    gap: Figure
    rate: str
    lowest: str
    highest: str
    chance: str


@dataclass(frozen=True)
class Fares:
    """How the groups fare under one rule.

    Parameters
    ----------
    rule : str
        The rule, in words.
    groups : tuple of GroupLine
    gaps : tuple of GroupGap
    four_fifths : str
        What the four-fifths rule says, in a sentence.
    """

    rule: str
    groups: tuple[GroupLine, ...]
    gaps: tuple[GroupGap, ...]
    four_fifths: str

    @classmethod
    def of(cls, rule: str, evaluation: Evaluation) -> Fares:
        """Read them from an evaluation on new people."""
        found = evaluation.by_group
        return cls(
            rule,
            tuple(
                GroupLine(
                    name,
                    found.rows[g] or 0,
                    {figure: HeldOutFigure.of(own[g]) for figure, own in found.shown.items()},
                )
                for g, name in enumerate(found.groups)
            ),
            tuple(
                GroupGap(name, HeldOutFigure.of(own.estimate), own.rate, own.lowest, own.highest, own.chance)
                for name, own in found.gaps.items()
            ),
            found.four_fifths,
        )
