"""`Origin`: what it answers, and the way to plain data and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from fairlimits.errors import FileError
from fairlimits.law import Origin

ORIGINS = [
    Origin(),
    Origin(rows=60, random_state=3, relative_error=0.01, distortion=1.5, iterations=7, total_weight=58.25),
    Origin(rows=60, generator="cart", n_samples=1000),
    Origin(rows=60, partition="blend"),
    Origin(rows=60, merged=2),
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_plain_data_and_back(origin: Origin) -> None:
    assert Origin.from_dict(json.loads(json.dumps(origin.to_dict()))) == origin


def test_what_is_left_out_is_the_default() -> None:
    assert Origin.from_dict({}) == Origin()
    assert Origin.from_dict({"rows": 5}) == Origin(rows=5)


def test_only_features_without_a_generator_are_counted() -> None:
    assert [origin.counted for origin in ORIGINS] == [True, True, False, False, True]
    assert [origin.by_features for origin in ORIGINS] == [True, True, True, False, True]


@pytest.mark.parametrize(
    "change",
    [
        {"rows": "60"},
        {"rows": 60.0},
        {"rows": -1},
        {"rows": True},
        {"partition": "cells"},
        {"partition": None},
        {"partition": ["features"]},
        {"generator": 5},
        {"n_samples": 0},
        {"random_state": -1},
        {"relative_error": "small"},
        {"distortion": math.nan},
        {"iterations": 1.5},
        {"total_weight": math.inf},
        {"total_weight": [1.0]},
        {"merged": 0},
        {"why": "test"},
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(FileError, match=rf"origin has .*{next(iter(change))}.*not ours"):
        Origin.from_dict({**Origin(rows=60).to_dict(), **change})


@pytest.mark.parametrize("record", [None, 5, "rows", [("rows", 60)]])
def test_what_is_not_a_mapping_is_refused(record: object) -> None:
    with pytest.raises(FileError, match="must be a mapping"):
        Origin.from_dict(record)
