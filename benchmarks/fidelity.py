"""Generators on trial: the paper's Table 1, held-out distances, and what generated rows do to limits.

`run` measures, `markdown` writes the tables of ``docs/fidelity.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairlimits as fl
from benchmarks.cases import table, timed
from fairlimits.counting import count_cells
from fairlimits.fidelity import Fidelity, fidelity, fidelity_report
from fairlimits.generate import PAPER_EPOCHS, CtganGenerator, make_generator
from fairlimits.quantize import assign

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
    """Seconds that `cart` takes to learn all rows, and to draw a million: the shortest of three."""
    data = fl.load_dataset(name)
    learned, fitted = timed(lambda: make_generator("cart").fit(data), 3)
    drawn, _ = timed(lambda: fitted.sample(1_000_000), 3)
    return {"data": name, "fit": learned, "sample": drawn}


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
    n_samples = max(1_000_000, fl.samples_needed(cells))
    rows, source = learned, None
    if generator is not None:
        rows = make_generator(generator).fit(learned, seed).sample(n_samples, seed)
        source = _Drawn(rows, generator)
    dist = fl.discretize(learned, cells, generator=source, n_samples=n_samples, random_state=seed)
    assert dist.encoding is not None
    assert dist.centroids is not None
    at = assign(dist.encoding.transform_dataset(other), dist.centroids)
    mass = count_cells(at, other, cells).weight / other.n_rows
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
    rows = CtganGenerator(epochs=epochs).fit(law).sample(1_000_000)
    return compared(fidelity(law, rows, PAPER["law"]["cells"]), epochs, time.perf_counter() - start)


def compared(found: Fidelity, epochs: int, seconds: float) -> dict[str, Any]:
    """Write down how CTGAN did."""
    return {
        "epochs": epochs,
        "seconds": seconds,
        "correlation": found.correlation.tolist(),
        "distance": found.distance.tolist(),
    }


def run(seeds: tuple[int, ...] = (0, 1, 2, 3, 4), epochs: int | None = None, tell: Tell = print) -> dict[str, Any]:
    """Measure everything.

    Parameters
    ----------
    seeds : tuple of int
        A run for each.
    epochs : int, optional
        Epochs of CTGAN on Law; by default it is left out.
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
    if epochs is not None:
        results["neural"] = neural(epochs)
    return results


def markdown(results: dict[str, Any]) -> str:
    """Write the tables."""
    parts = [
        _paper_table(results["judged"], results["neural"]),
        _held_out_table(results["judged"]),
        _likeness_table(results["judged"]),
        _limits_table(results["limits"]),
        _learning_table(results["learning"]),
        _times_table(results["times"]),
    ]
    return "\n\n".join(parts)


def _of(results: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in results if all(row[key] == value for key, value in wanted.items())]


def _paper_table(rows: list[dict[str, Any]], ctgan: dict[str, Any] | None) -> str:
    lines, beaten = [], 0
    for name, paper in PAPER.items():
        chosen = _of(rows, data=name, generator="cart")
        low = np.min([row["correlation"] for row in chosen], axis=0)
        high = np.max([row["distance"] for row in chosen], axis=0)
        for g, y in np.ndindex(2, 2):
            better = low[g, y] > paper["correlation"][g][y]
            nearer = high[g, y] < max(paper["distance"][g][y], 0.005)
            beaten += int(better) + int(nearer)
            line = [f"{name}, {paper['cells']} cells", f"{'ab'[g]}, {y}"]
            line += [f"{paper['correlation'][g][y]:.2f}", f"{low[g, y]:.3f}"]
            line += [f"{paper['distance'][g][y]:.2f}", f"{high[g, y]:.4f}"]
            if ctgan is not None:
                mine = name == "law"
                line += [
                    f"{ctgan['correlation'][g][y]:.3f}" if mine else "",
                    f"{ctgan['distance'][g][y]:.4f}" if mine else "",
                ]
            lines.append(line)
    heads = ["data", "group, label", "correlation: paper", "cart (lowest)", "distance: paper", "cart (largest)"]
    if ctgan is not None:
        heads += [f"CTGAN, {ctgan['epochs']} epochs: correlation", "distance"]
    largest = max(row["largest p"] for row in rows if row["generator"] == "cart")
    text = f"\n\n`cart` beats {beaten} of 24 entries; the largest p-value is {largest:.0e}."
    if ctgan is not None:
        text += f" CTGAN took {ctgan['seconds']:.0f} s on law."
    return table(heads, lines) + text


def _held_out_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name in PAPER:
        chosen = _of(rows, data=name, generator="cart")
        held, floor = (np.array([row[key] for row in chosen]) for key in ("held out", "floor"))
        for g, y in np.ndindex(2, 2):
            lines.append(_ratio_line(name, f"{'ab'[g]}, {y}", held[:, g, y], floor[:, g, y]))
        lines.append(_ratio_line(name, "all", held.sum(axis=(1, 2)), floor.sum(axis=(1, 2))))
    return table(("data", "group, label", "held out", "noise floor", "ratio of means", "ratios by seed"), lines)


def _ratio_line(name: str, which: str, held: NDArray[Any], floor: NDArray[Any]) -> list[str]:
    spread = " ".join(f"{ratio:.2f}" for ratio in held / floor)
    return [name, which, f"{held.mean():.4f}", f"{floor.mean():.4f}", f"{held.mean() / floor.mean():.2f}", spread]


def _likeness_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name in PAPER:
        for generator in ("cart", "bootstrap"):
            chosen = _of(rows, data=name, generator=generator)
            mean = {key: float(np.mean([row[key] for row in chosen])) for key in ("auc", "accuracy", "copies")}
            floor = {key: float(np.mean([row[key] for row in chosen])) for key in _FLOORS.values()}
            line = [name, f"{generator} ({len(chosen)} seeds)" if len(chosen) > 1 else f"{generator} (1 seed)"]
            for key in mean:
                style = ".3f" if key == "auc" else ".1%"
                line += [f"{mean[key]:{style}}", f"{floor[_FLOORS[key]]:{style}}"]
            lines.append(line)
    heads = (
        "data",
        "generator",
        "AUC",
        "(real half)",
        "accuracy trained on it",
        "(real half)",
        "copies",
        "(people held out)",
    )
    return table(heads, lines)


_FLOORS = {"auc": "auc floor", "accuracy": "accuracy real", "copies": "copies natural"}


def _limits_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for name in PAPER:
        for cells in sorted({row["cells"] for row in rows}):
            base = _of(rows, data=name, cells=cells, source="rows")
            for source in ("rows", "bootstrap", "cart"):
                chosen = _of(rows, data=name, cells=cells, source=source)
                if not chosen:
                    continue
                optimism = np.array([row["optimism"] for row in chosen]) * 100
                held = np.array([row["held-out accuracy"] for row in chosen]) * 100
                distance = np.array([row["distance"] for row in chosen])
                wins = sum(mine["distance"] < other["distance"] for mine, other in zip(chosen, base, strict=True))
                less = sum(
                    np.mean(mine["optimism"]) < np.mean(other["optimism"])
                    for mine, other in zip(chosen, base, strict=True)
                )
                line = [name, f"{cells}", source, f"{distance.mean():.4f}"]
                line += [f"{value:.2f}" for value in optimism.mean(axis=0)]
                line += [f"{optimism.mean():.2f}", f"{held.mean():.2f}"]
                line.append("" if source == "rows" else f"{wins}, {less} of {len(chosen)}")
                lines.append(line)
    names = [f"{name}, {'seen' if aware else 'hidden'}" for name, _, aware in RULES]
    heads = (
        "data",
        "cells",
        "source",
        "distance",
        *names,
        "mean optimism",
        "mean held-out accuracy",
        "nearer, less optimistic than rows",
    )
    return table(heads, lines)


def _learning_table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for size in sorted({row["rows"] for row in rows}):
        line = [f"{size:,}"]
        for name in PAPER:
            chosen = _of(rows, data=name, rows=size)
            distance, correlation = (
                np.mean([row[key] for row in chosen]) if chosen else None for key in ("distance", "correlation")
            )
            line.append("" if distance is None else f"{distance:.4f}, {correlation:.3f}")
        lines.append(line)
    return table(("rows learned", *PAPER), lines)


def _times_table(rows: list[dict[str, Any]]) -> str:
    lines = [(row["data"], f"{row['fit']:.1f} s", f"{row['sample']:.1f} s") for row in rows]
    return table(("data", "cart: learning all rows", "drawing a million"), lines)


if __name__ == "__main__":
    print(markdown(run()))
