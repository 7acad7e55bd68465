"""``fairlimits ceiling``: what no rule passes, beside what was found, in a table, a file or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits._util.plotting import COLOURS, figure_style, plain_text, subplots
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
    from fairlimits.data import Dataset, Stream
    from fairlimits.evaluation import Ceiling
    from fairlimits.limits import Frontier

_PICTURES = (".png", ".pdf", ".svg")

# Tolerances of a curve, by default.
_TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)


@expand_groups
def ceiling(
    table: AnySizeOptions,
    *,
    notion: Annotated[
        list[str] | None,
        typer.Option(
            "--notion",
            "-n",
            help="Notion whose tolerance moves from 0 to 0.2: DP, EA, EOp, PE or EOd (repeatable).",
            show_default="DP, without --tolerance",
        ),
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", "-t", help="Hold a notion at a tolerance, such as DP=0.05 (repeatable)."),
    ] = None,
    aware: Annotated[bool, typer.Option("--aware/--unaware", help="Rules that see the group, or that do not.")] = False,
    step: Annotated[
        list[str] | None,
        typer.Option(help="Rules see a numeric feature in steps, such as age=5 (repeatable); 'auto' proposes steps."),
    ] = None,
    require: options.Require = None,
    objective: options.Objective = "accuracy",
    confidence: Annotated[float, typer.Option(help="Confidence of the limits, all tolerances at once.")] = 0.95,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .csv, .json, .png, .pdf or .svg file.")
    ] = None,
    seed: options.Seed = 0,
) -> dict[str, Any]:
    """Find what no rule that sees these features can pass, with stated confidence and no assumption about the law.

    Beside it stands the best rule found, judged on 30% of the rows: in between, nobody knows.

    Examples
    --------
      fairlimits ceiling dutch -n DP

      fairlimits ceiling adult -n EOd --step age=5 --step hours-per-week=10 -o bracket.png

      fairlimits ceiling loans.csv --label paid --positive yes --sensitive sex --step auto -t DP=0.05 --aware

      fairlimits ceiling 'loans/*.parquet' --label paid --positive yes --sensitive sex
    """
    table.expect_learning()

    from fairlimits.data import Dataset
    from fairlimits.evaluation import ceiling as find
    from fairlimits.notions import check_names, check_tolerances, plain_records, read_objective, read_requirements

    check_outputs([table.data], (output, (".csv", ".json", *_PICTURES)))
    fixed = check_tolerances(options.read_tolerances(tolerance or []))
    moving = check_names(notion or ([] if fixed else ["DP"]))
    if twice := [name for name in moving if name in fixed]:
        raise InputError(
            f"{twice[0]} is given as --notion and as --tolerance; give one of them, to move it or to hold it."
        )
    asked: dict[str, Any] = {
        "aware": aware,
        "requirements": read_requirements(require or []),
        "objective": read_objective(objective),
        "random_state": seed,
    }
    resolution = _steps(step or [])
    people = table.open()
    if isinstance(people, Dataset):
        say_small_groups(people, None)
    tolerances: dict[str, Any] = dict.fromkeys(moving, _TOLERANCES) | fixed
    with progress_bar("From above") as tell:
        top = find(people, tolerances, confidence=confidence, resolution=resolution, progress=tell, **asked)
    found = _found(people, top, asked)
    _print(top, found)
    held = plain_records([own.to_dict() for own in found.held_out])
    made = {"data": table.data, "seed": seed}
    content = {"made from": made, **top.to_dict(), "found": held, "in words": top.summary()}
    if output is not None:
        _write(output, top, found, content)
        say(f"Written to {output}.")
    return content


def _steps(given: list[str]) -> Any:
    """Read steps of features, as they are written."""
    if given == ["auto"]:
        return "auto"
    steps = {}
    for own in given:
        name, sign, value = own.rpartition("=")
        try:
            steps[name] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise InputError(f"--step is {own!r}; give a feature and its step, such as age=5, or 'auto' alone.")
    return steps or None


def _found(people: Dataset | Stream, top: Ceiling, asked: dict[str, Any]) -> Frontier:
    """The best rules found at the same tolerances, on rows that took no part."""
    from fairlimits.evaluation import evaluate
    from fairlimits.law import estimate_outcome
    from fairlimits.limits import frontier

    learn, test = people.split(0.3, asked["random_state"])
    with progress_bar("From below") as tell:
        outcome = estimate_outcome(learn, random_state=asked["random_state"], progress=tell)
    curve = frontier(outcome, tuple(top.grid), dict(top.grid), **asked)
    return evaluate(curve, test)


def _print(top: Ceiling, found: Frontier) -> None:
    moving = [name for name, values in top.grid.items() if len(set(values.tolist())) > 1]
    fixed = ", ".join(f"{name} <= {values[0]:g}" for name, values in top.grid.items() if name not in moving)
    rows = []
    shows = str(top.objective) == "accuracy"
    for at, held in enumerate(found.held_out):
        below = f"{held.accuracy}" if shows else f"{found.value[at]:.4f}"
        twins = "" if top.twins_curve is None else f"{top.twins_curve.upper[at]:.4f}"
        place = f"{top.at[at]:.4f}" if moving else fixed
        rows.append((place, below, f"{top.curve.value[at]:.4f}", f"{top.curve.upper[at]:.4f}", twins))
    heads = (
        f"{' and '.join(moving)} <=" if moving else "within",
        "found, held out" if shows else "found, plug-in",
        "ceiling",
        "no rule passes",
        "on people with a twin",
    )
    sees = "seen" if top.aware else "hidden"
    of = f"{top.objective.title}, {fixed}" if fixed and moving else top.objective.title
    print_table(heads, rows, f"Best {of}, group {sees} (limits with confidence {top.confidence:g})")
    say(top.summary())


def _write(output: Path, top: Ceiling, found: Frontier, content: dict[str, Any]) -> None:
    from fairlimits._util.frames import arrow_table

    suffix = output.suffix.lower()
    if suffix in _PICTURES:
        with figure_style():
            figure, ax = subplots(figsize=(6.2, 4.0))
            found.plot(ax, color=COLOURS["aware" if top.aware else "unaware"], label="found")
            top.plot(ax, color="black")
            sees = "seen" if top.aware else "hidden"
            ax.set_title(f"What is possible on {plain_text(Path(content['made from']['data']).stem)}, group {sees}")
            write_figure(output, figure)
    elif suffix == ".csv":
        write_csv(output, arrow_table(top.to_frame()))
    else:
        write_json(output, content)
