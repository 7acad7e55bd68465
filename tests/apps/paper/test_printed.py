"""The printed values hang together: every table is whole, and the figures in the text agree with it."""

from __future__ import annotations

import fairlimits as fl
from fairlimits.apps.paper import printed


def test_every_table_is_whole() -> None:
    for name in printed.DATASETS:
        assert len(printed.TABLE1[name]) == 4
        assert tuple(printed.TABLE2[name]) == printed.PAIRINGS2
        assert tuple(printed.TABLE3[name]) == printed.SIZES
        assert all(len(row) == 6 for row in printed.TABLE3[name].values())
        assert all(set(row) == set(printed.DATASETS) for row in printed.TABLE4.values())


def test_a_few_values_as_printed() -> None:
    assert printed.TABLE1["law"]["a", 1] == (0.88, 0.02)
    assert printed.TABLE2["dutch"]["EA+EOd"]["unaware"] == (0.367, 0.088, 0.019, 0.017)
    assert printed.TABLE3["adult"][256][:3] == ((0.789, 0.017), (0.798, 0.008), (0.785, 0.023))
    assert printed.TABLE3["law"][512][5] == (0.855, 0.077)
    assert printed.TABLE4["decorrelate aware"]["adult"] == (2773, 2327)


def test_no_reduction_exceeds_its_baseline() -> None:
    for name, rows in printed.TABLE2.items():
        for entry in rows.values():
            for scenario in printed.SCENARIOS:
                assert 0 < entry[scenario][0] <= printed.BASELINE[name][scenario]


def test_the_bound_gives_the_numbers_of_cells_in_the_text() -> None:
    rows = {"adult": 48_842, "law": 20_798, "dutch": 60_420}
    assert {name: fl.law.cells_supported(own) for name, own in rows.items()} == printed.FIDELITY_CELLS
    assert fl.law.samples_needed(256) == printed.SAMPLES_NEEDED
