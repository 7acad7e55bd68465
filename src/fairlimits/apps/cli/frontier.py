"""``fairlimits frontier``: the best accuracy at each tolerance, in a table, a file or a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fairlimits._util.plotting import COLOURS, close, figure_style, subplots
from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import (
    check_outputs,
    notes_said,
    print_table,
    progress_bar,
    say,
    write_csv,
    write_json,
)
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES

if TYPE_CHECKING:
    from fairlimits.data import Dataset, Stream
    from fairlimits.law import CellDistribution, Outcome, Partition
    from fairlimits.limits import Frontier

_PICTURES = (".png", ".pdf", ".svg")
_LINES = 11

_ALIKE, _OPEN, _MIXED = " =", " ?", " ~"
_MARKS = {
    _ALIKE: "everybody gets the same score.",
    _OPEN: "the rows cannot certify this tolerance; the rule comes nearest.",
    _MIXED: "some decisions do not depend on the person, for nothing better could be certified.",
}


def frontier(
    data: options.Sources,
    label: options.Label = None,
    positive: options.Positive = None,
    sensitive: options.Sensitive = None,
    weight: options.Weight = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    features: options.Features = None,
    bins: options.Bin = None,
    missing_sensitive: options.MissingSensitive = "refuse",
    small_groups: options.SmallGroups = "set-aside",
    stream: options.Streamed = None,
    notion: Annotated[
        list[str] | None,
        typer.Option("--notion", "-n", help="Notion to constrain: DP, EA, EOp, PE, EOd or IF (repeatable)."),
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="Hold a notion at a tolerance, such as IF=0.1 (repeatable).")
    ] = None,
    start: Annotated[
        float | None, typer.Option("--from", help="First tolerance.", show_default="0, or a ratio of 0.5")
    ] = None,
    stop: Annotated[
        float | None, typer.Option("--to", help="Last tolerance.", show_default="0.2, or a ratio of 1")
    ] = None,
    points: Annotated[int, typer.Option(help="Number of tolerances.")] = 41,
    exact: Annotated[bool, typer.Option("--exact", help="Find every breakpoint instead of sampling.")] = False,
    require: options.Require = None,
    objective: options.Objective = "accuracy",
    ratio: Annotated[
        str | None,
        typer.Option(
            help="Instead of a notion, hold the ratio of this rate between groups, such as 'selection rate' for the "
            "four-fifths rule; --from and --to are then ratios (0.5 to 1)."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Certify the tolerances for people whom nobody has seen, with a confidence such as 0.95."),
    ] = None,
    uncertified: Annotated[
        str,
        typer.Option(
            help="Where the rows cannot certify a tolerance: 'best' is the rule that comes nearest, 'constant' mixes "
            "it with a score that is the same for everybody as far as it takes, 'raise' stops."
        ),
    ] = "best",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .csv, .json, .png, .pdf or .svg file.")
    ] = None,
    cells: options.Cells = None,
    partition: options.PartitionOption = options.AUTO,
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

      fairlimits frontier adult -n EOd --require 'selection rate <= 0.3' --objective 'costs 1:5'

      fairlimits frontier adult --ratio 'selection rate'

      fairlimits frontier adult -n EOd --confidence 0.95

      fairlimits frontier loans.csv --label paid --positive yes --sensitive sex --sensitive race -n EOd

      fairlimits frontier adult --sensitive sex --sensitive race -n EOp --small-groups join

      fairlimits frontier big/*.parquet --label paid --sensitive sex
    """
    options.expect_learning(data[0], partition)

    import numpy as np

    from fairlimits.limits import MarginWarning, Uncertified, UncertifiedWarning, on_cells, ratio_frontier
    from fairlimits.limits import frontier as trace
    from fairlimits.notions import INDIVIDUAL, check_names, rate_name, read_objective, read_requirements

    check_outputs([*data], (output, (".csv", ".json", *_PICTURES)))
    if ratio is not None and (notion or exact):
        raise InputError(
            "--ratio takes the place of --notion, and has no exact breakpoints; leave --notion and --exact out."
        )
    moving = () if ratio is not None else check_names(notion or ["DP"])
    fixed = _fixed(fix or [], moving)
    first, last = (0.0, 0.2) if ratio is None else (0.5, 1.0)
    first, last = first if start is None else start, last if stop is None else stop
    if points < 2 or not (math.isfinite(first) and math.isfinite(last) and 0 <= first < last):
        raise InputError(
            f"--from {first:g} --to {last:g} --points {points} gives no range; "
            "start at 0 or above, end higher, with at least 2 points."
        )
    if confidence is not None and (ratio is not None or exact or require or INDIVIDUAL in (*moving, *fixed)):
        raise InputError(
            "--confidence is for the gaps of group notions at given tolerances; leave --confidence out, or --ratio, "
            "--exact, --require and IF."
        )
    if uncertified not in get_args(Uncertified):
        raise InputError(f"--uncertified is {uncertified!r}; it must be 'best', 'constant' or 'raise'.")
    asked: dict[str, Any] = {"requirements": read_requirements(require or []), "objective": read_objective(objective)}
    name = None if ratio is None else rate_name(ratio)
    rows = options.open_rows(
        *(data, stream, label, positive, sensitive, weight, numeric),
        *(categorical, drop, features, bins, missing_sensitive, small_groups),
    )
    chosen = options.check_partition(rows, partition, generator, samples, alike=INDIVIDUAL in (*moving, *fixed))
    if confidence is not None:
        outcome = _estimated(rows, chosen, cells, seed)
        asked |= {"confidence": confidence, "uncertified": uncertified}
        law: CellDistribution | Outcome = outcome
        dist = on_cells(outcome, (*moving, *fixed), seed)
    else:
        law = dist = options.make_cells(rows, cells, seed, generator, samples, chosen)
    curves: dict[bool, Frontier] = {}
    with notes_said(SmallGroupsWarning, UncertifiedWarning, MarginWarning) as notes:
        for aware in (True, False):
            with progress_bar("Group seen" if aware else "Group hidden") as tell:
                if name is not None:
                    curves[aware] = ratio_frontier(
                        dist,
                        np.linspace(first, last, points),
                        rate=name,
                        tolerances=fixed,
                        aware=aware,
                        progress=tell,
                        **asked,
                    )
                else:
                    span: Any = (first, last) if exact else np.linspace(first, last, points)
                    tolerances: dict[str, Any] = dict.fromkeys(moving, span) | fixed
                    curves[aware] = trace(
                        law,
                        tuple(tolerances),
                        tolerances,
                        aware=aware,
                        exact=exact,
                        random_state=seed,
                        progress=tell,
                        **asked,
                    )
    held = [*(f"{name} <= {value:g}" for name, value in fixed.items()), *map(str, asked["requirements"])]
    _print(dist, curves, " and ".join(moving) + " <=" if moving else f"{name} ratio >=", held)
    if output is not None:
        made: dict[str, Any] = {
            "data": " ".join(data),
            "cells": dist.n_cells,
            # What made the cells: the option may say auto, and saved cells were made before.
            "partition": dist.origin.partition,
            "generator": dist.origin.generator or "none",
            "seed": seed,
            "fixed": fixed,
        }
        if require:
            made["requirements"] = held[len(fixed) :]
        if objective != "accuracy":
            made["objective"] = objective
        if confidence is not None:
            made |= {"confidence": confidence, "uncertified": uncertified}
        _write(output, curves, made, held, [*options.notes_of(rows, dist), *notes])
        say(f"Written to {output}.")


def _estimated(
    rows: Dataset | Stream | CellDistribution, partition: Partition, cells: int | None, seed: int
) -> Outcome:
    """Estimate the law of rows whose labels rules can be certified on."""
    from fairlimits.data import Dataset
    from fairlimits.law import estimate_outcome

    if not isinstance(rows, Dataset) or partition != "outcome" or cells is not None:
        raise InputError(
            "--confidence is judged by the labels of rows in memory, on cells of what was learned from them; give a "
            "table, and leave --cells and --partition out."
        )
    with progress_bar("Learning from the people") as tell:
        return estimate_outcome(rows, random_state=seed, progress=tell)


def _fixed(given: list[str], moving: tuple[str, ...]) -> dict[str, float]:
    from fairlimits.notions import check_names

    fixed = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            fixed[name] = float(value)
        except ValueError:
            raise InputError(f"--fix {text} is not understood; write a notion and a number, as in IF=0.1.") from None
    check_names([*moving, *fixed])
    return fixed


def _print(dist: CellDistribution, curves: Mapping[bool, Frontier], what: str, held: Sequence[str]) -> None:
    import numpy as np

    from fairlimits.law import support_note
    from fairlimits.limits import solve

    at = np.unique(np.concatenate([curve.at for curve in curves.values()]))
    shown = at[np.unique(np.linspace(0, len(at) - 1, _LINES).round().astype(int))]
    rows = []
    for position in shown:
        values = [np.interp(position, curves[aware].at, curves[aware].value) for aware in (True, False)]
        marks = [_mark(curves[aware], position) for aware in (True, False)]
        shown_values = [f"{value:.4f}{mark}" for value, mark in zip(values, marks, strict=True)]
        rows.append((f"{position:.4f}", *shown_values))
    goal = curves[True].objective
    rows_text = f"{int(dist.counts.sum()):,} rows, " if dist.counts is not None else ""
    asked = "".join(f", {each}" for each in held)
    kind = "plug-in" if support_note(dist) is None else "plug-in, not a limit"
    guarantee = curves[True].rules[0].guarantee
    if guarantee is not None:
        kind = f"{kind}, gaps certified with confidence {guarantee.confidence:g}"
    print_table(
        (what, "group seen", "group hidden"),
        rows,
        f"Best {goal.title}, {kind} ({rows_text}{dist.n_cells} cells{asked})",
    )
    for mark, meaning in _MARKS.items():
        if any(line.endswith(mark) for row in rows for line in row):
            say(f"{mark.strip()}: {meaning}")
    best = ", ".join(
        f"{solve(dist, {}, aware=aware, objective=goal).value:.4f} with the group {'seen' if aware else 'hidden'}"
        for aware in (True, False)
    )
    say(f"Without any constraint: {best}.")
    if curves[True].exact:
        say(f"{len(curves[True])} and {len(curves[False])} breakpoints; straight lines between them are exact.")


def _mark(curve: Frontier, position: float) -> str:
    """What has to be said of the rule at a position; between two points it is a mix of theirs."""
    import numpy as np

    def wholly(marked: Sequence[bool]) -> bool:
        return bool(np.interp(position, curve.at, np.asarray(marked, dtype=np.float64)) == 1)

    known = [rule.guarantee for rule in curve.rules if rule.guarantee is not None]
    if wholly(curve.is_constant.tolist()):
        return _ALIKE
    if known and wholly([not own.certified for own in known]):
        return _OPEN
    return _MIXED if known and wholly([own.diluted > 0 for own in known]) else ""


def _write(
    output: Path,
    curves: Mapping[bool, Frontier],
    made: Mapping[str, Any],
    held: Sequence[str],
    notes: Sequence[str],
) -> None:
    import pyarrow as pa

    from fairlimits._util.storage import write_whole

    suffix = output.suffix.lower()
    if suffix in _PICTURES:
        with figure_style():
            figure, ax = subplots(figsize=(6.2, 4.0))
            for aware, curve in curves.items():
                name = "group seen" if aware else "group hidden"
                style = "-" if aware else (0, (5, 2))
                curve.plot(ax, label=name, color=COLOURS["aware" if aware else "unaware"], linestyle=style)
            asked = "".join(f", {each}" for each in held)
            ax.set_title(f"Best rule on {Path(made['data']).stem}{asked}", wrap=True)
            ax.legend()
            with write_whole(output) as temporary:
                figure.savefig(temporary)
            close(figure)
        return
    tables = [
        curve.to_frame().append_column("group", pa.array(["seen" if aware else "hidden"] * len(curve)))
        for aware, curve in curves.items()
    ]
    if suffix == ".csv":
        write_csv(output, pa.concat_tables(tables))
        return
    content = {"made from": dict(made), "figures": "plug-in", "exact": curves[True].exact, "notes": list(notes)}
    for aware, curve in curves.items():
        columns = curve.to_frame().to_pydict()
        content["group seen" if aware else "group hidden"] = {
            "accuracy without constraint": curve.bayes_accuracy,
            # JSON has no NaN: a gap that cannot be computed is null.
            **{name: [None if math.isnan(v) else v for v in values] for name, values in columns.items()},
        }
    write_json(output, content)
