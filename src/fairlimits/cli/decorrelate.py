"""``fairlimits decorrelate``: features from which the group cannot be told, as a table for another team."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from fairlimits.cli import options
from fairlimits.cli.show import check_suffix, print_table, progress_bar, say, write_csv
from fairlimits.criteria import check_names
from fairlimits.data import Dataset, benchmark_names, load_dataset, read_table
from fairlimits.decorrelate import Certificate, Plan
from fairlimits.decorrelate import decorrelate as find_map
from fairlimits.errors import InputError
from fairlimits.solve import check_tolerances, solve
from fairlimits.storage import write_whole

# Of the rows that a plan is made from, the share that is kept to try it on.
_HELD_OUT = 0.4


def decorrelate(
    data: options.Data,
    label: options.Label = None,
    positive: options.Positive = None,
    sensitive: options.Sensitive = None,
    weight: options.Weight = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    missing_sensitive: options.MissingSensitive = "refuse",
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", "-t", help="Tolerance of the rule, such as DP=0 or IF=0.1 (repeatable)."),
    ] = None,
    aware: Annotated[bool, typer.Option("--aware", help="Let the map see the group: one map for each group.")] = False,
    accuracy_weight: Annotated[float, typer.Option(help="Weight of accuracy in the objective.")] = 15.0,
    correlation_weight: Annotated[float, typer.Option(help="Weight of correlation in the objective.")] = 25.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the mapped rows to a .parquet or .csv file.")
    ] = None,
    save_plan: Annotated[Path | None, typer.Option(help="Keep the plan in a .npz file.")] = None,
    plan: Annotated[Path | None, typer.Option(help="Apply a plan that was kept, to the rows of DATA.")] = None,
    cells: options.Cells = 128,
    generator: options.Generator = "none",
    samples: options.Samples = 1_000_000,
    seed: options.Seed = 0,
) -> None:
    """Map the features so that the group cannot be told from them, at the least loss and the least change.

    The map is made on 60% of the rows and tried on the others; all rows are written. The table holds mapped features
    alone: no sensitive column, no label, no weight, and the rows in the order they came.

    Examples:

      fairlimits decorrelate adult -t DP=0 -o mapped.parquet --save-plan plan.npz

      fairlimits decorrelate new.csv --plan plan.npz -o mapped.csv
    """
    check_suffix(output, (".parquet", ".csv"))
    check_suffix(save_plan, (".npz",))
    if plan is not None:
        _apply_saved(plan, data, output, seed)
        return
    asked = _tolerances(tolerance or ["DP=0"])
    dataset = options.open_data(data, label, positive, sensitive, weight, numeric, categorical, drop, missing_sensitive)
    train, held_out = dataset.split(_HELD_OUT, random_state=seed)
    dist = options.make_cells(train, cells, seed, generator, samples)
    rule = solve(dist, asked, aware=aware)
    with progress_bar("Finding the map that moves people least") as tell:
        found = find_map(
            dist, rule, accuracy_weight=accuracy_weight, correlation_weight=correlation_weight, progress=tell
        )
    with progress_bar("Trying it on held-out rows"):
        certificate = found.certificate(held_out, random_state=seed)
    _print(found, certificate, train)
    if save_plan is not None:
        found.save(save_plan)
        say(f"Plan kept in {save_plan}.")
    if output is not None:
        _write(output, found.apply(dataset, random_state=seed))


def _tolerances(given: list[str]) -> dict[str, float]:
    pairs: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        check_names([*pairs, name])
        pairs[name] = value
    return check_tolerances(pairs)


def _apply_saved(path: Path, data: str, output: Path | None, seed: int) -> None:
    if output is None:
        raise InputError("A plan is applied to write the mapped rows; say where with -o mapped.parquet.")
    plan = Plan.load(path)
    rows = load_dataset(data) if data in benchmark_names() else read_table(data)
    _write(output, plan.apply(rows, random_state=seed))


def _write(output: Path, table: pa.Table) -> None:
    if output.suffix.lower() == ".csv":
        write_csv(output, table)
    else:
        with write_whole(output) as temporary:
            pq.write_table(table, temporary)
    say(f"{table.num_rows:,} mapped rows written to {output}.")


def _print(plan: Plan, certificate: Certificate, train: Dataset) -> None:
    heads = ("", "before", "after")
    rows = [(row["measure"], *(_figure(row[side]) for side in ("before", "after"))) for row in plan.summary()]
    print_table(heads, rows, f"Plug-in, on the {train.n_rows:,} rows and {plan.distribution.n_cells} cells of the map:")
    say()
    rows = []
    for row in certificate.summary():
        interval = f" ({row['low']:.3f} to {row['high']:.3f})" if "low" in row else ""
        rows.append((row["measure"], _figure(row["before"]), _figure(row["after"]) + interval))
    print_table(heads, rows, "Held-out:")
    say()
    say(certificate.text)


def _figure(value: float) -> str:
    return "not estimable" if math.isnan(value) else f"{value:.3f}"
