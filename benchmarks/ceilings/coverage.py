"""How often is a ceiling below the true limit? It may be in 5% of the draws, at a confidence of 0.95.

``python -m benchmarks.ceilings coverage --folder DIR`` draws (what is there is not drawn again): from small laws 400
times, from those made of Dutch 100 times. The model of other kinds is linear there, because validity does not depend
on the model and time does. ``python -m benchmarks.ceilings tightness --folder DIR`` draws from the laws made of Dutch
with the default learners, which is what users get.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.ceilings.laws import KindLaw, law, limit
from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.evaluation.ceilings.finding import Study
from fairlimits.evaluation.ceilings.kinds import feature_kinds
from fairlimits.evaluation.ceilings.twins import Twins, set_apart

ASKED: dict[str, dict[str, float]] = {
    "none": {},
    "DP 0.05": {"DP": 0.05},
    "EA 0.02": {"EA": 0.02},
    "EOp 0.05": {"EOp": 0.05},
    "PE 0.05": {"PE": 0.05},
    "EOd 0.05": {"EOd": 0.05},
    "DP 0.02, EA 0.05": {"DP": 0.02, "EA": 0.05},
}
CURVE = np.array([0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2])
DRAWS, SLOW_DRAWS, LEARNED_DRAWS = 400, 100, 20


def measure(folder: Path, name: str, draws: int, learners: str) -> None:
    """Draw from a law, and keep what came out, a line for each draw."""
    path = folder / f"{name.replace(' ', '-').replace(',', '')}-{learners}.jsonl"
    done = set()
    if path.exists():
        done = {json.loads(line)["draw"] for line in path.read_text().splitlines()}
    known = law(name)
    truth = {f"{what}, {sees(aware)}": known.limit(at, aware) for what, at in ASKED.items() for aware in (False, True)}
    along = {sees(aware): [known.limit({"DP": eps}, aware) for eps in CURVE] for aware in (False, True)}
    for draw in range(draws):
        if draw in done:
            continue
        with path.open("a") as file, ONE_BLAS_THREAD:
            record = one_draw(known, draw, learners)
            for name, line in record["lines"].items():
                line["truth"] = along[name.split(", ")[1]] if "curve" in name else truth[name]
            file.write(json.dumps(record) + "\n")


def one_draw(
    known: KindLaw, draw: int, learners: str, asked: Mapping[str, Mapping[str, float]] = ASKED
) -> dict[str, Any]:
    """Draw people, and find all ceilings."""
    data, kind = known.draw(10_000 + draw)
    start = time.process_time()
    study = Study.of(data, random_state=draw) if learners == "default" else _with_linear_model(data, draw)
    assert isinstance(study.twins, Twins)
    record: dict[str, Any] = {"draw": draw, "law": known.name, "rows": data.n_rows, "lines": {}}
    for aware in (False, True):
        seen = sees(aware)
        mass = _on_twins(known, kind, study.twins, aware)
        for what, at in asked.items():
            found = study.ceiling(at, aware=aware)
            line = {"value": found.value, "upper": found.upper}
            line["error"] = float(found.curve.standard_error[0])
            line["alone"] = float(found.curve.alone[0])
            if found.twins_curve is not None:
                line |= {"twins truth": limit(mass, at, aware), "twins value": found.on_twins.value}
                line |= {"twins upper": found.on_twins.upper, "twins error": float(found.twins_curve.standard_error[0])}
            record["lines"][f"{what}, {seen}"] = line
        curve = study.ceiling({"DP": CURVE}, aware=aware)
        record["lines"][f"DP curve, {seen}"] = {"upper": curve.upper.tolist()}
        record[f"twins, {seen}"] = study.twins.share(aware)
    record["seconds"] = time.process_time() - start
    return record


def sees(aware: bool) -> str:
    """What rules see, in a word."""
    return "seen" if aware else "hidden"


def _on_twins(known: KindLaw, kind: Ints, twins: Twins, aware: bool) -> Floats:
    """The law of the people of the bound who have a twin, given their kinds, and their groups if these are seen."""
    rest = ~twins.apart
    seen = twins.seen_kind(aware)
    own = rest & (np.bincount(seen[rest], minlength=int(seen.max()) + 1)[seen] > 1)
    chances = known.chances[kind[own]]
    if aware:
        rows, group = np.arange(len(chances)), twins.data.group[own]
        given = np.zeros_like(chances)
        given[rows, group] = chances[rows, group] / chances[rows, group].sum(axis=1, keepdims=True)
        chances = given
    _, place = np.unique(seen[own], return_inverse=True)
    mass = np.zeros((int(place.max()) + 1, *chances.shape[1:]))
    np.add.at(mass, place.reshape(-1), chances)
    return known.weigh(mass)


def _with_linear_model(data: fl.Dataset, seed: int) -> Study:
    """What `Study.of` does, with a linear model of the chances: least squares on the values of the features."""
    apart, kind = set_apart(data, seed), feature_kinds(data)
    fold = np.random.default_rng([seed, 1]).integers(5, size=int(kind.max()) + 1)[kind]
    x = np.concatenate([np.eye(int(v.max()) + 1)[v.astype(int)] for v in data.columns.values()], axis=1)
    groups = len(data.groups)
    sort = np.eye(2 * groups)[data.group * 2 + data.label]
    chances = np.empty((data.n_rows, groups, 2))
    for own in (apart, ~apart):
        for k in range(5):
            held = own & (fold == k)
            chances[held] = _linear(x, sort, own & (fold != k), held).reshape(-1, groups, 2)
    return Study(Twins(data, kind, apart, chances, seed), {}, None)


def _linear(x: Floats, sort: Floats, learn: Flags, held: Flags) -> Floats:
    gram = x[learn].T @ x[learn] + np.eye(x.shape[1])
    found = np.clip(x[held] @ np.linalg.solve(gram, x[learn].T @ sort[learn]), 0.005, 1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def run(folder: Path, names: list[str]) -> None:
    """Draw from laws with the linear model."""
    _start(folder)
    for name in names:
        measure(folder, name, SLOW_DRAWS if name.startswith("dutch") else DRAWS, "linear")


def run_learned(folder: Path) -> None:
    """Draw from the laws made of Dutch with the default learners."""
    _start(folder)
    for name in ("dutch 2", "dutch 50"):
        measure(folder, name, LEARNED_DRAWS, "default")


def _start(folder: Path) -> None:
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
