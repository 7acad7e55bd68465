"""Measures ours and the tuned peers cut by cut, one line of JSON per result; what is there is not measured again."""

from __future__ import annotations

import gzip
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import fairlimits as fl
from benchmarks.peers import reduction, thresholds
from benchmarks.peers.judging import judge, on_compared_groups
from benchmarks.peers.methods import FRONTIER
from benchmarks.peers.run import rounded
from benchmarks.peers.splits import CRITERIA, TOLERANCES, Setting, Split
from benchmarks.peers.tables import FEW_ROWS, RACE, SMALL, WHOLE, Case
from benchmarks.peers.thresholds import PostProcessor
from benchmarks.peers.tuned import tuned_scores
from fairlimits.limits import decide_all

Record = dict[str, Any]
Key = tuple[Any, ...]

_REDUCED = (0.01, 0.05)
_REDUCED_RATES = (0.1,)
"""Tolerances of exponentiated gradient, and rates of its booster: it fits some twenty boosters for each tolerance."""

_POST_PROCESSORS: dict[str, PostProcessor] = {
    "threshold-optimizer": thresholds.fairlearn,
    "error-parity": thresholds.error_parity,
}

_COARSE = (*TOLERANCES, 0.2, 0.3)
"""Tolerances where there are many cuts: those compared, and two beyond, where rules from few rows land."""


@dataclass(frozen=True)
class Part:
    """A comparison with tuned peers.

    Parameters
    ----------
    name : str
        Name of the comparison, of its page and of its kept results.
    cases : tuple of Case
        What is learned from.
    criteria : tuple of str
        What ours is asked for.
    aware : tuple of bool
        Whether ours sees the group.
    tolerances : tuple of float
        The tolerances of ours and of the post-processors.
    cuts : Mapping of str to int
        Cuts of ours, of the post-processors and of the reduction.
    """

    name: str
    cases: tuple[Case, ...]
    criteria: tuple[str, ...]
    aware: tuple[bool, ...]
    tolerances: tuple[float, ...]
    cuts: Mapping[str, int]

    @property
    def kept(self) -> Path:
        """The results that the page was made from."""
        return Path(__file__).parent / f"{self.name}.jsonl.gz"

    def jobs(self, cuts: range | None = None) -> Iterator[Job]:
        """All jobs, first cuts first, so that a run can be stopped at any time with as many cuts everywhere."""
        for seed in range(max(self.cuts.values())) if cuts is None else cuts:
            for case in self.cases:
                for family, count in self.cuts.items():
                    if seed < count:
                        yield Job(self, case, seed, family)


@dataclass(frozen=True)
class Job:
    """What is measured in one go: a family of methods on a cut."""

    part: Part
    case: Case
    seed: int
    family: str

    def settings(self) -> Iterator[tuple[str, Setting]]:
        """Methods, and what each is asked for."""
        if self.family == "ours":
            for aware in self.part.aware:
                for criterion in self.part.criteria:
                    yield from (("fairlimits", Setting(criterion, eps, aware)) for eps in self.part.tolerances)
        elif self.family == "reduction":
            for criterion in CRITERIA:
                for eps in _REDUCED:
                    yield "exponentiated-gradient", Setting(criterion, eps, False)
        else:
            for name in _POST_PROCESSORS:
                for criterion in ("DP", "EOd"):
                    # fairlearn offers no relaxed equalized odds.
                    exact = (name, criterion) == ("threshold-optimizer", "EOd")
                    for eps in (0.0,) if exact else self.part.tolerances:
                        yield name, Setting(criterion, eps, True)

    def keys(self) -> set[Key]:
        """Keys of all results that the job makes."""
        return {key(self.head(method, setting)) for method, setting in self.settings()}

    def head(self, method: str, setting: Setting) -> Record:
        """What identifies a result."""
        return {
            "data": self.case.name,
            "rows": self.case.rows,
            "seed": self.seed,
            "method": method,
            "criterion": setting.criterion,
            "eps": setting.eps,
            "aware": setting.aware,
        }


def key(record: Record) -> Key:
    """What identifies a result."""
    return tuple(record[name] for name in ("data", "rows", "seed", "method", "criterion", "eps", "aware"))


PARTS = {
    part.name: part
    for part in (
        Part("tuned", WHOLE, CRITERIA, (False, True), FRONTIER, {"ours": 5, "thresholds": 5, "reduction": 5}),
        Part("small", FEW_ROWS + RACE + SMALL, ("DP", "EOd"), (True,), _COARSE, {"ours": 20, "thresholds": 20}),
    )
}


def measure(job: Job) -> list[Record]:
    """Fit the methods of a job and judge them; seconds are those of one core."""
    # Tables with small groups warn of them at every step, and constant rules of themselves.
    warnings.simplefilter("ignore")
    split = job.case.cut(job.seed)
    found = {"ours": _ours, "thresholds": _thresholds, "reduction": _reduction}[job.family](job, split)
    shared = job.case.shared()
    return [record | {"shared": shared} for record in found]


def _ours(job: Job, split: Split) -> list[Record]:
    start = time.process_time()
    outcome = fl.estimate_outcome(split.learn, random_state=split.seed, n_jobs=1)
    estimated = time.process_time() - start
    found = []
    for aware in job.part.aware:
        for criterion in job.part.criteria:
            start = time.process_time()
            rules = fl.frontier(outcome, criterion, job.part.tolerances, aware=aware).rules
            seconds = (time.process_time() - start) / len(rules)
            decided = decide_all(rules, split.test)
            for eps, own in zip(job.part.tolerances, decided, strict=True):
                head = job.head("fairlimits", Setting(criterion, eps, aware))
                found.append(head | judge(own, split) | {"base_seconds": estimated, "fit_seconds": seconds})
    return found


def _thresholds(job: Job, split: Split) -> list[Record]:
    scores, _ = tuned_scores(split, aware=True)

    def fit(method: str, setting: Setting) -> Callable[[], Any]:
        return on_compared_groups(_POST_PROCESSORS[method], split, setting, scores)

    return [_one(job, split, method, setting, fit, scores.seconds) for method, setting in job.settings()]


def _reduction(job: Job, split: Split) -> list[Record]:
    scores, tuned = tuned_scores(split, aware=False, rates=_REDUCED_RATES)

    def fit(method: str, setting: Setting) -> Callable[[], Any]:
        return reduction.fit(split, setting, None, tuned.settings)

    return [_one(job, split, method, setting, fit, scores.seconds) for method, setting in job.settings()]


def _one(
    job: Job,
    split: Split,
    method: str,
    setting: Setting,
    fit: Callable[[str, Setting], Callable[[], Any]],
    base_seconds: float,
) -> Record:
    start = time.process_time()
    decide = fit(method, setting)
    seconds = time.process_time() - start
    return job.head(method, setting) | judge(decide(), split) | {"base_seconds": base_seconds, "fit_seconds": seconds}


def read(part: Part, folder: Path | None) -> list[Record]:
    """Every result of a folder, or else of those that are kept, if any; where one was measured twice, the last."""
    path = part.kept if folder is None else folder / f"{part.name}.jsonl"
    if not path.exists():
        return []
    text = gzip.decompress(path.read_bytes()).decode() if folder is None else path.read_text(encoding="utf-8")
    return list({key(record): record for record in map(json.loads, text.splitlines())}.values())


def keep(part: Part, records: Iterable[Record]) -> None:
    """Keep results, in one order and with the digits that matter, so that the same ones are the same file."""
    lines = sorted(json.dumps(rounded(record)) for record in records)
    part.kept.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def run(part: Part, folder: Path, processes: int, cuts: range | None, cases: Iterable[str] = ()) -> Iterator[str]:
    """Measure what is missing; yields its progress.

    Parameters
    ----------
    part : Part
    folder : Path
        Where the results are.
    processes : int
        Jobs that run side by side.
    cuts : range, optional
        The cuts; without it, those of each family of methods.
    cases : iterable of str
        Titles of the cases to measure; all if there are none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = {key(record) for record in read(part, folder)}
    wanted = set(cases)
    jobs = [own for own in part.jobs(cuts) if not own.keys() <= done and (not wanted or own.case.title in wanted)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting: dict[Future[list[Record]], Job] = {pool.submit(measure, own): own for own in jobs}
        try:
            for future in as_completed(waiting):
                own, start = waiting[future], f"{waiting[future].case.title}, cut {waiting[future].seed}"
                # One table on which a peer fails must not stop the others; it will be missing, and tried again.
                if (error := future.exception()) is not None:
                    yield f"{start}, {own.family}: failed: {error}"
                    continue
                records = future.result()
                with (folder / f"{part.name}.jsonl").open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(record) + "\n" for record in records)
                yield f"{start}, {own.family}: {_spent(records):.1f} s"
        finally:
            pool.shutdown(cancel_futures=True)


def _spent(records: list[Record]) -> float:
    return float(records[0]["base_seconds"] + sum(record["fit_seconds"] for record in records))
