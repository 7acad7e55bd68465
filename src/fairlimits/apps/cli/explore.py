"""``fairlimits explore``: a page on this machine on which tolerances are moved and the limit follows."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.terminal import progress_bar, say
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES


def explore(
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
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    cells: options.Cells = None,
    partition: options.PartitionOption = options.AUTO,
    generator: options.Generator = DEFAULT_GENERATOR,
    samples: options.Samples = DEFAULT_SAMPLES,
    seed: options.Seed = 0,
) -> None:
    r"""Open a page on this machine: move tolerances, and see what they cost.

    The page is served to this machine only. Stop it with ctrl-c. It needs the extra fairlimits\[app]. Models can be
    placed on the page if the rows are one table that is read whole.

    Examples
    --------
      fairlimits explore adult

      fairlimits explore loans.csv --label paid --positive yes --sensitive sex --no-browser --port 8050
    """
    options.expect_learning(data[0], partition)

    from fairlimits.apps.explorer import Subject, check_port, make_app, require_dash, serve
    from fairlimits.data import Dataset
    from fairlimits.law import FEATURES, estimate_outcome

    # Cells take a while: what is missing or wrong is said before.
    require_dash()
    check_port(port)
    rows = options.open_rows(
        *(data, stream, label, positive, sensitive, weight, numeric),
        *(categorical, drop, features, bins, missing_sensitive, small_groups),
    )
    chosen = options.check_partition(rows, partition, generator, samples)
    outcome = None
    if isinstance(rows, Dataset) and chosen != FEATURES:
        with progress_bar("Learning P(A, Y | x)") as tell:
            outcome = estimate_outcome(rows, random_state=seed, progress=tell)
    dist = options.make_cells(rows, cells, seed, generator, samples, chosen, outcome)
    blend = None
    if partition == options.AUTO and outcome is not None:
        # Individual fairness compares people, so its cells cut the features too.
        blend = options.make_cells(rows, cells, seed, generator, samples, "blend", outcome)
    with progress_bar("Making the page"):
        app = make_app(Subject(Path(data[0]).stem, dist, rows if isinstance(rows, Dataset) else None, blend))

    def started(address: str) -> None:
        say(f"The explorer is at {address} (this machine only). Stop it with ctrl-c.")
        if browser:
            webbrowser.open(address)

    serve(app, port, started)
    say("Stopped.")
