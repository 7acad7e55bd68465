"""``fairlimits frontier``: the best accuracy at each tolerance, in a table, a file or a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import typer

from fairlimits.cli import options
from fairlimits.cli.show import check_suffix, print_table, progress_bar, say, write_csv, write_json
from fairlimits.criteria import check_names, estimable
from fairlimits.discretize import DEFAULT_GENERATOR, DEFAULT_SAMPLES
from fairlimits.distribution import CellDistribution
from fairlimits.errors import InputError
from fairlimits.frontier import Frontier
from fairlimits.frontier import frontier as trace
from fairlimits.look import COLOURS, figure_style
from fairlimits.storage import write_whole

_PICTURES = (".png", ".pdf", ".svg")
_LINES = 11


def frontier(
    data: options.Data,
    label: options.Label = None,
    positive: options.Positive = None,
    sensitive: options.Sensitive = None,
    weight: options.Weight = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    missing_sensitive: options.MissingSensitive = "refuse",
    notion: Annotated[
        list[str] | None,
        typer.Option("--notion", "-n", help="Notion to constrain: DP, EA, EOp, PE, EOd or IF (repeatable)."),
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="Hold a notion at a tolerance, such as IF=0.1 (repeatable).")
    ] = None,
    start: Annotated[float, typer.Option("--from", help="First tolerance.")] = 0.0,
    stop: Annotated[float, typer.Option("--to", help="Last tolerance.")] = 0.2,
    points: Annotated[int, typer.Option(help="Number of tolerances.")] = 41,
    exact: Annotated[bool, typer.Option("--exact", help="Find every breakpoint instead of sampling.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .csv, .json, .png, .pdf or .svg file.")
    ] = None,
    cells: options.Cells = 256,
    generator: options.Generator = DEFAULT_GENERATOR,
    samples: options.Samples = DEFAULT_SAMPLES,
    seed: options.Seed = 0,
) -> None:
    """Trace the best accuracy at each tolerance, with the group seen and hidden.

    Several notions are constrained together and move together; --fix holds some of them still.

    Examples
    --------
      fairlimits frontier adult

      fairlimits frontier adult -n DP -n EA --exact -o curve.csv

      fairlimits frontier adult -n EOd --fix IF=0.1 -o curve.png

      fairlimits frontier loans.csv --label paid --positive yes --sensitive sex --sensitive race -n EOd
    """
    check_suffix(output, (".csv", ".json", *_PICTURES))
    moving = check_names(notion or ["DP"])
    fixed = _fixed(fix or [], moving)
    if points < 2 or not (math.isfinite(start) and math.isfinite(stop) and 0 <= start < stop):
        raise InputError(
            f"--from {start:g} --to {stop:g} --points {points} gives no range; "
            "start at 0 or above, end higher, with at least 2 points."
        )
    dataset = options.open_data(data, label, positive, sensitive, weight, numeric, categorical, drop, missing_sensitive)
    dist = options.make_cells(dataset, cells, seed, generator, samples)
    span: Any = (start, stop) if exact else np.linspace(start, stop, points)
    tolerances: dict[str, Any] = dict.fromkeys(moving, span) | fixed
    curves = {}
    for aware in (True, False):
        with progress_bar("Group seen" if aware else "Group hidden") as tell:
            curves[aware] = trace(dist, tuple(tolerances), tolerances, aware=aware, exact=exact, progress=tell)
    _print(dist, curves, moving, fixed)
    if output is not None:
        _write(output, curves, {"data": data, "cells": cells, "generator": generator, "seed": seed, "fixed": fixed})
        say(f"Written to {output}.")


def _fixed(given: list[str], moving: tuple[str, ...]) -> dict[str, float]:
    fixed = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            fixed[name] = float(value)
        except ValueError:
            raise InputError(f"--fix {text} is not understood; write a notion and a number, as in IF=0.1.") from None
    check_names([*moving, *fixed])
    return fixed


def _print(
    dist: CellDistribution,
    curves: Mapping[bool, Frontier],
    moving: tuple[str, ...],
    fixed: Mapping[str, float],
) -> None:
    tolerances = np.unique(np.concatenate([curve.grid[moving[0]] for curve in curves.values()]))
    shown = tolerances[np.unique(np.linspace(0, len(tolerances) - 1, _LINES).round().astype(int))]
    rows = [
        (f"{tolerance:.4f}", *(f"{_at(curves[aware], moving[0], tolerance):.4f}" for aware in (True, False)))
        for tolerance in shown
    ]
    held = "".join(f", {name} <= {value:g}" for name, value in fixed.items())
    rows_text = f"{int(dist.counts.sum()):,} rows, " if dist.counts is not None else ""
    print_table(
        (f"{' and '.join(moving)} <=", "group seen", "group hidden"),
        rows,
        f"Best accuracy, plug-in ({rows_text}{dist.n_cells} cells{held})",
    )
    best = ", ".join(
        f"{curves[aware].bayes_accuracy:.4f} with the group {'seen' if aware else 'hidden'}" for aware in (True, False)
    )
    say(f"Without any constraint: {best}.")
    if curves[True].exact:
        say(f"{len(curves[True])} and {len(curves[False])} breakpoints; straight lines between them are exact.")
    weak = [name for name in (*moving, *fixed) if not estimable(dist, name)]
    if weak:
        say(f"Not estimable, for fewer than 30 rows stand behind one of its rates: {', '.join(weak)}.")


def _at(curve: Frontier, notion: str, tolerance: float) -> float:
    return float(np.interp(tolerance, curve.grid[notion], curve.accuracy))


def _write(output: Path, curves: Mapping[bool, Frontier], made: Mapping[str, Any]) -> None:
    suffix = output.suffix.lower()
    if suffix in _PICTURES:
        with figure_style():
            figure, ax = plt.subplots(figsize=(6.2, 4.0))
            for aware, curve in curves.items():
                name = "group seen" if aware else "group hidden"
                style = "-" if aware else (0, (5, 2))
                curve.plot(ax, label=name, color=COLOURS["aware" if aware else "unaware"], linestyle=style)
            held = "".join(f", {name} at most {value:g}" for name, value in made["fixed"].items())
            ax.set_title(f"Best accuracy on {Path(made['data']).stem}{held}")
            ax.legend()
            with write_whole(output) as temporary:
                figure.savefig(temporary)
            plt.close(figure)
        return
    tables = [
        curve.to_frame().append_column("group", pa.array(["seen" if aware else "hidden"] * len(curve)))
        for aware, curve in curves.items()
    ]
    if suffix == ".csv":
        write_csv(output, pa.concat_tables(tables))
        return
    content = {"made from": dict(made), "figures": "plug-in", "exact": curves[True].exact}
    for aware, curve in curves.items():
        columns = curve.to_frame().to_pydict()
        content["group seen" if aware else "group hidden"] = {
            "accuracy without constraint": curve.bayes_accuracy,
            # JSON has no NaN: a gap that cannot be computed is null.
            **{name: [None if math.isnan(v) else v for v in values] for name, values in columns.items()},
        }
    write_json(output, content)
