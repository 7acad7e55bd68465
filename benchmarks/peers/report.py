"""Writes the measured part of docs/benchmark.md: the tables and the figure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.cases import table
from benchmarks.peers.compare import BAR, OURS, Comparison, Place, Record, Seconds, compare, frontier_seconds
from benchmarks.peers.figures import draw, label
from benchmarks.peers.methods import METHODS
from benchmarks.peers.splits import CRITERIA, DATA, TOLERANCES

START, STOP = "<!-- measured: start -->", "<!-- measured: stop -->"
FIGURE = "benchmark.png"
_BARRED = ("DP", "EOd")
_BEYOND = (0.2, 0.3)
"""Tolerances of ours that are kept where the others have the five compared only: exponentiated gradient lands there."""
_TALLY = ("settings", "mean", "wins / ties / losses", "lowest end", f"not above {100 * BAR:.1f}")


def report(records: Sequence[Record], page: Path) -> str:
    """Rewrite what stands between the two marks of the page, and the figure beside it."""
    before, start, rest = page.read_text(encoding="utf-8").partition(START)
    _, stop, after = rest.partition(STOP)
    if not (start and stop):
        raise SystemExit(f"{page} has lost its marks {START} and {STOP}; the tables go between them.")
    text = markdown(records)
    draw(records, page.with_name(FIGURE))
    page.write_text(f"{before}{START}\n{text}\n{STOP}{after}", encoding="utf-8")
    return text


def markdown(records: Sequence[Record]) -> str:
    """Every table, with the figure."""
    found = compare(records)
    parts = [
        "## Summary",
        _short(found),
        _summary(found),
        "## Read otherwise",
        _readings(records),
        "## Every setting",
        _settings(found),
        "## Frontiers",
        f"![Test accuracy against achieved test gap, a panel per data set, criterion and scenario]({FIGURE})",
        "## Seconds",
        _seconds(frontier_seconds(records)),
    ]
    return "\n\n".join(part for part in parts if part)


def _order(place: Place) -> tuple[int, int, bool, int, int]:
    name, criterion, aware, method, base = place
    bases = METHODS[method].bases
    return DATA.index(name), CRITERIA.index(criterion), aware, list(METHODS).index(method), bases.index(base)


def points(value: float) -> str:
    """Accuracy in points, with its sign."""
    return "?" if math.isinf(value) else f"{100 * value:+.2f}"


def _tally(comparisons: Iterable[Comparison]) -> list[str]:
    """Fill the columns of `_TALLY`."""
    chosen = list(comparisons)
    verdicts = Counter(each.verdict for each in chosen)
    return [
        str(len(chosen)),
        points(float(np.mean([each.mean for each in chosen]))),
        f"{verdicts['win']} / {verdicts['tie']} / {verdicts['loss']}",
        points(min(each.low for each in chosen)),
        str(sum(each.low <= BAR for each in chosen)),
    ]


def _short(found: Mapping[Place, Comparison]) -> str:
    """Say in some sentences what came of the bar, and in which settings it was missed."""
    chosen = {place: each for place, each in found.items() if place[1] in _BARRED}
    if not chosen:
        return ""
    settings, mean, _, _, _ = _tally(chosen.values())
    verdicts = Counter(each.verdict for each in chosen.values())
    given = {each.splits for place, each in chosen.items() if place[4] == "ours"}
    below = [
        f"{criterion} on {name}, group {'seen' if aware else 'hidden'}, against {label(method, base)} "
        f"({points(found[name, criterion, aware, method, base].low)}, "
        f"{found[name, criterion, aware, method, base].splits} cuts)"
        for name, criterion, aware, method, base in sorted(chosen, key=_order)
        if found[name, criterion, aware, method, base].low <= BAR
    ]
    words = (
        f"In the {settings} settings of {' and '.join(_BARRED)} ours wins {verdicts['win']} times, ties "
        f"{verdicts['tie']} times and loses {verdicts['loss']} times; the mean is {mean} points.{_barred_mean(found)}"
    )
    if given:
        words += f" Peers given our estimates were compared on {min(given)} to {max(given)} cuts."
    ends = f"The lower end of the interval is above {100 * BAR:.1f} everywhere"
    return f"{words} {ends}{f', but in {len(below)}: ' + '; '.join(below) if below else ''}."


def _summary(found: Mapping[Place, Comparison]) -> str:
    """Count wins, ties and losses, peer by peer, over the settings of the bar and over equal accuracy."""
    heads = ["peer", "criteria", *_TALLY]
    rows = []
    for criteria in (_BARRED, ("EA",)):
        chosen = {place: each for place, each in found.items() if place[1] in criteria}
        for method in METHODS.values():
            for base in method.bases:
                own = [each for place, each in chosen.items() if place[3:] == (method.name, base)]
                if own:
                    rows.append([label(method.name, base), ", ".join(criteria), *_tally(own)])
        if chosen:
            rows.append(["**all**", ", ".join(criteria), *_tally(chosen.values())])
    if not rows:
        return "There are no results of ours yet to compare the peers with."
    return "Ours minus the peer's, in points of accuracy.\n\n" + table(heads, rows)


def _barred_mean(found: Mapping[Place, Comparison]) -> str:
    """Say what the bar asks of the mean; aif360, far behind, would hide what the others do."""
    means = [each.mean for place, each in found.items() if place[1] in _BARRED and place[3] != "aif360"]
    if not means:
        return ""
    return f" Without aif360 it is {100 * float(np.mean(means)):+.3f}, over {len(means)} settings."


def _readings(records: Sequence[Record]) -> str:
    """Say what comes out if the hulls are read at other gaps, or have fewer points."""
    few = [r for r in records if r["eps"] in TOLERANCES or (r["method"] == OURS and r["eps"] in _BEYOND)]
    readings = {
        "as above": compare(records),
        "at the gaps that ours achieved": compare(records, at_ours=True),
        "five tolerances of the peers, seven of ours": compare(few),
        "at the peer's gaps, even where none of ours is as small": compare(records, met_by_both=False),
        "at our gaps, even where none of the peer's is as small": compare(records, met_by_both=False, at_ours=True),
    }
    heads = ["hulls are read", *_TALLY]
    rows = []
    for words, found in readings.items():
        chosen = [each for place, each in found.items() if place[1] in _BARRED]
        if chosen:
            rows.append([words, *_tally(chosen)])
    return f"DP and EOd, all peers.\n\n{table(heads, rows)}" if rows else ""


def _settings(found: Mapping[Place, Comparison]) -> str:
    heads = ["data", "criterion", "group", "peer", "mean", "95% interval", "splits", ""]
    rows = []
    for place in sorted(found, key=_order):
        name, criterion, aware, method, base = place
        each = found[place]
        rows.append(
            [
                name,
                criterion,
                "seen" if aware else "hidden",
                label(method, base),
                points(each.mean),
                f"{points(each.low)} to {points(each.high)}",
                str(each.splits),
                each.verdict,
            ]
        )
    return "Ours minus the peer's, in points of accuracy.\n\n" + table(heads, rows)


def _seconds(seconds: Mapping[Place, Seconds]) -> str:
    """Seconds of the estimates and of a frontier, mean over the criteria of the bar."""
    columns = [(name, aware) for aware in (False, True) for name in DATA]
    heads = ["method", *(f"{name}, {'seen' if aware else 'hidden'}" for name, aware in columns)]
    rows = []
    for method in METHODS.values():
        for base in method.bases:
            cells = []
            for name, aware in columns:
                places = [(name, criterion, aware, method.name, base) for criterion in _BARRED]
                cells.append(_spent([seconds[place] for place in places if place in seconds]))
            if any(cells):
                rows.append([label(method.name, base), *cells])
    words = (
        "Seconds of one core: estimates + one frontier, all tolerances of DP or EOd (mean of the two). Estimates are "
        "made once and serve every criterion and tolerance, ours every scenario too."
    )
    return words + "\n\n" + table(heads, rows) + _shares(seconds)


def _shares(seconds: Mapping[Place, Seconds], tolerances: int = 41) -> str:
    """Say what a whole frontier costs, estimates included, as a share of exponentiated gradient's, group hidden."""
    parts = []
    for name in DATA:
        shares = []
        for criterion in _BARRED:
            ours = seconds.get((name, criterion, False, OURS, "ours"))
            theirs = seconds.get((name, criterion, False, "exponentiated-gradient", "boosting"))
            if ours is not None and theirs is not None:
                shares.append(ours.whole(tolerances) / theirs.whole(tolerances))
        if shares:
            parts.append(f"{name} {np.mean(shares):.1%}")
    if not parts:
        return ""
    return (
        f"\n\nA frontier of {tolerances} tolerances with the group hidden, estimates included, takes ours this share "
        f"of the seconds of exponentiated gradient: {', '.join(parts)}. Each further frontier, of any criterion or "
        "scenario, needs no new estimates."
    )


def _spent(found: Sequence[Seconds]) -> str:
    if not found:
        return ""
    estimates = float(np.mean([each.estimates for each in found]))
    frontier = f"{np.mean([each.frontier for each in found]):.1f}"
    if estimates == 0.0:
        return frontier
    return f"{'?' if math.isnan(estimates) else f'{estimates:.1f}'} + {frontier}"
