"""``fairlimits frontier``: the best accuracy at each tolerance, in a table, a file or a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits._util.plotting import COLOURS, figure_style, plain_text, subplots
from fairlimits.apps.cli.cell_options import CellOptions
from fairlimits.apps.cli.data_options import SourceOptions, notes_of
from fairlimits.apps.cli.option_groups import expand_groups
from fairlimits.apps.cli.questions import Asked, Question
from fairlimits.apps.cli.terminal import (
    check_outputs,
    notes_said,
    print_table,
    progress_bar,
    say,
    write_csv,
    write_figure,
    write_json,
)
from fairlimits.errors import InputError, SmallGroupsWarning

if TYPE_CHECKING:
    from fairlimits.data import Dataset, Stream
    from fairlimits.law import CellDistribution, Outcome, Partition, StreamedOutcome
    from fairlimits.limits import Frontier

_PICTURES = (".png", ".pdf", ".svg")
_LINES = 11

# An accuracy as high as this suggests that a column gives the label away.
_TOO_GOOD = 0.98

_ALIKE, _OPEN, _MIXED = " =", " ?", " ~"
_MARKS = {
    _ALIKE: "everybody gets the same score.",
    _OPEN: "the rows cannot certify this tolerance; the rule comes nearest.",
    _MIXED: "some decisions do not depend on the person, for nothing better could be certified.",
}


@expand_groups
def frontier(
    sources: SourceOptions,
    *,
    question: Question,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .csv, .json, .png, .pdf or .svg file.")
    ] = None,
    cutting: CellOptions,
) -> dict[str, Any]:
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

      fairlimits frontier 'big/*.parquet' --label paid --sensitive sex
    """
    sources.expect_learning(cutting.partition)

    from fairlimits.limits import on_cells

    check_outputs([*sources.data], (output, (".csv", ".json", *_PICTURES)))
    asked = question.check()
    rows = sources.read()
    chosen = cutting.check(rows, alike=asked.alike)
    if question.confidence is not None:
        outcome = _estimated(rows, chosen, cutting)
        law: CellDistribution | Outcome | StreamedOutcome = outcome
        dist = on_cells(outcome, (*asked.moving, *asked.fixed), cutting.seed)
    else:
        law = dist = cutting.cut(rows, chosen)
    curves, notes = _trace(law, dist, asked, cutting.seed)
    _print(dist, curves, asked)
    notes += _given_away(rows, curves)
    # What made the cells: the option may say auto, and saved cells were made before.
    cut = {"partition": dist.origin.partition, "generator": dist.origin.generator or "none"}
    made = {"data": " ".join(sources.data), "cells": dist.n_cells, **cut, "seed": cutting.seed, **asked.record()}
    found = _record(curves, made, [*notes_of(rows, dist), *notes])
    if output is not None:
        _write(output, curves, found, asked.held)
        say(f"Written to {output}.")
    return found


def _trace(
    law: CellDistribution | Outcome | StreamedOutcome, dist: CellDistribution, asked: Asked, seed: int
) -> tuple[dict[bool, Frontier], list[str]]:
    """Trace both frontiers; with what there is to note about them."""
    from fairlimits.limits import MarginWarning, UncertifiedWarning, ratio_frontier
    from fairlimits.limits import frontier as trace

    curves: dict[bool, Frontier] = {}
    with notes_said(SmallGroupsWarning, UncertifiedWarning, MarginWarning) as notes:
        for aware in (True, False):
            with progress_bar("Group seen" if aware else "Group hidden") as tell:
                common: dict[str, Any] = {"aware": aware, "progress": tell, **asked.settings}
                if asked.ratio is not None:
                    curves[aware] = ratio_frontier(
                        dist, asked.grid(), rate=asked.ratio, tolerances=asked.fixed, **common
                    )
                else:
                    span: Any = asked.ends if asked.exact else asked.grid()
                    tolerances: dict[str, Any] = dict.fromkeys(asked.moving, span) | dict(asked.fixed)
                    curves[aware] = trace(
                        law, tuple(tolerances), tolerances, exact=asked.exact, random_state=seed, **common
                    )
    return curves, notes


def _given_away(rows: Dataset | Stream | CellDistribution, curves: Mapping[bool, Frontier]) -> list[str]:
    """Say which columns give the label away, where an accuracy is too good to be true."""
    from fairlimits.data import Dataset, concerns

    if curves[True].bayes_accuracy < _TOO_GOOD or not isinstance(rows, Dataset):
        return []
    notes = [own.text for own in concerns(rows) if own.kind in ("leak", "missingness follows the label")]
    for note in notes:
        say(f"Note: {note}")
    return notes


def _estimated(
    rows: Dataset | Stream | CellDistribution, partition: Partition, cutting: CellOptions
) -> Outcome | StreamedOutcome:
    """Estimate the law of rows whose labels rules can be certified on."""
    from fairlimits.law import CellDistribution, estimate_outcome

    if isinstance(rows, CellDistribution) or partition != "outcome" or cutting.cells is not None:
        raise InputError(
            "--confidence is judged by the labels of rows, on cells of what was learned from them; give a table, and "
            "leave --cells and --partition out."
        )
    with progress_bar("Learning from the people") as tell:
        found: Outcome | StreamedOutcome = estimate_outcome(rows, random_state=cutting.seed, progress=tell)
    return found


def _print(dist: CellDistribution, curves: Mapping[bool, Frontier], question: Asked) -> None:
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
    asked = "".join(f", {each}" for each in question.held)
    kind = "plug-in" if support_note(dist) is None else "plug-in, not a limit"
    guarantee = curves[True].rules[0].guarantee
    if guarantee is not None:
        kind = f"{kind}, gaps certified with confidence {guarantee.confidence:g}"
    print_table(
        (question.title, "group seen", "group hidden"),
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
    found: Mapping[str, Any],
    held: Sequence[str],
) -> None:
    import pyarrow as pa

    suffix = output.suffix.lower()
    if suffix in _PICTURES:
        with figure_style():
            figure, ax = subplots(figsize=(6.2, 4.0))
            for aware, curve in curves.items():
                name = "group seen" if aware else "group hidden"
                style = "-" if aware else (0, (5, 2))
                curve.plot(ax, label=name, color=COLOURS["aware" if aware else "unaware"], linestyle=style)
            asked = "".join(f", {each}" for each in held)
            ax.set_title(f"Best rule on {plain_text(Path(found['made from']['data']).stem)}{asked}", wrap=True)
            ax.legend()
            write_figure(output, figure)
        return
    tables = [
        curve.to_frame().append_column("group", pa.array(["seen" if aware else "hidden"] * len(curve)))
        for aware, curve in curves.items()
    ]
    if suffix == ".csv":
        write_csv(output, pa.concat_tables(tables))
        return
    write_json(output, found)


def _record(curves: Mapping[bool, Frontier], made: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    content = {"made from": dict(made), "figures": "plug-in", "exact": curves[True].exact, "notes": list(notes)}
    for aware, curve in curves.items():
        columns = curve.to_frame().to_pydict()
        content["group seen" if aware else "group hidden"] = {
            "accuracy without constraint": curve.bayes_accuracy,
            # JSON has no NaN: a gap that cannot be computed is null.
            **{name: [None if math.isnan(v) else v for v in values] for name, values in columns.items()},
        }
    return content
