"""What people see in the terminal: tables, progress, complaints; and results written by suffix."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fairlimits.errors import FileError
from fairlimits.storage import write_text, write_whole


def say(words: str = "") -> None:
    """Print a line, taking no part of it for markup."""
    Console(soft_wrap=True).print(words, markup=False, highlight=False)


def complain(words: str) -> None:
    """Print an error to standard error."""
    Console(stderr=True, soft_wrap=True).print(f"Error: {words}", markup=False, highlight=False)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """Show a bar on standard error while the block runs, if a person is watching."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.fields[words]}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=1.0, words=what)

        def tell(fraction: float, words: str) -> None:
            progress.update(task, completed=fraction, words=f"{what}: {words}")

        yield tell


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table; the first column is text, the others are numbers."""
    if title is not None:
        say(title)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for number, head in enumerate(heads):
        # Names come from the data, so nothing in them may be taken for markup.
        table.add_column(Text(head), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # Wide enough that no figure is ever cut; short tables do not fill it.
    Console(width=200).print(table)


def check_suffix(output: Path | None, allowed: Sequence[str]) -> None:
    """Refuse a file name whose suffix says nothing about what to write, before any work is done."""
    if output is None:
        return
    if output.suffix.lower() not in allowed:
        raise FileError(
            f"The output {output} ends in {output.suffix or 'no suffix'}; it must end in one of {', '.join(allowed)}."
        )
    if output.is_dir() or not output.parent.is_dir():
        raise FileError(f"The output {output} cannot be written: its directory does not exist; create it first.")


def write_csv(path: Path, table: pa.Table) -> None:
    """Write a table as CSV, whole or not at all."""
    with write_whole(path) as temporary:
        pa_csv.write_csv(table, temporary)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain data as JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
