"""Near misses in case or spelling get a suggestion, in Python and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairlimits as fl
from fairlimits.apps.cli.app import run
from fairlimits.errors import InputError
from fairlimits.law import make_generator
from fairlimits.notions import Limit, rate_name, read_objective


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "Sex": rng.choice(["Female", "Male"], 200),
            "Age": rng.normal(40, 9, 200),
            "Paid": rng.choice(["yes", "no"], 200),
        }
    )


COLUMNS = {"label": "Paid", "positive": "yes", "sensitive": "Sex"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": "paid"}, "Did you mean 'Paid'?"),
        ({"sensitive": "sexx"}, "Did you mean 'Sex'?"),
        ({"drop": "AGE"}, "Did you mean 'Age'?"),
        ({"positive": "Yes"}, "Did you mean positive='yes'?"),
        ({"positive": "paid"}, "Give one of them as positive=."),
        ({"small_groups": "jion"}, "Did you mean 'join'?"),
        ({"missing_sensitive": "Group"}, "Did you mean 'group'?"),
    ],
)
def test_python(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fl.Dataset.from_frame(frame(), **{**COLUMNS, **changes})
    assert words in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: rate_name("selecton rate"), "Did you mean 'selection rate'?"),
        (lambda: read_objective("balanced acuracy"), "Did you mean 'balanced accuracy'?"),
        (lambda: Limit("accuracy", at_least=0.8, group="female").check(["Female", "Male"]), "Did you mean 'Female'?"),
        (lambda: make_generator("crt"), "Did you mean 'cart'?"),
        (lambda: fl.load_dataset("adlt"), "Did you mean 'adult'?"),
        (lambda: fl.solve(fl.CellDistribution.from_mass(np.ones((3, 2, 2))), {"EQd": 0.1}), "did you mean EOd?"),
    ],
)
def test_other_names(ask: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--positive", "Yes"], "Did you mean --positive yes?"),
        (["--positive", "1"], "Give one of them with --positive."),
        (["--positive", "yes", "--small-groups", "Jion"], "--small-groups is 'Jion'"),
        (["--positive", "yes", "--missing-sensitive", "Group"], "--missing-sensitive is 'Group'"),
        (["--positive", "yes", "--small-groups", "drop-row"], "Did you mean 'drop-rows'?"),
        (["--positive", "yes", "-t", "equalised_ods=0.1"], "did you mean EOd?"),
        (["--positive", "yes", "--objective", "Acuracy"], "Did you mean 'accuracy'?"),
        (["--positive", "yes", "--require", "accurcy >= 0.8"], "Did you mean 'accuracy'?"),
        (["--positive", "yes", "--features", "age"], "Did you mean 'Age'?"),
    ],
)
def test_the_command_line(options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    frame().to_csv(path, index=False)
    assert run(["report", str(path), "--label", "Paid", "--sensitive", "Sex", *options]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words in said
    assert "positive=" not in said
