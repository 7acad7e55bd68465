"""What the last sections of a report say: the map, the limits of the law, the data, what to keep in mind."""

from __future__ import annotations

from typing import Any

from fairlimits.apps.report.drawings import Drawing
from fairlimits.apps.report.figures import law_figure, to_svg
from fairlimits.evaluation import PRICED_AT, Findings, HeldOutFigure

# AUC of an adversary who knows nothing, and of one who knows hardly anything.
_GUESSING, _HARDLY_BETTER = 0.5, 0.6


def decorrelation(findings: Findings) -> dict[str, Any]:
    """Decorrelation, before and after; where each group lives, unless cells of few people would be shown."""
    found = findings.held_out.decorrelated
    if isinstance(found.law_before, str) or isinstance(found.law_after, str):
        return {"drawing": None}
    rows = [
        {"group": group, "cell in this order": k, "before": before, "after": after}
        for group, befores, afters in zip(found.groups, found.law_before, found.law_after, strict=True)
        for k, (before, after) in enumerate(zip(befores, afters, strict=True))
    ]
    drawn = law_figure(found.groups, found.law_before, found.law_after)
    return {"drawing": Drawing("laws", to_svg(drawn), rows, broad=True), "told": _told(found.auc_after)}


def _told(auc: HeldOutFigure) -> str:
    """Say whether an adversary finds the group, as far as the rows show it."""
    if auc.low > _GUESSING:
        return "an adversary still finds a trace of it"
    if auc.high < _HARDLY_BETTER:
        return "an adversary does hardly better than by guessing"
    return f"these rows cannot tell: an AUC of up to {auc.high:.2f} is not ruled out"


def exact_limits(findings: Findings) -> dict[str, Any]:
    """Plug-in limits and shadow prices: with the group hidden, then seen, at each tolerance."""
    cells = findings.on_cells
    lines = {
        notion: [
            {"gap": gaps[notion], "prices": [cells.price(notion, tolerance, aware) for tolerance in PRICED_AT]}
            for aware, gaps in ((False, cells.gaps_hidden), (True, cells.gaps_seen))
        ]
        for notion in dict.fromkeys(own.notion for own in cells.prices)
    }
    return {"lines": lines}


def people(findings: Findings) -> dict[str, Any]:
    """Data and groups: all of it is in the findings."""
    return {}


def to_keep_in_mind(findings: Findings) -> dict[str, Any]:
    """Assumptions and limits."""
    return {"learners": [f"{part}: {' and '.join(own)}" for part, own in findings.held_out.learners.items()]}


def again(findings: Findings) -> dict[str, Any]:
    """How to make the page again."""
    return {"versions": [f"{name} {number}" for name, number in findings.versions.items()]}
