"""The options that say how rows are cut into cells: one object, which cuts them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fairlimits._util.suggestions import did_you_mean
from fairlimits.apps.cli.data_options import AUTO, say_small_groups
from fairlimits.apps.cli.option_groups import OptionGroup
from fairlimits.apps.cli.options import Seed
from fairlimits.apps.cli.terminal import progress_bar, say
from fairlimits.errors import ColumnsWarning, InputError, SmallGroupsWarning
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES, FEATURES

if TYPE_CHECKING:
    from fairlimits.data import Dataset, Stream
    from fairlimits.law import CellDistribution, Outcome, Partition, StreamedOutcome

_PANEL = "Cells"

Cells = Annotated[
    int | None,
    typer.Option(help="Number of cells: 256, or more for many groups, unless you say.", rich_help_panel=_PANEL),
]
MapCells = Annotated[int | None, typer.Option(help="Number of cells of the map.", rich_help_panel=_PANEL)]
Generator = Annotated[
    str,
    typer.Option(
        help="With --partition features, what to count: the rows as they are (none), or rows of a generator: cart, "
        "bootstrap, or ctgan and tvae (extra fairlimits\\[ctgan]; its package ctgan is licensed under BUSL-1.1). auto "
        "is cart, or none where files are read in parts.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class CellOptions(OptionGroup):
    """How many cells, of what, counted how, with which seed; commands with other defaults derive from it."""

    cells: Cells = None
    partition: Annotated[
        str,
        typer.Option(
            help="What cells cut: an estimate of group and label given the features (outcome); that and the features "
            "(blend); or the features, as in the paper (features). auto is outcome, and blend for individual fairness "
            "and maps.",
            rich_help_panel=_PANEL,
        ),
    ] = AUTO
    generator: Generator = DEFAULT_GENERATOR
    samples: Annotated[
        int, typer.Option(help="Rows to generate, with a generator of --partition features.", rich_help_panel=_PANEL)
    ] = DEFAULT_SAMPLES
    seed: Seed = 0

    @property
    def generates(self) -> bool:
        """Whether a generator was asked for by name."""
        return self.generator not in (DEFAULT_GENERATOR, "none")

    def check(self, rows: Dataset | Stream | CellDistribution, *, alike: bool = False) -> Partition:
        """Return what cells are to cut, or refuse it; `alike` if they must be kinds of people, for IF or a map.

        A generator for cells other than those of the features is refused before anything is learned.
        """
        from fairlimits.law import CellDistribution, Partition

        known = (AUTO, *get_args(Partition))
        if self.partition not in known:
            raise InputError(
                f"--partition is {self.partition!r}; it must be 'auto', 'outcome', 'blend' or 'features'."
                f"{did_you_mean(self.partition, known)}"
            )
        if isinstance(rows, CellDistribution):
            if self.partition not in (AUTO, rows.origin.partition):
                raise InputError(
                    f"--partition is {self.partition}, but the cells were made before, with {rows.origin.partition}; "
                    "leave --partition out."
                )
            return rows.origin.partition
        chosen = ("blend" if alike else "outcome") if self.partition == AUTO else self.partition
        given = {"--generator": self.generates, "--samples": self.samples != DEFAULT_SAMPLES}
        odd = " and ".join(name for name, own in given.items() if own)
        if chosen != FEATURES and odd:
            raise InputError(
                f"--partition {chosen} takes the rows as they are, and generates none; leave {odd} out, or add "
                "--partition features."
            )
        return chosen  # type: ignore[return-value]

    def cut(
        self,
        rows: Dataset | Stream | CellDistribution,
        partition: Partition,
        outcome: Outcome | StreamedOutcome | None = None,
    ) -> CellDistribution:
        """Cut the data into cells, with a progress bar, and say so if rows are too few for them."""
        from fairlimits.data import Stream
        from fairlimits.law import CellDistribution

        if isinstance(rows, CellDistribution):
            known = rows.origin.generator or "none"
            if self.generator not in (DEFAULT_GENERATOR, known):
                raise InputError(
                    f"--generator is {self.generator}, but the cells were made before, with generator {known}; leave "
                    "--generator out."
                )
            say_small_groups(rows)
            dist = rows
        elif isinstance(rows, Stream) and self.generates:
            raise InputError(
                f"--generator is {self.generator}, but files that are read in parts are counted as they are; leave "
                "--generator out, or read a single file whole with --no-stream."
            )
        else:
            dist = self._discretize(rows, partition, outcome)
        _say_support(dist)
        return dist

    def _discretize(
        self, rows: Dataset | Stream, partition: Partition, outcome: Outcome | StreamedOutcome | None
    ) -> CellDistribution:
        from fairlimits.law import SamplingWarning, discretize

        settings: dict[str, Any] = {"outcome": outcome}
        if partition == FEATURES:
            made_by = None if self.generator == "none" else self.generator
            settings = {"generator": made_by, "n_samples": self.samples}
        with progress_bar("Cutting the people into cells") as tell, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SamplingWarning)
            warnings.simplefilter("always", SmallGroupsWarning)
            warnings.simplefilter("always", ColumnsWarning)
            dist = discretize(rows, self.cells, partition=partition, random_state=self.seed, progress=tell, **settings)
        for warning in caught:
            if issubclass(warning.category, SmallGroupsWarning):
                # For rows in parts this is known first, and so said first.
                say(str(warning.message))
            elif issubclass(warning.category, SamplingWarning | ColumnsWarning):
                say(f"Note: {warning.message}")
        return dist


def _say_support(dist: CellDistribution) -> None:
    from fairlimits.law import support_note

    note = support_note(dist)
    if note is not None:
        say(f"Note: {note}")
