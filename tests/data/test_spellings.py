"""Values that differ in case or spaces only: refused with the option that takes them as one, wherever rows are read."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairlimits as fl
from fairlimits.apps.cli import run
from fairlimits.data import Dataset, Schema, concerns
from fairlimits.data.spellings import alike, tidied
from fairlimits.errors import DataError, InputError

ROLES: dict[str, Any] = {"label": "paid", "positive": "Yes", "sensitive": "sex"}


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["Rome", "rome", "Oslo"], n),
            "sex": rng.choice(["Male", "male ", "Female", " FEMALE"], n),
            "paid": np.where(rng.random(n) < age / 100, rng.choice(["yes", "Yes"], n), "no"),
        }
    )


def test_both_are_told_at_once_with_the_option() -> None:
    with pytest.raises(DataError) as found:
        Dataset.from_frame(people().assign(name=[f"p{k}" for k in range(600)]), **ROLES)
    text = str(found.value)
    assert text.startswith("The table has 3 problems:\n- The label 'paid' holds 'Yes' and 'yes', which differ in case")
    assert "'Male' and 'male '" in text
    assert text.endswith('tidy=["paid", "sex"]')
    assert found.value.shell.endswith("only: --tidy paid --tidy sex")
    assert "tidy" not in found.value.shell.splitlines()[-2]


def test_alone_it_says_the_option_itself() -> None:
    with pytest.raises(DataError, match=r"take them as one with tidy=\[\"sex\"\]") as found:
        Dataset.from_frame(people(), tidy="paid", **ROLES)
    assert "--tidy sex" in found.value.shell
    assert str(copy.copy(found.value)) == str(found.value)


def test_tidied_columns_are_one_value_wherever_rows_are_read(tmp_path: Path) -> None:
    table = people()
    data = Dataset.from_frame(table, tidy=["sex", "paid", "town"], **ROLES)
    assert data.groups == ("female", "male")
    assert data.label.sum() == table["paid"].str.lower().eq("yes").sum()
    (town,) = (own for own in data.schema.features if own.name == "town")
    assert town.categories == ("oslo", "rome")
    known = Schema.from_dict(data.schema.to_dict())
    again = Dataset.read_like(known, table.assign(sex=table["sex"].str.upper()))
    assert (again.group == data.group).all()
    table.to_csv(tmp_path / "people.csv", index=False)
    learned = fl.open_data(str(tmp_path / "*.csv"), stream=True, tidy=["sex", "paid", "town"], **ROLES).learn()
    assert learned.schema.groups == data.groups
    assert learned.schema.features == data.schema.features
    assert (learned.counts == data.counts).all()


def test_an_exported_rule_reads_them_alike(tmp_path: Path) -> None:
    table = people()
    data = Dataset.from_frame(table, tidy=["sex", "paid", "town"], **ROLES)
    rule = fl.solve(fl.discretize(data, 8, partition="features", generator=None), {"DP": 0.1}, aware=True)
    rule.export(tmp_path / "rule.py")
    names: dict[str, Any] = {"__name__": "rule", "__file__": str(tmp_path / "rule.py")}
    exec(compile((tmp_path / "rule.py").read_text(), "rule.py", "exec"), names)
    found = names["decide"]({name: table[name].to_numpy() for name in ("age", "town", "sex")})
    assert np.asarray(found) == pytest.approx(rule.decide(table))


def test_streams_refuse_them_too(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(DataError, match=r"tidy=\[\"sex\"\]"):
        fl.open_data(str(tmp_path / "*.csv"), stream=True, tidy="paid", **ROLES).learn()


def test_numbers_stay_as_they_are() -> None:
    data = Dataset.from_frame(people().assign(sex=np.arange(600) % 2), tidy=["sex", "paid", "age"], **ROLES)
    assert data.groups == ("0", "1")
    assert data.columns["age"].dtype == np.float64


def test_only_text_is_tidied() -> None:
    with pytest.raises(InputError, match="both cut into ranges and tidied"):
        Dataset.from_frame(people(), tidy="age", bins={"age": 30}, **ROLES)
    with pytest.raises(DataError, match="weight, and was to be tidied"):
        Dataset.from_frame(people(), weight="age", tidy="age", **ROLES)


def test_features_that_are_spelt_in_two_ways_are_named() -> None:
    data = Dataset.from_frame(people(), tidy=["sex", "paid"], **ROLES)
    (found,) = (own for own in concerns(data) if own.kind == "spelling")
    assert found.columns == ("town",)
    assert "'Rome' and 'rome'" in found.text


def test_the_option_of_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    words = ["frontier", str(tmp_path / "people.csv"), "--label", "paid", "--positive", "YES", "--sensitive", "sex"]
    assert run(words) == 2
    assert "--tidy paid --tidy sex" in capsys.readouterr().err
    assert run([*words, "--tidy", "paid", "--tidy", "sex", "-n", "DP"]) == 0


def test_what_is_alike() -> None:
    assert alike(["a", "B", None, 1, True, "A ", "b", "c"]) == [("a", "A "), ("B", "b")]
    assert [tidied(own) for own in (" Not  Hispanic", 3, None)] == ["not hispanic", 3, None]
