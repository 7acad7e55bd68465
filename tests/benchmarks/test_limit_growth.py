"""How the estimated limit grows with the number of cells."""

from __future__ import annotations

import pytest
from benchmarks.limit_growth import growth
from sklearn.linear_model import LogisticRegression

from fairlimits.errors import DataError, InputError
from known_people import known


def test_growth_shows_plug_in_and_held_out_side_by_side() -> None:
    data, _ = known(0, 1_500)
    table = growth(data, {"DP": 0.05}, cells=(4, 16), partitions=("features",))
    assert table.num_rows == 4
    assert table["cells"].to_pylist() == [4, 4, 16, 16]
    plug_in = table["plug-in accuracy"].to_numpy()
    assert plug_in[2] > plug_in[0]
    with pytest.raises(InputError, match="at least one"):
        growth(data, {}, cells=())
    table = growth(data, {"DP": 0.05}, cells=(4,), partitions=("outcome",), estimator=LogisticRegression())
    assert table["partition"].to_pylist() == ["outcome"] * 2


def test_bad_input_gets_a_sentence() -> None:
    data, _ = known(0, 3_000)
    with pytest.raises(InputError, match="'cells'"):
        growth(data, {}, partitions=("cells",))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="at most 2100"):
        growth(data, {}, cells=(4, 2_500))
