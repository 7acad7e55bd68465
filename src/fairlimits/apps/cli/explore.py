"""``fairlimits explore``: a page on this machine on which tolerances are moved and the limit follows."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.cell_options import CellOptions
from fairlimits.apps.cli.data_options import AUTO, SourceOptions
from fairlimits.apps.cli.option_groups import expand_groups
from fairlimits.apps.cli.terminal import progress_bar, say
from fairlimits.errors import InputError


@expand_groups
def explore(
    sources: SourceOptions,
    *,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    ceiling: options.Ceiling = False,
    cutting: CellOptions,
) -> None:
    r"""Open a page on this machine: move tolerances, and see what they cost.

    The page is served to this machine only. Stop it with ctrl-c. It needs the extra fairlimits\[app]. Models can be
    placed on the page if the rows are one table that is read whole.

    Examples
    --------
      fairlimits explore adult

      fairlimits explore dutch --ceiling

      fairlimits explore loans.csv --label paid --positive yes --sensitive sex --no-browser --port 8050
    """
    sources.expect_learning(cutting.partition)

    from fairlimits.apps.explorer import Subject, check_port, make_app, require_dash, serve
    from fairlimits.data import Dataset
    from fairlimits.evaluation import Study
    from fairlimits.law import FEATURES, estimate_outcome

    # Cells take a while: what is missing or wrong is said before.
    require_dash()
    check_port(port)
    rows = sources.read()
    chosen = cutting.check(rows)
    outcome = None
    if isinstance(rows, Dataset) and chosen != FEATURES:
        with progress_bar("Learning P(A, Y | x)") as tell:
            outcome = estimate_outcome(rows, random_state=cutting.seed, progress=tell)
    dist = cutting.cut(rows, chosen, outcome)
    blend = None
    if cutting.partition == AUTO and outcome is not None:
        # Individual fairness compares people, so its cells cut the features too.
        blend = cutting.cut(rows, "blend", outcome)
    table = rows if isinstance(rows, Dataset) else None
    if ceiling and table is None:
        raise InputError("--ceiling rests on people who are alike, in rows that are read whole; give one table.")
    study = None
    if ceiling and table is not None:
        with progress_bar("From above") as tell:
            study = Study.of(table, random_state=cutting.seed, progress=tell)
    with progress_bar("Making the page"):
        app = make_app(Subject(Path(sources.data[0]).stem, dist, table, blend, study))

    def started(address: str) -> None:
        say(f"The explorer is at {address} (this machine only). Stop it with ctrl-c.")
        if browser:
            webbrowser.open(address)

    serve(app, port, started)
    say("Stopped.")
