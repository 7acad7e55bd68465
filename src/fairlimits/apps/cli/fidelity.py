"""``fairlimits fidelity``: how near a generator's rows come to the people, in tables, a file or a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits._util.plotting import figure_style
from fairlimits.apps.cli import options
from fairlimits.apps.cli.data_options import TableOptions, say_small_groups
from fairlimits.apps.cli.option_groups import expand_groups
from fairlimits.apps.cli.terminal import (
    check_outputs,
    print_table,
    progress_bar,
    say,
    write_csv,
    write_figure,
    write_json,
)
from fairlimits.errors import InputError

if TYPE_CHECKING:
    from fairlimits.law import Fidelity, FidelityReport

_PICTURES = (".png", ".pdf", ".svg")


@expand_groups
def fidelity(
    table: TableOptions,
    *,
    generator: Annotated[
        str,
        typer.Option(
            help="Generator to judge: cart, bootstrap, ctgan or tvae "
            # The backslash keeps the bracket from being taken for markup.
            "(the last two need the extra fairlimits\\[ctgan], whose package ctgan is licensed under BUSL-1.1)."
        ),
    ] = "cart",
    samples: Annotated[int, typer.Option(help="Rows to generate.")] = 1_000_000,
    epochs: Annotated[int | None, typer.Option(help="Epochs of ctgan or tvae; the paper's 400 by default.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .csv, .json, .png, .pdf or .svg file.")
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(
            help="Number of cells; by default what the sampling bound allows for the rows, and at least 8.",
            rich_help_panel="Cells",
        ),
    ] = None,
    seed: options.Seed = 0,
) -> dict[str, Any]:
    """Judge whether rows of a generator stand for the people, or only for the rows that it learned.

    It is compared by the paper's protocol, and with one half of the rows after it learned the other.

    A distance is half the sum over cells of the difference in mass: 0 means equal, 1 nothing in common.

    Examples:

      fairlimits fidelity adult

      fairlimits fidelity adult --generator bootstrap

      fairlimits fidelity loans.csv --label paid --sensitive sex -o loans.png
    """
    from fairlimits.law import fidelity_report, make_generator

    check_outputs([table.data], (output, (".csv", ".json", *_PICTURES)))
    for option, value in (("--samples", samples), ("--cells", cells)):
        if value is not None and value < 1:
            raise InputError(f"{option} is {value}; it must be at least 1.")
    settings = {} if epochs is None else {"epochs": epochs}
    recipe = make_generator(generator, **settings)
    dataset = table.read()
    say_small_groups(dataset)
    with progress_bar(f"Judging {generator}") as tell:
        report = fidelity_report(dataset, recipe, cells=cells, n_samples=samples, random_state=seed, progress=tell)
    _print(report, dataset.n_rows)
    made = {"data": table.data, "seed": seed, "rows": dataset.n_rows, **settings}
    record = _record(report, made, dataset.small_groups_note)
    if output is not None:
        _write(output, report, record)
        say(f"Written to {output}.")
    return record


def _print(report: FidelityReport, rows: int) -> None:
    cells = "1 cell" if report.fitted.n_cells == 1 else f"{report.fitted.n_cells} cells"
    _print_masses(
        report.fitted,
        f"Learned from all {rows:,} rows, {report.n_samples:,} rows of {report.generator} compared with all ({cells}):",
    )
    say()
    _print_masses(
        report.held_out, f"Learned from one half, compared with the other ({cells}):", floor=report.noise_floor
    )
    say()
    print_table(
        ("on the half held out", report.generator, "the half learned"),
        (
            ("distance, all together", f"{report.held_out.total_distance:.4f}", _total(report.noise_floor)),
            ("told apart from real rows (AUC)", f"{report.auc:.3f}", f"{report.auc_floor:.3f}"),
            ("accuracy of a model trained on it", f"{report.accuracy:.4f}", f"{report.accuracy_real:.4f}"),
        ),
    )
    if not math.isnan(report.ratio):
        say(
            f"Rows of {report.generator} are {report.ratio:.2f} times as far from the people held out as the half "
            "that was learned (1: as near as real rows)."
        )
    say(
        f"{report.copies:.2%} of the generated rows equal a row that was learned in every column; "
        f"of the people held out, {report.copies_natural:.2%} do."
    )
    say(f"Learning all rows took {report.fit_seconds:.1f} s, drawing {report.sample_seconds:.1f} s.")


def _total(result: Fidelity) -> str:
    return f"{result.total_distance:.4f}"


def _print_masses(result: Fidelity, title: str, floor: Fidelity | None = None) -> None:
    lines = []
    for g, group in enumerate(result.groups):
        for y in (0, 1):
            line = [f"{group}, label {y}", _figure(result.correlation[g, y]), _p_value(float(result.p_value[g, y]))]
            line.append(f"{result.distance[g, y]:.4f}")
            if floor is not None:
                line += [_figure(floor.correlation[g, y]), f"{floor.distance[g, y]:.4f}"]
            lines.append(line)
    heads = ["", "correlation", "p-value", "distance"]
    print_table(heads + ([] if floor is None else ["noise floor: correlation", "distance"]), lines, title)


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _p_value(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _write(output: Path, report: FidelityReport, record: Mapping[str, Any]) -> None:
    suffix = output.suffix.lower()
    if suffix in _PICTURES:
        with figure_style():
            figure = report.figure()
            title = f"{Path(record['made from']['data']).stem}: rows of {report.generator} against people held out"
            figure.suptitle(title, parse_math=False)
            write_figure(output, figure)
        return
    if suffix == ".csv":
        write_csv(output, report.to_frame())
        return
    write_json(output, record)


def _record(report: FidelityReport, made: Mapping[str, Any], note: str | None) -> dict[str, Any]:
    # JSON has no NaN: a figure that cannot be computed is null.
    rows = [
        {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
        for row in report.to_frame().to_pylist()
    ]
    return {
        "made from": {**made, "generator": report.generator, "samples": report.n_samples},
        "notes": [] if note is None else [note],
        "cells": report.fitted.n_cells,
        "comparisons": rows,
        "held-out distance": report.held_out.total_distance,
        "noise floor": report.noise_floor.total_distance,
        "auc": report.auc,
        "auc of the half learned": report.auc_floor,
        "accuracy": report.accuracy,
        "accuracy of the half learned": report.accuracy_real,
        "copies": report.copies,
        "copies among people held out": report.copies_natural,
        "seconds to learn": report.fit_seconds,
        "seconds to draw": report.sample_seconds,
    }
