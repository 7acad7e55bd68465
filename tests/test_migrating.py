"""The page for users of other tools: ours and theirs agree where they measure the same."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "migrating.md"


def ran() -> dict[str, Any]:
    """What the programs of the page leave behind, without those of tools that are not installed."""
    names: dict[str, Any] = {}
    for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        if all(find_spec(tool) for tool in re.findall(r"^from (fairlearn|aif360)", text, re.MULTILINE)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, str(PAGE), "exec"), names)
    return names


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return ran()


def test_our_part_runs(names: dict[str, Any]) -> None:
    assert names["mapped"].shape[0] == 2_000
    assert set(names["chosen_here"]) <= {0, 1}


def test_gaps_are_those_of_fairlearn(names: dict[str, Any]) -> None:
    metrics = pytest.importorskip("fairlearn.metrics", reason="fairlearn is not installed (pip install fairlearn)")
    for ours, theirs in (("DP", metrics.demographic_parity_difference), ("EOd", metrics.equalized_odds_difference)):
        assert names["rates"].gaps[ours].estimate.value == pytest.approx(theirs(**names["given"]))


def test_the_gap_is_that_of_aif360_without_its_sign(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("aif360", reason="aif360 is not installed (pip install aif360)")
    signed = names["statistical_parity_difference"](
        names["y"][names["test"]], names["decided"], prot_attr=names["sex"][names["test"]], priv_group="Male"
    )
    assert names["rates"].gaps["DP"].estimate.value == pytest.approx(abs(signed))
