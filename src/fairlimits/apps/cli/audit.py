"""``fairlimits audit``: where models stand beside the frontier, from a table with columns of their predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits._util.percentages import hundredfold
from fairlimits._util.plotting import figure_style
from fairlimits.apps.cli import options
from fairlimits.apps.cli.data_options import AnySizeOptions, say_small_groups
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
    from fairlimits.evaluation import Audit, AuditedModel

_PICTURES = (".png", ".pdf", ".svg")
_FIGURES = "held out: on rows that took no part in making the rules, with intervals; losses are shares of all decisions"


@expand_groups
def audit(
    table: AnySizeOptions,
    *,
    prediction: Annotated[
        list[str] | None,
        typer.Option(
            "--prediction",
            "-p",
            help="Column of a model's decisions, 0 or 1, or scores (repeatable); 1, or a high score, stands for the "
            "positive label. It is not a feature.",
        ),
    ] = None,
    threshold: options.Threshold = None,
    lot: Annotated[
        bool, typer.Option("--lot", help="Take scores as chances of deciding 1, without threshold.")
    ] = False,
    notion: Annotated[
        list[str] | None,
        typer.Option("--notion", "-n", help="DP, EA, EOp, PE or EOd; repeat it for several. All by default."),
    ] = None,
    aware: Annotated[
        bool, typer.Option("--aware/--unaware", help="Compare with rules that see the group, or that do not.")
    ] = False,
    test_size: Annotated[float, typer.Option(help="Share of the rows to judge on.")] = 0.3,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a .csv or .json file.")] = None,
    by_group: options.ByGroup = None,
    suppress: options.Suppress = None,
    ceiling: options.Ceiling = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the models on the frontiers: .png, .pdf or .svg.")] = None,
    plot_rates: Annotated[
        Path | None, typer.Option(help="Draw the first model's rates of each group: .png, .pdf or .svg.")
    ] = None,
    seed: options.Seed = 0,
) -> dict[str, Any]:
    """Say where models stand, and how much of their loss is avoidable at the same fairness.

    Models and rules are judged on rows that the rules have not seen. The models must not have seen any of the rows.

    Examples
    --------
      fairlimits audit loans.csv --label paid --positive yes --sensitive sex --prediction decided

      fairlimits audit loans.csv --label paid --positive yes --sensitive sex --sensitive race
      -p old -p new --threshold 0.4 -n DP -n EOd --aware -o audit.csv --plot audit.png

      fairlimits audit 'loans/*.parquet' --label paid --sensitive sex --prediction decided --id person
    """
    table.expect_learning()

    from fairlimits.data import Dataset, small_groups_note
    from fairlimits.evaluation import BeatenWarning
    from fairlimits.evaluation import audit as find
    from fairlimits.notions import NOTIONS

    check_outputs(
        [table.data], (output, (".csv", ".json")), (by_group, (".csv",)), (plot, _PICTURES), (plot_rates, _PICTURES)
    )
    if lot and threshold is not None:
        raise InputError("--lot takes scores as chances, without a threshold; leave out --lot or --threshold.")
    if not prediction:
        raise InputError("No prediction was named; say which columns hold a model's decisions, --prediction COLUMN.")
    people = table.also_keeping(*prediction).open()
    note = None
    if isinstance(people, Dataset):
        say_small_groups(people, suppress)
        note = small_groups_note(people, counted=suppress is None)
    with progress_bar("Audit") as tell, warnings.catch_warnings():
        # Its message is among the notes printed below.
        warnings.simplefilter("ignore", BeatenWarning)
        found = find(
            people,
            prediction,
            notions=tuple(notion or NOTIONS),
            threshold=None if lot else "auto" if threshold is None else threshold,
            aware=aware,
            test_size=test_size,
            suppress=suppress,
            ceiling=ceiling,
            confidence=confidence,
            random_state=seed,
            progress=tell,
        )
    _print(found, confidence)
    made = {"data": table.data, "seed": seed, "test size": test_size}
    record = _record(found, made, note)
    if output is not None:
        if output.suffix.lower() == ".csv":
            write_csv(output, found.to_frame())
        else:
            write_json(output, record)
        say(f"Written to {output}.")
    if by_group is not None:
        write_csv(by_group, found.rates_to_frame())
        say(f"Rates by group written to {by_group}.")
    if plot is not None:
        if found.curves:
            _draw(found.figure, plot)
        else:
            say(f"Nothing to draw: no frontier could be estimated, so {plot} is not written.")
    if plot_rates is not None:
        _draw(lambda: found.plot_rates().figure, plot_rates)
    return record


def _print(found: Audit, confidence: float) -> None:
    from fairlimits.evaluation import rates_heading
    from fairlimits.notions import rates_table, title

    sees = "seen" if found.aware else "hidden"
    say(
        f"Held-out figures with {100 * confidence:g}% intervals, in percent and in points: {found.learned:,} rows "
        f"learned from, {found.tested:,} held out; rules with the group {sees}."
    )
    say(f"Most accurate rule found, whatever its gaps: {found.best.hundredths('%')}.")
    for model in found.models:
        say()
        heads, lines = rates_table(model.deciders)
        print_table(heads, lines, f"{model.name}: how each group fares{rates_heading(model)}")
        say(model.by_group.words(found.notions))
    for model in found.models:
        say()
        print_table(
            ("notion", "gap, points", "best as fair, %", "avoidable, points", "by none found, points"),
            _lines(model),
            f"{model.name}: accuracy {model.accuracy.hundredths('%')}; what could be gained, in points of accuracy",
        )
    say()
    say(found.summary())
    say()
    for note in found.notes:
        say(f"Note: {note}")
    say(f"Notions: {', '.join(f'{name} {title(name)}' for name in found.notions)}.")


def _lines(model: AuditedModel) -> list[tuple[str, ...]]:
    from fairlimits.evaluation import avoidable_cell, unavoidable_cell

    return [
        (
            own.name if len(own.notions) == 1 else "all at once",
            model.gaps[own.notions[0]].hundredths() if len(own.notions) == 1 else "as above",
            hundredfold(own.rule_accuracy.value) if own.rule_accuracy.known else "",
            avoidable_cell(own),
            unavoidable_cell(own),
        )
        for own in model.lines
    ]


def _draw(make: Callable[[], Any], plot: Path) -> None:
    with figure_style():
        write_figure(plot, make())
    say(f"Drawn in {plot}.")


def _record(found: Audit, made: Mapping[str, Any], note: str | None) -> dict[str, Any]:
    from fairlimits.notions import UNIT, plain_records

    return {
        "made from": dict(made),
        "figures": _FIGURES,
        "unit": UNIT,
        "group": "seen" if found.aware else "hidden",
        "confidence": found.confidence,
        "rows": {"learned": found.learned, "held out": found.tested},
        "models": [{"name": model.name, "decided": model.decided} for model in found.models],
        "rates by group": found.rates_to_dict(),
        "lines": plain_records(found.to_frame().to_pylist()),
        "in words": found.summary(),
        "notes": [*([] if note is None else [note]), *found.notes],
    }
