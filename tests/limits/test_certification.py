"""Rules with a guarantee: what is certified, what it costs, and what is said where the rows do not suffice."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairlimits import Rule, estimate_outcome, evaluate, frontier, solve
from fairlimits.errors import FileError, InfeasibleError, InputError
from fairlimits.law import Neighbourhood, Outcome
from fairlimits.limits import Guarantee, UncertifiedWarning, on_cells
from fairlimits.limits.labels import LabelledRows
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.rate_rows import Correction
from fairlimits.notions import NOTIONS, differences
from known_people import known, known_outcome

ASKED = [({"DP": 0.1}, 2), ({"EOd": 0.2}, 2), ({"EA": 0.15, "EOp": 0.2}, 2), ({"DP": 0.2}, 3), ({"EOd": 0.3}, 3)]


def _differences(found: Outcome, rule: Rule) -> float:
    """Chance that a gap is wider than its tolerance, by the rows' labels."""
    rows = LabelledRows(found, rule.distribution)
    return rows.differences(rule.policy, tuple(rule.tolerances)).chance(rule.tolerances)


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize(("asked", "groups"), ASKED)
@pytest.mark.filterwarnings("error::fairlimits.limits.UncertifiedWarning")
def test_a_certified_rule_is_as_lenient_as_labels_allow(asked: dict[str, float], groups: int, aware: bool) -> None:
    found = known_outcome(groups)
    plain = solve(found, asked, aware=aware)
    safe = solve(found, asked, aware=aware, confidence=0.95)
    assert safe.guarantee is not None
    assert safe.guarantee.certified
    assert safe.guarantee.diluted == 0
    assert safe.guarantee.rows_needed is None
    assert _differences(found, safe) <= 0.05
    for name, eps in asked.items():
        assert safe.guarantee.limits[name] <= eps + 1e-9
    if _differences(found, plain) > 0.05:
        # Halving finds the end of what is certified, unless the lenient rule is certified itself.
        assert _differences(found, safe) >= 0.02
    else:
        assert safe.scores == pytest.approx(plain.scores)
    assert safe.accuracy >= plain.accuracy - 0.05


def test_more_confidence_costs_accuracy() -> None:
    found = known_outcome()
    accuracy = [solve(found, {"EOd": 0.25}, confidence=own).accuracy for own in (0.6, 0.9, 0.99)]
    assert accuracy == sorted(accuracy, reverse=True)


@pytest.mark.parametrize("notion", ["DP", "EOd", "EA"])
def test_too_few_rows_are_said_and_left_to_the_caller(notion: str) -> None:
    found = known_outcome(rows=500)
    with pytest.warns(UncertifiedWarning, match=r"500 rows cannot certify with confidence 0\.95: .*could"):
        nearest = solve(found, {notion: 0.01}, confidence=0.95)
    assert nearest.guarantee is not None
    assert not nearest.guarantee.certified
    assert not nearest.is_constant
    assert nearest.guarantee.limits[notion] > 0.01
    assert nearest.guarantee.rows_needed is not None
    assert nearest.guarantee.rows_needed > 500
    with pytest.raises(InfeasibleError, match="cannot certify"):
        solve(found, {notion: 0.01}, confidence=0.95, uncertified="raise")
    with pytest.warns(UncertifiedWarning, match="of the decisions do not depend on the person"):
        mixed = solve(found, {notion: 0.01}, confidence=0.95, uncertified="constant")
    assert mixed.guarantee is not None
    assert mixed.guarantee.certified
    assert 0.5 < mixed.guarantee.diluted < 1
    assert mixed.guarantee.limits[notion] <= 0.01 + 1e-9
    assert not mixed.is_constant
    assert nearest.accuracy > mixed.accuracy


def test_a_gap_of_nothing_is_certified_by_a_constant_only() -> None:
    found = known_outcome(rows=500)
    with pytest.warns(UncertifiedWarning, match="no number of rows could"):
        mixed = solve(found, {"DP": 0.0}, confidence=0.95, uncertified="constant")
    assert mixed.is_constant
    assert mixed.guarantee == Guarantee(0.95, {"DP": 0.0}, certified=True, diluted=1.0)


def test_the_rows_said_to_suffice_do() -> None:
    """With as many rows as the warning names, the same question is certified without mixing."""
    few, _ = known(3, 700)
    with pytest.warns(UncertifiedWarning):
        rule = solve(estimate_outcome(few, estimator=LogisticRegression()), {"DP": 0.06}, confidence=0.95)
    assert rule.guarantee is not None
    needed = rule.guarantee.rows_needed
    assert needed is not None
    many, _ = known(4, round(1.2 * needed))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncertifiedWarning)
        solve(estimate_outcome(many, estimator=LogisticRegression()), {"DP": 0.06}, confidence=0.95)


def test_a_certified_frontier_says_what_holds_at_each_tolerance() -> None:
    found, grid = known_outcome(), [0.02, 0.06, 0.1, 0.2]
    with pytest.warns(UncertifiedWarning) as told:
        curve = frontier(found, ["DP"], grid, confidence=0.95, uncertified="constant")
    assert len(told) == 1
    for rule, eps in zip(curve.rules, grid, strict=True):
        assert rule.guarantee is not None
        assert rule.guarantee.certified
        assert rule.guarantee.limits["DP"] <= eps + 1e-9
        # The solver starts each point from the last one.
        assert rule.accuracy == pytest.approx(_quiet(found, eps).accuracy, abs=2e-3)
    assert (np.diff(curve.plug_in) > 0).all()
    assert (curve.plug_in <= frontier(found, ["DP"], grid).plug_in + 0.01).all()


def _quiet(found: Outcome, eps: float) -> Rule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        return solve(found, {"DP": eps}, confidence=0.95, uncertified="constant")


def test_coverage_where_the_law_is_known() -> None:
    """The gap of certified rules, on the law itself, stays within the tolerance as often as promised."""
    law, _ = known(100, 20_000)
    kept = 0
    for seed in range(16):
        data, _ = known(200 + seed, 1_500)
        found = estimate_outcome(data, estimator=LogisticRegression(), random_state=seed)
        rule = solve(found, {"DP": 0.12}, confidence=0.95)
        kept += evaluate(rule, law).gaps["DP"].value <= 0.12
    assert kept >= 13


def test_a_correction_moves_the_rates_that_are_compared() -> None:
    """Where a group's rate is said to be higher than the law's, the rule makes up for it, and keeps room."""
    for groups in (2, 3):
        dist = on_cells(known_outcome(groups), ("DP",))
        program = FairProgram(dist, ("DP",), True, Neighbourhood())
        (rate,) = NOTIONS["DP"].rates
        shift = np.zeros(groups)
        shift[0] = 0.1
        margin = np.full(groups, 0.02 / math.sqrt(2))
        found = program.solve({"DP": 0.05}, Correction({rate: shift}, {rate: margin}))
        scores = program.variables.expand(found.x[None])[0]
        rates = dist.rates.of(rate).values(scores) + shift
        assert np.ptp(rates) <= 0.05 - 0.02 + 1e-7
        assert np.ptp(rates) >= 0.05 - 0.02 - 1e-3


def test_differences_of_everybody_alike_are_known_for_certain() -> None:
    data, _ = known(0, 300)
    alike = differences(data, np.full(data.n_rows, 0.3), ["DP", "EOd"])
    assert alike.chance({"DP": 0.0, "EOd": 0.0}) == 0
    assert alike.limits({"DP": 0.0, "EOd": 0.0}, 0.95) == pytest.approx({"DP": 0.0, "EOd": 0.0}, abs=1e-8)
    # All of a group decided alike, but not everybody: that may be chance.
    ones = np.where(data.group == 0, 1.0, 0.5)
    ones[0] = 0.4
    assert differences(data, ones, ["DP"]).error.min() > 0


def test_limits_are_within_tolerances_exactly_if_those_are_certified() -> None:
    rng = np.random.default_rng(0)
    data, _ = known(0, 2_000)
    for _ in range(30):
        scores = np.clip(0.3 + rng.normal(0, 0.2) * data.group + rng.normal(0, 0.2, data.n_rows), 0, 1)
        found = differences(data, scores, ["DP", "EOd", "EA"])
        asked = {"DP": rng.uniform(0, 0.3), "EOd": rng.uniform(0, 0.3), "EA": rng.uniform(0, 0.3)}
        limits = found.limits(asked, 0.95)
        within = [limits[name] <= asked[name] + 1e-9 for name in asked]
        beyond = [limits[name] >= asked[name] - 1e-9 for name in asked]
        assert all(within if found.chance(asked) <= 0.05 else beyond)


def test_guarantees_are_kept_in_files(tmp_path: Path) -> None:
    rule = solve(known_outcome(), {"DP": 0.1}, confidence=0.9)
    rule.save(tmp_path / "rule.npz")
    assert Rule.load(tmp_path / "rule.npz").guarantee == rule.guarantee
    assert rule.guarantee is not None
    assert "confidence 0.9" in rule.summary()
    kept = rule.guarantee.to_dict()
    for wrong in ({"confidence": 3}, {"limits": {"DP": 7}}, {"limits": {"XX": 0.1}}, {"diluted": "no"}, {"limits": 3}):
        with pytest.raises(FileError, match="save"):
            Guarantee.from_dict(kept | wrong)
    unknown = replace(rule.guarantee, limits={"DP": math.nan})
    again = Guarantee.from_dict(unknown.to_dict())
    assert again is not None
    assert math.isnan(again.limits["DP"])


def test_choices_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="'best', 'raise' or 'constant'"):
        solve(known_outcome(), {"DP": 0.1}, confidence=0.95, uncertified="coin")  # type: ignore[arg-type]


@pytest.mark.parametrize(("asked", "groups"), [({"EOd": 0.1}, 2), ({"DP": 0.1}, 3), ({"EA": 0.1}, 3)])
@pytest.mark.parametrize("aware", [False, True])
def test_lots_are_left_to_who_asks_for_them(asked: dict[str, float], groups: int, aware: bool) -> None:
    found = known_outcome(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        plain = solve(found, asked, aware=aware)
        default = solve(found, asked, aware=aware, confidence=0.95)
        open_to_lots = solve(found, asked, aware=aware, confidence=0.95, uncertified="constant")
    assert default.guarantee is not None
    assert open_to_lots.guarantee is not None
    assert open_to_lots.guarantee.certified
    assert 0 <= open_to_lots.guarantee.diluted <= 1
    assert default.guarantee.diluted == 0
    assert _by_lot(default) <= _by_lot(plain) + 0.08
    if default.guarantee.certified:
        # Who allows more gets no less.
        assert open_to_lots.accuracy >= default.accuracy - 1e-3


def _by_lot(rule: Rule) -> float:
    """Share of the decisions that are made by lot."""
    return float((2 * np.minimum(rule.group_scores, 1 - rule.group_scores) * rule.distribution.mass.sum(axis=2)).sum())


def test_a_group_in_which_all_are_decided_alike_is_not_known_for_certain() -> None:
    """Two rows are added as far as the rule goes, so that a mixture with a constant has errors in proportion."""
    data, _ = known(0, 400)
    rng = np.random.default_rng(0)
    scores = (rng.random(data.n_rows) < 0.3).astype(float)
    scores[data.group == 0] = 0.0
    whole, half = (differences(data, own, ["DP", "EA"]) for own in (scores, 0.5 + 0.5 * (scores - 0.5)))
    assert whole.error.min() > 0
    assert half.error == pytest.approx(0.5 * whole.error, rel=1e-9)
    assert half.value == pytest.approx(whole.diluted(0.5).value, abs=1e-12)
