"""Rows in parts: a table too large for memory, read part by part as often as needed.

Every computation over such a table is a fold: some work on each part, the answers added up in the order of the parts,
and a last step on the sum. The order is fixed, so that the result does not depend on how many threads or workers
there are.
"""

from __future__ import annotations

import glob
import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import pyarrow as pa
import pyarrow.csv

from fairlimits._util.progress import Progress, silent
from fairlimits._util.threads import ONE_BLAS_THREAD, side_by_side, usable_cores
from fairlimits.data.buckets import Buckets, Entries, FileBuckets
from fairlimits.data.csv_blocks import csv_batches, is_csv
from fairlimits.data.csv_dialects import UTF8, dialect_of
from fairlimits.errors import FileError, InputError

if TYPE_CHECKING:
    import pyarrow.dataset as pads

Answer = TypeVar("Answer")
Result = TypeVar("Result")

# Rows of a part: enough to be worth a task, few enough for several parts to fit into memory.
_PART_ROWS = 131_072

_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".csv.gz": "csv"}


class Part(NamedTuple):
    """The position of a part in its table.

    Parameters
    ----------
    number : int
        Its position among the parts.
    file : int
        Position of its file among all files in alphabetical order; -1 where the rows have no stable order.
    first : int
        Number of its first row in the file.
    """

    number: int
    file: int = -1
    first: int = 0


class Parts(Protocol):
    """A table in parts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether rows have a stable order, as in files."""
        ...

    @property
    def remote(self) -> bool:
        """Whether parts are worked on by other machines, whose progress cannot be reported."""
        ...

    def fold(
        self,
        work: Callable[[Part, Any], Answer | None],
        add: Callable[[Answer, Answer], Answer],
        finish: Callable[[Answer], Result],
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Result | None:
        """Do some work on every part, add up the answers in order, and finish the sum.

        Parameters
        ----------
        work : callable
            Takes the position of a part and the part as a data frame, which has rows; returns None if it uses no row.
        add : callable
            Adds two answers, changing neither.
        finish : callable
            Returns the result, given the sum.
        columns : sequence of str, optional
            The columns that are needed; all by default.
        tell : callable
            Called with the fraction done and a few words.

        Returns
        -------
        What `finish` returns, or None if no row is taken.
        """
        ...

    def deal(
        self,
        work: Callable[[Part, Any], Entries | None],
        settle: Callable[[Entries], Entries],
        buckets: int,
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Buckets:
        """Do some work on every part, and sort the entries that it returns into buckets by their keys.

        Parameters
        ----------
        work : callable
            Takes the position of a part and the part as a data frame, which has rows; returns entries in the order of
            their keys, or None.
        settle : callable
            Takes all entries of a bucket, in no particular order; returns what is kept of them.
        buckets : int
            Number of buckets.
        columns, tell
            See `fold`.
        """
        ...


@dataclass(frozen=True, eq=False)
class ArrowParts:
    """Parts of an Arrow dataset, read from disk as they are needed."""

    dataset: pads.Dataset

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.dataset.schema.names)

    @property
    def ordered(self) -> bool:
        """Whether rows have a stable order, as in files."""
        return True

    @property
    def remote(self) -> bool:
        """Whether parts are worked on by other machines, whose progress cannot be reported."""
        return False

    def fold(
        self,
        work: Callable[[Part, Any], Answer | None],
        add: Callable[[Answer, Answer], Answer],
        finish: Callable[[Answer], Result],
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Result | None:
        """Do some work on every part, add up the answers in order, and finish the sum (see `Parts`)."""
        total: Answer | None = None
        with closing(self._answers(work, columns, tell)) as answers:
            for answer in answers:
                total = add_up(add, [total, answer])
        return None if total is None else finish(total)

    def deal(
        self,
        work: Callable[[Part, Any], Entries | None],
        settle: Callable[[Entries], Entries],
        buckets: int,
        *,
        columns: Sequence[str] | None = None,
        tell: Progress = silent,
    ) -> Buckets:
        """Sort what some work finds in every part into buckets, which are temporary files (see `Parts`)."""
        dealt = FileBuckets(settle, buckets)
        with closing(self._answers(work, columns, tell)) as answers:
            for answer in answers:
                if answer is not None:
                    dealt.add(answer)
        return dealt

    def _answers(
        self, work: Callable[[Part, Any], Answer], columns: Sequence[str] | None, tell: Progress
    ) -> Generator[Answer, None, None]:
        """Do some work on every part that has rows, in threads, and give the answers in order."""
        sizes: deque[int] = deque()

        def tasks() -> Iterator[Callable[[], Answer]]:
            for part, batch in self._batches(columns):
                if batch.num_rows:
                    sizes.append(batch.num_rows)
                    yield partial(work, part, pa.Table.from_batches([batch]))

        rows = 0
        # The parts are shared among threads already: threads of BLAS would compete with them for the cores.
        with ONE_BLAS_THREAD:
            # Reading runs ahead of the work by one part, no more: that bounds the memory.
            for answer in side_by_side(tasks(), usable_cores()):
                yield answer
                rows += sizes.popleft()
                tell(rows / self._size if self._size else 0.0, f"{rows:,} rows")

    @cached_property
    def _size(self) -> int:
        """Number of rows, for progress; 0 where finding it out would take a pass of its own."""
        slow = getattr(getattr(self.dataset, "format", None), "default_extname", None) == "csv"
        return 0 if slow else int(self.dataset.count_rows())

    def _batches(self, columns: Sequence[str] | None) -> Iterator[tuple[Part, pa.RecordBatch]]:
        number, read = 0, dict[int, int]()
        try:
            for file, piece in self._pieces():
                for batch in self._scan(piece, columns):
                    yield Part(number, file, read.get(file, 0)), batch
                    number, read[file] = number + 1, read.get(file, 0) + batch.num_rows
        except MemoryError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise FileError(f"The files cannot be read ({_reason(error)}): check that each holds a table.") from error

    def _pieces(self) -> Iterator[tuple[int, Any]]:
        """Yield pieces that together have all rows; small ones, because Arrow may hold all that a scan reads."""
        try:
            return row_groups(self.dataset)
        except ValueError:  # a dataset with a filter does not tell its fragments, but gives its rows in order
            return iter([(0, self.dataset)])

    def _scan(self, piece: Any, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        if is_csv(piece):
            return csv_batches(piece, self.dataset.schema, columns, _PART_ROWS)
        batches: Iterator[pa.RecordBatch] = piece.to_batches(
            **({} if piece is self.dataset else {"schema": self.dataset.schema}),
            columns=None if columns is None else list(columns),
            batch_size=_PART_ROWS,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,  # this thread reads the next part while others work on the last ones
        )
        return batches


def row_groups(dataset: pads.Dataset) -> Iterator[tuple[int, pads.Fragment]]:
    """Pieces of an Arrow dataset, in order: the row groups of Parquet files, other files as a whole.

    Each comes with the place of its file among all files in alphabetical order.
    """
    fragments = list(dataset.get_fragments())
    # Tables in memory have no path: they stay in the order in which they were given.
    names = [getattr(fragment, "path", "") for fragment in fragments]
    ranks = {at: rank for rank, at in enumerate(sorted(range(len(names)), key=lambda at: (names[at], at)))}
    return (
        (ranks[at], piece)
        for at, fragment in enumerate(fragments)
        for piece in (fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment])
    )


def add_up(add: Callable[[Answer, Answer], Answer], answers: Sequence[Answer | None]) -> Answer | None:
    """Add up answers in their order, leaving out those of parts of which no row is taken."""
    given = [answer for answer in answers if answer is not None]
    return reduce(add, given) if given else None


def is_arrow_dataset(source: object) -> bool:
    """Return whether something is an Arrow dataset, without importing what makes them."""
    made_by = sys.modules.get("pyarrow._dataset")
    return made_by is not None and isinstance(source, made_by.Dataset)


def arrow_parts(source: object) -> ArrowParts:
    """Open paths, patterns, directories or an Arrow dataset as parts."""
    if is_arrow_dataset(source):
        return ArrowParts(source)
    # Not at the top: it imports pandas where that is installed, and only files in parts need it.
    import pyarrow.dataset as pads

    files = find_files(source)
    kinds = {format_of(file) for file in files}
    if len(kinds) > 1:
        raise FileError("The files are of different kinds: give Parquet files only, or CSV files only.")
    form: Any = kinds.pop()
    if form == "csv":
        dialect = dialect_of(files[0])
        # Arrow reads nothing else in parts.
        if dialect.skipped:
            raise FileError(f"{files[0]} does not begin with the names of its columns: remove its first line.")
        if dialect.encoding != UTF8:
            raise FileError(
                f"{files[0]} is written in {dialect.encoding}: files that are read in parts must be in UTF-8."
            )
        scan = pads.CsvFragmentScanOptions(convert_options=dialect.converting, read_options=dialect.reading())
        form = pads.CsvFileFormat(dialect.parsing, default_fragment_scan_options=scan)
    names = [str(file) for file in files]
    try:
        dataset = pads.dataset(names, format=form, partitioning="hive")
        schemas = [fragment.physical_schema for fragment in dataset.get_fragments()]
        for file, schema in zip(files, schemas, strict=True):
            # Arrow would fill in columns that a file lacks, and drop those that it has in addition.
            if set(schema.names) != set(schemas[0].names):
                raise FileError(f"{file} has other columns than {files[0]}: files that are read as one need the same.")
        # A column without a value in the first file takes its type from another file.
        joint = pa.unify_schemas([_undeclared(schema) for schema in schemas], promote_options="permissive")
        rest = [field for field in dataset.schema if field.name not in joint.names]
        return ArrowParts(pads.dataset(names, pa.schema([*joint, *rest]), format=form, partitioning="hive"))
    except MemoryError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"The files cannot be read as one table ({_reason(error)}): check them.") from error


def _undeclared(schema: pa.Schema) -> pa.Schema:
    """Return the schema with categories (dictionaries) of text as text: files may differ in that."""
    fields = [
        field.with_type(field.type.value_type)
        if pa.types.is_dictionary(field.type) and not pa.types.is_primitive(field.type.value_type)
        else field
        for field in schema
    ]
    return pa.schema(fields)


def find_files(source: object) -> list[Path]:
    """Return the files that paths, patterns (``big/*.parquet``) and directories stand for, each once.

    Those of a pattern and of a directory are in alphabetical order.
    """
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(item, str | os.PathLike) for item in given):
        raise InputError(
            f"Cannot read rows from {type(source).__name__}: give a Dataset (of a table, Dataset.from_frame makes "
            "one), one or more paths, an Arrow dataset or a Dask DataFrame."
        )
    files: list[Path] = []
    for item in given:
        path = Path(item)
        if path.is_dir():
            inside = (Path(at, name) for at, _, names in os.walk(path) for name in names)
            found = sorted(file for file in inside if _suffix(file) and not file.name.startswith(("_", ".")))
            if not found:
                raise FileError(f"The directory {path} holds no CSV or Parquet file: check the path.")
            files += found
        elif path.exists():
            files.append(path)
        elif is_pattern(path):
            found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
            if not found:
                raise FileError(f"No file matches {path}: check the pattern.")
            files += found
        else:
            raise FileError(f"There is no file {path}: check the path.")
    if not files:
        raise InputError("No file was given: name at least one.")
    return list(dict.fromkeys(files))


def is_pattern(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a pattern for several files."""
    return glob.has_magic(os.fspath(path))


def format_of(file: Path) -> str:
    """Return "parquet" or "csv", by the suffix of a file."""
    suffix = _suffix(file)
    if suffix is None:
        raise FileError(f"Cannot tell what {file} holds: its name must end in {', '.join(_FORMATS)}.")
    return _FORMATS[suffix]


def _suffix(file: Path) -> str | None:
    return next((suffix for suffix in _FORMATS if file.name.lower().endswith(suffix)), None)


def _reason(error: Exception) -> str:
    # Arrow's messages run over several lines; the first says what is wrong.
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
