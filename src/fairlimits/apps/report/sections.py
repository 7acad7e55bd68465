"""What the sections of a report below its first screen say, each as the plain data of its template."""

from __future__ import annotations

from typing import Any

from fairlimits._util.names import in_a_sentence
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits.apps.report.drawings import Drawing
from fairlimits.apps.report.figures import (
    bracket_figure,
    drawn_groups,
    frontier_figure,
    individual_figure,
    pair_figure,
    rule_figure,
    shift_figure,
    tension_figure,
    to_svg,
)
from fairlimits.evaluation import PRICED_AT, Affected, Figure, Findings, HeldOutCurve, HeldOutFigure

# Features of a typical person that a table has room for.
_FEATURES_SHOWN = 6

# Tolerance that is spoken of.
_LOOSE = 0.05

# Groups named among the people who are decided otherwise.
_GROUPS_SHOWN = 3
_FEWEST_SHOWN = 0.005

# Heads of the rates of groups, short enough for all of them to stand side by side.
_RATES = {
    "base rate": "label 1",
    "selection rate": "selected",
    "true positive rate": "TPR",
    "false positive rate": "FPR",
    "accuracy": "accuracy",
    "precision": "precision",
    "selection ratio": "ratio",
}


def _asked(findings: Findings) -> list[str]:
    """The tolerances of the four situations, in words."""
    return [f"{name} at most {value:g}" for name, value in findings.held_out.tolerances.items()]


def situations(findings: Findings) -> dict[str, Any]:
    """The four situations, with intervals."""
    held = findings.held_out
    gaps = [name for name in held.tolerances if name != "IF"]
    heads = ["Situation", "plug-in, %", "held out, %", *(f"gap {name}, %" for name in gaps), "correlation left"]
    rows = [
        {
            "situation": own.name,
            "plug-in": own.plug_in,
            "accuracy": own.accuracy.value,
            "low": own.accuracy.low,
            "high": own.accuracy.high,
            "correlation": own.correlation,
        }
        for own in held.situations
    ]
    return {"asked": _asked(findings), "heads": heads, "gaps": gaps, "rows": rows}


def asked_for(findings: Findings) -> dict[str, Any] | None:
    """The rule that was asked for besides, if there was one."""
    held = findings.held_out
    found = held.asked_for
    if found is None:
        return None
    shows_accuracy = found.objective != "accuracy"
    gaps = [name for name in held.tolerances if name in found.rules[0].gaps]
    goal = "cost of a person" if found.is_cost else f"{found.objective}, %"
    heads = ["Group", goal, *(["accuracy, %"] if shows_accuracy else [])]
    heads += [*(f"gap {name}, %" for name in gaps), *(f"{text}, %" for text in found.rules[0].attained)]
    rows = [
        {"group": "seen" if own.aware else "hidden", "what": name, "value": each.value, "low": each.low}
        | {"high": each.high}
        for own in found.rules
        for name, each in {found.objective: own.value, "accuracy": own.accuracy, **own.gaps, **own.attained}.items()
        if isinstance(each, HeldOutFigure)
    ]
    return {
        "found": found,
        "asked": [*_asked(findings), *found.requirements],
        "heads": heads,
        "shows_accuracy": shows_accuracy,
        "gaps": gaps,
        "rows": rows,
    }


def in_words(findings: Findings) -> dict[str, Any]:
    """The rules of the chosen tolerances in words, with a picture of who changes where any group may be shown."""
    rules = []
    for own in findings.explained:
        identity = f"changes-{'seen' if own.aware else 'hidden'}"
        rows = [
            {"group": group, **{name: share[g] for name, share in own.changed.items()}}
            for g, group in enumerate(own.groups)
        ]
        drawing = Drawing(identity, to_svg(rule_figure(own)), rows) if own.groups else None
        rules.append({"aware": own.aware, "sentences": own.sentences, "drawing": drawing})
    return {"asked": _asked(findings), "rules": rules}


def fares(findings: Findings) -> dict[str, Any]:
    """How each group fares, rule by rule."""
    rows: list[dict[str, Any]] = [
        {"rule": own.rule, "group": line.group, "people": line.rows}
        | {key: value for name, figure in line.figures.items() for key, value in _ends(name, figure).items()}
        for own in findings.held_out.fares
        for line in own.groups
    ]
    return {"rates": _RATES, "rows": rows}


def _ends(name: str, figure: Figure) -> dict[str, Any]:
    """A figure and the ends of its interval; the word that stands for it, or nothing, in its place."""
    known = isinstance(figure, HeldOutFigure)
    value, low, high = (figure.value, figure.low, figure.high) if known else (figure, None, None)  # type: ignore[union-attr]
    return {name: value, f"{name}, low": low, f"{name}, high": high}


def _curve_rows(curves: list[HeldOutCurve]) -> list[dict[str, Any]]:
    return [
        {
            "notions": " + ".join(own.notions),
            "group": "seen" if own.aware else "hidden",
            "tolerance": own.tolerances[k],
            "plug-in accuracy": own.plug_in[k],
            "held-out accuracy": own.accuracy[k],
            "low": own.low[k],
            "high": own.high[k],
            "largest held-out gap": _largest([gaps[k] for gaps in own.gaps.values()]),
        }
        for own in curves
        for k in range(len(own.tolerances))
    ]


def _largest(gaps: list[float | str | None]) -> float | str:
    """The largest of some gaps; a word if one of them is suppressed, nothing if none is estimable."""
    if any(isinstance(own, str) for own in gaps):
        return SUPPRESSED_TEXT
    return max((own for own in gaps if isinstance(own, float)), default="")


def frontiers(findings: Findings) -> dict[str, Any]:
    """Frontiers of single notions."""
    rows = _curve_rows([own for own in findings.held_out.curves if len(own.notions) == 1])
    return {"drawing": Drawing("frontiers", to_svg(frontier_figure(findings)), rows, broad=True)}


def from_above(findings: Findings) -> dict[str, Any] | None:
    """What no rule passes, beside what was found."""
    found = findings.from_above
    if found is None:
        return None
    lines = []
    for own in found.brackets:
        at = own.point(_LOOSE)
        asked = f"{own.notions[0]} at most {own.tolerances[at]:g}" if own.notions else "no constraint"
        lines.append(
            {
                "asked": asked,
                "found": own.found[at],
                "ceiling": own.ceiling[at],
                "upper": own.upper[at],
                "upper_on_twins": own.upper_on_twins[at],
            }
        )
    rows = [
        {
            "notion": " + ".join(own.notions),
            "tolerance": own.tolerances[k],
            "found": own.found[k].value,
            "found low": own.found[k].low,
            "found high": own.found[k].high,
            "ceiling": own.ceiling[k],
            "no rule passes": own.upper[k],
            "no rule passes on twins": own.upper_on_twins[k],
        }
        for own in found.brackets
        for k in range(len(own.tolerances))
    ]
    drawing = None if found.says_little else Drawing("brackets", to_svg(bracket_figure(found)), rows, broad=True)
    return {"found": found, "lines": lines, "drawing": drawing, "rows": rows}


def pairs(findings: Findings) -> dict[str, Any]:
    """Frontiers of pairs of notions."""
    rows = _curve_rows([own for own in findings.held_out.curves if len(own.notions) == 2])
    return {"drawing": Drawing("pairs", to_svg(pair_figure(findings)), rows, broad=True)}


def costs(findings: Findings) -> dict[str, Any]:
    """What each notion costs on new people: with the group hidden, then seen, at each tolerance."""
    held = findings.held_out
    lines = {
        notion: [[held.cost(notion, tolerance, aware) for tolerance in PRICED_AT] for aware in (False, True)]
        for notion in dict.fromkeys(own.notion for own in held.costs)
    }
    return {"lines": lines}


def clashes(findings: Findings) -> dict[str, Any]:
    """The tension heat map."""
    found = findings.on_cells.tensions
    rows = [
        {"first": first, "second": second, "loss together": found.pair_loss[i][j], "tension": found.tension[i][j]}
        for i, first in enumerate(found.notions)
        for j, second in enumerate(found.notions[: i + 1])
    ]
    return {"drawing": Drawing("tension", to_svg(tension_figure(found)), rows)}


def affected(findings: Findings) -> dict[str, Any]:
    """Who is decided otherwise because of each notion, if anybody is."""
    cells = findings.on_cells
    shares = [own for shift in cells.shifts for own in (shift.more_yes, shift.more_no)]
    if not any(isinstance(own, str) or own >= _FEWEST_SHOWN for own in shares):
        return {"drawing": None, "one_in": round(1 / _FEWEST_SHOWN) if shares else None}
    drawn = drawn_groups(findings)
    drawing = Drawing("affected", to_svg(shift_figure(cells, drawn)), [vars(own) for own in cells.shifts])
    return {"drawing": drawing, "drawn": len(drawn), "people": [_person(own) for own in cells.affected]}


def _person(own: Affected) -> dict[str, Any]:
    """What people are like whom a notion decides otherwise."""
    known = {name: share for name, share in own.groups.items() if not isinstance(share, str)}
    largest = sorted(known.items(), key=lambda item: -item[1])[:_GROUPS_SHOWN]
    groups = [f"{in_a_sentence(name)} {100 * share:.0f}%" for name, share in largest if share >= _FEWEST_SHOWN]
    groups += [SUPPRESSED_TEXT] if len(known) < len(own.groups) else []
    low, high = (f"{100 * end:.0f}" for end in (own.label_low, own.label_high))
    return {
        "notion": own.notion,
        "more_yes": own.more_yes,
        "groups": groups,
        "person": [f"{name} {value}" for name, value in list(own.person.items())[:_FEATURES_SHOWN]],
        "share": own.share,
        "chance": f"{high}%" if low == high else f"{low} to {high}%",
    }


def individual(findings: Findings) -> dict[str, Any]:
    """Individual fairness."""
    found = findings.on_cells.individual
    rows = [
        {"tolerance": t, "accuracy, group hidden": h, "accuracy, group seen": s}
        for t, h, s in zip(found.tolerances, found.accuracy_hidden, found.accuracy_seen, strict=True)
    ]
    return {"drawing": Drawing("individual", to_svg(individual_figure(found)), rows)}
