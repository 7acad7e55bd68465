"""``fairlimits report``: the whole answer on one page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import check_outputs, progress_bar, say


def report(
    data: options.Data,
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
    seed: options.Seed = 0,
) -> None:
    """Write a page that says what fairness costs on this data, on people that no rule has seen.

    Examples
    --------
      fairlimits report adult -o report.html

      fairlimits report loans.csv --label paid --positive yes --sensitive sex -o report.html

      fairlimits report adult --require 'selection rate <= 0.3' --objective 'costs 1:5' -o report.html

      fairlimits report adult --sensitive race --small-groups join -o report.html

      fairlimits report adult -t EOd=0.05 --confidence 0.95 -o report.html
    """
    options.expect_learning(data)

    from fairlimits.apps.report import SUFFIXES
    from fairlimits.apps.report import report as make_report
    from fairlimits.data import SET_ASIDE, check_small_groups
    from fairlimits.notions import check_tolerances, read_objective, read_requirements

    check_outputs([data], (output, SUFFIXES))
    # Said before the table is read, which may take a while.
    asked = check_tolerances(options.read_tolerances(tolerance or ["DP=0.05"]))
    kept, goal = read_requirements(require or []), read_objective(objective)
    dataset = options.open_table(
        *(data, label, positive, sensitive, weight, numeric),
        *(categorical, drop, features, bins, missing_sensitive, small_groups),
    )
    chosen = {
        "label": label,
        "positive": positive,
        "weight": weight,
        "confidence": confidence,
        "test-size": test_size if test_size != 0.3 else None,
        "objective": objective if objective != "accuracy" else None,
        "suppress": suppress,
        "seed": seed,
        "output": output,
    }
    lists = {
        "tolerance": tolerance,
        "require": require,
        "sensitive": sensitive,
        "numeric": numeric,
        "categorical": categorical,
        "drop": drop,
        "features": features,
        "bin": bins,
    }
    words = ["fairlimits", "report", data]
    words += [word for key, value in chosen.items() if value is not None for word in (f"--{key}", str(value))]
    words += [word for key, values in lists.items() for value in values or [] for word in (f"--{key}", value)]
    if missing_sensitive != "refuse":
        words += ["--missing-sensitive", missing_sensitive]
    if check_small_groups(small_groups) != SET_ASIDE:
        words += ["--small-groups", small_groups]
    with progress_bar("Report") as tell:
        found = make_report(
            dataset,
            asked,
            name=Path(data).stem,
            confidence=confidence,
            requirements=kept,
            objective=goal,
            test_size=test_size,
            suppress=suppress,
            random_state=seed,
            progress=tell,
            command=shlex.join(words),
        )
    found.save(output)
    say(found.summary())
    say(f"Written to {output}.")
