"""Options that several commands share: the data and how it is cut into cells."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fairlimits._util.suggestions import did_you_mean
from fairlimits.apps.cli.terminal import progress_bar, say
from fairlimits.errors import ColumnsWarning, InputError, SmallGroupsWarning
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES, FEATURES

if TYPE_CHECKING:
    from fairlimits.data import Dataset, Stream
    from fairlimits.law import CellDistribution, Outcome, Partition

AUTO = "auto"

# A file that takes more than this on disk may take many times as much in memory.
_LARGE = 256 * 2**20

# A table of some ten thousand rows, whose law is learned in several processes.
_WORTH_PROCESSES = 2**20

_CELLS_SUFFIX = ".npz"


def _check_seed(seed: int) -> int:
    from fairlimits.data import check_seed

    return check_seed(seed, "--seed")


def _check_suppress(least: int | None) -> int | None:
    from fairlimits._util.suppression import check_suppress

    return check_suppress(least)


Data = Annotated[str, typer.Argument(help="A benchmark (adult, law, dutch) or the path of a CSV or Parquet file.")]
Sources = Annotated[
    list[str],
    typer.Argument(
        help="A benchmark (adult, law, dutch), cells that fairlimits saved (.npz), or CSV or Parquet files: paths, "
        "patterns or directories. Several files, or large ones, are read in parts that fit into memory."
    ),
]
Streamed = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read files in parts, or whole.",
        show_default="parts, if there are several or they are large",
        rich_help_panel="Data",
    ),
]
Label = Annotated[str | None, typer.Option(help="Column to decide on.", rich_help_panel="Data")]
Positive = Annotated[str | None, typer.Option(help="Value of the label that counts as 1.", rich_help_panel="Data")]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(help="Sensitive column; repeat it for intersectional groups.", rich_help_panel="Data"),
]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel="Data")]
Numeric = Annotated[
    list[str] | None, typer.Option(help="Read this feature as a number (repeatable).", rich_help_panel="Data")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="Read this feature as a category (repeatable).", rich_help_panel="Data"),
]
Drop = Annotated[list[str] | None, typer.Option(help="Leave this column out (repeatable).", rich_help_panel="Data")]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--features", "--keep", help="Use this column as a feature, and no other (repeatable).", rich_help_panel="Data"
    ),
]
Bin = Annotated[
    list[str] | None,
    typer.Option(
        "--bin",
        help="Cut a number into ranges: age:25 makes 'under 25' and '25 and over', age:25,60 three of them; also for a "
        "sensitive column (repeatable).",
        rich_help_panel="Data",
    ),
]
MissingSensitive = Annotated[
    str,
    typer.Option(
        help="Rows without a sensitive value: refuse them, make them a group, or drop them.",
        rich_help_panel="Data",
    ),
]
SmallGroups = Annotated[
    str,
    typer.Option(
        help="Groups with fewer than 30 rows, in all or of a label: leave such rates of theirs out of comparisons "
        "(set-aside), make one group of them (join), drop their rows (drop-rows), or refuse them (refuse).",
        rich_help_panel="Data",
    ),
]
Cells = Annotated[
    int | None,
    typer.Option(help="Number of cells: 256, or more for many groups, unless you say.", rich_help_panel="Cells"),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Scores at or above it decide 1, whatever their scale; 0 and 1 stay as they are. "
        "By default 0.5 for scores from 0 to 1."
    ),
]
ByGroup = Annotated[Path | None, typer.Option(help="Write the rates of each group, with intervals, to a .csv file.")]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        "--requirement",
        help="What rules must keep besides, such as 'selection rate <= 0.3', 'accuracy of Female >= 0.8' or "
        "'selection rate ratio >= 0.8' (repeatable).",
    ),
]
Objective = Annotated[
    str,
    typer.Option(help="What to be best at: accuracy, 'balanced accuracy', or costs of errors as in 'costs 1:5'."),
]
Suppress = Annotated[
    int | None,
    typer.Option(
        callback=_check_suppress,
        help="Leave out counts and rates that rest on fewer people than this, such as 10, and others from which they "
        "could be worked out: on the screen and in all files.",
        show_default="nothing is left out",
    ),
]
Seed = Annotated[
    int, typer.Option(callback=_check_seed, help="Seed: the same seed gives the same result.", rich_help_panel="Cells")
]

Generator = Annotated[
    str,
    typer.Option(
        help="With --partition features, what to count: the rows as they are (none), or rows of a generator: cart, "
        "bootstrap, or ctgan and tvae (extra fairlimits\\[ctgan]; its package ctgan is licensed under BUSL-1.1). auto "
        "is cart, or none where files are read in parts.",
        rich_help_panel="Cells",
    ),
]
PartitionOption = Annotated[
    str,
    typer.Option(
        "--partition",
        help="What cells cut: an estimate of group and label given the features (outcome); that and the features "
        "(blend); or the features, as in the paper (features), which is all there is for files read in parts. auto is "
        "outcome, and blend for individual fairness and maps.",
        rich_help_panel="Cells",
    ),
]
Samples = Annotated[
    int, typer.Option(help="Rows to generate, with a generator of --partition features.", rich_help_panel="Cells")
]


def open_table(
    data: str,
    label: str | None,
    positive: str | None,
    sensitive: list[str] | None,
    weight: str | None,
    numeric: list[str] | None,
    categorical: list[str] | None,
    drop: list[str] | None,
    features: list[str] | None,
    bins: list[str] | None,
    missing_sensitive: str,
    small_groups: str,
) -> Dataset:
    """Open what the data options describe, for a command that needs the rows in memory.

    What is done with small groups is left for the command to say, before all else (`say_small_groups`).
    """
    from fairlimits.data import is_pattern

    if data.endswith(_CELLS_SUFFIX) or is_pattern(data) or Path(data).is_dir():
        raise InputError(
            f"This command needs the rows of one table in memory, and {data} is none; give a CSV or Parquet file with "
            "a sample of the rows, or use fairlimits frontier, which reads files in parts."
        )
    columns = _columns(
        *(label, positive, sensitive, weight, numeric, categorical, drop, features, bins),
        *(missing_sensitive, small_groups),
    )
    return _open_whole(data, columns)


def open_rows(
    sources: list[str],
    stream: bool | None,
    label: str | None,
    positive: str | None,
    sensitive: list[str] | None,
    weight: str | None,
    numeric: list[str] | None,
    categorical: list[str] | None,
    drop: list[str] | None,
    features: list[str] | None,
    bins: list[str] | None,
    missing_sensitive: str,
    small_groups: str,
) -> Dataset | Stream | CellDistribution:
    """Open what the data options describe, for a command that only needs cells: rows, rows in parts, or cells.

    What is done with small groups is said as soon as it is known: here, or in `make_cells`.
    """
    from fairlimits.data import SET_ASIDE, benchmark_names, open_stream
    from fairlimits.law import CellDistribution

    columns = _columns(
        *(label, positive, sensitive, weight, numeric, categorical, drop, features, bins),
        *(missing_sensitive, small_groups),
    )
    if any(source.endswith(_CELLS_SUFFIX) for source in sources):
        if len(sources) > 1:
            raise InputError("Several files of cells were given; make one of them first, with fairlimits merge.")
        settled = {"missing_sensitive": missing_sensitive, "small_groups": SET_ASIDE}
        if any(value and value != settled.get(name) for name, value in columns.items()):
            raise InputError(f"{sources[0]} holds cells, whose columns are settled; leave the options of the data out.")
        return CellDistribution.load(sources[0])
    if len(sources) == 1 and (sources[0] in benchmark_names() or not _in_parts(sources[0], stream)):
        dataset = _open_whole(sources[0], columns)
        say_small_groups(dataset)
        return dataset
    if stream is False:
        raise InputError("Several files are read as one table in parts only; leave --no-stream out.")
    return open_stream(sources, **columns)


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


def _open_whole(source: str, columns: dict[str, Any]) -> Dataset:
    from fairlimits.data import open_data

    with warnings.catch_warnings():
        # Said by `say_small_groups`, and below.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        warnings.simplefilter("ignore", ColumnsWarning)
        dataset = open_data(source, stream=False, **columns)
    for note in dataset.column_notes:
        say(f"Note: {note}")
    return dataset


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


def _in_parts(source: str, stream: bool | None) -> bool:
    from fairlimits.data import is_pattern

    path = Path(source)
    if path.is_dir() or (is_pattern(source) and not path.exists()):
        return True
    return path.is_file() and path.stat().st_size > _LARGE if stream is None else stream


def _columns(
    label: str | None,
    positive: str | None,
    sensitive: list[str] | None,
    weight: str | None,
    numeric: list[str] | None,
    categorical: list[str] | None,
    drop: list[str] | None,
    features: list[str] | None,
    bins: list[str] | None,
    missing_sensitive: str,
    small_groups: str,
) -> dict[str, Any]:
    from fairlimits.data import check_small_groups, parse_bins

    choice = check_small_groups(small_groups)
    return {
        "label": label,
        "positive": positive,
        "sensitive": sensitive or None,
        "weight": weight,
        "numeric": numeric,
        "categorical": categorical,
        "drop": drop,
        "features": features or None,
        "bins": parse_bins(bins) if bins else None,
        "missing_sensitive": missing_sensitive,
        "small_groups": choice,
    }


def check_partition(
    rows: Dataset | Stream | CellDistribution, partition: str, generator: str, samples: int, *, alike: bool = False
) -> Partition:
    """What cells are to cut, or why they cannot; `alike` if they must be kinds of people, for IF or a map.

    Rows are said to be read in parts, and generators to be for cells of the features, before anything is learned.
    """
    from fairlimits.data import Stream
    from fairlimits.law import CellDistribution, Partition

    if partition not in (AUTO, *get_args(Partition)):
        raise InputError(
            f"--partition is {partition!r}; it must be 'auto', 'outcome', 'blend' or 'features'."
            f"{did_you_mean(partition, (AUTO, *get_args(Partition)))}"
        )
    if isinstance(rows, CellDistribution):
        if partition not in (AUTO, rows.origin.partition):
            raise InputError(
                f"--partition is {partition}, but the cells were made before, with {rows.origin.partition}; leave "
                "--partition out."
            )
        return rows.origin.partition
    chosen = ("blend" if alike else "outcome") if partition == AUTO else partition
    if isinstance(rows, Stream) and chosen != FEATURES:
        raise InputError(
            f"These files are read in parts, and --partition {chosen} learns from rows in memory: its limits are those "
            "that hold up. Give --partition features, whose limits lie lower, or a file with a sample of the rows."
        )
    given = {"--generator": generator not in (DEFAULT_GENERATOR, "none"), "--samples": samples != DEFAULT_SAMPLES}
    odd = " and ".join(name for name, own in given.items() if own)
    if chosen != FEATURES and odd:
        raise InputError(
            f"--partition {chosen} takes the rows as they are, and generates none; leave {odd} out, or add --partition "
            "features."
        )
    return chosen  # type: ignore[return-value]


def make_cells(
    rows: Dataset | Stream | CellDistribution,
    cells: int | None,
    seed: int,
    generator: str,
    samples: int,
    partition: Partition,
    outcome: Outcome | None = None,
) -> CellDistribution:
    """Cut the data into cells, with a progress bar, and say so if rows are too few for them."""
    from fairlimits.data import Stream
    from fairlimits.law import CellDistribution, SamplingWarning, discretize

    if isinstance(rows, CellDistribution):
        known = rows.origin.generator or "none"
        if generator not in (DEFAULT_GENERATOR, known):
            raise InputError(
                f"--generator is {generator}, but the cells were made before, with generator {known}; leave "
                "--generator out."
            )
        say_small_groups(rows)
        _say_support(rows)
        return rows
    if isinstance(rows, Stream) and generator not in (DEFAULT_GENERATOR, "none"):
        raise InputError(
            f"--generator is {generator}, but files that are read in parts are counted as they are; leave --generator "
            "out, or read a single file whole with --no-stream."
        )
    made_by = None if generator == "none" else generator
    options: dict[str, Any] = {"outcome": outcome}
    if partition == FEATURES:
        options = {"generator": made_by, "n_samples": samples}
    with progress_bar("Cutting the people into cells") as tell, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SamplingWarning)
        warnings.simplefilter("always", SmallGroupsWarning)
        warnings.simplefilter("always", ColumnsWarning)
        dist = discretize(rows, cells, partition=partition, random_state=seed, progress=tell, **options)
    for warning in caught:
        if issubclass(warning.category, SmallGroupsWarning):
            # Of rows in parts, the first that is known, and so the first that is said.
            say(str(warning.message))
        elif issubclass(warning.category, SamplingWarning | ColumnsWarning):
            say(f"Note: {warning.message}")
    _say_support(dist)
    return dist


def _say_support(dist: CellDistribution) -> None:
    from fairlimits.law import support_note

    note = support_note(dist)
    if note is not None:
        say(f"Note: {note}")


def read_tolerances(given: list[str]) -> dict[str, float]:
    """Read notions and numbers written as DP=0.05."""
    tolerances: dict[str, float] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise InputError(
                f"The tolerance {text!r} is not understood; write a notion and a number, as in DP=0.05."
            ) from None
        if name in tolerances:
            raise InputError(f"{name} is given twice; give each notion one tolerance.")
        tolerances[name] = number
    return tolerances
