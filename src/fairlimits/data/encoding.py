"""`Encoding`: mixed features as float32 columns in which squared distances between rows make sense."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlimits._util import plain
from fairlimits._util.memory import rows_that_fit, size_text
from fairlimits._util.states import Described
from fairlimits.data.dataset import Dataset
from fairlimits.data.schema import Scalar, Schema
from fairlimits.errors import DataError, FileError

# Two different categories differ in two one-hot columns, so this makes their squared distance 1.
_ONE_HOT = math.sqrt(0.5)

# A new row may lie far outside the fitted range; its square must still fit into float32.
_FARTHEST = 1e15

# Rows encoded at a time: few enough for the columns of a block to stay in the processor's cache.
_BLOCK = 16_384

# Encoded values are single precision; digits below this share of a feature's scale are rounding.
_PRECISION = 1e-5

# A cell whose share of missing values is this near to 1 has no value left to report, only rounding errors.
_ALL_MISSING = 1e-4


@dataclass(frozen=True)
class EncodedFeature:
    """The columns that one feature takes up.

    Parameters
    ----------
    name : str
        The feature.
    kind : {"numeric", "categorical", "missing"}
        "numeric": one column, ``(value - center) / scale``. "categorical": a column for each category,
        ``sqrt(1/2)`` in the row's own and 0 in the others. "missing": one column, 1 where the numeric feature
        of that name is missing, else 0.
    start, stop : int
        The columns are ``start`` to ``stop - 1``.
    center, scale : float
        Mean and ``sqrt(2)`` times standard deviation of a numeric feature. A scale of 0 stands for a feature
        that was constant: its column is 0.
    fill : float
        What a missing value of a numeric feature is replaced by: the median.
    categories : tuple of Scalar
        The values of a categorical feature.
    """

    name: str
    kind: Literal["numeric", "categorical", "missing"]
    start: int
    stop: int
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    categories: tuple[Scalar, ...] = ()


class NumberScale(NamedTuple):
    """How a numeric feature is scaled (see `EncodedFeature`), and whether some of its values are missing."""

    center: float
    scale: float
    fill: float
    missing: bool


@dataclass(frozen=True)
class Encoding(Described):
    """A fitted encoding of mixed features.

    Numeric features are scaled to mean 0 and variance 1/2 (weighted), so that two rows drawn at random differ
    by 1 in mean square; two different categories differ by 1 as well, and so do a missing and a present
    number, on top of the difference between the value and the median that stands in for the missing one. Thus
    every feature counts about the same.

    Parameters
    ----------
    features : tuple of EncodedFeature
        The features in the order of their columns.
    """

    features: tuple[EncodedFeature, ...]

    def __post_init__(self) -> None:
        at = 0
        for feature in self.features:
            width = len(feature.categories) if feature.kind == "categorical" else 1
            if feature.start != at or feature.stop != at + width or width == 0:
                raise DataError(f"The encoded feature {feature.name!r} should take up {width} columns from {at}.")
            at = feature.stop

    @classmethod
    def fit(cls, dataset: Dataset) -> Encoding:
        """Fit the encoding to a data set.

        Missing numbers are replaced by the median before mean and deviation are taken; rows of weight 0 are
        left out of all of them. Only features with missing values get a "missing" column. A feature without a
        single value is a constant 0 that is always missing.

        Parameters
        ----------
        dataset : Dataset
            The data.

        Returns
        -------
        Encoding
            The fitted encoding.
        """
        numbers = {}
        for feature in dataset.schema.features:
            if feature.kind == "numeric":
                values = dataset.columns[feature.name]
                center, scale, fill = _moments(values, dataset.weight)
                numbers[feature.name] = NumberScale(center, scale, fill, bool(np.isnan(values).any()))
        return cls.of(dataset.schema, numbers)

    @classmethod
    def of(cls, schema: Schema, numbers: Mapping[str, NumberScale]) -> Encoding:
        """Lay out the columns of a schema whose numeric features are scaled as given."""
        features: list[EncodedFeature] = []
        at = 0
        for feature in schema.features:
            if feature.kind == "categorical":
                stop = at + len(feature.categories)
                features.append(EncodedFeature(feature.name, "categorical", at, stop, categories=feature.categories))
                at = stop
                continue
            center, scale, fill, missing = numbers[feature.name]
            features.append(EncodedFeature(feature.name, "numeric", at, at + 1, center, scale, fill))
            at += 1
            if missing:
                features.append(EncodedFeature(feature.name, "missing", at, at + 1))
                at += 1
        return cls(tuple(features))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.features[-1].stop if self.features else 0

    def transform(self, columns: Mapping[str, npt.NDArray[Any]], n_rows: int) -> npt.NDArray[np.float32]:
        """Encode rows.

        Parameters
        ----------
        columns : Mapping of str to ndarray of shape (n_rows,)
            The features, as in `Dataset.columns`. A missing number is replaced by the median, and flagged if
            the feature has a "missing" column. A category of code -1 is 0 in all columns.
        n_rows : int
            The number of rows.

        Returns
        -------
        ndarray of float32 of shape (n_rows, n_columns)
            The encoded rows, C-contiguous.

        Raises
        ------
        DataError
            If they do not fit into memory; the message says how many would.
        """
        for feature in self.features:
            if feature.name not in columns:
                raise DataError(f"The feature {feature.name!r} was encoded, but these rows do not have it.")
            if columns[feature.name].shape != (n_rows,):
                shape = columns[feature.name].shape
                raise DataError(f"The feature {feature.name!r} has shape {shape}, where {n_rows} rows were announced.")
            if feature.kind == "categorical":
                _check_codes(feature, columns[feature.name])
        self._check_memory(n_rows)
        out = np.zeros((n_rows, self.n_columns), dtype=np.float32)
        for start in range(0, n_rows, _BLOCK):
            rows = slice(start, start + _BLOCK)
            for feature in self.features:
                _write(out[rows], columns[feature.name][rows], feature)
        return out

    def transform_dataset(self, dataset: Dataset) -> npt.NDArray[np.float32]:
        """Encode the rows of a data set."""
        return self.transform(dataset.columns, dataset.n_rows)

    def decode(self, centroids: npt.ArrayLike) -> dict[str, npt.NDArray[np.float64] | list[Scalar]]:
        """Return what encoded rows, or means of encoded rows, stand for.

        Parameters
        ----------
        centroids : array-like of shape (n, n_columns)
            Encoded rows or means of them, such as the centres of cells.

        Returns
        -------
        dict of str to ndarray or list
            For a numeric feature, the mean of the values that are not missing, in original units, and NaN
            where all are missing. For a categorical feature, the most frequent category.
        """
        points = self._points(centroids)
        absent = {feature.name: points[:, feature.start] for feature in self.features if feature.kind == "missing"}
        decoded: dict[str, npt.NDArray[np.float64] | list[Scalar]] = {}
        for feature in self.features:
            if feature.kind == "categorical":
                modes = np.argmax(points[:, feature.start : feature.stop], axis=1)
                decoded[feature.name] = [feature.categories[mode] for mode in modes]
            elif feature.kind == "numeric":
                values = feature.center + feature.scale * points[:, feature.start]
                if feature.name in absent:
                    # The mean mixes present values with the median put in for missing ones: unmix them.
                    share = absent[feature.name]
                    present = np.where(share < 1 - _ALL_MISSING, 1 - share, np.nan)
                    values = (values - share * feature.fill) / present
                decoded[feature.name] = _rounded(values, feature.scale)
        return decoded

    def shares(self, centroids: npt.ArrayLike) -> dict[str, npt.NDArray[np.float64]]:
        """Return, for each categorical feature, the share of the category that `decode` names."""
        points = self._points(centroids)
        return {
            feature.name: np.clip(points[:, feature.start : feature.stop].max(axis=1) / _ONE_HOT, 0.0, 1.0)
            for feature in self.features
            if feature.kind == "categorical"
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as plain data that JSON can hold."""
        return {
            "features": [
                {
                    "name": feature.name,
                    "kind": feature.kind,
                    "start": feature.start,
                    "stop": feature.stop,
                    "center": feature.center,
                    "scale": feature.scale,
                    "fill": feature.fill,
                    "categories": list(feature.categories),
                }
                for feature in self.features
            ]
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Encoding:
        """Build the encoding from what `to_dict` returned.

        Raises
        ------
        FileError
            If a field is missing, of the wrong type or contradicts another.
        """
        items = plain.field(record, "features", (list, tuple), "The encoding")
        try:
            return cls(tuple(_read_feature(item) for item in items))
        except DataError as error:
            raise FileError(f"The stored encoding cannot be used. {error}") from error

    def _check_memory(self, n_rows: int) -> None:
        """Refuse rows that do not fit into memory before any is taken."""
        room = rows_that_fit(n_rows, 4 * self.n_columns)
        if room is None:
            return
        widest = max(self.features, key=lambda feature: feature.stop - feature.start)
        what = (
            f"{n_rows:,} rows take {size_text(4 * n_rows * self.n_columns)} of memory in {self.n_columns:,} encoded "
            f"columns, {widest.stop - widest.start:,} of them for {widest.name!r}, and {room:,} rows would fit: leave "
            "columns out, give a sample of the rows, or read the file in parts with"
        )
        raise DataError(f"{what} open_data(..., stream=True).", shell=f"{what} --stream --partition features.")

    def _points(self, centroids: npt.ArrayLike) -> npt.NDArray[np.float64]:
        points = np.asarray(centroids, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.n_columns:
            raise DataError(f"Encoded rows have {self.n_columns} columns, got an array of shape {points.shape}.")
        return points


def _read_feature(record: object) -> EncodedFeature:
    what = "A feature of the encoding"
    kind = plain.field(record, "kind", str, what)
    if kind not in ("numeric", "categorical", "missing"):
        raise FileError(f"{what} is of the unknown kind {kind!r}.")
    scale = plain.number(record, "scale", what)
    if scale < 0:
        raise FileError(f"{what} has the negative scale {scale}.")
    return EncodedFeature(
        name=plain.field(record, "name", str, what),
        kind=kind,
        start=plain.field(record, "start", int, what),
        stop=plain.field(record, "stop", int, what),
        center=plain.number(record, "center", what),
        scale=scale,
        fill=plain.number(record, "fill", what),
        categories=plain.items(record, "categories", (str, int, float, bool, type(None)), what),
    )


def _check_codes(feature: EncodedFeature, codes: npt.NDArray[Any]) -> None:
    if len(codes) and (codes.min() < -1 or codes.max() >= len(feature.categories)):
        raise DataError(f"The feature {feature.name!r} holds codes outside its {len(feature.categories)} categories.")


def _write(out: npt.NDArray[np.float32], values: npt.NDArray[Any], feature: EncodedFeature) -> None:
    """Write one feature into its columns of a block of zeros."""
    if feature.kind == "categorical":
        # Positions in the flat array: several times faster than rows and columns.
        at = np.arange(feature.start, out.size, out.shape[1]) + values
        out.reshape(-1)[at if (values >= 0).all() else at[values >= 0]] = _ONE_HOT
    elif feature.kind == "missing":
        out[:, feature.start] = np.isnan(values)
    elif feature.scale > 0:
        scaled = np.where(np.isnan(values), feature.fill, values)
        scaled -= feature.center
        with np.errstate(over="ignore"):  # Clipped next.
            scaled /= feature.scale
        out[:, feature.start] = np.clip(scaled, -_FARTHEST, _FARTHEST, out=scaled)


def _moments(values: npt.NDArray[np.float64], weight: npt.NDArray[np.float64] | None) -> tuple[float, float, float]:
    """Return center, scale and fill of a numeric feature."""
    if weight is not None:
        values, weight = values[weight > 0], weight[weight > 0]
    missing = np.isnan(values)
    fill = _median(values[~missing], None if weight is None else weight[~missing])
    filled = np.where(missing, fill, values)
    low, high = (float(filled.min()), float(filled.max())) if len(filled) else (0.0, 0.0)
    if low == high:
        return low, 0.0, fill
    # Dividing by the largest value keeps squares of very large or very small numbers within range.
    unit = max(abs(low), abs(high))
    filled /= unit
    mean = float(np.average(filled, weights=weight))
    variance = float(np.average((filled - mean) ** 2, weights=weight))
    return mean * unit, math.sqrt(2 * variance) * unit, fill


def _median(values: npt.NDArray[np.float64], weight: npt.NDArray[np.float64] | None) -> float:
    if len(values) == 0:
        return 0.0
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def _rounded(values: npt.NDArray[np.float64], scale: float) -> npt.NDArray[np.float64]:
    """Leave out the digits that single precision made up; adding 0 turns -0 into 0."""
    decimals = math.ceil(-math.log10(scale * _PRECISION)) if scale > 0 else 0
    # numpy rounds by multiplying, which fails for numbers as small as to need more decimals.
    return values if scale == 0 or decimals > 15 else np.asarray(np.round(values, decimals) + 0.0)
