"""``fairlimits decorrelate``: features from which the group cannot be told, as a table for another team."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.cell_options import CellOptions, MapCells
from fairlimits.apps.cli.data_options import TableOptions, say_small_groups
from fairlimits.apps.cli.option_groups import expand_groups, option_flags, options_given
from fairlimits.apps.cli.terminal import check_outputs, notes_said, print_table, progress_bar, say, write_csv
from fairlimits.decorrelation import ACCURACY_WEIGHT, CORRELATION_WEIGHT
from fairlimits.errors import InputError, SmallGroupsWarning

if TYPE_CHECKING:
    import pyarrow as pa

    from fairlimits.data import Dataset
    from fairlimits.decorrelation import Certificate, Decorrelation

# Share of the rows that a plan is tried on, and not made from.
_HELD_OUT = 0.4

# Parameters that still matter when a saved plan is applied.
_WITH_PLAN = ("data", "plan", "output", "unseen", "with_label", "seed", "as_json")


@dataclass(frozen=True, kw_only=True)
class MapCellOptions(CellOptions):
    """Fewer cells than for rules: a map has a variable for each pair of them."""

    cells: MapCells = 128


@expand_groups
def decorrelate(
    context: typer.Context,
    table: TableOptions,
    *,
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", "-t", help="Tolerance of the rule, such as DP=0 or IF=0.1 (repeatable)."),
    ] = None,
    aware: Annotated[bool, typer.Option("--aware", help="Let the map see the group: one map for each group.")] = False,
    accuracy_weight: Annotated[float, typer.Option(help="Weight of accuracy in the objective.")] = ACCURACY_WEIGHT,
    correlation_weight: Annotated[
        float, typer.Option(help="Weight of correlation in the objective.")
    ] = CORRELATION_WEIGHT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the mapped rows to a .parquet or .csv file.")
    ] = None,
    with_label: Annotated[
        bool,
        typer.Option(
            "--with-label", help="Write each row's label too, for a model to learn from; it can give the group away."
        ),
    ] = False,
    save_plan: Annotated[Path | None, typer.Option(help="Keep the plan in a .npz file.")] = None,
    plan: Annotated[Path | None, typer.Option(help="Apply a plan that was kept, to the rows of DATA.")] = None,
    unseen: Annotated[
        str, typer.Option(help="Categories that a kept plan does not know: refuse them, or take them as missing.")
    ] = "refuse",
    cutting: MapCellOptions,
) -> dict[str, Any]:
    """Map the features so that the group cannot be told from them, at the least loss and the least change.

    The map is made on 60% of the rows, on cells that cut the features and an estimate of group and label given them
    together, and tried on the others; all rows are written. The table holds mapped features alone: no sensitive
    column, no weight, no label unless you ask for it, and the rows in the order they came. Whoever has the plan and the
    seed can tell where a mapped row can have come from: keep both to yourself.

    Examples:

      fairlimits decorrelate adult -t DP=0 -o mapped.parquet --save-plan plan.npz

      fairlimits decorrelate new.csv --plan plan.npz -o mapped.csv
    """
    from fairlimits.data import column_doubts
    from fairlimits.decorrelation import check_weight
    from fairlimits.decorrelation import decorrelate as find_map
    from fairlimits.limits import solve
    from fairlimits.notions import check_tolerances, plain_records

    check_outputs([table.data, plan], (output, (".parquet", ".csv")), (save_plan, (".npz",)))
    if plan is not None:
        _refuse_unused(context)
        return _apply_saved(plan, table.data, output, unseen, with_label, cutting.seed)
    if with_label and output is None:
        raise InputError("--with-label is about the file of mapped rows; say where to write it with -o mapped.parquet.")
    if unseen != "refuse":
        raise InputError("--unseen is for new rows; use it with --plan.")
    asked = check_tolerances(options.read_tolerances(tolerance or ["DP=0"]))
    weights: dict[str, Any] = {
        "accuracy_weight": check_weight(accuracy_weight),
        "correlation_weight": check_weight(correlation_weight),
    }
    dataset = table.read()
    chosen = cutting.check(dataset, alike=True)
    say_small_groups(dataset)
    train, held_out = dataset.split(_HELD_OUT, random_state=cutting.seed)
    dist = cutting.cut(train, chosen)
    with notes_said(SmallGroupsWarning):
        rule = solve(dist, asked, aware=aware)
    with progress_bar("Finding the map that moves people least") as tell:
        found = find_map(dist, rule, **weights, progress=tell)
    with progress_bar("Trying it on held-out rows"):
        certificate = found.certificate(held_out, random_state=cutting.seed)
    mapped = None if output is None else found.apply(dataset, random_state=cutting.seed, with_label=with_label)
    _print(found, certificate, train)
    # What gives the group away is what the map is for.
    notes = column_doubts(dataset, hidden=False)
    for note in notes:
        say(f"Note: {note}")
    if save_plan is not None:
        found.save(save_plan)
        say(f"Plan kept in {save_plan}.")
    record = {
        "made from": {"data": table.data, "seed": cutting.seed, "rows": train.n_rows, "cells": dist.n_cells},
        "plug-in": plain_records(found.figures()),
        "held out": plain_records(certificate.figures()),
        "in words": certificate.summary(),
        "notes": list(notes),
    }
    if output is not None and mapped is not None:
        record |= _write(output, mapped, with_label)
    return record


def _refuse_unused(context: typer.Context) -> None:
    """Refuse options that a plan which is made already cannot take into account."""
    flags = option_flags(context)
    given = [flags[name] for name in options_given(context) if name not in _WITH_PLAN]
    if given:
        raise InputError(f"A kept plan takes no {', '.join(given)}: it is made already; leave that out.")


def _apply_saved(
    path: Path, data: str, output: Path | None, unseen: str, with_label: bool, seed: int
) -> dict[str, Any]:
    from fairlimits.data import benchmark_names, load_dataset, read_table
    from fairlimits.decorrelation import Decorrelation

    if output is None:
        raise InputError("A plan is applied to write the mapped rows; say where with -o mapped.parquet.")
    plan = Decorrelation.load(path)
    rows = load_dataset(data) if data in benchmark_names() else read_table(data)
    mapped = plan.apply(rows, random_state=seed, unseen=unseen, with_label=with_label)  # type: ignore[arg-type]
    return _write(output, mapped, with_label)


def _write(output: Path, table: pa.Table, with_label: bool) -> dict[str, Any]:
    import pyarrow.parquet as pq

    from fairlimits._util.storage import write_whole

    if output.suffix.lower() == ".csv":
        write_csv(output, table)
    else:
        with write_whole(output) as temporary:
            pq.write_table(table, temporary)
    say(f"{table.num_rows:,} mapped rows written to {output}.")
    if with_label:
        say(
            "Warning: the labels are in the file; as far as they depend on the group, they give it away (the AUC of an "
            "adversary on features and label says how far)."
        )
    return {"mapped rows": table.num_rows, "written to": str(output)}


def _print(plan: Decorrelation, certificate: Certificate, train: Dataset) -> None:
    heads = ("", "before", "after")
    rows = [(row["measure"], *(_figure(row[side]) for side in ("before", "after"))) for row in plan.figures()]
    print_table(heads, rows, f"Plug-in, on the {train.n_rows:,} rows and {plan.distribution.n_cells} cells of the map:")
    say()
    rows = []
    for row in certificate.figures():
        interval = f" ({row['low']:.3f} to {row['high']:.3f})" if "low" in row else ""
        rows.append((row["measure"], _figure(row["before"]), _figure(row["after"]) + interval))
    print_table(heads, rows, f"Held out, on {certificate.test_rows:,} new people:")
    say()
    say(certificate.summary())


def _figure(value: float) -> str:
    from fairlimits.notions import NOT_ESTIMABLE_TEXT

    return NOT_ESTIMABLE_TEXT if math.isnan(value) else f"{value:.3f}"
