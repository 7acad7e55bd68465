"""Rows as scikit-learn's users hand them in (X, y, sensitive_features), read into a `Dataset`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from fairlimits._util.callers import outside
from fairlimits._util.types import Floats, Ints
from fairlimits.data import (
    Dataset,
    Feature,
    Schema,
    Sensitive,
    Table,
    arrow_column,
    find_groups,
    is_frame,
    read_groups,
)
from fairlimits.errors import ColumnsWarning, DataError, InputError, SmallGroupsWarning

ONE_GROUP = "everybody"
"""Name of the group where no sensitive features are given."""

_SENSITIVE, _LABEL = "sensitive_features", "label"


class Target(NamedTuple):
    """Labels: the two classes, sorted, and each row's position among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int8]


def open_fit(estimator: Any, X: Any, y: Any) -> tuple[Table, Target]:
    """Open X and read y to fit an estimator; it learns the features' number and names."""
    if is_frame(X):
        validate_data(estimator, _known_frame(X), y, skip_check_array=True)
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
        validate_data(estimator, _known_frame(X), reset=False, skip_check_array=True)
        return _named(estimator, nw.from_native(X, eager_only=True))
    array = validate_data(estimator, X, reset=False, dtype=None, ensure_all_finite="allow-nan")
    return _named(estimator, _arrow(array))


def _known_frame(frame: Any) -> Any:
    """Return a frame whose column names every release of scikit-learn can read: not all can with every polars."""
    if not nw.dependencies.is_polars_dataframe(frame):
        return frame
    return pa.table({name: pa.array([], pa.null()) for name in frame.columns})


def read_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Read the weight of each row."""
    if sample_weight is None:
        return None
    return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))


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
    negative, positive = (value.item() if isinstance(value, np.generic) else value for value in target.classes)
    schema = Schema(
        features=features,
        label=label,
        positive=positive,
        negative=negative,
        sensitive=names,
        groups=groups,
        weight=None if weight is None else _unlike("sample_weight", taken | {label, *names}),
    )
    data = Dataset(schema, columns, group, target.codes, weight)
    for note in data.column_notes:
        warnings.warn(note, ColumnsWarning, stacklevel=outside())
    return data


def check_group_notions(tolerances: Mapping[str, float], data: Dataset) -> None:
    """Refuse tolerances where there is nobody to compare, and warn of groups that are too small to be compared."""
    if tolerances and len(data.groups) < 2:
        raise InputError(
            f"Tolerances compare groups, and there is one only ({data.groups[0]}); give sensitive_features with two or "
            "more groups to fit, or leave the tolerances out."
        )
    if tolerances and data.small_groups_note is not None:
        warnings.warn(data.small_groups_note, SmallGroupsWarning, stacklevel=outside())


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
    return Table.open(frame)


def _arrow(array: NDArray[Any]) -> pa.Table:
    return pa.table([arrow_column(column) for column in array.T], names=[f"x{at}" for at in range(array.shape[1])])


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


def check_restored(estimator: Any, found: Any, kind: type[Any]) -> None:
    """Refuse what a fitted estimator holds that was read from a file, where its parts contradict each other.

    Parameters
    ----------
    estimator : ConstrainedBayesClassifier or Decorrelator
    found : object
        What it learned: a rule or a map.
    kind : type
        What that has to be.
    """
    if not isinstance(found, kind):
        raise InputError(f"A fitted {type(estimator).__name__} holds a {type(found).__name__}.")
    schema, names, classes = estimator._schema, estimator._sensitive_names, estimator.classes_
    if not isinstance(schema, Schema) or estimator.groups_ != schema.groups:
        raise InputError(f"The groups of a {type(estimator).__name__} are not those of its columns.")
    if found.distribution.schema != schema:
        raise InputError(f"The columns of a {type(estimator).__name__} are not those of what it learned.")
    if not isinstance(classes, np.ndarray) or classes.shape != (2,) or classes[0] == classes[1]:
        raise InputError(f"A fitted {type(estimator).__name__} needs two classes, and has {classes!r:.60}.")
    if names is not None and (not isinstance(names, tuple) or not all(isinstance(name, str) for name in names)):
        raise InputError(f"The names of the sensitive columns are {names!r:.60}.")
    count = estimator.n_features_in_
    if type(count) is not int or count < 1:
        raise InputError(f"A fitted {type(estimator).__name__} saw {count!r} features.")
    seen = getattr(estimator, "feature_names_in_", None)
    known = [f"x{at}" for at in range(count)] if seen is None else list(seen)
    # Where a fitted model scores people, its score is the only feature that is known here.
    if getattr(estimator, "prefit", None) is None and known != [feature.name for feature in schema.features]:
        raise InputError(f"The features of a {type(estimator).__name__} are not those of its columns.")
    if len(known) != count:
        raise InputError(f"A fitted {type(estimator).__name__} saw {count} features, and {len(known)} have names.")
