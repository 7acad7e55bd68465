"""Kinds of people: all who are alike in everything that a rule may see, and so are decided alike by any rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Ints
from fairlimits.data import Dataset, Schema
from fairlimits.errors import InputError

Resolution = Mapping[str, float]


def kinds_of(columns: Iterable[NDArray[Any]]) -> Ints:
    """Number the kinds of people: rows that agree in all columns get the same number, from 0 on without a hole."""
    kind: Ints | None = None
    for column in columns:
        values, own = np.unique(column, return_inverse=True)
        own = own.reshape(-1).astype(np.int64)
        if kind is None:
            kind = own
        else:
            # Numbered anew after each column, so that products stay below the square of the number of rows.
            kind = np.unique(kind * len(values) + own, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if kind is None:
        raise InputError("There is no feature to tell people apart by; give a table with at least one.")
    return kind


def feature_kinds(data: Dataset) -> Ints:
    """Kind of each person, by the features alone."""
    if not data.columns:
        return np.zeros(data.n_rows, dtype=np.int64)
    return kinds_of(data.columns.values())


def coarsen(data: Dataset, resolution: Resolution) -> Dataset:
    """Round numeric features down to multiples of a step, as rules see them that read them in such steps."""
    columns = dict(data.columns)
    for name, step in resolution.items():
        columns[name] = np.floor(columns[name] / step) * step
    return replace(data, columns=columns)


def check_resolution(schema: Schema, resolution: Any) -> dict[str, float]:
    """Return the steps as a dict of numeric features and positive numbers."""
    if not isinstance(resolution, Mapping):
        raise InputError(f"The resolution is {resolution!r}; give steps such as {{'age': 5}}, or 'auto'.")
    kinds = {feature.name: feature.kind for feature in schema.features}
    checked = {}
    for name, step in resolution.items():
        if name not in kinds:
            raise InputError(
                f"The resolution names {name!r}, and the features are {', '.join(kinds)}.{did_you_mean(name, kinds)}"
            )
        if kinds[name] != "numeric":
            raise InputError(f"The feature {name!r} is not a number and has no steps; leave it out of the resolution.")
        if isinstance(step, bool) or not isinstance(step, int | float | np.number) or not 0 < step < np.inf:
            raise InputError(f"The step of {name!r} is {step!r}; give a number above 0, such as 5.")
        checked[str(name)] = float(step)
    return checked
