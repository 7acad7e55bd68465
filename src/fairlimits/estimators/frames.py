"""Rows as scikit-learn's users hand them in (X, y, sensitive_features), read into a `Dataset`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from fairlimits._util.types import Floats, Ints
from fairlimits.data import (
    Dataset,
    Feature,
    Schema,
    Table,
    find_groups,
    read_groups,
    read_numbers,
    read_values,
    refuse_identifier,
)
from fairlimits.errors import DataError, InputError, SmallGroupsWarning

ONE_GROUP = "everybody"
"""Name of the group where no sensitive features are given."""

_SENSITIVE, _LABEL = "sensitive_features", "label"


class Target(NamedTuple):
    """Labels: the two classes, sorted, and each row's position among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int8]


def is_frame(X: Any) -> bool:
    """Whether X is a data frame (pandas, polars, Arrow) rather than an array."""
    return bool(nw.dependencies.is_into_dataframe(X))


def open_fit(estimator: Any, X: Any, y: Any) -> tuple[Table, Target]:
    """Open X and read y to fit an estimator; it learns the features' number and names."""
    if is_frame(X):
        validate_data(estimator, X, y, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        table = _named(estimator, nw.from_native(X, eager_only=True))
        if len(y) != len(table):
            raise DataError(f"X has {len(table)} rows and y has {len(y)}; give a label for each row.")
    else:
        array, y = validate_data(estimator, X, y, dtype=None, ensure_all_finite="allow-nan")
        table = _named(estimator, _arrow(array))
    return table, _read_target(y)


def open_rows(estimator: Any, X: Any) -> Table:
    """Open X for a fitted estimator; its features must be those that were seen."""
    if is_frame(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return _named(estimator, nw.from_native(X, eager_only=True))
    array = validate_data(estimator, X, reset=False, dtype=None, ensure_all_finite="allow-nan")
    return _named(estimator, _arrow(array))


def read_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Read what each row counts."""
    if sample_weight is None:
        return None
    return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))


def learn_features(table: Table) -> tuple[tuple[Feature, ...], dict[str, NDArray[Any]]]:
    """Read every column as a feature, of the kind that its type says."""
    features: list[Feature] = []
    columns: dict[str, NDArray[Any]] = {}
    for name in table.names:
        if table.kind(name) == "numeric":
            columns[name] = read_numbers(name, table.column(name))
            features.append(Feature(name, "numeric"))
        else:
            columns[name], categories = read_values(name, table.column(name))
            refuse_identifier(name, len(categories), len(table))
            features.append(Feature(name, "categorical", categories))
    return tuple(features), columns


@dataclass(frozen=True)
class Sensitive:
    """Sensitive columns, by position, and their names if they came with any.

    Parameters
    ----------
    columns : tuple of array
        The columns.
    names : tuple of str or None
        Their names.
    """

    columns: tuple[pa.Array, ...]
    names: tuple[str, ...] | None

    @classmethod
    def read(cls, values: Any, n_rows: int) -> Sensitive:
        """Read a column or several: an array, a list, a series or a data frame."""
        names: tuple[str, ...] | None = None
        if nw.dependencies.is_into_series(values):
            series = nw.from_native(values, series_only=True)
            columns = [series.to_arrow()]
            names = (series.name,) if isinstance(series.name, str) and series.name else None
        elif is_frame(values):
            frame = nw.from_native(values, eager_only=True)
            columns = [frame[:, at].to_arrow() for at in range(frame.shape[1])]
            names = tuple(frame.columns) if all(isinstance(name, str) for name in frame.columns) else None
        else:
            array = np.asarray(values)
            if array.ndim not in (1, 2) or 0 in array.shape[1:]:
                raise DataError(
                    f"The sensitive features have shape {array.shape}; give one value for each row, or a table of them."
                )
            columns = [_column(own) for own in array.reshape(len(array), -1).T]
        if any(len(own) != n_rows for own in columns):
            raise DataError(
                f"The sensitive features have {len(columns[0])} rows and X has {n_rows}; give those of the same rows."
            )
        if any(_without_nan(own).null_count for own in columns):
            raise DataError(
                "The sensitive features have missing values; fill them with a value of their own, such as 'unknown', "
                "or leave these rows out."
            )
        return cls(tuple(columns), names)

    def table(self, names: tuple[str, ...], known: tuple[str, ...] | None) -> Table:
        """Columns as a table of some names; several that had names of their own are found by `known` ones."""
        if len(self.columns) != len(names):
            raise DataError(
                f"There are {len(self.columns)} sensitive columns, and {len(names)} when the estimator was fitted; "
                "give the same ones."
            )
        order = list(range(len(names)))
        if len(names) > 1 and known is not None and self.names is not None:
            if set(known) != set(self.names):
                raise DataError(
                    f"The sensitive columns are {', '.join(self.names)}, and were {', '.join(known)} when the "
                    "estimator was fitted; give the same ones."
                )
            order = [self.names.index(name) for name in known]
        return Table.open(pa.table([self.columns[at] for at in order], names=list(names)))


def make_dataset(
    features: tuple[Feature, ...],
    columns: Mapping[str, NDArray[Any]],
    sensitive: Sensitive | None,
    target: Target,
    weight: Floats | None,
) -> Dataset:
    """Put a data set together; without sensitive columns, all rows are of one group."""
    if weight is not None and len(np.unique(target.codes[weight > 0])) < 2:
        raise DataError("The rows with a sample_weight above 0 are of one class only; give weight to both classes.")
    taken = {feature.name for feature in features}
    label = _unlike(_LABEL, taken)
    names: tuple[str, ...] = (_SENSITIVE,)
    if sensitive is not None:
        names = sensitive.names or tuple(
            _SENSITIVE if len(sensitive.columns) == 1 else f"{_SENSITIVE} {at}" for at in range(len(sensitive.columns))
        )
    # A sensitive column may be among the features too, if the user left it in X.
    names = tuple(_unlike(name, taken | {label}) for name in names)
    group: Ints = np.zeros(len(target.codes), dtype=np.int64)
    groups: tuple[str, ...] = (ONE_GROUP,)
    if sensitive is not None:
        group, groups = find_groups(sensitive.table(names, None), names)
    negative, positive = (own.item() if isinstance(own, np.generic) else own for own in target.classes)
    schema = Schema(
        features=features,
        label=label,
        positive=positive,
        negative=negative,
        sensitive=names,
        groups=groups,
        weight=None if weight is None else _unlike("sample_weight", taken | {label, *names}),
    )
    return Dataset(schema, columns, group, target.codes, weight)


def check_group_notions(tolerances: Mapping[str, float], data: Dataset) -> None:
    """Refuse tolerances where there is nobody to compare, and warn of groups that are too small to be compared."""
    if tolerances and len(data.groups) < 2:
        raise InputError(
            f"Tolerances compare groups, and there is one only ({data.groups[0]}); give sensitive_features with two or "
            "more groups to fit, or leave the tolerances out."
        )
    if tolerances and data.small_groups_note is not None:
        warnings.warn(data.small_groups_note, SmallGroupsWarning, stacklevel=3)


def read_group(schema: Schema, known: tuple[str, ...] | None, values: Any, n_rows: int) -> Ints:
    """Read the groups of new rows, for a rule or a map that sees them."""
    if values is None:
        raise InputError(
            "This estimator was fitted with aware=True, so it needs to see each row's group; pass sensitive_features."
        )
    table = Sensitive.read(values, n_rows).table(schema.sensitive, known)
    return read_groups(schema, table.frame.to_native())


def _named(estimator: Any, frame: Any) -> Table:
    """Open rows under the names of the features: their own, or x0, x1 and so on."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{at}" for at in range(estimator.n_features_in_)]
    if isinstance(frame, pa.Table):
        return Table.open(frame.rename_columns(list(names)))
    if list(frame.columns) != list(names):
        frame = frame.rename(dict(zip(frame.columns, map(str, names), strict=True)))
    return Table.open(frame.to_native())


def _arrow(array: NDArray[Any]) -> pa.Table:
    return pa.table([_column(own) for own in array.T], names=[f"x{at}" for at in range(array.shape[1])])


def _column(values: NDArray[Any]) -> pa.Array:
    if values.dtype.kind in "biuf":
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    try:
        return pa.array(values.tolist(), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            "A column mixes values of different kinds, or holds a kind that cannot be read; convert it to text or "
            "numbers."
        ) from error


def _without_nan(column: pa.Array) -> pa.Array:
    return pa.array(column.to_numpy(zero_copy_only=False), from_pandas=True) if "float" in str(column.type) else column


def _read_target(y: NDArray[Any]) -> Target:
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        # In scikit-learn's own words, which other tools look for.
        raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y has one class only ({classes[0]}); there is nothing to predict, give rows of both classes.")
    return Target(classes, codes.astype(np.int8))


def _unlike(name: str, taken: set[str]) -> str:
    """Return a name that no feature has."""
    while name in taken:
        name += "_"
    return name
