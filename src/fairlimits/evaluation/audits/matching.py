"""A model matched with the rules of a frontier at the model's own gap, on rows and on resampled rows alike.

The rules of a frontier lie on a path, from the tightest tolerance to none. Mixing two neighbours mixes their rates, so
the mixture's gap is at most the mixture of the gaps. A model is compared with the last mixture on the path that is as
fair as the model, or with the fairest rule if there is none. It is chosen by its gaps alone, not by its accuracy, so
the choice does not flatter the rules on these rows.
"""

from __future__ import annotations

import numpy as np

from fairlimits._util.types import Floats, Ints


def place(excess: Floats) -> tuple[Ints, Ints, Floats]:
    """Find the last mixture on a path that is as fair as a model: its two rules, and the share of the second.

    Parameters
    ----------
    excess : ndarray of shape (..., P)
        By how much the gap of each rule on the path exceeds the model's.
    """
    within = excess <= 0
    size = excess.shape[-1]
    left = np.where(within.any(axis=-1), size - 1 - np.argmax(within[..., ::-1], axis=-1), excess.argmin(axis=-1))
    right = np.minimum(left + 1, size - 1)
    low, high = _pick(excess, left), _pick(excess, right)
    between = (low <= 0) & (high > 0)
    return left, right, np.where(between, -low / np.where(between, high - low, 1.0), 0.0)


def along(excess: Floats, accuracy: Floats) -> Floats:
    """Accuracy, of shape (...), of the mixture that `place` finds among rules of some accuracy; NaN without gaps."""
    left, right, share = place(excess)
    start, end = _pick(accuracy, left), _pick(accuracy, right)
    return np.where(np.isnan(excess).any(axis=-1), np.nan, start + share * (end - start))


def _pick(values: Floats, where: Ints) -> Floats:
    return np.asarray(np.take_along_axis(values, where[..., None], axis=-1)[..., 0])
