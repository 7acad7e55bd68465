"""How a CSV file is written: what parts its values, its decimal point and its encoding, read off its first lines."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from fairlimits.errors import FileError

# What a missing value looks like. Words that may be values of their own ("None") are left alone.
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?"]

UTF8 = "utf8"

_DELIMITERS = ",;\t|"

# Bytes and lines that are looked at.
_BYTES, _LINES = 2**20, 200

# Spreadsheets say in a first line of their own what parts the values.
_SAYS_SO = re.compile(r"sep=([\t !#$%&*+,/:;<=>?@\\^_`|~])\r?\n", re.IGNORECASE)

_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")

UNREADABLE = (OSError, EOFError, ValueError, zlib.error, pa.ArrowException)
"""What a file that is damaged, or not what its name says, raises while it is read."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Parameters
    ----------
    delimiter : str
        What parts the values of a row.
    decimal : str
        What parts a number from its decimals.
    encoding : str
        How letters are written as bytes.
    skipped : int
        Lines above the names of the columns.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = UTF8
    skipped: int = 0

    def reading(self, block_size: int | None = None) -> pa.csv.ReadOptions:
        """Options of Arrow for the bytes."""
        return pa.csv.ReadOptions(encoding=self.encoding, skip_rows=self.skipped, block_size=block_size)

    @property
    def parsing(self) -> pa.csv.ParseOptions:
        """Options of Arrow for the lines."""
        return pa.csv.ParseOptions(delimiter=self.delimiter)

    @property
    def converting(self) -> pa.csv.ConvertOptions:
        """Options of Arrow for the values."""
        return pa.csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True, decimal_point=self.decimal)


def unreadable(file: Path, error: BaseException) -> FileError:
    """Say that a file cannot be read, and why."""
    # Arrow's messages run over several lines; the first says what is wrong.
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    advice = "it is a table as its name says"
    if isinstance(error, PermissionError):
        return FileError(f"Cannot read {file} (permission denied): give yourself the right to read it.")
    if "columns, got" in reason:
        advice = "its first line names the columns, and that every other line has as many values"
    return FileError(f"Cannot read {file} ({reason.rstrip('.')}): check that {advice}.")


def dialect_of(file: Path) -> Dialect:
    """Find out how a CSV file is written.

    Parameters
    ----------
    file : Path
        The file, which may be compressed by gzip.
    """
    opened = gzip.open if file.name.lower().endswith(".gz") else open
    try:
        with opened(file, "rb") as stream:
            start = stream.read(_BYTES)
            # Not by lines: one can be as long as the file.
            encoding = _encoding(start, iter(lambda: stream.read(_BYTES), b""))
    except UNREADABLE as error:
        raise unreadable(file, error) from error
    text = start.decode(encoding, errors="ignore").removeprefix("\ufeff")
    said = _SAYS_SO.match(text)
    if said:
        text = text[said.end() :]
    delimiter = said[1] if said else _delimiter(text)
    rows = list(_rows(text, delimiter))[1:]
    return Dialect(delimiter, _decimal(rows, delimiter), encoding, int(said is not None))


def _encoding(start: bytes, rest: Iterator[bytes]) -> str:
    """UTF-8 if all of the file is that; else that of spreadsheets, whose bytes are letters all."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(start)
        for part in rest:
            decoder.decode(part)
    except UnicodeDecodeError:
        return "cp1252"
    return UTF8


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The first rows; the last one may be cut off."""
    lines = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    # A value that is longer than this reader allows, such as all of a line that something else parts, ends the look.
    with suppress(csv.Error):
        yield from (row for row in islice(lines, _LINES) if row)


def _delimiter(text: str) -> str:
    """What parts most rows into as many values as there are names of columns, and into most of them."""
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in _rows(text, delimiter)]
        if not widths or widths[0] <= most:
            continue
        if Counter(widths)[widths[0]] >= 0.9 * len(widths):
            best, most = delimiter, widths[0]
    return best


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma if a column holds numbers with decimals after a comma; where commas part values, none can be such."""
    if delimiter == ",":
        return "."
    for values in zip(*rows, strict=False):
        there = [value.strip() for value in values if value.strip() not in _MISSING]
        with_comma = sum(_DECIMAL_COMMA.fullmatch(value) is not None for value in there)
        if with_comma and with_comma == sum("," in value for value in there) and not any(map(_has_point, there)):
            return ","
    return "."


def _has_point(value: str) -> bool:
    """Whether a number has a decimal point, which it cannot have where decimals follow a comma."""
    return re.fullmatch(r"[+-]?\d*\.\d+", value) is not None
