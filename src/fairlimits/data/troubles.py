"""What is wrong with the columns of a table: found in all columns, and reported at once with the options that help."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from fairlimits.errors import DataError

# Lines that people read; the options name all columns.
_MOST_LINES = 20


class ColumnError(DataError):
    """A column that cannot be used as it is.

    Parameters
    ----------
    column : str
        Its name.
    problem : str
        What is wrong: what follows the name in a sentence.
    advice : str
        What can be done about it, besides leaving the column out.
    numeric : bool
        Whether it can be read as a number instead.
    """

    def __init__(self, column: str, problem: str, advice: str, numeric: bool = False) -> None:
        super().__init__(f"Column {column!r} {problem}: {advice}.")
        self.column = column
        self.problem = problem
        self.advice = advice
        self.numeric = numeric

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnError, (self.column, self.problem, self.advice, self.numeric)


class SpellingError(DataError):
    """A label or a sensitive column whose values differ in case or spaces only.

    Parameters
    ----------
    column : str
        Its name.
    problem : str
        What is wrong, as a sentence without its end.
    """

    def __init__(self, column: str, problem: str) -> None:
        super().__init__(
            f"{problem}: take them as one with tidy={_listed([column])}, or rename those that are not.",
            shell=f"{problem}: take them as one with {_options('--tidy', [column])}, or rename those that are not.",
        )
        self.column = column
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return SpellingError, (self.column, self.problem)


def without_options(error: DataError) -> DataError:
    """Return an error about a column that cannot be left out, such as the label."""
    return DataError(str(error)) if isinstance(error, ColumnError) else error


def one_error(
    errors: Sequence[DataError],
    drop: Sequence[str] | None = (),
    numeric: Sequence[str] = (),
    tidy: Sequence[str] = (),
) -> DataError:
    """Return one error for all that is wrong with a table, with the options that help ready to paste.

    Parameters
    ----------
    errors : sequence of DataError
        At least one.
    drop, numeric, tidy : sequence of str
        Columns that are left out, read as numbers, or tidied already: options of Python name them again. Without
        `drop`, there are no such options.
    """
    columns = [error for error in errors if isinstance(error, ColumnError)]
    if not columns and len(errors) == 1:
        return errors[0]
    if drop is None:
        return DataError("\n".join(f"{str(error)[:-1]}, or leave it out." for error in errors))
    spelled = [error.column for error in errors if isinstance(error, SpellingError)]
    dropped = [error.column for error in columns]
    numbers = [error.column for error in columns if error.numeric]
    python = (
        f"drop={_listed([*drop, *dropped])}",
        f"numeric={_listed([*numeric, *numbers])}",
        f"tidy={_listed(spelled)}",
    )
    shell = tuple(map(_options, ("--drop", "--numeric", "--tidy"), (dropped, numbers, spelled)))
    return DataError(_told(errors, *python), shell=_told(errors, *shell, shell=True))


def _told(errors: Sequence[DataError], drop: str, numeric: str, tidy: str, *, shell: bool = False) -> str:
    columns = [error for error in errors if isinstance(error, ColumnError)]
    if len(errors) == 1:
        error = columns[0]
        ways = [error.advice, *([f"read it as a number with {numeric}"] if error.numeric else [])]
        return f"Column {error.column!r} {error.problem}: {', or '.join([*ways, f'leave it out with {drop}'])}."
    lines = [_line(error, shell) for error in errors[:_MOST_LINES]]
    if len(errors) > _MOST_LINES:
        lines.append(f"and {len(errors) - _MOST_LINES} more columns, all of which are in the options below.")
    lines = [f"The table has {len(errors)} problems:", *(f"- {line}" for line in lines)]
    if columns:
        lines.append(f"To leave {'these columns' if len(columns) > 1 else 'this column'} out: {drop}")
    if any(error.numeric for error in columns):
        lines.append(f"To read as numbers what are numbers: {numeric}")
    if any(isinstance(error, SpellingError) for error in errors):
        lines.append(f"To take as one what differs in case or spaces only: {tidy}")
    return "\n".join(lines)


def _line(error: DataError, shell: bool) -> str:
    """Return one line of a list of problems, whose options follow below the list."""
    if isinstance(error, SpellingError):
        return f"{error.problem}."
    return error.shell if shell else str(error)


def _listed(names: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(names)), ensure_ascii=False)


def _options(option: str, names: Sequence[str]) -> str:
    return " ".join(f"{option} {shlex.quote(name)}" for name in names)
