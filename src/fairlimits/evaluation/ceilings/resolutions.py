"""Which steps of numeric features to propose: the coarsest at which the best rule found loses nothing beyond noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.evaluation.ceilings.kinds import Resolution, coarsen
from fairlimits.law import estimate_outcome
from fairlimits.notions import Estimate

# No feature is cut into fewer steps than this.
_FEWEST_STEPS = 4

# Number of standard errors beyond which a loss is not noise.
_NOISE = 1.0

_LEAST = 1e-12


@dataclass(frozen=True)
class Proposal:
    """Steps that were proposed, and what the best rule found loses by them, on the people set apart.

    Parameters
    ----------
    steps : mapping of str to float
        The step of each feature that has one.
    loss : Estimate
        Accuracy of the best rule at full resolution minus that at these steps, out of fold, with its interval.
    """

    steps: Resolution
    loss: Estimate

    def summary(self) -> str:
        """Say what was proposed, and what it costs."""
        if not self.steps:
            return "No coarser steps were found at which the best rule loses nothing: features are as they are."
        steps = ", ".join(f"{name} by {step:g}" for name, step in self.steps.items())
        return (
            f"Proposed steps: {steps}. On the people set apart, the best rule found loses {100 * self.loss.value:.2f} "
            f"points of accuracy by them ({100 * self.loss.low:.2f} to {100 * self.loss.high:.2f})."
        )


def propose_steps(apart: Dataset, random_state: int) -> Proposal:
    """Propose steps of numeric features.

    A model is learned from half of the people. For one feature after the other, the others are given to it with the
    feature rounded, in coarser and coarser steps, as long as the log-loss of group and label does not rise beyond
    noise. Then rules are learned at both resolutions, from all, and compared out of fold.

    Parameters
    ----------
    apart : Dataset
        People who take no part in the bound.
    random_state : int
        Seed.
    """
    learn, judge = apart.split(0.5, random_state)
    model = estimate_outcome(learn, random_state=random_state, n_jobs=1).model
    before = _losses(model.predict(judge), judge)
    steps: dict[str, float] = {}
    numeric = [own.name for own in apart.schema.features if own.kind == "numeric"]
    values = {name: np.unique(apart.columns[name][np.isfinite(apart.columns[name])]) for name in numeric}
    for name in sorted(numeric, key=lambda own: (-len(values[own]), own)):
        for step in _ladder(values[name]):
            rise = _losses(model.predict(_rounded(judge, steps | {name: step})), judge) - before
            if rise.mean() > _NOISE * rise.std() / np.sqrt(len(rise)):
                break
            steps[name] = step
    return Proposal(steps, _loss_of_steps(apart, steps, random_state))


def _ladder(values: Floats) -> Iterator[float]:
    """Round steps, each longer than the one before, that tell fewer values apart than there are."""
    if len(values) < 2:
        return
    span, least = float(values[-1] - values[0]), float(np.diff(values).min())
    if not (np.isfinite(span) and least > 0):
        return
    power = 10.0 ** np.floor(np.log10(least))
    while power <= span:
        for digit in (1, 2, 5):
            step = digit * power
            if step > least and len(np.unique(np.floor(values / step))) < len(values):
                if span / step < _FEWEST_STEPS:
                    return
                yield float(f"{step:.6g}")
        power *= 10


def _rounded(data: Dataset, steps: Resolution) -> Dataset:
    """The people with features at the median of those in the same step, so that a model sees usual values."""
    rounded = coarsen(data, steps)
    columns = dict(rounded.columns)
    for name in steps:
        own, original = columns[name], data.columns[name]
        filled = columns[name].copy()
        for value in np.unique(own[np.isfinite(own)]):
            filled[own == value] = np.median(original[own == value])
        columns[name] = filled
    return Dataset(data.schema, columns, data.group, data.label, data.weight, data.regrouped)


def _losses(chances: Floats, data: Dataset) -> Floats:
    """Log-loss of each person's group and label."""
    own = chances[np.arange(data.n_rows), data.group, data.label.astype(np.int64)]
    return np.asarray(-np.log(np.maximum(own, _LEAST)))


def _loss_of_steps(apart: Dataset, steps: Resolution, random_state: int) -> Estimate:
    """What the best rule without constraints loses by the steps, out of fold."""
    if not steps:
        return Estimate(0.0, 0.0, 0.0)
    right = []
    for data in (apart, coarsen(apart, steps)):
        q = estimate_outcome(data, random_state=random_state, n_jobs=1).q
        right.append((q[:, :, 1].sum(axis=1) > 0.5) == (data.label == 1))
    lost = right[0].astype(np.float64) - right[1]
    mean, error = float(lost.mean()), float(lost.std() / np.sqrt(len(lost)))
    return Estimate(mean, mean - 1.96 * error, mean + 1.96 * error)
