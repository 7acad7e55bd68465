"""What the benchmarks of the law say of figures made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peers.tables import Case
from benchmarks.peers.tuned import folds_of

import fairlimits as fl
from benchmarks import law_cost, law_loss
from fairlimits.law.outcome import fitting
from fairlimits.law.outcome.learners import Logistic, OverallRate, learners_for

LOSSES = [
    {"ours": 0.50, "one": 0.51, "two": 0.49, "LightGBM, tuned": 0.4},
    {"ours": 0.52, "one": 0.53, "two": 0.57, "LightGBM, tuned": 0.4},
]


def test_the_best_learner_alone_is_so_over_all_cuts() -> None:
    assert law_loss.best_single(LOSSES) == "one"
    assert law_loss.best_single(LOSSES[:1]) == "two"


def test_losses_are_compared_cut_by_cut() -> None:
    found = law_loss.against(LOSSES, "one", 0.5)
    assert (found.mean, found.low, found.high) == pytest.approx((-0.01, -0.01, -0.01))
    text = law_loss.markdown({Case("adult", 1_000): LOSSES})
    assert "| one | 0.5200 | -10.0 ± 0.0 | -10.0 to -10.0 | best alone |" in text
    assert "Worse in 0 of 1 cases" in text


def test_one_learner_is_left_in_the_pool_and_then_all_again() -> None:
    with law_loss.alone(Logistic()):
        tried = vars(fitting)["learners_for"]
        assert tried(1_000, True) == (Logistic(),)
        assert tried(1_000, False) == (OverallRate(),)
    assert vars(fitting)["learners_for"] is learners_for


def test_what_misses_its_bar_is_said() -> None:
    found = dict.fromkeys(law_cost.BARS, 2.0)
    found |= {f"{what} {who}": 1.0 for what in ("fit", "predict") for who in ("ours", "baseline")}
    text = law_cost.markdown(found | {"one row baseline": 8.0, "save": 1.5})
    assert "| save of the classifier, s | 1.50 | 1 | no |" in text
    assert "| fit, times the baseline's | 2.00 | 8 | yes |" in text


def test_folds_have_every_group_and_label() -> None:
    data = fl.load_dataset("adult").take(np.arange(2_000))
    fold = folds_of(data, 0)
    counts = np.array([data.take(fold == k).counts for k in range(5)])
    assert np.ptp(counts, axis=0).max() <= 1
