"""Generators on trial: the paper's Table 1, held-out distances, and what generated rows do to limits.

`run` measures for about two hours, `markdown` writes the tables; ``docs/fidelity.md`` says what follows from them.
CTGAN takes part if its extra is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairlimits as fl
from benchmarks.cases import peak_megabytes, table, timed
from fairlimits.law import PAPER_EPOCHS, CtganGenerator, count_cells, fidelity, fidelity_report, make_generator

# Table 1 of the paper: a row for each group (a, b), a column for each label (0, 1).
PAPER: dict[str, dict[str, Any]] = {
    "adult": {"cells": 48, "correlation": [[0.96, 0.98], [0.97, 0.97]], "distance": [[0.04, 0.00], [0.05, 0.03]]},
    "law": {"cells": 20, "correlation": [[0.98, 0.88], [0.97, 0.91]], "distance": [[0.01, 0.02], [0.01, 0.06]]},
    "dutch": {"cells": 59, "correlation": [[0.94, 0.88], [0.97, 0.95]], "distance": [[0.05, 0.03], [0.02, 0.05]]},
}
SOURCES = (None, "bootstrap", "cart")
RULES: tuple[tuple[str, dict[str, float], bool], ...] = tuple(
    (name, tolerances, aware)
    for name, tolerances in (("none", {}), ("DP 0.05", {"DP": 0.05}), ("EOd 0.05", {"EOd": 0.05}))
    for aware in (False, True)
)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000)
LARGEST_RATIO = 1.25

Tell = Callable[[str], None]


def judged(name: str, seed: int, generator: str = "cart") -> dict[str, Any]:
    """Everything that `fidelity_report` says of a generator."""
    report = fidelity_report(fl.load_dataset(name), generator, cells=PAPER[name]["cells"], random_state=seed)
    return {
        "data": name,
        "groups": report.fitted.groups,
        "generator": generator,
        "seed": seed,
        "correlation": report.fitted.correlation.tolist(),
        "distance": report.fitted.distance.tolist(),
        "largest p": float(report.fitted.p_value.max()),
        "held out": report.held_out.distance.tolist(),
        "floor": report.noise_floor.distance.tolist(),
        "auc": report.auc,
        "auc floor": report.auc_floor,
        "accuracy": report.accuracy,
        "accuracy real": report.accuracy_real,
        "copies": report.copies,
        "copies natural": report.copies_natural,
    }


def timing(name: str) -> dict[str, Any]:
    """Run `measure_times` in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.fidelity", "times", name]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def measure_times(name: str) -> dict[str, Any]:
    """Seconds that `cart` takes to learn all rows, and to draw a million: the shortest of three."""
    data = fl.load_dataset(name)
    learned, fitted = timed(lambda: make_generator("cart").fit(data), 3)
    drawn, _ = timed(lambda: fitted.sample(1_000_000), 3)
    return {"data": name, "fit": learned, "sample": drawn, "peak MB": peak_megabytes()}


@dataclass(frozen=True)
class _Drawn:
    """A generator whose rows were drawn before, so that they are drawn once for two uses."""

    rows: fl.Dataset
    name: str

    def fit(self, dataset: fl.Dataset, random_state: int = 0, progress: Any = None) -> _Drawn:
        return self

    def sample(self, n: int, random_state: int = 0) -> fl.Dataset:
        return self.rows


def limits(name: str, cells: int, seed: int, generator: str | None) -> dict[str, Any]:
    """Distance to held-out people, and plug-in against held-out accuracy of the rules solved on a source."""
    learned, other = fl.load_dataset(name).split(0.5, seed)
    # A million, or what the bound asks for if that is more.
    n_samples = max(1_000_000, fl.law.samples_needed(cells))
    rows, source = learned, None
    if generator is not None:
        rows = make_generator(generator).fit(learned, seed).sample(n_samples, seed)
        source = _Drawn(rows, generator)
    dist = fl.discretize(learned, cells, generator=source, n_samples=n_samples, random_state=seed, partition="features")
    mass = count_cells(dist.cells_of(other), other, cells).weight / other.n_rows
    gaps, values = [], []
    for _, tolerances, aware in RULES:
        rule = fl.solve(dist, tolerances, aware=aware)
        held = _accuracy(rule, mass)
        gaps.append(rule.accuracy - held)
        values.append(held)
    return {
        "data": name,
        "cells": cells,
        "seed": seed,
        "source": generator or "rows",
        "distance": fidelity(other, rows, cells, random_state=seed).total_distance,
        "optimism": gaps,
        "held-out accuracy": values,
    }


def _accuracy(rule: fl.Rule, mass: NDArray[np.float64]) -> float:
    scores = rule.group_scores
    return float((mass[:, :, 1] * scores + mass[:, :, 0] * (1 - scores)).sum())


def learning(name: str, seed: int, size: int) -> dict[str, Any]:
    """Held-out fidelity of `cart` after learning `size` rows of one half, or all of it."""
    half, other = fl.load_dataset(name).split(0.5, seed)
    chosen = np.random.default_rng(seed).permutation(half.n_rows)[:size]
    rows = make_generator("cart").fit(half.take(np.sort(chosen)), seed).sample(300_000, seed)
    found = fidelity(other, rows, PAPER[name]["cells"], random_state=seed)
    return {
        "data": name,
        "seed": seed,
        "rows": len(chosen),
        "distance": found.total_distance,
        "correlation": float(found.correlation.min()),
    }


def neural(epochs: int = PAPER_EPOCHS) -> dict[str, Any]:
    """CTGAN on Law by the paper's protocol; it needs the extra ``fairlimits[ctgan]``."""
    law = fl.load_dataset("law")
    start = time.perf_counter()
    trained = CtganGenerator(epochs=epochs).fit(law)
    middle = time.perf_counter()
    rows = trained.sample(1_000_000)
    end = time.perf_counter()
    found = fidelity(law, rows, PAPER["law"]["cells"])
    return {
        "epochs": epochs,
        "fit": middle - start,
        "sample": end - middle,
        "correlation": found.correlation.tolist(),
        "distance": found.distance.tolist(),
    }


def run(seeds: tuple[int, ...] = (0, 1, 2, 3, 4), tell: Tell = print) -> dict[str, Any]:
    """Measure everything.

    Parameters
    ----------
    seeds : tuple of int
        A run for each.
    tell : callable
        Called with a line on each thing done.
    """
    results: dict[str, Any] = {"times": [], "judged": [], "limits": [], "learning": [], "neural": None}

    def note(part: str, row: dict[str, Any]) -> None:
        results[part].append(row)
        tell(f"{part} {row}")

    for name in PAPER:
        note("times", timing(name))
        for seed in seeds:
            note("judged", judged(name, seed))
        note("judged", judged(name, seeds[0], "bootstrap"))
        for seed in seeds[:3]:
            for size in (*SIZES, 10**9):
                note("learning", learning(name, seed, size))
        for cells in (256, 1024):
            for seed in seeds:
                for source in SOURCES:
                    note("limits", limits(name, cells, seed, source))
    if find_spec("ctgan") is not None:
        results["neural"] = neural()
    return results


def markdown(results: dict[str, Any]) -> str:
    """Write the tables."""
    parts = {
        "The paper's protocol": _paper_table(results["judged"], results["neural"]),
        "Held out": _held_out_table(results["judged"]),
        "Likeness to people held out": _likeness_table(results["judged"]),
        "What it does to limits": _limits_table(results["limits"]),
        "Rows needed": _learning_table(results["learning"]),
        "Time and memory": _times_table(results["times"], results["neural"]),
    }
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items())


def _of(results: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in results if all(row[key] == value for key, value in wanted.items())]


def _paper_table(rows: list[dict[str, Any]], ctgan: dict[str, Any] | None) -> str:
    lines, beaten, swapped = [], 0, 0
    for name, paper in PAPER.items():
        chosen = _of(rows, data=name, generator="cart")
        low = np.min([row["correlation"] for row in chosen], axis=0)
        high = np.max([row["distance"] for row in chosen], axis=0)
        beaten += _entries_beaten(low, high, paper)
        swapped += _entries_beaten(low[::-1], high[::-1], paper)
        for g, y in np.ndindex(2, 2):
            line = [f"{name}, {paper['cells']} cells", f"{chosen[0]['groups'][g]}, {y}"]
            line += [f"{paper['correlation'][g][y]:.2f}", f"{low[g, y]:.3f}"]
            line += [f"{paper['distance'][g][y]:.2f}", f"{high[g, y]:.4f}"]
            if ctgan is not None:
                own = (f"{ctgan['correlation'][g][y]:.3f}", f"{ctgan['distance'][g][y]:.4f}")
                line += own if name == "law" else ("", "")
            lines.append(line)
    heads = ["data", "group, label", "correlation: paper", "cart (lowest)", "distance: paper", "cart (largest)"]
    if ctgan is not None:
        heads += [f"our CTGAN, {ctgan['epochs']} epochs: correlation", "distance"]
    judged_rows = _of(rows, generator="cart")
    seeds = len({row["seed"] for row in judged_rows})
    return (
        f"`cart`, learned from all rows and compared with all rows, worst of {seeds} seeds:\n\n{table(heads, lines)}"
        f"\n\n`cart` beats {beaten} of 24 entries, and {swapped} if the paper's groups a and b are the other way "
        f"round; its largest p-value is {max(row['largest p'] for row in judged_rows):.0e}."
    )


def _entries_beaten(correlation: NDArray[Any], distance: NDArray[Any], paper: dict[str, Any]) -> int:
    """Entries of Table 1 that are beaten; where the paper prints 0.00, what rounds to that counts."""
    better = correlation > np.array(paper["correlation"])
    nearer = distance < np.maximum(paper["distance"], 0.005)
    return int(better.sum() + nearer.sum())


def _held_out_table(rows: list[dict[str, Any]]) -> str:
    lines, ratios, means = [], [], []
    for name in PAPER:
        chosen = _of(rows, data=name, generator="cart")
        held, floor = (np.array([row[key] for row in chosen]) for key in ("held out", "floor"))
        ratios += list((held / floor).ravel())
        means += list((held.mean(axis=0) / floor.mean(axis=0)).ravel())
        for g, y in np.ndindex(2, 2):
            lines.append(_ratio_line(name, f"{chosen[0]['groups'][g]}, {y}", held[:, g, y], floor[:, g, y]))
        lines.append(_ratio_line(name, "all", held.sum(axis=(1, 2)), floor.sum(axis=(1, 2))))
    heads = ("data", "group, label", "held out", "noise floor", "ratio of means", "ratios by seed")
    within = sum(ratio <= LARGEST_RATIO for ratio in ratios)
    return (
        "Distance of `cart`, learned from one half, to the other; the floor is that of the half learned:\n\n"
        f"{table(heads, lines)}\n\n"
        f"Within {LARGEST_RATIO} times the floor: {sum(mean <= LARGEST_RATIO for mean in means)} of {len(means)} means "
        f"(largest {max(means):.2f}), {within} of {len(ratios)} single figures (largest {max(ratios):.2f})."
    )


def _ratio_line(name: str, which: str, held: NDArray[Any], floor: NDArray[Any]) -> list[str]:
    spread = " ".join(f"{ratio:.2f}" for ratio in held / floor)
    return [name, which, f"{held.mean():.4f}", f"{floor.mean():.4f}", f"{held.mean() / floor.mean():.2f}", spread]


def _likeness_table(rows: list[dict[str, Any]]) -> str:
    floors = {"auc": "auc floor", "accuracy": "accuracy real", "copies": "copies natural"}
    styles = {"auc": ".3f", "accuracy": ".1%", "copies": ".2%"}
    lines = []
    for name in PAPER:
        for generator in ("cart", "bootstrap"):
            chosen = _of(rows, data=name, generator=generator)
            line = [name, f"{generator} ({len(chosen)} seed{'s' if len(chosen) > 1 else ''})"]
            for key, floor in floors.items():
                line += [f"{np.mean([row[which] for row in chosen]):{styles[key]}}" for which in (key, floor)]
            lines.append(line)
    heads = ("AUC", "(half learned)", "accuracy trained on it", "(half learned)", "copies", "(people held out)")
    return table(("data", "generator", *heads), lines)


def _limits_table(rows: list[dict[str, Any]]) -> str:
    lines, by_rule = [], []
    for name in PAPER:
        for cells in sorted({row["cells"] for row in rows}):
            found = {
                source: sorted(_of(rows, data=name, cells=cells, source=source), key=lambda row: int(row["seed"]))
                for source in ("rows", "bootstrap", "cart")
            }
            for source, own in found.items():
                optimism = np.array([row["optimism"] for row in own]) * 100
                held = np.array([row["held-out accuracy"] for row in own]) * 100
                line = [name, f"{cells:,}", source, f"{np.mean([row['distance'] for row in own]):.4f}"]
                line += [f"{optimism.mean():.2f}", f"{held.mean():.2f}"]
                line += [
                    "" if source in (other, "rows") else _wins(own, found[other]) for other in ("rows", "bootstrap")
                ]
                lines.append(line)
                by_rule.append([*line[:3], *(f"{value:.2f}" for value in optimism.mean(axis=0))])
    heads = ("data", "cells", "source", "distance", "optimism", "held-out accuracy")
    rules = [f"{name}, {'seen' if aware else 'hidden'}" for name, _, aware in RULES]
    return (
        "Learned from one half: distance to the other half, and mean over six rules of optimism (accuracy on the "
        "source less accuracy on the other half) and of accuracy there, in points. The last columns count the seeds "
        "in which the source is nearer, and less optimistic:\n\n"
        f"{table((*heads, 'than rows', 'than bootstrap'), lines)}\n\n"
        f"Optimism by rule, with the group hidden or seen:\n\n{table((*heads[:3], *rules), by_rule)}"
    )


def _wins(own: list[dict[str, Any]], other: list[dict[str, Any]]) -> str:
    pairs = list(zip(own, other, strict=True))
    nearer = sum(mine["distance"] < its["distance"] for mine, its in pairs)
    less = sum(np.mean(mine["optimism"]) < np.mean(its["optimism"]) for mine, its in pairs)
    return f"{nearer}, {less} of {len(pairs)}"


def _learning_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for size in sorted({row["rows"] for row in rows}):
        line = [f"{size:,}"]
        for name in PAPER:
            chosen = _of(rows, data=name, rows=size)
            means = [np.mean([row[key] for row in chosen]) for key in ("distance", "correlation") if chosen]
            line.append(f"{means[0]:.4f}, {means[1]:.3f}" if means else "")
        lines.append(line)
    seeds = len({row["seed"] for row in rows})
    text = f"Held-out distance and lowest correlation of `cart` by rows learned, mean of {seeds} seeds:"
    return f"{text}\n\n{table(('rows learned', *PAPER), lines)}"


def _times_table(rows: list[dict[str, Any]], ctgan: dict[str, Any] | None) -> str:
    lines = [
        ("cart", row["data"], f"{row['fit']:.1f} s", f"{row['sample']:.1f} s", f"{row['peak MB']:,.0f} MB")
        for row in rows
    ]
    if ctgan is not None:
        name = f"CTGAN, {ctgan['epochs']} epochs"
        lines.append((name, "law", f"{ctgan['fit']:,.0f} s", f"{ctgan['sample']:.1f} s", ""))
    return table(("generator", "data", "learning all rows", "drawing a million", "peak memory of the process"), lines)


if __name__ == "__main__":
    print(json.dumps(measure_times(sys.argv[2])) if sys.argv[1:2] == ["times"] else markdown(run()))
