"""Claims follow from results: turned results turn them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fairlimits as fl
from fairlimits.apps.paper import figure4, frontier_claims, printed, table1, table2, table3
from fairlimits.apps.paper.distances import distances_of, neighbour_differences, with_distances
from fairlimits.apps.paper.frontiers import PANELS, Curves
from fairlimits.apps.paper.section import Claim, mean_and_deviation, notions, number, signed, tolerances_of
from fairlimits.apps.paper.settings import Settings
from fairlimits.law.cells.neighbours import cell_distances


def curves(price: Callable[[str, bool], float]) -> Curves:
    """Curves that lose price(pairing, aware) at relaxation 0 and nothing from 0.3 on."""
    grid = np.linspace(0, 0.3, 7)
    own = [
        {
            "pairing": pairing,
            "aware": panel.aware,
            "accuracy": (0.9 - 0.01 * (not panel.aware) - price(pairing, panel.aware) * (1 - grid / 0.3)).tolist(),
        }
        for panels in PANELS.values()
        for panel in panels
        for pairing in panel.pairings
    ]
    return Curves({"grid": grid.tolist(), "best": {"aware": 0.9, "unaware": 0.89}, "curves": own})


def tense(notion: str) -> Callable[[str, bool], float]:
    return lambda pairing, aware: (0.1 if notion in pairing else 0.02) * (1 + ("Ind" in pairing) * (2 - aware))


def verdicts(claims: Sequence[Claim]) -> dict[str, bool]:
    return {claim.text: claim.holds for claim in claims}


def test_tension_is_where_the_curves_have_it() -> None:
    claims = verdicts(frontier_claims.figure5({"adult": curves(tense("EA")), "dutch": curves(tense("EA"))}))
    assert [holds for text, holds in claims.items() if text.startswith("Adult")] == [True]
    assert [holds for text, holds in claims.items() if text.startswith("Dutch")] == [False]


def test_claims_of_the_figures_turn_with_the_curves() -> None:
    own = {"adult": curves(tense("EA")), "law": curves(tense("EA"))}
    claims = frontier_claims.figure2(own)
    found = verdicts(claims)
    assert found["Compared with awareness, unawareness clearly lowers accuracy."]
    assert found["That is so particularly in the case of unawareness."]
    costs = next(claim for claim in claims if "points on Adult" in claim.text)
    assert costs.ours == "1.0 points"
    assert not costs.holds
    same = {"adult": curves(lambda pairing, aware: 0.0)}
    assert not verdicts(frontier_claims.figure6(same))[
        "Adult: with three group notions accuracy falls much more than with two."
    ]
    half = {"adult": curves(lambda pairing, aware: 0.4)}
    assert not any(claim.holds for claim in frontier_claims.figure6(half))


def test_fidelity_claims_turn_with_the_figures() -> None:
    def result(correlation: float, distance: float) -> dict[str, Any]:
        shape = np.ones((2, 2))
        return {
            "cells": 48,
            "groups": ["Male", "Female"],
            "correlation": (correlation * shape).tolist(),
            "distance": (distance * shape).tolist(),
            "p-value": (0.0 * shape).tolist(),
        }

    good = table1.section({"table1": {"adult": result(0.99, 0.001)}}, Settings())
    assert all(claim.holds for claim in good.claims)
    bad = table1.section({"table1": {"adult": result(0.5, 0.1)}}, Settings())
    assert sum(claim.holds for claim in bad.claims) == 3
    # The paper's group a is Female, wherever that stands in the data.
    assert good.tables[0].rows[0][0] == "a = Female, Y = 0"


def test_table_2_explains_itself_by_the_objective() -> None:
    def result(left: Any) -> dict[str, Any]:
        rows = [
            {
                "pairing": pairing,
                "scenario": scenario,
                "relaxation": relaxation,
                "best": 0.9,
                "before": 0.8,
                "after": 0.8 - relaxation,
                "baseline": 1.0,
                "correlation": left if pairing == "EA+EOd" else 0.0,
                "at the paper's correlation": 0.79,
                "seconds": 0.001,
            }
            for pairing in printed.PAIRINGS2
            for scenario in printed.SCENARIOS
            for relaxation in printed.RELAXATIONS
        ]
        return {"adult": {"rows": rows}}

    struggles = "EA+EOd struggles to come close to complete decorrelation, for all data sets."
    assert verdicts(table2.section({"table2": result(0.2)}, Settings()).claims)[struggles]
    full = table2.section({"table2": result(0.0)}, Settings())
    assert not verdicts(full.claims)[struggles]
    assert table2.shortfall(0.0, 0.05) == pytest.approx(0.75)
    beside = next(row for row in full.tables[1].rows if row[0] == "DP+EA")
    assert beside[4:6] == ["0.007 (0.008)", "0.050 (0.050)"]
    assert beside[-1] == "0.75"
    assert full.records[1]["ours"] == pytest.approx(0.05)


def test_a_plateau_is_one_only_if_gains_shrink() -> None:
    def result(step: Any) -> dict[str, Any]:
        rows = [
            {
                "partition": partition,
                "cells": size,
                "scenario": scenario,
                "pairing": pairing,
                "mean": 0.7 + step(k),
                "deviation": 0.01,
            }
            for partition in table3.PARTITIONS
            for k, size in enumerate(printed.SIZES)
            for scenario in printed.SCENARIOS
            for pairing in printed.PAIRINGS3
        ]
        return {"table3": {"law": {"rows": rows}}}

    shrinking = table3.section(result(lambda k: 0.04 * (1 - 0.5**k)), Settings())
    assert all(claim.holds for claim in shrinking.claims)
    steady = table3.section(result(lambda k: 0.03 * k), Settings())
    assert [claim.holds for claim in steady.claims] == [False, False, True]


def test_laws_that_differ_do_not_overlap() -> None:
    laws = [[0.5, 0.5], [0.4, 0.6]]
    scenario = {"before": laws, "after": laws, "correlation": [0.2, 0.2], "accuracy": [0.8, 0.8], "kept in place": 1.0}
    own = {"groups": ["a$", "b"], "aware": scenario, "unaware": scenario}
    claims = figure4.section({"figure4": {"adult": own}}, Settings()).claims
    assert [claim.holds for claim in claims] == [False, False]


def test_writing_numbers() -> None:
    assert (number(None), number(-0.0001), number(0.12345)) == ("–", "0.000", "0.123")
    assert (signed(None), signed(0.0001), signed(-0.05), signed(0.05)) == ("–", "0.000", "-0.050", "+0.050")
    assert notions("EA+Ind") == ("EA", "IF")
    assert tolerances_of("EA+Ind", 0.1) == {"EA": 0.1, "IF": 0.05}
    assert mean_and_deviation([0.0, 0.0, 0.3]) == pytest.approx((0.1, 0.1 * 3**0.5))


def test_distances_agree_where_cells_are_pure(small: dict[str, fl.Dataset]) -> None:
    dist = fl.discretize(small["adult"], 12, generator=None, partition="features")
    found = distances_of(dist)
    np.testing.assert_allclose(found["frequencies"], cell_distances(dist))
    for own in found.values():
        np.testing.assert_allclose(own, own.T)
        assert (np.diag(own) == 0).all()
    other = with_distances(dist, found["modes"])
    np.testing.assert_array_equal(cell_distances(other), found["modes"])
    rule = fl.solve(dist, {"IF": 0.1})
    assert neighbour_differences(dist, rule.scores).max() <= 0.2
    with pytest.raises(fl.InputError, match="centres"):
        distances_of(fl.CellDistribution.from_mass(np.ones((3, 2, 2)), distances=np.zeros((3, 3))))
