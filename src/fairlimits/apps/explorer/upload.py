"""A file of predictions that a person drops on the page: checked, and turned into a model's figures."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from typing import TypedDict

from fairlimits._util.types import Floats
from fairlimits.apps.explorer.answer import shown_gaps
from fairlimits.data import Dataset
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation import read_decisions
from fairlimits.notions import NOTIONS, tally

MOST_BYTES = 20_000_000
"""Size of the largest file that is taken."""

# A header and empty lines at the end.
_SPARE_LINES = 1_000

TOO_LARGE = f"The file is larger than {MOST_BYTES // 1_000_000} MB; give one column of predictions and nothing else."


class Placed(TypedDict):
    """What a model attains on the rows of the data; None stands for a gap that is not estimable."""

    accuracy: float
    gaps: dict[str, float | None]


def read_predictions(contents: str, n_rows: int) -> Floats:
    """Read predictions from what the browser sends of a CSV file.

    Parameters
    ----------
    contents : str
        The file as a data URL: ``data:text/csv;base64,...``.
    n_rows : int
        Rows of the data.

    Returns
    -------
    ndarray of shape (n_rows,)
        Decisions, or probabilities of deciding 1.

    Raises
    ------
    InputError
        If the file is too large, is not text of one column, or holds anything but a number from 0 to 1 for each row.
    """
    return read_decisions("the file", _numbers(_decoded(contents), n_rows), ((n_rows,),), None).scores


def place(data: Dataset, predictions: Floats) -> Placed:
    """Judge a model's predictions on all rows of the data."""
    found = tally(data, predictions[None])
    gaps = {name: float(found.gap(name)[0]) for name in NOTIONS}
    return {"accuracy": float(found.accuracy()[0]), "gaps": shown_gaps(gaps)}


def _decoded(contents: str) -> str:
    _, _, encoded = contents.partition(",")
    # Base64 takes four characters for three bytes: what is too large is not decoded.
    if len(encoded) > MOST_BYTES * 4 / 3 + 4:
        raise InputError(TOO_LARGE)
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8-sig")
    except (binascii.Error, ValueError):
        raise DataError("The file is not text in UTF-8; give a CSV file with one column of predictions.") from None


def _numbers(text: str, n_rows: int) -> list[float]:
    # A small file can hold millions of lines: they are counted before they are taken apart.
    if text.count("\n") > n_rows + _SPARE_LINES:
        raise DataError(f"The file has far more lines than the data has rows, {n_rows:,}; give one prediction per row.")
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise DataError(f"The file is not CSV ({error}); give one column of predictions.") from None
    while lines and not any(field.strip() for field in lines[-1]):
        lines.pop()
    widest = max((len(line) for line in lines), default=0)
    if widest != 1:
        raise DataError(f"The file has {widest} columns; give one column of predictions and nothing else.")
    values = [line[0] if line else "" for line in lines]
    start = 0 if _is_number(values[0]) else 1
    if len(values) - start != n_rows:
        raise DataError(
            f"The file has {len(values) - start:,} predictions and the data has {n_rows:,} rows; give one for each "
            "row, in the same order."
        )
    wrong = next((line for line, value in enumerate(values[start:], start + 1) if not _is_number(value)), None)
    if wrong is not None:
        raise DataError(f"Line {wrong} of the file is not a number; give 0 or 1, or a probability, for each row.")
    return [float(value) for value in values[start:]]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
