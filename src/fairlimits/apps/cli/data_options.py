"""The options that say what the data are: one object, from which a command has its rows read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from fairlimits.apps.cli.option_groups import OptionGroup
from fairlimits.apps.cli.terminal import say
from fairlimits.errors import ColumnsWarning, InputError, SmallGroupsWarning
from fairlimits.law import FEATURES

if TYPE_CHECKING:
    from fairlimits.data import Dataset, Stream
    from fairlimits.law import CellDistribution

AUTO = "auto"

# A file that takes more than this on disk may take many times as much in memory.
_LARGE = 256 * 2**20

# A table of some ten thousand rows, whose law is learned in several processes.
_WORTH_PROCESSES = 2**20

_CELLS_SUFFIX = ".npz"

_PANEL = "Data"

_BENCHMARK = "A benchmark (adult, law, dutch)"

Table = TypeVar("Table", bound="TableOptions")


@dataclass(frozen=True, kw_only=True)
class DataOptions(OptionGroup):
    """What the columns mean, and what is done with rows and groups that are in doubt."""

    label: Annotated[str | None, typer.Option(help="Column to decide on.", rich_help_panel=_PANEL)] = None
    positive: Annotated[
        str | None, typer.Option(help="Value of the label that counts as 1.", rich_help_panel=_PANEL)
    ] = None
    sensitive: Annotated[
        list[str] | None,
        typer.Option(help="Sensitive column; repeat it for intersectional groups.", rich_help_panel=_PANEL),
    ] = None
    weight: Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel=_PANEL)] = None
    numeric: Annotated[
        list[str] | None, typer.Option(help="Read this feature as a number (repeatable).", rich_help_panel=_PANEL)
    ] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Read this feature as a category (repeatable).", rich_help_panel=_PANEL)
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(help="Leave this column out (repeatable).", rich_help_panel=_PANEL)
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            "--keep",
            help="Use this column as a feature, and no other (repeatable).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    bins: Annotated[
        list[str] | None,
        typer.Option(
            "--bin",
            help="Cut a number into ranges: age:25 makes 'under 25' and '25 and over', age:25,60 three of them; also "
            "for a sensitive column (repeatable).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    tidy: Annotated[
        list[str] | None,
        typer.Option(
            help="Take text in this column that differs in case or outer spaces only as one value; also of the label "
            "or a sensitive column (repeatable).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    missing_sensitive: Annotated[
        str,
        typer.Option(
            help="Rows without a sensitive value: refuse them, make them a group, or drop them.",
            rich_help_panel=_PANEL,
        ),
    ] = "refuse"
    small_groups: Annotated[
        str,
        typer.Option(
            help="Groups with fewer than 30 rows, in all or of a label: leave such rates of theirs out of comparisons "
            "(set-aside), make one group of them (join), drop their rows (drop-rows), or refuse them (refuse).",
            rich_help_panel=_PANEL,
        ),
    ] = "set-aside"

    def columns(self) -> dict[str, Any]:
        """As `fairlimits.open_data` takes them."""
        from fairlimits.data import check_small_groups, parse_bins

        given = {own.name: getattr(self, own.name) for own in fields(DataOptions)}
        return {name: None if value == [] else value for name, value in given.items()} | {
            "bins": parse_bins(self.bins) if self.bins else None,
            "small_groups": check_small_groups(self.small_groups),
        }

    def settled(self) -> list[str]:
        """Name the options of columns that differ from their defaults."""
        usual = DataOptions().columns()
        return [name for name, value in self.columns().items() if value != usual[name]]


@dataclass(frozen=True, kw_only=True)
class TableOptions(DataOptions):
    """One table, for commands that need its rows in memory."""

    data: Annotated[str, typer.Argument(help=f"{_BENCHMARK} or the path of a CSV or Parquet file.")]

    def expect_learning(self) -> None:
        """Start the processes that learn; to be called before the command loads its packages."""
        expect_learning(self.data)

    def also_keeping(self: Table, *columns: str) -> Table:
        """Add columns to those that are kept, where only some are: for columns of predictions."""
        return self if not self.features else replace(self, features=list(dict.fromkeys([*self.features, *columns])))

    def read(self) -> Dataset:
        """Read the table.

        What is done with small groups is left for the command to say, before all else (`say_small_groups`).
        """
        from fairlimits.data import is_pattern

        if self.data.endswith(_CELLS_SUFFIX) or is_pattern(self.data) or Path(self.data).is_dir():
            raise InputError(
                f"This command needs the rows of one table in memory, and {self.data} is not one; give a CSV or "
                "Parquet file with a sample of the rows. Others, such as report and frontier, read files in parts."
            )
        return _read_whole(self.data, self.columns())


_ID = Annotated[
    list[str] | None,
    typer.Option(
        help="Of files read in parts, the column that says who a row is about: all rows of a person are held out "
        "together (repeatable).",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class AnySizeOptions(TableOptions):
    """One table of any size: files that do not fit into memory are read in parts."""

    data: Annotated[
        str,
        typer.Argument(
            help=f"{_BENCHMARK}, or the path of a CSV or Parquet file; a directory or a quoted pattern of files is "
            "read in parts, and so is a large file."
        ),
    ]
    id: _ID = None

    def open(self) -> Dataset | Stream:
        """Read the table, or open it in parts if it is a pattern, a directory or large."""
        from fairlimits.data import benchmark_names, open_stream

        if self.data not in benchmark_names() and not self.data.endswith(_CELLS_SUFFIX) and _in_parts(self.data, None):
            return open_stream(self.data, id=self.id or None, **self.columns())
        if self.id:
            raise InputError("--id is for files that are read in parts, and this table is read whole; leave it out.")
        return self.read()


@dataclass(frozen=True, kw_only=True)
class SourceOptions(DataOptions):
    """A table, files in parts, or cells that were saved: for commands that only need cells."""

    data: Annotated[
        list[str],
        typer.Argument(
            help=f"{_BENCHMARK}, cells that fairlimits saved (.npz), or CSV or Parquet files: paths, "
            "patterns or directories. Several files, or large ones, are read in parts that fit into memory."
        ),
    ]
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read files in parts, or whole.",
            show_default="parts, if there are several or they are large",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def expect_learning(self, partition: str) -> None:
        """Start the processes that learn; to be called before the command loads its packages."""
        expect_learning(self.data[0], partition)

    def read(self) -> Dataset | Stream | CellDistribution:
        """Read rows, open rows in parts, or load cells.

        What is done with small groups is said as soon as it is known: here, or by `CellOptions.cut`.
        """
        from fairlimits.data import benchmark_names, open_stream
        from fairlimits.law import CellDistribution

        columns = self.columns()
        if any(source.endswith(_CELLS_SUFFIX) for source in self.data):
            if len(self.data) > 1:
                raise InputError("Several files of cells were given; make one of them first, with fairlimits merge.")
            if set(self.settled()) - {"missing_sensitive"}:
                raise InputError(
                    f"{self.data[0]} holds cells, whose columns are settled; leave the options of the data out."
                )
            return CellDistribution.load(self.data[0])
        if len(self.data) == 1 and (self.data[0] in benchmark_names() or not _in_parts(self.data[0], self.stream)):
            dataset = _read_whole(self.data[0], columns)
            say_small_groups(dataset)
            return dataset
        if self.stream is False:
            raise InputError("Several files are read as one table in parts only; leave --no-stream out.")
        return open_stream(self.data, **columns)


def expect_learning(source: str, partition: str = AUTO) -> None:
    """Let the processes that learn the law of a large table start and load their packages while this one does.

    To be called before this one loads its own.
    """
    from fairlimits._util.workers import expect_work
    from fairlimits.data import benchmark_names

    path = Path(source)
    is_large = path.is_file() and path.stat().st_size > _WORTH_PROCESSES
    if partition != FEATURES and (is_large or source in benchmark_names()):
        expect_work(("fairlimits.law.outcome.crossfit", "sklearn.ensemble"))


def say_small_groups(rows: Dataset | CellDistribution, suppress: int | None = None) -> None:
    """Print which groups are too small to speak about, and what was done with them, if there are some.

    How many people they have is not said where such counts are suppressed.
    """
    from fairlimits.data import Dataset, small_groups_note

    note = rows.small_groups_note
    if suppress is not None and isinstance(rows, Dataset):
        note = small_groups_note(rows, counted=False)
    if note is not None:
        say(note)


def notes_of(rows: Dataset | Stream | CellDistribution, dist: CellDistribution) -> list[str]:
    """List for a file how columns were read, which groups are too small, and whether rows are too few for cells."""
    from fairlimits.data import Dataset
    from fairlimits.law import support_note

    notes = (rows if isinstance(rows, Dataset) else dist).small_groups_note, support_note(dist)
    columns = rows.column_notes if isinstance(rows, Dataset) else ()
    return [*columns, *(note for note in notes if note is not None)]


def _read_whole(source: str, columns: dict[str, Any]) -> Dataset:
    from fairlimits.data import open_data

    with warnings.catch_warnings():
        # Said by `say_small_groups`, and below.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        warnings.simplefilter("ignore", ColumnsWarning)
        dataset = open_data(source, stream=False, **columns)
    for note in dataset.column_notes:
        say(f"Note: {note}")
    return dataset


def _in_parts(source: str, stream: bool | None) -> bool:
    from fairlimits.data import is_pattern

    path = Path(source)
    if path.is_dir() or (is_pattern(source) and not path.exists()):
        return True
    return path.is_file() and path.stat().st_size > _LARGE if stream is None else stream
