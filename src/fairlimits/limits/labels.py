"""Accuracy and gaps on labels, for rules that were solved on an estimate.

A rule is solved on the estimate alone. The labels of the same rows, each row placed by an estimate that did not see it,
tell how far the estimate can be trusted: nothing of them goes into the rule, unless a confidence is asked for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairlimits._util.callers import outside
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset
from fairlimits.law import CellDistribution, Outcome, StreamedOutcome
from fairlimits.limits.attained import by_group
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.rules import OnLabels, Rule
from fairlimits.notions import NOTIONS, CountedPeople, Differences, Rate, differences, standard_errors, tally

# A gap on labels misses its tolerance if it lies this many standard errors above it, and by a difference that a
# figure shows.
_BEYOND, _SHOWN = 3.0, 1e-3


class MarginWarning(UserWarning):
    """On labels, a gap is wider than its tolerance by more than chance explains."""


class LabelledRows:
    """The rows of an estimate, placed in the cells of its law: one by one, or counted where they are not in memory.

    Parameters
    ----------
    outcome : Outcome or StreamedOutcome
        The estimate.
    dist : CellDistribution
        Cells that were cut from it.
    """

    def __init__(self, outcome: Outcome | StreamedOutcome, dist: CellDistribution) -> None:
        self._outcome, self._dist = outcome, dist
        self._placed: dict[bool, tuple[Dataset | CountedPeople, Ints]] = {}

    def judge(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules with their accuracy and gaps on the labels."""
        people, _ = self._people(rules[0].policy)
        found = tally(people, np.stack([self._decided(rule.policy) for rule in rules]))
        accuracy, gaps = found.accuracy(), {name: found.gap(name) for name in NOTIONS}
        return tuple(
            replace(rule, on_labels=OnLabels(float(accuracy[at]), {name: float(gap[at]) for name, gap in gaps.items()}))
            for at, rule in enumerate(rules)
        )

    def warn_if_missed(self, rules: Sequence[Rule]) -> None:
        """Warn, once for all rules, of gaps on labels that exceed their tolerance by more than chance explains."""
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
                f"On the labels of the {self.n_rows:,} rows, out of fold, gaps are wider than their tolerance by "
                f"more than chance explains: {words}. The estimate is off there; give more rows, or other learners.",
                MarginWarning,
                stacklevel=outside(),
            )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._outcome.n_rows

    def corrections(self, policy: CellPolicy, rates: Sequence[Rate]) -> tuple[dict[Rate, Floats], dict[Rate, Floats]]:
        """Return by how much labels put each group's rate above the law, and its standard error, each (G,)."""
        scores, (people, _) = self._decided(policy), self._people(policy)
        found = tally(people, scores[None])
        law = by_group(policy.scores, policy.aware, len(policy.groups))
        shift = {rate: np.nan_to_num(found.rate(rate)[0] - self._dist.rates.of(rate).values(law)) for rate in rates}
        errors = standard_errors(people, scores, tuple(rates))
        return shift, {rate: np.nan_to_num(each) for rate, each in zip(rates, errors, strict=True)}

    def differences(self, policy: CellPolicy, names: Sequence[str]) -> Differences:
        """Return differences between groups on labels, each row placed by learners that did not see it.

        Given the learners, the rows of a fold are independent. The folds have learners of their own. If one row hardly
        changes a learner, the mean over folds is about normal around the mean for these learners' rules, with the
        variance of independent rows (Bayle, Bayle, Janson and Mackey, 2020).
        """
        return differences(self._people(policy)[0], self._decided(policy), names)

    def _people(self, policy: CellPolicy) -> tuple[Dataset | CountedPeople, Ints]:
        """Return the people and their cells, which differ between rules with the group hidden and seen."""
        if policy.aware not in self._placed:
            if isinstance(self._outcome, Outcome):
                data = self._outcome.data
                self._placed[policy.aware] = data, policy.locate(data.columns, data.group, self._outcome.q)
            else:
                counted = self._dist.labelled
                assert counted is not None, "Cells of an estimate of streamed rows count their labels."
                self._placed[policy.aware] = (
                    (counted.seen, counted.seen_cells) if policy.aware else (counted.hidden, counted.hidden_cells)
                )
        return self._placed[policy.aware]

    def _decided(self, policy: CellPolicy) -> Floats:
        people, cell = self._people(policy)
        return policy.scores_at(cell, people.group)

    def _error(self, rule: Rule, name: str) -> float:
        """Return the largest standard error of a difference between two groups; 0 if fewer than two are compared."""
        return float(
            differences(self._people(rule.policy)[0], self._decided(rule.policy), [name]).error.max(initial=0.0)
        )
