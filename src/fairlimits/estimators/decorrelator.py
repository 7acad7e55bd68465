"""`Decorrelator`: a map from which the group cannot be told, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from fairlimits.data import Sensitive, check_seed, is_frame, read_all_columns, read_features, row_draws
from fairlimits.decorrelation import (
    ACCURACY_WEIGHT,
    CORRELATION_WEIGHT,
    SCORED_AS,
    Decorrelation,
    decorrelate,
    draw_targets,
    mapped_table,
)
from fairlimits.errors import InputError
from fairlimits.estimators.frames import (
    check_group_notions,
    check_restored,
    make_dataset,
    open_fit,
    open_rows,
    read_group,
    read_weights,
)
from fairlimits.estimators.partitions import check_partition
from fairlimits.law import FEATURES, CellDistribution, Partition, discretize, estimate_outcome
from fairlimits.limits import solve
from fairlimits.notions import check_tolerances


class Decorrelator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace people's features by ones from which their group cannot be told, at the least loss of accuracy.

    People are cut into cells by their features and an estimate of P(A, Y | x), the best rule within the tolerances is
    found, and the map is the one that keeps this rule useful and moves people least (see `decorrelate`).

    Parameters
    ----------
    tolerances : mapping of str to float, optional
        Largest gaps of the rule, before and after the map; by default there is no constraint.
    accuracy_weight, correlation_weight : float, default=15.0 and 25.0
        Weights of accuracy, and of correlation with the group; only their ratio matters.
    cells : int, optional
        Number of cells, by default as in `discretize`.
    partition : {"blend", "outcome", "features"}, default="blend"
        What the cells cut (see `discretize`).
    estimator : scikit-learn classifier, optional
        What to learn P(A, Y | x) with, unless the cells cut the features alone (see `estimate_outcome`).
    aware : bool, default=False
        Whether rule and map see the group. Then `transform` needs ``sensitive_features`` too, and its result has one
        column more, ``scored_as``: the group that the rule takes the row for.
    random_state : int, default=0
        Seed of cells and draws.

    Attributes
    ----------
    plan_ : Decorrelation
        The map, with accuracy, gaps and correlation before and after.
    distribution_ : CellDistribution
        The cells.
    groups_ : tuple of str
        The groups.
    classes_ : ndarray of shape (2,)
        The labels, sorted; the second one is the positive label.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X is a data frame.

    Notes
    -----
    A mapped row has the values of its target cell and nothing of its own: means of numbers, most frequent categories.
    Where it is sent is a hash of ``random_state`` and its values in X, so the same row is always sent to the same
    place, and so are equal rows.

    scikit-learn's ``check_estimator`` passes except for what `expected_failed_checks` names.

    Examples
    --------
    >>> import fairlimits as fl
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 600)
    >>> X = rng.normal(size=(600, 2)) + 0.3 * group[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=600) > 0.5).astype(int)
    >>> mapper = fl.Decorrelator({"DP": 0.0}, cells=16, estimator=LogisticRegression())
    >>> mapper.fit(X, y, sensitive_features=group).transform(X[:3]).shape
    (3, 2)
    """

    # Where scikit-learn routes metadata, whoever gives the group or weights wants them used.
    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": True}
    __metadata_request__transform: ClassVar = {"sensitive_features": True}
    __metadata_request__fit_transform: ClassVar = {"sensitive_features": True, "sample_weight": True}

    expected_failed_checks: Mapping[str, str] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "the values of a cell are those of five people or more, and people are counted by the row, not by weight"
        ),
    }

    def __init__(
        self,
        tolerances: Mapping[str, float] | None = None,
        *,
        accuracy_weight: float = ACCURACY_WEIGHT,
        correlation_weight: float = CORRELATION_WEIGHT,
        cells: int | None = None,
        partition: Partition = "blend",
        estimator: Any = None,
        aware: bool = False,
        random_state: int = 0,
    ) -> None:
        self.tolerances = tolerances
        self.accuracy_weight = accuracy_weight
        self.correlation_weight = correlation_weight
        self.cells = cells
        self.partition = partition
        self.estimator = estimator
        self.aware = aware
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Decorrelator:
        """Cut cells, and find rule and map.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The features; pandas, polars or Arrow.
        y : array-like of shape (n,)
            Labels of two classes.
        sensitive_features : array-like of shape (n,) or (n, k), or data frame, optional
            What makes the groups. Without it there is one group, and nothing to hide.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.
        """
        asked = check_tolerances({} if self.tolerances is None else self.tolerances)
        seed = check_seed(self.random_state)
        check_partition(self.partition, self.estimator)
        table, target = open_fit(self, X, y)
        features, columns = read_all_columns(table)
        sensitive = None if sensitive_features is None else Sensitive.read(sensitive_features, len(table))
        if self.aware and sensitive is None:
            raise InputError("With aware=True the map sees the group; pass sensitive_features to fit and to transform.")
        if self.aware and SCORED_AS in table.names:
            raise InputError(f"A feature is called {SCORED_AS!r}, the name of a column of the result: rename it.")
        data = make_dataset(features, columns, sensitive, target, read_weights(sample_weight, X))
        check_group_notions(asked, data)
        outcome = None
        if self.partition != FEATURES:
            outcome = estimate_outcome(data, estimator=self.estimator, random_state=seed)
        dist = discretize(
            data, self.cells, partition=self.partition, generator=None, outcome=outcome, random_state=seed
        )
        rule = solve(dist, asked, aware=self.aware)
        self.plan_ = decorrelate(
            dist, rule, accuracy_weight=self.accuracy_weight, correlation_weight=self.correlation_weight
        )
        self.groups_ = data.groups
        self.classes_ = target.classes
        self._schema = data.schema
        self._sensitive_names = None if sensitive is None else sensitive.names
        return self

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Map rows, seen before or not.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The rows; a category that `fit` did not see counts as missing.
        sensitive_features : array-like of shape (n,) or (n, k), or data frame, optional
            Needed if the map is aware; else it is not looked at.

        Returns
        -------
        array or data frame
            The mapped rows, in the kind of table that came in; an array of objects where not all columns are numbers.
        """
        check_is_fitted(self, "plan_")
        table = open_rows(self, X)
        n_rows = len(table)
        columns = read_features(self._schema, table, unseen="missing")
        cell = self.distribution_.cells_of(columns)
        draws = row_draws(table, self.random_state)
        bins = np.zeros(n_rows, dtype=np.int64)
        aware = self.plan_.aware
        group = read_group(self._schema, self._sensitive_names, sensitive_features, n_rows) if aware else None
        for g, chances in enumerate(self.plan_.maps):
            members = np.arange(n_rows) if group is None else np.flatnonzero(group == g)
            bins[members] = draw_targets(chances, cell[members], draws[members])
        return _like(X, mapped_table(self.distribution_, aware, bins))

    def fit_transform(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and map the same rows.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            See `fit`.
        """
        fitted = self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return fitted.transform(X, sensitive_features=sensitive_features)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of the result: those of X, and ``scored_as`` if the map is aware."""
        check_is_fitted(self, "plan_")
        names = super().get_feature_names_out(input_features)
        return np.append(names, np.array([SCORED_AS], dtype=object)) if self.plan_.aware else np.asarray(names)

    @property
    def distribution_(self) -> CellDistribution:
        """The cells."""
        check_is_fitted(self, "plan_")
        return self.plan_.distribution

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "plan_"):
            check_restored(self, self.plan_, Decorrelation)
            check_seed(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # A transformer says by these tags, too, that it takes two classes only.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _like(X: Any, table: pa.Table) -> Any:
    """Return a table as the kind of table, or array, that X is."""
    if not is_frame(X):
        columns = [column.to_numpy(zero_copy_only=False) for column in table.columns]
        # Whole numbers among others are numbers all the same: an array has one type.
        return np.column_stack(
            [column.astype(np.float64 if column.dtype.kind in "fi" else object) for column in columns]
        )
    if isinstance(X, pa.Table):
        return table
    frame = nw.from_native(X, eager_only=True)
    native = nw.from_arrow(table, native_namespace=nw.get_native_namespace(frame)).to_native()
    if hasattr(native, "index"):
        native.index = X.index
    return native
