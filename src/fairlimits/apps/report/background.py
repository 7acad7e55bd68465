"""What the last sections of a report say: the map, the limits of the law, the data, what to keep in mind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlimits.apps.report.drawings import Drawing
from fairlimits.apps.report.figures import drawn_groups, law_figure, to_svg
from fairlimits.evaluation import PRICED_AT, Findings, HeldOutFigure

# Parts of the estimate whose learners are named; more are summed up.
_PARTS_NAMED = 4

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
    drawn = drawn_groups(findings)
    picture = law_figure(found.groups, found.law_before, found.law_after, drawn)
    drawing = Drawing("laws", to_svg(picture), rows, broad=True)
    return {"drawing": drawing, "told": _told(found.auc_after), "drawn": len(drawn)}


def _told(auc: HeldOutFigure | None) -> str:
    """Say whether an adversary finds the group, as far as the rows show it."""
    if auc is None:
        return "too few are held out to say whether an adversary finds it"
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
    return {"learners": learners_named(findings.held_out.learners)}


def learners_named(chosen: Mapping[str, list[str]]) -> list[str]:
    """Name the learners of each part of the estimate, or of many parts, those of the label and all others used."""
    parts = {part: " and ".join(members) for part, members in chosen.items()}
    if len(parts) > _PARTS_NAMED:
        first, *rest = parts
        others = dict.fromkeys(member for part in rest for member in chosen[part])
        parts = {first: parts[first], f"{len(rest)} splits of the groups": ", ".join(others)}
    return [f"{part}: {members}" for part, members in parts.items()]


def again(findings: Findings) -> dict[str, Any]:
    """How to make the page again."""
    return {"versions": [f"{name} {number}" for name, number in findings.versions.items()]}
