"""Files of predictions: right ones are judged as they should be, wrong ones answered with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import fairlimits as fl
from explorer.hostile_names import data_url
from fairlimits.apps.explorer import Subject
from fairlimits.apps.explorer.upload import MOST_BYTES, place, read_predictions


@pytest.mark.parametrize("header", ["", "score\n", "\ufeffscore\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_header_is_optional(header: str, end: str) -> None:
    assert read_predictions(data_url(f"{header}1\n0.25\n0{end}"), 3).tolist() == [1, 0.25, 0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "0 columns"),
        ("1,2\n3,4\n5,6\n", "2 columns"),
        ("1\n0\n", "2 predictions and the data has 3 rows"),
        ("1\n0\n1\n1\n", "4 predictions"),
        ("1\n" * 5000, "far more lines"),
        ("1\nyes\n0\n", "Line 2"),
        ("1\n\n0\n", "Line 2"),
        ("1\n2\n0\n", "reach from 0 to 2"),
        ("1\nnan\n0\n", "missing"),
        (b"\xff\xfe\x00\x01", "UTF-8"),
        ('"' + "x" * 200_000, "not CSV"),
    ],
)
def test_wrong_files_are_refused(content: str, words: str) -> None:
    with pytest.raises(fl.InputError, match=words):
        read_predictions(data_url(content), 3)


@pytest.mark.parametrize("contents", ["None", "data:text/csv;base64,???", "data:text/csv;base64,abc"])
def test_what_no_browser_sends_is_refused(contents: str) -> None:
    with pytest.raises(fl.InputError):
        read_predictions(contents, 3)


def test_large_files_are_refused() -> None:
    with pytest.raises(fl.InputError, match="larger than 20 MB"):
        read_predictions("data:text/csv;base64," + "A" * (MOST_BYTES * 4 // 3 + 8), 3)


def test_a_model_is_judged_on_the_rows(people: fl.Dataset) -> None:
    rng = np.random.default_rng(2)
    decided = rng.integers(0, 2, people.n_rows).astype(float)
    found = place(people, decided)
    assert found["accuracy"] == pytest.approx(np.mean(decided == people.label))
    rates = [decided[people.group == g].mean() for g in (0, 1)]
    assert found["gaps"]["DP"] == pytest.approx(abs(rates[0] - rates[1]))
    assert found["gaps"]["EOd"] == max(found["gaps"]["EOp"], found["gaps"]["PE"])  # type: ignore[type-var]
    assert "IF" not in found["gaps"]


def test_few_rows_leave_gaps_open(people: fl.Dataset) -> None:
    few = people.take(np.arange(40))
    assert place(few, few.label.astype(float))["gaps"]["EOp"] is None


def test_a_model_needs_rows(dist: fl.CellDistribution) -> None:
    with pytest.raises(fl.InputError, match="start the explorer with one table"):
        Subject("saved", dist).place(data_url("1\n"))
