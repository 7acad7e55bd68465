"""``fairlimits report``: the whole answer on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.data_options import AnySizeOptions
from fairlimits.apps.cli.option_groups import command_line, expand_groups
from fairlimits.apps.cli.terminal import check_outputs, progress_bar, say


@expand_groups
def report(
    context: typer.Context,
    table: AnySizeOptions,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page (.html), or its content (.json).")] = Path(
        "report.html"
    ),
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance", "-t", help="Largest gap in the four situations, such as DP=0.05 (the default; repeatable)."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Have rules keep their tolerances among new people with a confidence, such as 0.95."),
    ] = None,
    require: options.Require = None,
    objective: options.Objective = "accuracy",
    test_size: Annotated[float, typer.Option(help="Share of the rows to judge rules on.")] = 0.3,
    suppress: options.Suppress = None,
    ceiling: Annotated[
        bool,
        typer.Option("--ceiling/--no-ceiling", help="Say what no rule passes, or leave that out, which is quicker."),
    ] = True,
    seed: options.Seed = 0,
) -> dict[str, Any]:
    """Write a page that says what fairness costs on this data, on people that no rule has seen.

    Examples
    --------
      fairlimits report adult -o report.html

      fairlimits report loans.csv --label paid --positive yes --sensitive sex -o report.html

      fairlimits report adult --require 'selection rate <= 0.3' --objective 'costs 1:5' -o report.html

      fairlimits report adult --sensitive race --small-groups join -o report.html

      fairlimits report adult -t EOd=0.05 --confidence 0.95 -o report.html

      fairlimits report 'people/*.parquet' --label paid --sensitive sex --id person -o report.html
    """
    table.expect_learning()

    from fairlimits.apps.report import SUFFIXES
    from fairlimits.apps.report import report as make_report
    from fairlimits.notions import check_tolerances, read_objective, read_requirements

    check_outputs([table.data], (output, SUFFIXES))
    # Said before the table is read, which may take a while.
    asked = check_tolerances(options.read_tolerances(tolerance or ["DP=0.05"]))
    kept, goal = read_requirements(require or []), read_objective(objective)
    people = table.open()
    with progress_bar("Report") as tell:
        found = make_report(
            people,
            asked,
            name=Path(table.data).stem,
            confidence=confidence,
            requirements=kept,
            objective=goal,
            test_size=test_size,
            suppress=suppress,
            ceiling=ceiling,
            random_state=seed,
            progress=tell,
            command=command_line(context, "seed", "output"),
        )
    found.save(output)
    say(found.summary())
    say(f"Written to {output}.")
    return found.to_dict()
