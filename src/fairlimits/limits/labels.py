"""What rules on an estimate come to on the labels of its rows.

A rule is solved on the estimate alone. The labels of the same rows, each row placed by an estimate that did not see it,
tell how far the estimate can be trusted: nothing of them goes into the rule, unless a confidence is asked for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.law import CellDistribution, Outcome
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.rules import OnLabels, Rule, by_group
from fairlimits.notions import NOTIONS, Differences, Rate, differences, standard_errors, tally

# A gap on the labels is said to miss its tolerance if it lies this many standard errors above it, and so far that one
# can see it in a figure.
_BEYOND, _SHOWN = 3.0, 1e-3


class MarginWarning(UserWarning):
    """On labels, a gap is wider than its tolerance by more than chance explains."""


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
        self._inflation = math.sqrt(1 + 1 / (max(outcome.model.n_folds, 2) - 1))

    def judge(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules with what they come to on the labels."""
        found = tally(self._data, np.stack([self._decided(rule.policy) for rule in rules]))
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

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._data.n_rows

    def corrections(self, policy: CellPolicy, rates: Sequence[Rate]) -> tuple[dict[Rate, Floats], dict[Rate, Floats]]:
        """By how much the labels put each group's rate above the law, and its standard error, each of shape (G,)."""
        scores = self._decided(policy)
        found = tally(self._data, scores[None])
        law = by_group(policy.scores, policy.aware, len(policy.groups))
        shift = {rate: np.nan_to_num(found.rate(rate)[0] - self._dist.rates.of(rate).values(law)) for rate in rates}
        errors = standard_errors(self._data, scores, tuple(rates))
        return shift, {rate: self._inflation * np.nan_to_num(own) for rate, own in zip(rates, errors, strict=True)}

    def differences(self, policy: CellPolicy, names: Sequence[str]) -> Differences:
        """Differences between groups on the labels.

        The rows of a fold are judged by learners of the other folds, which have rows in common; so the variance is
        raised by the ratio of rows judged to rows learned (Nadeau and Bengio, 2003).
        """
        return differences(self._data, self._decided(policy), names, self._inflation)

    def _decided(self, policy: CellPolicy) -> Floats:
        if policy.aware not in self._cell:
            self._cell[policy.aware] = policy.locate(self._data.columns, self._data.group, self._q)
        return policy.scores_at(self._cell[policy.aware], self._data.group)

    def _error(self, rule: Rule, name: str) -> float:
        """Largest standard error of a difference between two groups; 0 where there are no two."""
        return float(differences(self._data, self._decided(rule.policy), [name]).error.max(initial=0.0))
