"""What a rule and a frontier say is what they say after they were saved and loaded."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits._util.archives import read_archive, write_archive
from fairlimits.errors import FileError
from fairlimits.law import CellDistribution
from fairlimits.limits import OnLabels, Rule, frontier, solve
from fairlimits.notions import Costs, Difference, Limit, Ratio


def law(groups: tuple[str, ...] = ("a", "b")) -> CellDistribution:
    """Return a law of random numbers."""
    return CellDistribution.from_mass(np.random.default_rng(2).random((12, 2, 2)), groups=groups)


ASKED = [
    {"requirements": [Limit("selection rate", at_most=1 / 3)]},
    {"requirements": [Ratio(at_least=2 / 3), Difference("error rate", 1 / 7, "the rest")]},
    {"requirements": [Limit("selection rate", at_most=0.3, group=" a  b\n>= 1 ")]},
    {"objective": Costs(1 / 3, 1)},
    {"objective": "balanced accuracy"},
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("several", [False, True])
def test_what_was_asked_is_saved_to_the_last_digit(tmp_path: Path, asked: dict[str, Any], several: bool) -> None:
    """A bound of 1/3 was read back as 0.333333, and a group with two spaces in its name not at all."""
    dist = law((" a  b\n>= 1 ", "c"))
    found = frontier(dist, "DP", [0.1, 0.2], **asked) if several else solve(dist, {"DP": 0.1}, **asked)
    fl.save(found, tmp_path / "x")
    loaded = fl.load(tmp_path / "x")
    assert (loaded.requirements, loaded.objective) == (found.requirements, found.objective)
    if isinstance(found, Rule):
        for name in ("value", "attained", "shadow_prices"):
            assert getattr(loaded, name) == getattr(found, name)


def test_what_labels_and_prices_say_is_saved(tmp_path: Path) -> None:
    """They were left out, so that a loaded rule had prices that nobody had found, and nothing from labels."""
    rule = solve(law(), {"DP": 0.1})
    told = replace(rule, on_labels=OnLabels(0.7, {"DP": 0.2, "EOd": math.nan}), prices={})
    for found, load in ((told, Rule.load), (replace(frontier(rule.distribution, "DP", [0.1]), rules=(told,)), fl.load)):
        found.save(tmp_path / "x")
        again = load(tmp_path / "x")
        first = again if isinstance(again, Rule) else again.rules[0]
        assert first.shadow_prices == {}
        assert first.on_labels is not None
        assert first.on_labels.accuracy == 0.7
        assert first.on_labels.gaps == pytest.approx({"DP": 0.2, "EOd": math.nan}, nan_ok=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"on_labels": OnLabels(7.0, {})},
        {"on_labels": OnLabels(0.7, {"DP": 5.0})},
        {"on_labels": OnLabels(0.7, {"XX": 0.1})},
        {"prices": {"EOd": 0.1}},
        {"prices": {"DP": -1.0}},
    ],
)
def test_figures_that_cannot_be_are_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    replace(solve(law(), {"DP": 0.1}), **changed).save(tmp_path / "x")
    with pytest.raises(FileError):
        Rule.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("requirements", ""),
        ("requirements", {}),
        ("requirements", ["selection rate <= 0.3"]),
        ("requirements", [{"kind": "limit"}]),
        ("requirements", [{"kind": "other"}]),
        ("requirements", [{"kind": "ratio", "rate": "selection rate", "at_least": 7}]),
        (
            "requirements",
            [{"kind": "limit", "rate": "selection rate", "at_most": 0.5, "at_least": None, "group": "zz"}],
        ),
        ("objective", "accuracy"),
        ("objective", {"name": "other"}),
        ("objective", {"name": "expected cost", "false_positive": 10**400, "false_negative": 1}),
        ("on_labels", {"accuracy": 0.5}),
        ("prices", {"DP": "1"}),
    ],
)
def test_forged_questions_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    path = tmp_path / "x"
    for found, kind in ((solve(law(), {"DP": 0.1}), "rule"), (frontier(law(), "DP", [0.1]), "frontier")):
        found.save(path)
        header, arrays = read_archive(path, kind)
        header[key] = [value] if kind == "frontier" and key in ("on_labels", "prices") else value
        write_archive(path, kind, header, arrays)
        with pytest.raises(FileError):
            type(found).load(path)
