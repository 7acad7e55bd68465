"""An audit: what is avoidable where the truth is known, parts that add up, and nothing said of too few rows."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits import Audit, CellDistribution, Dataset, audit
from fairlimits._util.types import Floats
from fairlimits.errors import DataError, InputError
from fairlimits.evaluation import AuditedModel, BeatenWarning
from fairlimits.evaluation.audits.audited_people import split_rows
from fairlimits.evaluation.audits.matching import along
from fairlimits.limits.attained import by_group
from fairlimits.notions.intervals import Estimate
from fairlimits.notions.registry import NOTIONS, group_gaps
from fairlimits.notions.tallies import tally
from known_people import people, read

FAST: dict[str, Any] = {"estimator": LogisticRegression(), "resamples": 200}


def bayes(q: Floats) -> Floats:
    """Decisions of the best rule that does not see the group."""
    return np.asarray(q[:, :, 1].sum(axis=1) > 0.5, np.float64)


def half_random(decisions: Floats, seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    coin = (rng.random(len(decisions)) < 0.5).astype(float)
    return np.where(rng.random(len(decisions)) < 0.5, decisions, coin)


@cache
def audited() -> Audit:
    table, q = people(0, 4_000)
    models = {
        "best": bayes(q),
        "half": half_random(bayes(q)),
        "majority": np.zeros(4_000),
        "skill": (table["skill"].to_numpy() > 0).astype(float),
        "scores": q[:, :, 1].sum(axis=1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return audit(read(table), models, **FAST)


def test_parts_add_up_and_lie_in_their_intervals() -> None:
    for model in audited().models:
        assert [own.name for own in model.lines] == [*NOTIONS, "DP + EA + EOp + PE + EOd"]
        for own in model.lines:
            loss = audited().best.value - model.accuracy.value
            assert model.loss.value == pytest.approx(loss, abs=1e-12)
            # Of a model that is ahead of the rule nothing is avoidable.
            assert max(own.avoidable.value, 0) + own.unavoidable.value == pytest.approx(loss, abs=1e-12)
            for estimate in (own.avoidable, own.unavoidable, own.rule_accuracy, *own.rule_gaps.values()):
                assert estimate.low <= estimate.value <= estimate.high


def test_a_good_model_leaves_nothing_to_gain_and_a_half_random_one_much() -> None:
    for own in audited()["best"].lines:
        assert own.avoidable.low <= 0
        assert abs(own.avoidable.value) < 0.01
    for own in audited()["half"].standings:
        assert own.avoidable.low > 0.05
    # A model that decides all alike has no gap in selection; rules without one are far more accurate.
    majority = audited()["majority"]
    assert majority.gaps["DP"].value == 0
    assert majority.standings[0].avoidable.low > 0.1
    # As fair in all notions at once, equal accuracy aside, is only one that decides all alike too.
    assert majority.joint is not None
    assert majority.joint.avoidable.value == pytest.approx(0, abs=1e-3)
    assert not majority.beaten


def test_scores_are_decided_at_the_threshold_unless_taken_as_chances() -> None:
    scored, best = audited()["scores"], audited()["best"]
    assert scored.accuracy == best.accuracy
    assert scored.decided == "scores decided 1 at 0.5 or above"
    assert best.decided == "decisions as given"
    assert any("scores: scores decided 1 at 0.5 or above" in note for note in audited().notes)
    table, q = people(0, 1_000)
    by_lot = audit(read(table), q[:, :, 1].sum(axis=1), notions="DP", threshold=None, **FAST)
    assert by_lot["model"].decided == "scores taken as chances of deciding 1"
    assert by_lot["model"].accuracy.value < by_lot.best.value - 0.02
    all_one = audit(read(table), q[:, :, 1].sum(axis=1), notions="DP", threshold=0, **FAST)
    assert all_one["model"].accuracy.value == pytest.approx(table["hired"].to_numpy().mean(), abs=1 / 300)


def test_the_truth_is_found_where_it_is_known() -> None:
    """Losses of a model whose law is known, solved on the true probabilities of other people."""
    names = ("DP", "EOd")
    crowd, q = people(9, 3_000)
    truth = audit(
        CellDistribution.from_mass(q), (crowd["skill"].to_numpy() > 0).astype(float), notions=names, threshold=None
    )["model"]
    table, _ = people(1, 12_000)
    found = audit(
        read(table), {"model": (table["skill"].to_numpy() > 0).astype(float)}, notions=names, test_size=0.5, **FAST
    )["model"]
    for name in names:
        assert found.gaps[name].low - 0.01 < truth.gaps[name].value < found.gaps[name].high + 0.01
    for own, true in zip(found.standings, truth.standings, strict=True):
        assert own.avoidable.low - 0.005 < true.avoidable.value < own.avoidable.high + 0.005
        assert own.unavoidable.low - 0.005 < true.unavoidable.value < own.unavoidable.high + 0.005


@pytest.mark.parametrize("aware", [False, True])
def test_one_of_our_own_rules_loses_nothing_that_we_could_avoid(aware: bool) -> None:
    data = read(people(3, 4_000)[0])
    rows = np.arange(4_000)
    # The audit's own split, so that the very same rule is among those it finds.
    numbered = data.to_frame().append_column("row", pa.array(rows.astype(float)))
    learn, _ = read(numbered).split(0.3, 0)
    outcome = fl.estimate_outcome(learn.take_out("row")[0], estimator=LogisticRegression())
    rule = fl.solve(outcome, {"EOd": 0.05}, aware=aware)
    found = audit(data, rule.decide(data), notions=["EOd", "DP"], threshold=None, aware=aware, **FAST)["model"]
    assert found.standings[0].avoidable.value == pytest.approx(0, abs=2e-3)
    assert found.standings[0].avoidable.low <= 1e-3
    assert not found.beaten


def test_a_model_that_knows_more_beats_the_limit_loudly() -> None:
    table, _ = people(0, 2_000)
    perfect = table["hired"].to_numpy().astype(float)
    with pytest.warns(BeatenWarning, match="THE ESTIMATED LIMIT IS TOO LOW: oracle"):
        found = audit(read(table), {"oracle": perfect}, **FAST)
    oracle = found["oracle"]
    assert (oracle.accuracy.value, oracle.accuracy.high) == (1, 1)
    assert 0.98 < oracle.accuracy.low < 1
    assert oracle.gaps["EOd"].value == 0
    assert len(oracle.too_low) == 5
    # All notions at once is a limit too, and is said to be beaten.
    assert len(oracle.beaten) == 6
    assert found.to_frame()["limit beaten"].to_pylist() == [True] * 6
    assert set(found.to_frame()["verdict"].to_pylist()) == {"the model is ahead of the best rule found"}
    assert "too low to say what is avoidable; it is better than the most accurate rule" in found.summary()
    assert not re.search(r"-\d", found.summary())
    drawn = [text.get_text() for text in found.plot("DP").texts]
    assert drawn == ["above the limit found"]
    assert "rules that see it too" in found.notes[0]


def standing_like(joint: Estimate, loss: Estimate) -> AuditedModel:
    """A model beside a rule that is held to all its gaps at once, and beside no other."""
    half = audited()["half"]
    assert half.joint is not None
    rest = loss if joint.value < 0 else Estimate(loss.value - joint.value, -0.01, 0.05)
    held = replace(half.joint, avoidable=joint, unavoidable=rest)
    level = tuple(replace(own, avoidable=Estimate(0.0, -0.01, 0.01)) for own in half.standings)
    return replace(half, loss=loss, standings=level, joint=held)


@pytest.mark.parametrize(
    ("joint", "loss", "words"),
    [
        (
            (-0.035, -0.05, -0.02),
            (0.018, 0.005, 0.03),
            "at once it is better than the best rule that we found by 3.5 points (2.0 to 5.0), so nothing is shown to "
            "be avoidable; 1.8 points (0.5 to 3.0) of accuracy, which the best rule we found has at other gaps, could "
            "be gained by none that we could find at these.",
        ),
        (
            (-0.035, -0.05, 0.01),
            (0.018, 0.005, 0.03),
            "no rule that we could find is clearly more accurate (it is ahead of the best by 3.5 points, -1.0 to 5.0); "
            "1.8 points (0.5 to 3.0) of accuracy, which",
        ),
        (
            (-0.035, -0.05, -0.02),
            (0.008, -0.005, 0.03),
            "it is not clear whether the best rule we found, whatever its gaps, is better (0.8 points, -0.5 to 3.0).",
        ),
        (
            (-0.035, -0.05, -0.02),
            (-0.02, -0.03, -0.01),
            "it is better than the most accurate rule we found, whatever its gaps, by 2.0 points (1.0 to 3.0).",
        ),
        ((0.035, 0.02, 0.05), (0.05, 0.03, 0.07), "3.5 points (2.0 to 5.0) of accuracy could be gained by a rule"),
    ],
)
def test_words_say_who_is_ahead(
    joint: tuple[float, float, float], loss: tuple[float, float, float], words: str
) -> None:
    model = standing_like(Estimate(*joint), Estimate(*loss))
    found = replace(audited(), models=(model,))
    assert words in found.summary()
    line = found.to_frame().to_pylist()[-1]
    ahead = joint[2] < 0
    assert line["limit beaten"] == ahead
    assert (line["verdict"] == "the model is ahead of the best rule found") == ahead
    # No more can be gained than there is.
    assert line["unavoidable loss"] <= line["loss against the best rule"]
    assert any("half is better, by 3.5 points" in note for note in found.notes) == ahead


def test_a_rule_that_is_as_fair_by_chance_alone_is_said_to_be() -> None:
    model = audited()["half"]
    assert model.joint is not None
    for less, said in ((0.0, "as fair in DP"), (0.1, "as fair (up to chance) in DP")):
        gaps = {name: Estimate(model.gaps[name].value + less, 0.0, 1.0) for name in NOTIONS}
        found = replace(audited(), models=(replace(model, joint=replace(model.joint, rule_gaps=gaps)),))
        assert said in str(found)
        assert ("At the same fairness (up to chance) in DP, " in found.summary()) == (less > 0)


@pytest.mark.parametrize(
    ("scale", "threshold"),
    [(lambda p: 300 + 550 * p, 575.0), (lambda p: np.log(p / (1 - p)), 0.0), (lambda p: -10 - p, -10.5)],
)
def test_scores_of_any_scale_are_decided_at_a_threshold(scale: Any, threshold: float) -> None:
    table, q = people(0, 1_000)
    chance = q[:, :, 1].sum(axis=1)
    score = scale(chance)
    with pytest.raises(InputError, match=r"'s' reach from .* give one, such as threshold="):
        audit(read(table), {"s": score}, notions="DP", **FAST)
    with pytest.raises(InputError, match="not chances of deciding 1"):
        audit(read(table), {"s": score}, notions="DP", threshold=None, **FAST)
    with pytest.raises(InputError, match="threshold is 9999, and the scores of 's' are on a scale from"):
        audit(read(table), {"s": score}, notions="DP", threshold=9999, **FAST)
    found = audit(read(table), {"s": score}, notions="DP", threshold=threshold, **FAST)["s"]
    decided = score >= threshold
    same = audit(read(table), {"s": decided.astype(float)}, notions="DP", **FAST)["s"]
    assert found.accuracy == same.accuracy
    assert found.decided == f"scores decided 1 at {threshold:g} or above"
    # As a column too, whatever numbers it holds.
    column = table.append_column("s", pa.array(score))
    assert audit(read(column), "s", notions="DP", threshold=threshold, **FAST)["s"].accuracy == same.accuracy


def test_rates_of_each_group_come_first_beside_those_of_the_rule() -> None:
    found = audited()
    table, q = people(0, 4_000)
    held = split_rows(read(table), 0.3, 0)[1]
    alone = fl.group_rates(table["hired"].to_numpy()[held], bayes(q)[held], table["sex"].to_numpy()[held])
    best = found["best"]
    for name, figures in alone.figures.items():
        # Up to the order of sums.
        np.testing.assert_allclose(best.by_group.figures[name], figures, rtol=1e-9)
    np.testing.assert_allclose(best.by_group.ratios, alone.ratios, rtol=1e-9)
    assert best.joint is not None
    assert best.deciders["rule as fair"] is best.joint.rule_rates
    for own in found["skill"].standings:
        assert own.rule_rates is not None
        for name, gap in own.rule_gaps.items():
            assert own.rule_rates.gaps[name].estimate == gap
    text = str(found)
    assert text.startswith("best: how each group fares, beside the best rule found that is as fair")
    assert text.index("selection rate") < text.index("best decides")
    assert all(note in text for note in found.notes)
    frame = found.rates_to_frame()
    assert frame.num_rows == 5 * 2 * 2
    assert set(frame["decided by"].to_pylist()) == {"model", "rule as fair"}
    assert list(found.rates_to_dict()["best"]) == ["model", "rule as fair", "as fair in"]
    assert "lowest for f, highest for m" in found.summary()
    legend = found.plot_rates("skill").get_legend()
    assert legend is not None
    assert [own.get_text() for own in legend.get_texts()] == [
        f"{group}, {who}" for group in "fm" for who in ("model", "rule as fair")
    ]


def test_names_and_order_of_groups_change_nothing() -> None:
    table, q = people(2, 3_000)
    renamed = np.where(table["sex"].to_numpy() == "f", "z", "a")
    other = table.set_column(table.column_names.index("sex"), "sex", pa.array(renamed))
    model = half_random(bayes(q))
    one, two = (audit(read(own), model, notions=["DP", "EA"], **FAST)["model"] for own in (table, other))
    assert one.accuracy.value == pytest.approx(two.accuracy.value, abs=1e-12)
    for name in NOTIONS:
        assert one.gaps[name].value == pytest.approx(two.gaps[name].value, abs=1e-12)
    # Other folds make slightly different rules.
    for first, second in zip(one.lines, two.lines, strict=True):
        assert first.avoidable.value == pytest.approx(second.avoidable.value, abs=0.02)
    mass = np.random.default_rng(0).random((6, 3, 2))
    decisions = np.array([0, 1, 1, 0, 1, 0.0])
    one, two = (audit(CellDistribution.from_mass(own), decisions)["model"] for own in (mass, mass[:, ::-1]))
    for first, second in zip(one.lines, two.lines, strict=True):
        assert first.avoidable.value == pytest.approx(second.avoidable.value, abs=1e-9)


def test_a_tiny_group_is_set_aside() -> None:
    table, q = people(0, 3_000, groups=3)
    sex = table["sex"].to_numpy()
    keep = np.flatnonzero((sex != "x") | (np.cumsum(sex == "x") <= 40))
    data, decided = read(table.take(keep)), bayes(q)[keep]
    found = audit(data, decided, **FAST)
    assert all(own.known for own in found["model"].gaps.values())
    assert set(found.curves) == set(NOTIONS)
    # The gaps are those of the others, on the same held-out rows.
    held = split_rows(data, 0.3, 0)[1]
    held = held[data.group[held] != data.groups.index("x")]
    others = tally(data.take(held), decided[held][None])
    for name in NOTIONS:
        assert found["model"].gaps[name].value == pytest.approx(others.gap(name)[0])
    assert any(note.startswith("Set aside on the held-out rows, ") and "x (12 rows)" in note for note in found.notes)


def test_what_no_two_groups_are_left_for_is_not_estimable_never_zero() -> None:
    table, q = people(0, 3_000)
    sex = table["sex"].to_numpy()
    keep = np.flatnonzero((sex != "f") | (np.cumsum(sex == "f") <= 40))
    found = audit(read(table.take(keep)), bayes(q)[keep], **FAST)
    model = found["model"]
    assert model.accuracy.known
    assert model.joint is None
    assert not found.curves
    for own in model.standings:
        assert math.isnan(model.gaps[own.name].value)
        assert math.isnan(own.avoidable.value)
        assert math.isnan(own.unavoidable.value)
    assert "not estimable" in found.summary()
    assert any("f (12 rows)" in note for note in found.notes)
    assert any("for no two groups are left to compare" in note for note in found.notes)
    assert found.to_frame().num_rows == 5
    for draw in (found.figure, found.plot):
        with pytest.raises(InputError, match="nothing to draw"):
            draw()


def test_three_groups_intersections_and_weights() -> None:
    table, q = people(4, 6_000, groups=3, weighted=True)
    found = audit(read(table), half_random(bayes(q)), notions=["DP", "EOp"], **FAST)
    assert found.groups == ("f", "m", "x")
    alone, noisy = found["model"].standings
    assert alone.avoidable.low > 0.03
    assert noisy.avoidable.value > 0.03
    town = np.array(["a", "b"])[np.arange(6_000) % 2]
    both = Dataset.from_frame(
        table.append_column("town", pa.array(town)), label="hired", sensitive=["sex", "town"], weight="w"
    )
    crossed = audit(both, half_random(bayes(q)), notions=["DP"], **FAST)
    assert len(crossed.groups) == 6
    assert crossed["model"].gaps["DP"].known
    assert crossed["model"].joint is None
    assert crossed["model"].headline is crossed["model"].standings[0]


def test_rows_without_weight_do_not_count() -> None:
    table, q = people(5, 3_000)
    weight = (np.arange(3_000) % 2).astype(float)
    # Wrong wherever nobody counts.
    model = np.where(weight > 0, bayes(q), 1 - bayes(q))
    weighted = read(table.append_column("w", pa.array(weight)))
    found = audit(weighted, model, notions=["DP"], **FAST)
    assert found["model"].accuracy.value > 0.7
    assert found.tested is not None
    assert found.tested < 0.2 * 3_000


def with_columns(n: int = 3_000) -> pa.Table:
    table, q = people(6, n)
    scores = q[:, :, 1].sum(axis=1)
    columns = {"old": pa.array(half_random(bayes(q)) == 1), "new": pa.array(scores), "text": pa.array(["yes"] * n)}
    for name, values in columns.items():
        table = table.append_column(name, values)
    return table


def test_columns_of_predictions_are_no_features() -> None:
    table = with_columns().drop_columns(["text"])
    found = audit(read(table), ["old", "new"], notions=["DP"], **FAST)
    plain = read(table.drop_columns(["old", "new"]))
    same = audit(
        plain,
        {"old": table["old"].to_numpy(zero_copy_only=False), "new": table["new"].to_numpy()},
        notions=["DP"],
        **FAST,
    )
    assert found.to_frame().equals(same.to_frame())
    assert not found.alone
    assert repr(found) == "Audit(old, new; DP; unaware)"
    with pytest.raises(InputError, match="the models are old, new"):
        found["other"]


def test_predictions_alone_are_what_rules_are_made_from() -> None:
    table = with_columns().select(["hired", "sex", "old", "new"])
    found = audit(read(table), ["old", "new"], notions=["DP", "EOd"], aware=True, **FAST)
    assert found.alone
    assert any("no feature besides the predictions" in note for note in found.notes)
    # The scores know what the half-random decisions do not.
    assert found["old"].standings[0].avoidable.low > 0.03
    assert found["new"].standings[0].avoidable.low < 0.005


def test_cells_give_exact_figures_without_intervals() -> None:
    rng = np.random.default_rng(1)
    dist = CellDistribution.from_mass(rng.random((12, 2, 2)))
    seen = rng.random((12, 2))
    found = audit(dist, {"a": seen, "b": seen[:, 0]}, aware=True, threshold=None)
    for model, scores in zip(found.models, (seen, by_group(seen[:, 0], False, 2)), strict=True):
        gaps = group_gaps(dist.rates, scores)
        for own in model.lines:
            rule = fl.solve(dist, {name: float(gaps[name]) for name in own.notions}, aware=True)
            assert own.rule_accuracy.value == pytest.approx(rule.accuracy, abs=1e-9)
            assert own.avoidable.value >= -1e-9
            assert own.unavoidable.value >= -1e-9
            assert math.isnan(own.avoidable.low)
            total = own.avoidable.value + own.unavoidable.value
            assert total == pytest.approx(rule.bayes_accuracy - model.accuracy.value, abs=1e-9)
    best = fl.solve(dist, {"EOd": 0.05}, aware=True)
    assert audit(dist, best.scores, notions="EOd", aware=True, threshold=None)["model"].standings[
        0
    ].avoidable.value == pytest.approx(0, abs=1e-9)
    assert "(nan" not in found.summary()
    assert any("Plug-in figures" in note for note in found.notes)
    assert found.tested is None
    found.figure()


def test_a_path_is_matched_by_its_gaps_alone() -> None:
    gaps, accuracy = np.array([0.02, 0.1, 0.3]), np.array([0.6, 0.8, 0.7])
    at = np.array([0.0, 0.02, 0.06, 0.2, 0.9])
    matched = along(gaps - at[:, None], np.tile(accuracy, (5, 1)))
    assert matched == pytest.approx([0.6, 0.6, 0.7, 0.75, 0.7])
    # Where no rule is as fair, the fairest on these rows, wherever it lies on the path.
    assert along(np.array([0.09, 0.04, 0.29]), accuracy) == pytest.approx(0.8)


def test_the_table_and_the_pictures_hold_every_model() -> None:
    found = audited()
    frame = found.to_frame()
    assert frame.num_rows == 5 * 6
    assert set(frame["model"].to_pylist()) == {"best", "half", "majority", "skill", "scores"}
    axes = found.plot("EOd")
    assert axes.get_title(loc="left") == "Equalized odds"
    labels = axes.get_legend_handles_labels()[1]
    assert {"best", "skill", "best rules we found, group hidden"} <= set(labels)
    # The legend lies below the axes, where it covers no interval.
    figure = axes.figure
    figure.canvas.draw()
    (legend,) = figure.legends
    drawn = axes.get_tightbbox()
    assert drawn is not None
    assert legend.get_window_extent().y1 <= drawn.y0
    assert legend.get_window_extent().x0 >= 0
    assert found.plot(ax=axes) is axes
    assert len(found.figure().axes) == 6
    with pytest.raises(InputError, match="no frontier of 'IF'"):
        found.plot("IF")


def test_two_sentences_a_model_that_claim_no_more_than_was_found() -> None:
    lines = audited().summary().splitlines()
    assert len(lines) == 5
    for line in lines:
        assert len(line.rstrip(".").split(". ")) == 2
        assert "we could find" in line or "we found" in line
    assert "no rule that we could find is clearly more accurate" in lines[0]
    assert audited().notes[-1] == "These are estimated limits: a rule that we could not find may do better."


def test_a_leak_is_the_first_note_also_in_a_notebook() -> None:
    table, q = people(4, 600)
    leaking = table.append_column("settled", pa.array(table["hired"].to_numpy() * 2 + np.arange(600) % 2))
    found = audit(read(leaking), {"best": bayes(q)}, notions=["DP"], **FAST)
    assert found.notes[0].startswith("settled nearly decides the label by itself")
    assert found.notes[0] in str(found)
    assert found.notes[0] in found._repr_html_()
    # Where predictions are all that there is to see, it is they that ought to tell the label.
    alone = audit(read(leaking.select(["hired", "sex", "settled"])), "settled", notions=["DP"], threshold=1, **FAST)
    assert alone.doubts == ()


def test_the_same_seed_gives_the_same_audit() -> None:
    data, _ = people(0, 600)
    model = (data["skill"].to_numpy() > 0).astype(float)
    one, two, other = (
        audit(read(data), model, notions="DP", random_state=seed, **FAST).to_frame() for seed in (1, 1, 2)
    )
    assert one.equals(two)
    assert not one.equals(other)


def test_progress_rises_to_the_end() -> None:
    told: list[float] = []
    table, q = people(0, 600)
    audit(read(table), bayes(q), notions=["DP", "EA"], progress=lambda done, words: told.append(done), **FAST)
    assert told == sorted(told)
    assert told[-1] < 1


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "missing column": ({"predictions": "salary"}, "'salary' is not in the table"),
    "the label": ({"predictions": "hired"}, "is the label"),
    "twice": ({"predictions": ["new", "new"]}, "named twice"),
    "no names": ({"predictions": []}, "No predictions"),
    "no models": ({"predictions": {}}, "No predictions"),
    "a number for a name": ({"predictions": {1: [0.0] * 300}}, "a name that is text"),
    "text column": ({"predictions": "text"}, r"'text' are not numbers \(they hold 'yes'\); write 1"),
    "text array": ({"predictions": ["yes", "no"] * 150}, "not numbers"),
    "text in an array": ({"predictions": np.array(["yes", "no"] * 150)}, "not numbers"),
    "outside": ({"predictions": "skill"}, "reach from"),
    "missing": ({"predictions": np.append(np.nan, np.zeros(299))}, "missing 1 times"),
    "short": ({"predictions": np.zeros(10)}, r"shape \(10,\), and \(300,\) is needed"),
    "no notion": ({"notions": []}, "No notion"),
    "unknown notion": ({"notions": "XX"}, "not a fairness notion"),
    "individual": ({"notions": "IF"}, "one by one"),
    "threshold": ({"threshold": 2}, "threshold is 2"),
    "threshold of words": ({"threshold": "half"}, "a finite number"),
    "endless threshold": ({"threshold": math.inf}, "a finite number"),
    "truth for threshold": ({"threshold": True}, "threshold is True"),
    "test size": ({"test_size": 1.5}, "test_size"),
    "few rows": ({"test_size": 0.05}, "15 rows are held out"),
    "confidence": ({"confidence": 95}, "confidence"),
    "resamples": ({"resamples": 3}, "resamples"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_sentence(case: str) -> None:
    changes, words = BAD[case]
    arguments: dict[str, Any] = {"data": read(with_columns(300)), "predictions": "new", **FAST, **changes}
    with pytest.raises(InputError, match=words):
        audit(arguments.pop("data"), arguments.pop("predictions"), **arguments)


def test_bad_data_and_cells_get_a_sentence() -> None:
    with pytest.raises(InputError, match=r"give a Dataset \(.*\), one or more paths"):
        audit([1, 2], [0, 1])
    dist = CellDistribution.from_mass(np.ones((3, 2, 2)))
    with pytest.raises(InputError, match="give aware=True"):
        audit(dist, [[0, 1], [0, 0], [1, 1]])
    with pytest.raises(InputError, match=r"\(3,\) or \(3, 2\)"):
        audit(dist, [0, 1])
    with pytest.raises(InputError, match="one group only"):
        audit(CellDistribution.from_mass(np.ones((3, 1, 2))), [0, 1, 0])
    weight = np.append(np.ones(20), np.zeros(280))
    nearly_weightless = people(0, 300)[0].append_column("w", pa.array(weight))
    with pytest.raises(DataError, match="rows are held out"):
        audit(read(nearly_weightless), np.zeros(300), **FAST)
