"""Do gaps stay within their tolerance among people nobody has seen, and what does it cost? Where the truth is known.

A table is taken as the law. Rows are drawn from it with replacement, rules are learned from them with a confidence of
0.95 (and ``uncertified="constant"``: the best that is certified, whatever it leaves to a lot), and their gaps and
accuracy are computed exactly on the whole table. Beside ours stand the default (``uncertified="best"``: hardly anything
is left to a lot, and where the rows are too few for that the rule that comes nearest), the same rules without a
confidence, the former way of keeping a tolerance (tightened by a margin, a constant rule where the margin exceeds it),
and peers at the same tolerance on the same estimate.

``python -m benchmarks.guarantee --folder DIR`` measures (what is there is not measured again),
``python -m benchmarks.guarantee --folder DIR --report`` writes docs/benchmarks/guarantee.md, and keeps the results in
``benchmarks/guarantee.jsonl.gz``; unpack them to ``DIR/kept.jsonl`` to go on where they stop.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from benchmarks.cases import table
from benchmarks.peers import reduction, thresholds
from benchmarks.peers.bases import Estimates, score
from benchmarks.peers.splits import Floats, Setting, Split
from benchmarks.rules import Known
from fairlimits.limits import CellPolicy, Uncertified, on_cells
from fairlimits.notions import alike_score, differences, tally

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "guarantee.md"
KEPT = Path(__file__).with_name("guarantee.jsonl.gz")
CONFIDENCE = 0.95
PEOPLE = 40_000
"""Rows of a simulated law."""
FEW_SECONDS, DRAWS, SLOW_DRAWS = 10.0, 400, 100
"""Draws, and draws where one takes longer than some seconds."""
FORMER_DRAWS, DEFAULT_DRAWS = 20, 100
PEER_DRAWS = {"error-parity": 20, "ThresholdOptimizer": 20, "ExponentiatedGradient": 5}

_REAL = (
    {"DP": 0.02},
    {"EA": 0.02},
    {"EOp": 0.05},
    {"PE": 0.03},
    {"EOd": 0.05},
    {"DP": 0.05, "EOd": 0.05},
    {"EA": 0.03, "EOp": 0.05},
)
_SIMULATED = (
    {"DP": 0.05},
    {"EA": 0.05},
    {"EOp": 0.1},
    {"PE": 0.1},
    {"EOd": 0.1},
    {"DP": 0.1, "EOd": 0.1},
    {"EA": 0.1, "EOp": 0.1},
)


@dataclass(frozen=True)
class Case:
    """A law, how many rows are drawn from it, and who learns."""

    name: str
    groups: int
    rows: int
    learner: str

    @property
    def asked(self) -> tuple[dict[str, float], ...]:
        """What rules are asked for."""
        return _REAL if self.name in ("adult", "dutch") else _SIMULATED

    @property
    def title(self) -> str:
        """The case in words."""
        return f"{self.name}, {self.groups} groups, {self.rows:,} rows, {self.learner}"


CASES = (
    Case("adult", 2, 8_000, "logistic"),
    Case("dutch", 2, 8_000, "logistic"),
    Case("simulated", 2, 2_000, "default"),
    Case("simulated", 4, 5_000, "default"),
    Case("simulated", 6, 20_000, "logistic"),
)


@cache
def people_of(name: str, groups: int) -> fl.Dataset:
    """The table that is taken as the law."""
    return Known(groups, 100 * groups).draw(PEOPLE, 7) if name == "simulated" else fl.load_dataset(name)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn from a law, what was learned from them, and what that says of everybody."""

    case: Case
    seed: int
    learn: fl.Dataset
    outcome: fl.Outcome
    q: Floats

    @classmethod
    def of(cls, case: Case, seed: int) -> Drawn:
        """Draw, and learn."""
        law = people_of(case.name, case.groups)
        # The first thousand seeds are those that the method was made with.
        learn = law.take(np.random.default_rng(1_000 + seed).integers(0, law.n_rows, case.rows))
        estimator = LogisticRegression(solver="newton-cholesky") if case.learner == "logistic" else None
        outcome = fl.estimate_outcome(learn, estimator=estimator, random_state=seed, n_jobs=1)
        return cls(case, seed, learn, outcome, outcome.model.predict(law))

    @property
    def law(self) -> fl.Dataset:
        """Everybody."""
        return people_of(self.case.name, self.case.groups)

    def record(self, method: str, asked: Mapping[str, float], aware: bool, decided: Floats) -> dict[str, Any]:
        """Gaps and accuracy on the law of what a method decides."""
        # Groups that too few rows were drawn of are set aside, for everybody.
        found = replace(tally(self.law, decided[None]), counts=self.learn.counts)
        gaps = {name: float(found.gap(name)[0]) for name in asked}
        return {
            "case": self.case.title,
            "seed": self.seed,
            "method": method,
            "asked": asked,
            "aware": aware,
            "held": all(math.isnan(gap) or gap <= asked[name] + 1e-9 for name, gap in gaps.items()),
            "accuracy": round(float(found.accuracy()[0]), 5),
        }


def ours(case: Case, seed: int) -> Iterator[dict[str, Any]]:
    """Our rules with a confidence and without from one draw."""
    drawn = Drawn.of(case, seed)
    cell: dict[bool, Any] = {}
    for asked, aware in ((asked, aware) for asked in case.asked for aware in (False, True)):
        plain = fl.solve(drawn.outcome, asked, aware=aware)
        rules = {"plain": plain, "ours": _certified(drawn, asked, aware, "constant")}
        if seed < DEFAULT_DRAWS:
            rules["default"] = _certified(drawn, asked, aware, "best")
        if aware not in cell:
            cell[aware] = plain.policy.locate(drawn.law.columns, drawn.law.group, drawn.q)
        for method, rule in rules.items():
            found = drawn.record(method, asked, aware, rule.policy.scores_at(cell[aware], drawn.law.group))
            known = rule.guarantee
            # Whether the rows are too few for a rule that leaves nothing to a lot, and what is left to one.
            yield found if known is None else found | {"few": known.rows_needed is not None, "open": known.diluted}


def _certified(drawn: Drawn, asked: Mapping[str, float], aware: bool, uncertified: Uncertified) -> fl.Rule:
    return fl.solve(drawn.outcome, asked, aware=aware, confidence=CONFIDENCE, uncertified=uncertified)


def beside(case: Case, seed: int) -> Iterator[dict[str, Any]]:
    """The former way, and peers, from one draw."""
    drawn, cell = Drawn.of(case, seed), {}
    for asked, aware in ((asked, aware) for asked in case.asked for aware in (False, True)):
        former = _former(drawn.outcome, fl.solve(drawn.outcome, asked, aware=aware))
        if aware not in cell:
            cell[aware] = former.locate(drawn.law.columns, drawn.law.group, drawn.q)
        yield drawn.record("former", asked, aware, former.scores_at(cell[aware], drawn.law.group))
    yield from _peers(drawn)


def _former(outcome: fl.Outcome, plain: fl.Rule) -> CellPolicy:
    """Tolerances tightened by how much the labels exceed the law, and by errors that cover all differences at once."""
    data, asked, rule = outcome.data, plain.tolerances, plain
    inflation = math.sqrt(1 + 1 / (outcome.model.n_folds - 1))
    pairs = len(differences(data, np.zeros(data.n_rows), asked))
    reach = float(ndtri(1 - (1 - CONFIDENCE) / 2 / max(pairs, 1))) * inflation
    dist = on_cells(outcome, asked)
    cell = plain.policy.locate(data.columns, data.group, outcome.q)
    for _ in range(3):
        decided = rule.policy.scores_at(cell, data.group)
        labels = tally(data, decided[None])
        tighter = {}
        for name, eps in asked.items():
            excess = np.nan_to_num(float(labels.gap(name)[0]) - rule.gaps[name])
            error = float(differences(data, decided, [name]).error.max(initial=0.0))
            tighter[name] = eps - max(excess, 0.0) - reach * error
        if min(tighter.values()) <= 0:
            constant = alike_score(asked, float(dist.mass[:, :, 1].sum()))
            return CellPolicy(dist, np.full_like(plain.scores, constant), plain.aware)
        rule = fl.solve(dist, tighter, aware=plain.aware)
    return rule.policy


def _peers(drawn: Drawn) -> Iterator[dict[str, Any]]:
    """Peers at the same tolerances, on the same draw and scores; each offers some notions only."""
    learn, law, seed = drawn.learn, drawn.law, drawn.seed
    own, everybody = (score(q, people.group) for q, people in ((drawn.outcome.q, learn), (drawn.q, law)))
    scores = Estimates(np.arange(learn.n_rows), own, everybody, math.nan)
    split = Split(drawn.case.name, seed, learn, law)
    for asked in drawn.case.asked:
        (name, eps), *others = asked.items()
        if others or name not in ("DP", "EOd"):
            continue
        for method in PEER_DRAWS:
            if seed >= PEER_DRAWS[method] or (method == "ThresholdOptimizer" and name == "EOd"):
                continue
            setting = Setting(name, eps, method != "ExponentiatedGradient")
            if method == "error-parity":
                decided = thresholds.error_parity(split, setting, scores)()
            elif method == "ThresholdOptimizer":
                decided = thresholds.fairlearn(split, setting, scores)()
            else:
                decided = reduction.fit(split, setting, None)()
            yield drawn.record(method, asked, setting.aware, decided)


_HOW_IT_WAS_MADE = (
    "The method was made on other draws of these laws: those of the first thousand seeds, and, where it was chosen how "
    "far labels are believed, 130 of the law with four groups from seed 8,000 on, after lines of that law were seen to "
    "hold too rarely."
)

PARTS: dict[str, tuple[Callable[[Case, int], Iterator[dict[str, Any]]], int]] = {
    "ours": (ours, DRAWS),
    "beside": (beside, FORMER_DRAWS),
}
"""What is measured, and from how many draws."""


def run(folder: Path, part: tuple[int, int], what: Sequence[str]) -> None:
    """Measure what is not there yet, first draws first; one of several processes may do each part of the draws."""
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    number, parts = part
    records = [own for own in read(folder) if own["method"] == "seconds"]
    done = {(own["case"], own["seed"], own["what"]) for own in records}
    seconds: dict[str, list[float]] = defaultdict(list)
    for own in records:
        if own["what"] == "ours":
            seconds[own["case"]].append(own["seconds"])
    # Of many draws some are measured while the machine does something else.
    slow = {name for name, found in seconds.items() if np.median(found) > FEW_SECONDS}
    with (folder / f"{'-'.join(what)}-{number}.jsonl").open("a") as out:
        for seed, name, case in product(range(number, DRAWS, parts), what, CASES):
            measure, draws = PARTS[name]
            if (case.title, seed, name) in done or seed >= (SLOW_DRAWS if case.title in slow else draws):
                continue
            start = time.process_time()
            found = list(measure(case, seed))
            taken = time.process_time() - start
            # A draw is written whole or not at all; with how long it took, so that slow cases are known.
            found.append({"case": case.title, "seed": seed, "method": "seconds", "what": name, "seconds": taken})
            out.write("".join(json.dumps(own) + "\n" for own in found))
            out.flush()
            print(case.title, seed, name, flush=True)


def read(folder: Path) -> list[dict[str, Any]]:
    """All results in a folder."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def kept() -> list[dict[str, Any]]:
    """All results that the page was written from."""
    return [json.loads(line) for line in gzip.decompress(KEPT.read_bytes()).decode().splitlines()]


def page(records: list[dict[str, Any]]) -> str:
    """Write the page."""
    return f"# guarantee\n\n{__doc__.split(chr(10) * 2)[1]}\n\n{markdown(records)}\n"


def markdown(records: list[dict[str, Any]]) -> str:
    """Write the tables."""
    lines: dict[tuple[str, str, bool], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for own in records:
        if own["method"] != "seconds":
            asked = ", ".join(f"{name} {eps:g}" for name, eps in own["asked"].items())
            lines[own["case"], asked, own["aware"]][own["method"]].append(own)
    # All are compared with the plain rule of the same draw.
    for by in lines.values():
        drawn = {own["seed"] for own in by["plain"]}
        for method, found in by.items():
            by[method] = [own for own in found if own["seed"] in drawn]
    rows, peers, held, below = [], [], [], []
    for (case, asked, aware), by in sorted(lines.items()):
        plain = {own["seed"]: own["accuracy"] for own in by["plain"]}
        draws = len(by["ours"])
        share = {method: float(np.mean([own["held"] for own in found])) for method, found in by.items()}
        costs = {
            method: 100 * np.array([plain[own["seed"]] - own["accuracy"] for own in found])
            for method, found in by.items()
        }
        cost = {method: float(own.mean()) for method, own in costs.items()}
        held.append(share["ours"])
        seen = f"{asked}, {'seen' if aware else 'hidden'}"
        if share["ours"] < 0.95 - 2.5 * math.sqrt(0.95 * 0.05 / draws):
            below.append(f"{case}, {seen}")
        rows.append(
            (
                case,
                seen,
                str(draws),
                f"{share['plain']:.0%}",
                f"{share['ours']:.1%}",
                f"{cost['ours']:.2f}",
                f"{np.mean([own['open'] for own in by['ours']]):.0%}",
                f"{np.mean([not own['few'] for own in by['default']]):.0%}",
                _shown([own for own in by["default"] if not own["few"]], plain),
                f"{share['former']:.0%}",
                f"{cost['former']:.2f}",
                "" if cost["former"] <= 0.3 else _at_most_half(costs["ours"], costs["former"]),
            )
        )
        for method in sorted(set(by) - {"plain", "ours", "default", "former"}):
            peers.append((case, seen, method, str(len(by[method])), f"{share[method]:.0%}", f"{cost[method]:+.2f}"))
    heads = ["law", "within", "draws", "plain holds", "ours holds", "costs", "left to a lot", "default certified"]
    heads += ["holds and costs then", "former holds", "costs", "at most half"]
    dear = [row[-1] for row in rows if row[-1]]
    return (
        f"Mean over {len(held)} lines: {np.mean(held):.2%} (bar 95%). "
        f"Lines below 95% minus 2.5 standard errors: {'; '.join(below) or 'none'}. Lines in which the former "
        f"way costs more than 0.3 points and ours at most half of that: {dear.count('yes')} of {len(dear)}. "
        f"{_HOW_IT_WAS_MADE}\n\n"
        + table(heads, rows)
        + "\n\nPeers at the same tolerance, on the same draws and estimates; ExponentiatedGradient learns itself:\n\n"
        + table(("law", "within", "method", "draws", "holds", "costs"), peers)
    )


def _at_most_half(ours: Floats, former: Floats) -> str:
    """Whether one cost is at most half of another; if not, which part of it, plus or minus its standard error."""
    part = float(ours.mean() / former.mean())
    if part <= 0.5:
        return "yes"
    own, other = (float(each.std(ddof=1) / np.sqrt(len(each)) / each.mean()) for each in (ours, former))
    return f"no: {part:.1%} +- {part * math.hypot(own, other):.1%}"


def _shown(found: list[dict[str, Any]], plain: Mapping[int, float]) -> str:
    """How often a method held, and what it cost."""
    if not found:
        return ""
    cost = 100 * float(np.mean([plain[own["seed"]] - own["accuracy"] for own in found]))
    return f"{np.mean([own['held'] for own in found]):.0%}, {cost:.2f}"


def main(arguments: list[str]) -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guarantee", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where results are kept")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="which of how many parts to measure")
    parser.add_argument("--what", choices=PARTS, nargs="+", default=list(PARTS), help="what to measure")
    parser.add_argument("--report", action="store_true", help="write the page")
    options = parser.parse_args(arguments)
    if options.report:
        records = read(options.folder)
        lines = "".join(json.dumps(own, separators=(",", ":")) + "\n" for own in records)
        KEPT.write_bytes(gzip.compress(lines.encode(), mtime=0))
        PAGE.write_text(page(records))
        return 0
    run(options.folder, tuple(options.part), options.what)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
