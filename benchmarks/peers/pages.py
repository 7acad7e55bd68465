"""Writes the pages about tuned peers and about small learning sets from their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.cases import table
from benchmarks.peers.compare import OURS, Comparison, Record
from benchmarks.peers.methods import METHODS
from benchmarks.peers.points import Setting, at_tolerances, over_tolerances, overlap
from benchmarks.peers.report import points
from benchmarks.peers.rounds import PARTS, Part
from benchmarks.peers.splits import CRITERIA
from benchmarks.peers.tables import Case

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"

BARS = {"tuned": -0.003, "small": 0.0}
"""No interval may lie below these, in accuracy."""

_HEADS = ("ours - peer", "95% interval", "cuts", "", "at our smallest gap")
_VERDICTS = {"win": "ahead", "tie": "on a par", "loss": "behind"}

_PEERS = (
    "The booster of the peers is LightGBM with native categories, the best of 7, 15 and 31 leaves by rates of 0.05 and "
    "0.1 on five folds, stopped where the mean held-out log-loss rises. fairlearn's `ThresholdOptimizer` and "
    "error-parity get its scores with the group among the features: out of fold for the learning rows, the mean over "
    "the folds for the test rows. "
)
_READ = (
    "Accuracy of ours minus the peer's on the test rows, in points, read at the gap that the peer achieved there: on "
    "both hulls (docs/benchmark.md), at our smallest gap where none of ours is as small; where the peer has a single "
    "point, as `ThresholdOptimizer` has in equalized odds, its own accuracy against our hull at that gap, even where "
    "none of ours is as small. How small a gap comes out on test rows is luck, and on that line it is worth points; "
    "so the last column has single points read as the others are. "
)
_WORDS = {
    "tuned": (
        "Adult, Law and Dutch, 80% learned from and 20% judged on. "
        + _PEERS
        + "`ExponentiatedGradient` boosts with the settings that are best without the group at a rate of 0.1; it fits "
        "many boosters, so it has two tolerances only. It alone offers equal accuracy (its error rate parity).\n\n"
        + _READ
        + "95% intervals with the variance s² (1/J + n_test/n_learn) over J cuts. The bar: no interval below -0.3."
    ),
    "small": (
        "Few rows of the large data sets to learn from, the others (20,000 at most) to judge on, and small tables cut "
        "80 to 20; the group is seen. "
        + _PEERS
        + "Rates of a group with fewer than 30 learning rows behind them are not judged, for anybody: ours sets them "
        "aside. A group without a rate that is judged is left out of the peers' fit and decided at one half.\n\n"
        + _READ
        + "The mean over the tolerances 0, 0.01, 0.02, 0.05 and 0.1, as far as the peer offers them. 95% intervals "
        "with the variance s² (1/J + ρ/(1 − ρ)) over J cuts, ρ the expected share of learning rows that two cuts have "
        "in common. The bar: no interval below 0."
    ),
}


def write(part: Part, records: Sequence[Record], folder: Path = FOLDER) -> str:
    """Write the page of a part."""
    text = markdown(part, records)
    (folder / f"peers_{part.name}.md").write_text(text, encoding="utf-8")
    return text


def markdown(part: Part, records: Sequence[Record]) -> str:
    """The page of a part."""
    title = {"tuned": "Peers in their best form", "small": "Small learning sets"}[part.name]
    run = f"python -m benchmarks.peers {part.name} --folder DIR"
    words = f"# {title}\n\n{_WORDS[part.name]}\n\nMeasured by `{run}`, written by `{run} --report`."
    if not records:
        return f"{words}\n\nThere are no results yet.\n"
    body = _by_tolerance(records) if part.name == "tuned" else _by_case(records)
    return f"{words}\n\n{body}\n\n{_costs(part, records)}\n"


def _by_tolerance(records: Sequence[Record]) -> str:
    found = at_tolerances(records)
    raised = at_tolerances(records, raised=True)
    heads = ["data", "criterion", "group", "peer", "tolerance", *_HEADS]
    rows = []
    for setting, eps in sorted(found, key=lambda own: (*_order(own[0]), own[1])):
        name, _, criterion, aware, method = setting
        where = [name, criterion, "seen" if aware else "hidden", METHODS[method].title, f"{eps:g}"]
        rows.append([*where, *_cells(found[setting, eps], raised[setting, eps])])
    readings = {"as below": found.values(), "single points too": raised.values()}
    return f"{_summary(readings, BARS['tuned'])}\n\n{table(heads, rows)}"


def _by_case(records: Sequence[Record]) -> str:
    found = over_tolerances(records)
    raised = over_tolerances(records, raised=True)
    shared = {(own["data"], own["rows"]): own["shared"] for own in records}
    heads = ["learned from", "ρ/(1 − ρ)", "criterion", "peer", *_HEADS]
    rows = []
    for setting in sorted(found, key=_order):
        name, size, criterion, _, method = setting
        where = [Case(name, size).title, f"{overlap(shared[name, size]):.2f}", criterion, METHODS[method].title]
        rows.append([*where, *_cells(found[setting], raised[setting])])
    readings = {"as below": found.values(), "single points too": raised.values()}
    return f"{_summary(readings, BARS['small'])}\n\n{table(heads, rows)}"


def _order(setting: Setting) -> tuple[int, int, bool, int]:
    name, rows, criterion, aware, method = setting
    cases = [case for part in PARTS.values() for case in part.cases]
    return cases.index(Case(name, rows)), CRITERIA.index(criterion), aware, list(METHODS).index(method)


def _cells(own: Comparison, raised: Comparison) -> list[str]:
    """Fill the columns of `_HEADS`; both readings are the same but for single points."""
    other = "" if raised == own else f"{points(raised.mean)} ({points(raised.low)} to {points(raised.high)})"
    span = f"{points(own.low)} to {points(own.high)}"
    # One cut has no interval, so it says nothing.
    verdict = _VERDICTS[own.verdict] if own.splits > 1 else ""
    return [points(own.mean), span, str(own.splits), verdict, other]


def _summary(readings: Mapping[str, Iterable[Comparison]], bar: float) -> str:
    """Count verdicts, read as in the table and with single points moved to our smallest gap."""
    heads = ["raised to our smallest gap", "settings", "mean", "ahead / on a par / behind", "lowest end"]
    rows = []
    for words, comparisons in readings.items():
        chosen = list(comparisons)
        verdicts = Counter(own.verdict for own in chosen)
        rows.append(
            [
                words,
                str(len(chosen)),
                points(float(np.mean([own.mean for own in chosen]))),
                f"{verdicts['win']} / {verdicts['tie']} / {verdicts['loss']}",
                points(min(own.low for own in chosen)),
                str(sum(own.high < bar for own in chosen)),
            ]
        )
    return table([*heads, f"wholly below {100 * bar:g}"], rows)


def _costs(part: Part, records: Sequence[Record]) -> str:
    """Seconds of the estimates, which serve all criteria and tolerances, and of one rule on them."""
    methods = list(dict.fromkeys(own["method"] for own in records))
    methods.sort(key=lambda name: (name != OURS, name))
    rows = []
    for case in part.cases:
        cells = []
        for method in methods:
            own = [r for r in records if (r["data"], r["rows"], r["method"]) == (case.name, case.rows, method)]
            each = [float(np.mean([r[name] for r in own])) if own else 0.0 for name in ("base_seconds", "fit_seconds")]
            cells.append(f"{each[0]:.1f} + {each[1]:.2f}" if own else "")
        if any(cells):
            rows.append([case.title, *cells])
    heads = ["learned from", *(METHODS[name].title for name in methods)]
    return "Seconds of one core: estimates or tuning, once, + each rule.\n\n" + table(heads, rows)
