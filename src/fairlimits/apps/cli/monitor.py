"""``fairlimits monitor``: a rule in use, watched over time; exit code 3 says that there is an alarm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import check_outputs, print_table, say, write_csv, write_figure
from fairlimits.errors import InputError

if TYPE_CHECKING:
    from fairlimits.evaluation import Monitoring

_PICTURES = (".png", ".pdf", ".svg")


def monitor(
    rule: Annotated[Path, typer.Argument(help="The rule: a file that fl.save wrote.")],
    tables: Annotated[
        list[str], typer.Argument(help="Tables of people, .csv or .parquet: one for each period, or one with --dates.")
    ],
    dates: Annotated[str | None, typer.Option(help="Column of dates, where one table holds all periods.")] = None,
    every: Annotated[
        str, typer.Option(help="How long a period by dates is: day, week, month, quarter or year.")
    ] = "month",
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", "-t", help="Gap to watch, as in DP=0.05 (repeatable). By default the rule's own."),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="All limits hold at once with it; a false alarm is as rare, over all time.")
    ] = 0.95,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a .json or .csv file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the gaps over time: .png, .pdf or .svg.")] = None,
) -> dict[str, Any]:
    """Watch a rule in use: accuracy, rates and gaps over time with limits, drift, missing groups, and alarms.

    The exit code is 3 if there is an alarm, so that a pipeline can stop.

    Examples
    --------
      fairlimits monitor rule.npz january.csv february.csv march.csv -o watch.json

      fairlimits monitor rule.npz decided.parquet --dates decided_on --every quarter -t DP=0.06 --plot watch.png
    """
    from fairlimits.data import read_table
    from fairlimits.estimators import load
    from fairlimits.evaluation import monitor as watch
    from fairlimits.limits import Rule

    check_outputs([rule, *map(Path, tables)], (output, (".json", ".csv")), (plot, _PICTURES))
    kept = load(rule)
    kept = getattr(kept, "rule_", kept)
    if not isinstance(kept, Rule):
        raise InputError(f"{rule} holds a {type(kept).__name__}, not a rule; save one with fl.save.")
    if dates is not None and len(tables) > 1:
        raise InputError(f"There are {len(tables)} tables, and --dates is for one; leave it out, or join them.")
    if dates is None and len(tables) == 1:
        raise InputError("One table has no periods; give its column of dates, --dates COLUMN, or a table per period.")
    twice = next((name for name in tables if tables.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"The table {twice} is given twice; give each period a table of its own.")
    names = [Path(name).stem for name in tables]
    if len(set(names)) < len(names):
        names = tables
    opened: Any = {name: read_table(file) for name, file in zip(names, tables, strict=True)}
    found = watch(
        kept,
        opened if dates is None else opened[names[0]],
        dates=dates,
        every=every,  # type: ignore[arg-type]
        tolerances=None if tolerance is None else options.read_tolerances(tolerance),
        confidence=confidence,
    )
    _print(found)
    if output is not None:
        if output.suffix.lower() == ".json":
            found.to_json(output)
        else:
            write_csv(output, found.to_frame())
        say(f"Written to {output}.")
    if plot is not None:
        _draw(found, plot)
    return found.to_dict()


def _print(found: Monitoring) -> None:
    names = list(found.tolerances)
    print_table(
        ("period", "people", "accuracy", *(f"gap {name}" for name in names), "group missing", "alarms"),
        [
            (
                own.name,
                f"{own.rows:,}",
                str(own.accuracy),
                *(str(own.gaps[name]) if name in own.gaps else "" for name in names),
                f"{own.missing:.1%}",
                str(sum(each.period == own.name for each in found.alarms) or ""),
            )
            for own in found.periods
        ],
        f"Held-out figures with limits that all hold at once with confidence {found.confidence:g}",
    )
    say(found.summary())


def _draw(found: Monitoring, plot: Path) -> None:
    figure = found.plot().figure.get_figure(root=True)
    assert figure is not None
    write_figure(plot, figure)
    say(f"Drawn to {plot}.")
