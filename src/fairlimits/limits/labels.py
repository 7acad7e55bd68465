"""What rules on an estimate come to on the labels of its rows, and the margins that keep a tolerance with a confidence.

A rule is solved on the estimate alone. The labels of the same rows, each row placed by an estimate that did not see it,
tell how far the estimate can be trusted: nothing of them goes into the rule, unless a confidence is asked for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.special import ndtri

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Floats, Ints
from fairlimits.law import CellDistribution, Outcome
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.rules import OnLabels, Rule
from fairlimits.notions import (
    NOTIONS,
    Rate,
    alike_score,
    standard_errors,
    tally,
)

# A gap on the labels is said to miss its tolerance if it lies this many standard errors above it, and so far that one
# can see it in a figure.
_BEYOND, _SHOWN = 3.0, 1e-3


class MarginWarning(UserWarning):
    """The rows are too few to keep a gap within its tolerance with the confidence asked for, or show it to be wider."""


class LabelledRows:
    """The rows of an estimate, placed in the cells of its law.

    Parameters
    ----------
    outcome : Outcome
        The estimate.
    dist : CellDistribution
        Cells that were cut from it.
    """

    def __init__(self, outcome: Outcome, dist: CellDistribution) -> None:
        self._data, self._dist, self._q = outcome.data, dist, outcome.q
        self._cell: dict[bool, Ints] = {}
        self._folds = max(outcome.model.n_folds, 2)
        self._counts = outcome.data.counts

    def judge(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules with what they come to on the labels."""
        found = tally(self._data, np.stack([self._scores(rule) for rule in rules]))
        accuracy, gaps = found.accuracy(), {name: found.gap(name) for name in NOTIONS}
        return tuple(
            replace(rule, on_labels=OnLabels(float(accuracy[at]), {name: float(own[at]) for name, own in gaps.items()}))
            for at, rule in enumerate(rules)
        )

    def warn_if_missed(self, rules: Sequence[Rule], stacklevel: int = 3) -> None:
        """Say which gaps are wider on the labels than their tolerance, beyond what chance explains: in one warning."""
        missed: dict[str, tuple[float, float]] = {}
        for rule in rules:
            assert rule.on_labels is not None
            for name, tolerance in rule.tolerances.items():
                gap = rule.on_labels.gaps.get(name, math.nan)
                if gap > tolerance + _SHOWN and gap > tolerance + _BEYOND * self._error(rule, name):
                    missed.setdefault(name, (tolerance, gap))
        if missed:
            words = ", ".join(f"{name} within {eps:g} is {gap:.3f}" for name, (eps, gap) in missed.items())
            warnings.warn(
                f"On the labels of the {self._data.n_rows:,} rows, out of fold, gaps are wider than their tolerance by "
                f"more than chance explains: {words}. The estimate is off there; give more rows, or other learners.",
                MarginWarning,
                stacklevel=stacklevel + 1,
            )

    def margins(self, rule: Rule, names: Sequence[str], confidence: float) -> dict[str, float]:
        """By how much each notion's gap may exceed that of the law, with some confidence in all at once.

        That is by how much it does on the labels, and what chance can add. The rows of a fold are judged by learners of
        the other folds, which have rows in common; so the variance is raised by the ratio of rows judged to rows
        learned (Nadeau and Bengio, 2003).
        """
        rates = tuple(dict.fromkeys(rate for name in names for rate in NOTIONS[name].rates))
        groups = len(self._data.groups)
        count = max(len(rates) * groups * (groups - 1) // 2, 1)
        reach = float(ndtri(1 - (1 - confidence) / 2 / count)) * math.sqrt(1 + 1 / (self._folds - 1))
        judged = self.judge([rule])[0].on_labels
        assert judged is not None
        found = {}
        for name in names:
            excess = judged.gaps[name] - rule.gaps[name]
            found[name] = max(0.0 if math.isnan(excess) else excess, 0.0) + reach * self._error(rule, name)
        return found

    def alike(self, rule: Rule) -> Rule:
        """Everybody gets the same score, the best one for what was asked."""
        positive = float(self._dist.mass[:, :, 1].sum())
        score = alike_score(rule.tolerances, positive)
        policy = CellPolicy(self._dist, np.full(rule.scores.shape, score), rule.aware)
        return replace(rule, policy=policy, accuracy=score * positive + (1 - score) * (1 - positive))

    def _scores(self, rule: Rule) -> Floats:
        if rule.aware not in self._cell:
            self._cell[rule.aware] = rule.policy.locate(self._data.columns, self._data.group, self._q)
        return rule.policy.scores_at(self._cell[rule.aware], self._data.group)

    def _compared(self, rate: Rate) -> Ints:
        """Groups with enough rows behind a rate."""
        return np.flatnonzero(enough(self._counts[:, list(rate.given)].sum(axis=1)))

    def _error(self, rule: Rule, name: str) -> float:
        """Largest standard error of a difference between two groups; 0 where there are no two."""
        rates = NOTIONS[name].rates
        errors = standard_errors(self._data, self._scores(rule), rates)
        return max(
            (
                math.hypot(own[g], own[h])
                for own, rate in zip(errors, rates, strict=True)
                for g, h in combinations(self._compared(rate), 2)
            ),
            default=0.0,
        )


def warn_unsure(rows: int, tolerances: Mapping[str, float], margins: Mapping[str, float], confidence: float) -> None:
    """Say that the rows are too few for a confidence, so that everybody gets the same score."""
    short = [name for name in tolerances if margins[name] >= tolerances[name]]
    words = ", ".join(f"{name} within {tolerances[name]:g} (margin {margins[name]:.3f})" for name in short)
    warnings.warn(
        f"The {rows:,} rows cannot show with confidence {confidence:g} that a gap stays this small: {words}. Everybody "
        "gets the same score; give more rows or a wider tolerance.",
        MarginWarning,
        stacklevel=4,
    )
