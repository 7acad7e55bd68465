"""What people see in the terminal: tables, progress, complaints; and results, checked before and written by suffix."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fairlimits._util.names import printable
from fairlimits.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


def say(words: str = "") -> None:
    """Print a line, taking no part of it for markup."""
    Console(soft_wrap=True).print(printable(words, "\n"), markup=False, highlight=False)


def complain(words: str) -> None:
    """Print an error to standard error."""
    _to_stderr(f"Error: {words}")


def note(words: str) -> None:
    """Print to standard error what a person should know."""
    _to_stderr(f"Note: {words}")


def _to_stderr(words: str) -> None:
    # Nobody can be told that standard error cannot be written.
    with suppress(OSError):
        Console(stderr=True, soft_wrap=True).print(printable(words, "\n"), markup=False, highlight=False)


@contextmanager
def notes_said(*kinds: type[Warning]) -> Iterator[list[str]]:
    """Print what the block warns of, each note once, after the block; other warnings go on as they are.

    What is given is the list of the notes, filled when the block ends.
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        for kind in kinds:
            warnings.simplefilter("always", kind)
        yield notes
    for own in caught:
        if not issubclass(own.category, kinds):
            warnings.warn_explicit(own.message, own.category, own.filename, own.lineno, source=own.source)
    notes += dict.fromkeys(str(own.message) for own in caught if issubclass(own.category, kinds))
    for note in notes:
        say(f"Note: {note}")


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """Show a bar on standard error while the block runs, if a person is watching."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.fields[words]}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=1.0, words=what)

        def tell(fraction: float, words: str) -> None:
            progress.update(task, completed=fraction, words=printable(f"{what}: {words}"))

        yield tell


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table; the first column is text, the others are numbers."""
    if title is not None:
        say(title)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for number, head in enumerate(heads):
        # Names come from the data, so nothing in them may be taken for markup.
        table.add_column(Text(printable(head)), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # Wide enough that no figure is ever cut; short tables do not fill it.
    Console(width=200).print(table)


def _any_of(names: Sequence[str]) -> str:
    """Names of which one is enough, in words."""
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def check_outputs(inputs: list[str | Path | None], *outputs: tuple[Path | None, Sequence[str]]) -> None:
    """Refuse outputs that would replace an input or each other, or cannot be written, before any work is done.

    Parameters
    ----------
    inputs : list of str, path or None
        All that the command reads: files, patterns and directories; a string may be the name of a benchmark.
    *outputs : tuple of path or None, and sequence of str
        Each file to write, with the suffixes that say what to write.
    """
    from fairlimits._util.storage import check_writable

    read = _input_files([source for source in inputs if source is not None])
    written: list[Path] = []
    for output, allowed in outputs:
        if output is None:
            continue
        for file in read:
            if _same(output, file):
                raise FileError(
                    f"The output {output} is the input {file} itself; choose another name, so that nothing is lost."
                )
        for other in written:
            if _same(output, other):
                raise FileError(
                    f"The outputs {other} and {output} are the same file; choose two names, so that nothing is lost."
                )
        if output.suffix.lower() not in allowed:
            ending = output.suffix or "no suffix"
            raise FileError(f"The output {output} ends in {ending}; it must end in {_any_of(allowed)}.")
        check_writable(output)
        written.append(output)


def _input_files(sources: Sequence[str | Path]) -> list[Path]:
    """Files that are read, as far as they can be found: reading complains about the others."""
    from fairlimits.data import benchmark_file, benchmark_names, find_files

    # Several sources are read as files, whatever their names.
    names = [source for source in sources if isinstance(source, str)]
    if len(names) == 1 and names[0] in benchmark_names():
        return [benchmark_file(names[0]), *_input_files([own for own in sources if isinstance(own, Path)])]
    files: list[Path] = []
    for source in sources:
        with suppress(FileError, OSError):
            files += find_files(source)
    return files


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links of any kind."""
    try:
        return one.samefile(other)
    except OSError:
        # One of them is not there yet, but links may lead to where it will be. Path.resolve fails on circular ones.
        return os.path.realpath(one) == os.path.realpath(other)


def write_csv(path: Path, table: pa.Table) -> None:
    """Write a table as CSV, whole or not at all; a field is empty where a figure is not estimable."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv

    from fairlimits._util.storage import write_whole

    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            numbers = table.column(at)
            table = table.set_column(at, field, pc.if_else(pc.is_nan(numbers), None, numbers))
    with write_whole(path) as temporary:
        pa_csv.write_csv(table, temporary)


def write_figure(path: Path, figure: Figure) -> None:
    """Write a figure in the format of its suffix, whole or not at all, without a date; and close it."""
    from fairlimits._util.plotting import any_script, close, figure_style
    from fairlimits._util.storage import write_whole

    kind = path.suffix.lower().removeprefix(".")
    dates = {"svg": "Date", "pdf": "CreationDate"}
    # Drawn in memory first: where a disk is full, matplotlib's formats fail in ways of their own.
    drawn = io.BytesIO()
    with figure_style(), any_script():
        figure.savefig(drawn, format=kind, metadata={dates[kind]: None} if kind in dates else None)
    close(figure)
    with write_whole(path) as temporary:
        temporary.write_bytes(drawn.getvalue())


def json_text(content: Mapping[str, Any]) -> str:
    """Write plain data as JSON, with escapes for what would steer a terminal."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    strange = {own for own in set(text) - {"\n"} if not own.isprintable()}
    return text.translate({ord(own): json.dumps(own)[1:-1] for own in strange})


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain data as JSON, whole or not at all."""
    from fairlimits._util.storage import write_text

    write_text(path, json_text(content))
