"""What a page is about: a distribution, its rows if they are at hand, and the curves that were asked for before."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from fairlimits.apps.explorer import answer as answers
from fairlimits.apps.explorer.answer import Answer, Choices, Curve
from fairlimits.apps.explorer.upload import Placed, place, read_predictions
from fairlimits.data import Dataset, column_doubts
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation import Study
from fairlimits.law import CellDistribution, can_compare, support_note
from fairlimits.limits import Rule, solve
from fairlimits.notions import ALL_NOTIONS, INDIVIDUAL, estimable

# Curves that are kept: a slider that is dragged asks for the same one again and again.
_KEPT = 256

# Points of a ceiling: it bends little.
_POINTS_ABOVE = 7

# Sliders end at a multiple of this.
_ROUND = 0.05


class Subject:
    """A distribution that pages ask questions about.

    It holds no page's choices, so one page cannot disturb another. Questions are answered one at a time: each takes
    milliseconds, and neither the solver nor the drawing is meant to be shared.

    Parameters
    ----------
    name : str
        What the data is called.
    dist : CellDistribution
        What is solved on.
    data : Dataset, optional
        The rows that models are judged on; without them no model can be placed.
    individual : CellDistribution, optional
        What is solved on with individual fairness, if that is something else.
    study : Study, optional
        The people prepared for ceilings; without it the page does not say what no rule passes.
    """

    def __init__(
        self,
        name: str,
        dist: CellDistribution,
        data: Dataset | None = None,
        individual: CellDistribution | None = None,
        study: Study | None = None,
    ) -> None:
        self.name, self.dist, self.data = name, dist, data
        self._individual = dist if individual is None else individual
        self.notions = tuple(name for name in ALL_NOTIONS if name != INDIVIDUAL or can_compare(self._individual))
        self.estimable = {name: estimable(dist.rates, name) for name in self.notions}
        self.small_groups_note = (dist if data is None else data).small_groups_note
        self.support_note = support_note(dist)
        self.doubts = column_doubts(data, hidden=True)
        self.lock = threading.Lock()
        free = [solve(dist, {}, aware=aware) for aware in (False, True)]
        self.ends = {name: _end(name, [rule.gaps[name] for rule in free]) for name in self.notions}
        self._study = study
        self._curve = lru_cache(_KEPT)(self._solve_curve)
        self._above = lru_cache(_KEPT)(self._find_above)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Answer one question, without saying again what the page says of small groups."""
        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallGroupsWarning)
            yield

    def answer(self, choices: Choices) -> Answer:
        """Figures of the best rule."""
        with self._asking():
            return answers.answer(self._cells(choices.tolerances), choices)

    def rule(self, choices: Choices) -> Rule:
        """The best rule itself."""
        with self._asking():
            return answers.best_rule(self._cells(choices.tolerances), choices)

    def curve(self, moving: str, others: Mapping[str, float], aware: bool) -> Curve:
        """Best accuracy along one notion's tolerance; a curve that was asked for before is not solved again."""
        with self._asking():
            return self._curve(moving, tuple(others.items()), aware)

    def _solve_curve(self, moving: str, others: tuple[tuple[str, float], ...], aware: bool) -> Curve:
        return answers.curve(self._cells((moving, *dict(others))), moving, dict(others), aware, self.ends[moving])

    def above(self, choices: Choices) -> Curve | None:
        """What no rule passes along one notion's tolerance; None where nothing is known from above."""
        if self._study is None or choices.moving == INDIVIDUAL:
            return None
        with self._asking():
            return self._above(choices.moving, tuple(choices.others.items()), choices.aware)

    def _find_above(self, moving: str, others: tuple[tuple[str, float], ...], aware: bool) -> Curve:
        assert self._study is not None
        at = np.linspace(0, self.ends[moving], _POINTS_ABOVE)
        top = self._study.ceiling({**dict(others), moving: at}, aware=aware)
        return {"tolerance": at.tolist(), "accuracy": top.curve.upper.tolist(), "exact": False}

    def _cells(self, names: Iterable[str]) -> CellDistribution:
        return self._individual if INDIVIDUAL in names else self.dist

    def place(self, contents: str) -> Placed:
        """Judge the predictions of an uploaded file."""
        if self.data is None:
            raise InputError("A model is judged on rows, and none are at hand; start the explorer with one table.")
        return place(self.data, read_predictions(contents, self.data.n_rows))


def _end(name: str, gaps: list[float]) -> float:
    """Where a slider ends: just beyond the gap of the best rule without constraints, where nothing is lost any more."""
    if name == INDIVIDUAL:
        return 1.0
    largest = float(np.nanmax([0.0, *gaps]))
    steps = max(math.ceil(largest / _ROUND + 0.2), 2)
    return min(round(steps * _ROUND, 2), 1.0)
