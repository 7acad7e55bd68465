"""``fairlimits report``: the whole answer on one page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import fairlimits
from fairlimits.cli import options
from fairlimits.cli.show import check_suffix, print_table, progress_bar, say, write_json
from fairlimits.discretize import DEFAULT_GENERATOR, DEFAULT_SAMPLES
from fairlimits.report import Summary, render, summarise
from fairlimits.storage import write_text


def report(
    data: options.Data,
    label: options.Label = None,
    positive: options.Positive = None,
    sensitive: options.Sensitive = None,
    weight: options.Weight = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    missing_sensitive: options.MissingSensitive = "refuse",
    output: Annotated[Path, typer.Option("--output", "-o", help="The page (.html), or its content (.json).")] = Path(
        "report.html"
    ),
    cells: options.Cells = 256,
    generator: options.Generator = DEFAULT_GENERATOR,
    samples: options.Samples = DEFAULT_SAMPLES,
    seed: options.Seed = 0,
) -> None:
    """Write a page that says what fairness costs on this data.

    Examples
    --------
      fairlimits report adult -o report.html

      fairlimits report loans.csv --label paid --positive yes --sensitive sex -o report.html
    """
    check_suffix(output, (".html", ".json"))
    dataset = options.open_data(data, label, positive, sensitive, weight, numeric, categorical, drop, missing_sensitive)
    dist = options.make_cells(dataset, cells, seed, generator, samples)
    with progress_bar("Solving") as tell:
        summary = summarise(dist, Path(data).stem, progress=tell)
    chosen = {
        "label": label,
        "positive": positive,
        "weight": weight,
        "cells": cells,
        "generator": generator if generator != DEFAULT_GENERATOR else None,
        "samples": samples if samples != DEFAULT_SAMPLES else None,
        "seed": seed,
        "output": output,
    }
    lists = {"sensitive": sensitive, "numeric": numeric, "categorical": categorical, "drop": drop}
    words = ["fairlimits", "report", data]
    words += [word for key, value in chosen.items() if value is not None for word in (f"--{key}", str(value))]
    words += [word for key, values in lists.items() for value in values or [] for word in (f"--{key}", value)]
    if missing_sensitive != "refuse":
        words += ["--missing-sensitive", missing_sensitive]
    if output.suffix.lower() == ".json":
        write_json(output, {"fairlimits": fairlimits.__version__, "figures": "plug-in", **summary.to_dict()})
    else:
        write_text(output, render(summary, shlex.join(words), fairlimits.__version__))
    _print(summary)
    say(f"Written to {output}.")


def _print(summary: Summary) -> None:
    notions = list(dict.fromkeys(price.notion for price in summary.prices))
    rows = []
    for notion in notions:
        prices = [summary.price(notion, eps, aware) for aware in (True, False) for eps in (0.0, 0.05)]
        figures = [f"{price.accuracy:.4f}" if price.estimable else "not estimable" for price in prices]
        rows.append((prices[0].title, *figures))
    print_table(
        ("notion", "seen, at 0", "seen, at 0.05", "hidden, at 0", "hidden, at 0.05"),
        rows,
        f"Best accuracy, plug-in: {summary.best_aware:.4f} with the group seen, "
        f"{summary.best_unaware:.4f} with it hidden; under one notion:",
    )
