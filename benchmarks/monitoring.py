"""How often `fl.monitor` gives an alarm where nothing is wrong, and how soon where something is.

People of a known law come in month after month; the true gap of the rule, known from a million of them, is the
tolerance, so that the tests of gaps are made where they are most often wrong.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa

import fairlimits as fl
from benchmarks.cases import table
from fairlimits.notions import tally

KINDS = ("gap", "accuracy", "drift")
CONFIDENCE = 0.95
RUNS, MONTHS = 500, 12

SETTINGS = (
    ("DP", 300, 0.0),
    ("DP", 2_000, 0.0),
    ("EOd", 300, 0.0),
    ("EOd", 2_000, 0.0),
    ("DP", 2_000, 0.2),
    ("DP", 2_000, 0.5),
)
"""Notion, people per month, and by how much the skill of one group rises in the fourth month."""


def draw_month(seed: int, rows: int, shift: float = 0.0) -> pa.Table:
    """People of a month; a shift raises the skill of one group."""
    rng = np.random.default_rng(seed)
    sex = rng.random(rows) < 0.45
    skill = rng.normal(size=rows) + (0.4 + shift) * sex
    area = np.where(rng.random(rows) < 0.3 + 0.3 * sex, "north", "south")
    hired = rng.random(rows) < 1 / (1 + np.exp(0.4 - 1.5 * skill))
    return pa.table({"skill": skill, "area": area, "sex": np.where(sex, "m", "f"), "hired": hired.astype(np.int64)})


def make_rule(notion: str) -> tuple[fl.Rule, float]:
    """A rule of one notion on cells of a law, and its true gap."""
    data = fl.Dataset.from_frame(draw_month(0, 4_000), label="hired", sensitive="sex")
    rule = fl.solve(fl.discretize(data, 24, partition="features", generator=None), {notion: 0.05})
    everybody = fl.Dataset.read_like(data.schema, draw_month(1, 1_000_000))
    return rule, float(tally(everybody, rule.decide(everybody)[None]).gap(notion)[0])


def measure(notion: str, rows: int, shift: float, runs: int, months: int) -> dict[str, Any]:
    """Share of runs with an alarm of each kind, with any, and with a gap that just looks too large; the first month."""
    rule, gap = make_rule(notion)
    struck = dict.fromkeys((*KINDS, "any", "looks"), 0)
    first: list[int] = []
    for run in range(runs):
        seeds = 10_000 + run * months + np.arange(months)
        tables = [draw_month(int(seed), rows, shift if at >= 3 else 0.0) for at, seed in enumerate(seeds)]
        found = fl.monitor(rule, tables, tolerances={notion: gap}, confidence=CONFIDENCE)
        for kind in KINDS:
            struck[kind] += any(own.kind == kind for own in found.alarms)
        struck["any"] += found.alarm
        struck["looks"] += any(own.gaps[notion].value > gap for own in found.periods)
        if found.alarm:
            first.append(min(int(own.period) for own in found.alarms))
    shares = {name: own / runs for name, own in struck.items()}
    return {"notion": notion, "rows": rows, "shift": shift, "runs": runs, "shares": shares, "first": first}


def run(runs: int = RUNS, months: int = MONTHS) -> list[dict[str, Any]]:
    """Measure all settings, those where something is wrong in a fifth of the runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            measure(notion, rows, shift, max(runs // 5, 1) if shift else runs, months)
            for notion, rows, shift in SETTINGS
        ]


def markdown(results: list[dict[str, Any]]) -> str:
    """A table of false alarms, and one of alarms that are right."""

    def share(own: dict[str, Any], name: str) -> str:
        return f"{own['shares'][name]:.1%}"

    quiet = [
        (
            own["notion"],
            f"{own['rows']:,}",
            f"{own['runs']:,}",
            *(share(own, name) for name in (*KINDS, "any", "looks")),
        )
        for own in results
        if not own["shift"]
    ]
    wrong = [
        (
            own["notion"],
            f"{own['rows']:,}",
            f"{own['shift']:g}",
            f"{own['runs']:,}",
            *(share(own, name) for name in (*KINDS, "any")),
            f"{np.median(own['first']):g}" if own["first"] else "-",
        )
        for own in results
        if own["shift"]
    ]
    return (
        f"{MONTHS} months of people of a known law; the true gap of the rule is the tolerance. The promise is that any "
        f'alarm is false in at most {1 - CONFIDENCE:.0%} of the runs, over all months. The baseline, "gap looks too '
        'large", is an alarm whenever the gap of a month is above the tolerance.\n\n## Nothing is wrong\n\n'
        + table(("notion", "people per month", "runs", *KINDS, "any", "gap looks too large"), quiet)
        + "\n\n## Something is wrong\n\nFrom the fourth month on, the skill of one group is higher by a shift (its "
        "standard deviation is 1). The last column is the month of the first alarm, a median of the runs that have one."
        "\n\n" + table(("notion", "people per month", "shift", "runs", *KINDS, "any", "month"), wrong)
    )
