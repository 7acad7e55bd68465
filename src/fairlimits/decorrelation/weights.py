"""Weights of accuracy and correlation: the paper's, and whether others can be used."""

from __future__ import annotations

import math

from fairlimits.errors import InputError

ACCURACY_WEIGHT, CORRELATION_WEIGHT = 15.0, 25.0
"""The paper's weights, lambda and beta of its Section 5.3."""


def check_weight(weight: float) -> float:
    """Return a weight as a number of at least 0."""
    try:
        value = float(weight)
    except (TypeError, ValueError):
        raise InputError(f"A weight is {weight!r}; give a number.") from None
    except OverflowError:
        raise InputError("A weight is too large a whole number; divide all weights by it.") from None
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"A weight is {value:g}; it must be a finite number of at least 0.")
    return value
