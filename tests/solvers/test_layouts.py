"""Blocks of rows lie one behind the other, and every row is in one."""

from __future__ import annotations

import numpy as np

from fairlimits.solvers import Layout


def test_every_row_has_its_place() -> None:
    layout = Layout({"a": (3,), "none": (0,), "b": (2, 4), "c": (1,)})
    assert len(layout) == 12
    assert layout.block("b") == slice(3, 11)
    assert layout.at("b").tolist() == [[3, 4, 5, 6], [7, 8, 9, 10]]
    assert layout.at("b", 1, np.array([0, 2])).tolist() == [7, 9]
    assert layout.at("none").size == 0
    rows = np.concatenate([layout.at(name).ravel() for name in layout.shapes])
    assert rows.tolist() == list(range(12))
