"""How often `fl.monitor` gives an alarm where nothing is wrong, and how soon where something is; run by hand.

    python -m benchmarks.monitoring --runs 1000

People of a known law come in month after month; the true gap of the rule, known from a million of them, is the
tolerance, so that the tests of gaps are made where they are most often wrong. Every month has as many people. "any" is
what the alarm promises: at most 1 - confidence over all months.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pyarrow as pa

import fairlimits as fl
from fairlimits.notions import tally

KINDS = ("gap", "accuracy", "drift")


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


def measure(notion: str, runs: int, months: int, rows: int, shift: float) -> str:
    """A line of the table: share of runs with an alarm of each kind and of any, and the month of the first."""
    rule, gap = make_rule(notion)
    struck = dict.fromkeys((*KINDS, "any"), 0)
    first: list[int] = []
    for run in range(runs):
        seeds = 10_000 + run * months + np.arange(months)
        # What is wrong begins in the fourth month.
        tables = [draw_month(int(seed), rows, shift if at >= 3 else 0.0) for at, seed in enumerate(seeds)]
        found = fl.monitor(rule, tables, tolerances={notion: gap})
        for kind in KINDS:
            struck[kind] += any(own.kind == kind for own in found.alarms)
        struck["any"] += found.alarm
        if found.alarm:
            first.append(min(int(own.period) for own in found.alarms))
    shares = " | ".join(f"{100 * own / runs:.1f}%" for own in struck.values())
    when = f"{np.median(first):.0f}" if first else "-"
    return f"| {notion} | {rows:,} | {shift:g} | {shares} | {when} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--months", type=int, default=12)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| notion | people per month | shift | gap | accuracy | drift | any | median month of the first |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for notion in ("DP", "EOd"):
        for rows in (300, 2_000):
            print(measure(notion, asked.runs, asked.months, rows, 0.0), flush=True)
    for shift in (0.2, 0.5):
        print(measure("DP", max(asked.runs // 5, 1), asked.months, 2_000, shift), flush=True)


if __name__ == "__main__":
    main()
