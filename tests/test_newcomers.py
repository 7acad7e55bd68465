"""What people try first, who have the documentation only: each refusal says what to do instead."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import fairlimits as fl
from fairlimits.apps.cli.app import app

ROWS = 400
RNG = np.random.default_rng(0)
SEX, AGE = RNG.integers(2, size=ROWS), RNG.integers(20, 60, size=ROWS)
PAID = (RNG.random(ROWS) < 0.3 + 0.4 * (AGE > 40)).astype(int)
TABLE = pa.table({"age": AGE, "paid": PAID, "sex": np.array(["f", "m"])[SEX]})
COLUMNS: dict[str, Any] = {"label": "paid", "sensitive": "sex"}


@pytest.fixture
def parts(tmp_path: Path) -> str:
    """A pattern of two files."""
    for number in range(2):
        pq.write_table(TABLE.slice(number * 200, 200), tmp_path / f"{number}.parquet")
    return f"{tmp_path}/*.parquet"


def test_a_table_in_place_of_a_dataset() -> None:
    with pytest.raises(fl.InputError, match=r"of a table, Dataset\.from_frame makes one"):
        fl.audit(TABLE, PAID)
    with pytest.raises(fl.InputError, match=r"of a table, Dataset\.from_frame makes one"):
        fl.solve(TABLE, {"DP": 0.05})


def test_a_path_in_place_of_a_table() -> None:
    with pytest.raises(fl.InputError, match=r"'people.csv' is a path.*open_data\(path, label="):
        fl.Dataset.from_frame("people.csv", **COLUMNS)


def test_a_pattern_that_is_to_be_read_whole(parts: str) -> None:
    with pytest.raises(fl.InputError, match="is a pattern of files, which are read in parts; give stream=True"):
        fl.open_data(parts, **COLUMNS)


def test_files_without_a_word_about_their_columns(parts: str) -> None:
    with pytest.raises(fl.InputError, match=r"with label= and sensitive=") as refused:
        fl.open_data(parts, stream=True, label="paid")
    assert refused.value.shell.endswith("with --label and --sensitive.")


def test_a_stream_shows_its_columns(parts: str) -> None:
    people = fl.open_data(parts, stream=True, **COLUMNS)
    assert repr(people) == "Stream(label 'paid', sensitive sex; all rows, read in parts)"
    assert repr(people.split(0.3)[1]) == "Stream(label 'paid', sensitive sex; rows of one side, read in parts)"


def test_an_outcome_in_place_of_cells() -> None:
    with pytest.raises(fl.InputError, match="make cells of the rows with discretize"):
        fl.decorrelate("outcome", "rule")  # type: ignore[arg-type]


def test_the_papers_name_of_individual_fairness() -> None:
    assert fl.notions.check_names(["Ind"]) == ("IF",)


def test_several_notions_in_one_text() -> None:
    with pytest.raises(fl.InputError, match=r"name each by itself, as in \['DP', 'EA'\]") as refused:
        fl.notions.check_names(["DP+EA"])
    assert refused.value.shell.endswith("give the option once for each of DP, EA.")


def test_a_comparison_of_one_group() -> None:
    dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    with pytest.raises(fl.InputError, match="a ratio compares all groups: leave 'of f' out"):
        fl.solve(dist, {}, requirements=["selection rate ratio of f >= 0.8"])


def test_a_score_that_is_high_for_the_other_label() -> None:
    people = fl.Dataset.from_frame(TABLE, **COLUMNS)
    given = {"risk": np.where(PAID == 1, 0.1, 0.9), "age": (AGE > 40).astype(int)}
    found = fl.audit(people, given, notions="DP", random_state=0)
    (note,) = [note for note in found.notes if "fewer than half" in note]
    assert note.startswith("risk: ")
    assert "name that one as positive" in note


def test_a_feature_that_repeats_one_of_two_sensitive_columns() -> None:
    city = np.array(["A", "B"])[RNG.integers(2, size=ROWS)]
    table = TABLE.append_column("city", pa.array(city)).append_column("code", pa.array(SEX.astype(str)))
    people = fl.Dataset.from_frame(table, label="paid", sensitive=["sex", "city"])
    found = [concern for concern in fl.data.concerns(people) if concern.kind == "reveals the group"]
    assert [concern.columns for concern in found] == [("code",)]
    assert "a second column of one of sex and city" in found[0].text


def test_a_picture_has_room_beside_long_names_of_groups() -> None:
    group = np.where(SEX == 1, "men", "women of the first class, women of the second class (joined)")
    ax = fl.group_rates(PAID, AGE > 40, group).plot()
    legend = ax.get_legend()
    assert legend is not None
    assert max(len(line) for text in legend.get_texts() for line in text.get_text().split("\n")) <= 24


def test_help_leaves_lines_to_the_terminal() -> None:
    told = CliRunner().invoke(app, ["decorrelate", "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).output
    lines = [line.strip() for line in told.split("\n")]
    assert max(k for k, line in enumerate(lines) if line == "Examples:") > 0
    paragraph = lines[lines.index(next(line for line in lines if line.startswith("The map is made"))) :]
    assert min(len(line) for line in paragraph[: paragraph.index("") - 1]) > 60
    assert "256, or more for many groups" not in told


def test_a_plan_that_was_kept_answers_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(TABLE, "people.csv")
    people = fl.Dataset.from_frame(TABLE, **COLUMNS)
    dist = fl.discretize(people, cells=4, partition="features", generator=None)
    fl.decorrelate(dist, fl.solve(dist, {"DP": 0.0})).save("plan.npz")
    done = CliRunner().invoke(app, ["decorrelate", "people.csv", "--plan", "plan.npz", "-o", "mapped.csv", "--json"])
    assert done.exit_code == 0
    assert '"mapped rows": 400' in done.stdout


def test_cells_to_be_like_that_cut_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = fl.Dataset.from_frame(TABLE, **COLUMNS)
    first = fl.discretize(people, cells=4)
    with pytest.raises(fl.InputError) as refused:
        fl.discretize(people, like=first)
    assert refused.value.shell.endswith("make it again with --partition features.")
