"""`ConstrainedBayesClassifier`: the most accurate rule within tolerances, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from fairlimits._util.types import Floats, Ints
from fairlimits.data import (
    DrawBy,
    Sensitive,
    Table,
    check_draw_by,
    check_seed,
    read_all_columns,
    read_features,
    row_draws,
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
from fairlimits.estimators.prefit import Prefit, as_rows, check_scores, score_feature
from fairlimits.law import (
    FEATURES,
    CellDistribution,
    Neighbourhood,
    Partition,
    discretize,
    estimate_outcome,
)
from fairlimits.limits import (
    Frontier,
    Rule,
    Uncertified,
    check_certifiable,
    check_randomize,
    check_uncertified,
    frontier,
    on_cells,
    solve_on,
)
from fairlimits.notions import (
    INDIVIDUAL,
    Objective,
    Requirement,
    check_tolerances,
    read_objective,
    read_requirements,
)


class ConstrainedBayesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The most accurate classifier whose fairness gaps stay within tolerances.

    It estimates P(A, Y | x), group and label given the features, and decides by the best rule on that estimate. With a
    fitted model as `prefit`, the model's score is all that the rule sees of x, so that any classifier can be
    post-processed.

    Parameters
    ----------
    tolerances : mapping of str to float, optional
        Largest gap allowed for each notion, among DP, EA, EOp, PE, EOd and IF; by default there is no constraint.
        Tolerances need ``sensitive_features`` at `fit`.
    aware : bool, default=False
        Whether the rule sees the group. Then `predict` needs ``sensitive_features`` too; else it never does.
    partition : {"outcome", "blend", "features"}, optional
        What cells cut (see `discretize`): by default the estimate of P(A, Y | x); for individual fairness the features
        too, "blend".
    cells : int, optional
        Number of cells, by default as in `discretize`.
    confidence : float, optional
        Find the best rule whose gaps among people are within the tolerances with this confidence, such as 0.95 (see
        `solve`); ``rule_.guarantee`` has what is known.
    uncertified : {"best", "raise", "constant"}, default="best"
        What to do where the rows cannot certify the tolerances (see `solve`).
    estimator : scikit-learn classifier, optional
        What to learn P(A, Y | x) with, instead of boosting and logistic regression (see `estimate_outcome`).
    prefit : fitted classifier or "scores", optional
        A classifier to be post-processed, or "scores" if X is one column of a model's scores. Fit on rows that the
        model has not seen. Where the estimator is cloned, as by a grid search, wrap the model in scikit-learn's
        ``FrozenEstimator``.
    neighbours : Neighbourhood, optional
        What individual fairness compares.
    requirements : sequence of str or Requirement, default=()
        What the rule must keep besides, such as ``"selection rate <= 0.3"`` (see `solve`).
    objective : str or Objective, default="accuracy"
        What the rule is to be best at, such as ``"balanced accuracy"`` (see `solve`).
    randomize : bool, default=True
        Whether the rule may decide by lot. If not, it is the best rule found without coins, within the same tolerances;
        ``rule_.determinism`` has a proven bound on what that costs (see `solve`).
    draw_by : {"row", "content"}, default="row"
        Whether people who are alike in all of X have draws of their own in a call of `predict`, or one in common.
    n_jobs : int, optional
        Fits that run side by side, by default as many as there are cores; the result does not depend on it.
    random_state : int, default=0
        Seed of folds, learners, cells and draws.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. The second one is the positive label, which DP, EOp and PE are about.
    groups_ : tuple of str
        The groups; several sensitive columns make one of each combination that occurs, such as "Female / Black".
    rule_ : Rule
        The rule, with its accuracy, gaps and shadow prices.
    distribution_ : CellDistribution
        The cells that the rule was solved on.
    frontier_ : Frontier
        Accuracy over a range of tolerances of the same notions (of DP, if none is held), made when first asked for.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X is a data frame.

    Notes
    -----
    Columns of numbers are numeric; text, truth values and declared categories are categorical. Missing values are
    allowed, and a category that `fit` did not see counts as missing.

    The draw of a row is a hash of ``random_state`` and its values in X: the same row gets the same decision wherever it
    stands. By default, of several equal rows in one call each has a draw of its own; with ``draw_by="content"`` they
    are all decided alike, and realised gaps stray farther from the rule's, as if there were only as many people as
    there are different ones. The group has no part in the draw.

    The rows of the fit are not kept.

    scikit-learn's ``check_estimator`` passes except for what `expected_failed_checks` names.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 600)
    >>> X = rng.normal(size=(600, 2)) + 0.3 * group[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=600) > 0.5).astype(int)
    >>> model = ConstrainedBayesClassifier(tolerances={"DP": 0.05}, estimator=LogisticRegression())
    >>> model.fit(X, y, sensitive_features=group).predict(X[:3])
    array([1, 0, 0])
    >>> round(model.rule_.gaps["DP"], 2)
    0.05
    """

    # Where scikit-learn routes metadata, whoever gives the group or weights wants them used.
    __metadata_request__fit: ClassVar = {"sensitive_features": True, "sample_weight": True}
    __metadata_request__predict: ClassVar = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar = {"sensitive_features": True}
    __metadata_request__score: ClassVar = {"sensitive_features": True, "sample_weight": True}

    expected_failed_checks: Mapping[str, str] = {
        "check_sample_weight_equivalence_on_dense_data": (
            "rows are dealt into folds by the row, so a row of weight 2 is not the same as two rows in two folds"
        ),
    }

    def __init__(
        self,
        tolerances: Mapping[str, float] | None = None,
        *,
        aware: bool = False,
        partition: Partition | None = None,
        cells: int | None = None,
        confidence: float | None = None,
        uncertified: Uncertified = "best",
        estimator: Any = None,
        prefit: Prefit = None,
        neighbours: Neighbourhood | None = None,
        requirements: Sequence[Requirement | str] | str = (),
        objective: Objective | str = "accuracy",
        randomize: bool = True,
        draw_by: DrawBy = "row",
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.tolerances = tolerances
        self.aware = aware
        self.partition = partition
        self.cells = cells
        self.confidence = confidence
        self.uncertified = uncertified
        self.estimator = estimator
        self.prefit = prefit
        self.neighbours = neighbours
        self.requirements = requirements
        self.objective = objective
        self.randomize = randomize
        self.draw_by = draw_by
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> ConstrainedBayesClassifier:
        """Learn the estimate and solve for the rule.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The features; pandas, polars or Arrow.
        y : array-like of shape (n,)
            Labels of two classes.
        sensitive_features : array-like of shape (n,) or (n, k), or data frame, optional
            What makes the groups; several columns make one of each combination that occurs. It is not a feature, unless
            X has it too. Without it there is one group.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.
        """
        asked = check_tolerances({} if self.tolerances is None else self.tolerances)
        partition = self._check_choices(asked)
        check_randomize(self.randomize, asked)
        check_draw_by(self.draw_by)
        seed = check_seed(self.random_state)
        X = as_rows(self.prefit, X)
        table, target = open_fit(self, X, y)
        if self.prefit is None:
            features, columns = read_all_columns(table)
        else:
            feature, columns = score_feature(self.prefit, table, X)
            features = (feature,)
        sensitive = None if sensitive_features is None else Sensitive.read(sensitive_features, len(table))
        if self.aware and sensitive is None:
            raise InputError("With aware=True the rule sees the group; pass sensitive_features to fit, and to predict.")
        data = make_dataset(features, columns, sensitive, target, read_weights(sample_weight, X))
        check_group_notions(asked, data)

        outcome = None
        if partition != FEATURES:
            outcome = estimate_outcome(data, estimator=self.estimator, random_state=seed, n_jobs=self.n_jobs)
        dist = discretize(data, self.cells, partition=partition, generator=None, outcome=outcome, random_state=seed)
        goal = self._goal()
        check_certifiable(dist if outcome is None else outcome, self.confidence, asked, goal["requirements"])
        goal |= {"confidence": self.confidence, "uncertified": check_uncertified(self.uncertified)}
        self.rule_ = solve_on(on_cells(dist, asked), outcome, asked, aware=self.aware, randomize=self.randomize, **goal)
        self.classes_ = target.classes
        self.groups_ = data.groups
        self._schema = data.schema
        self._sensitive_names = None if sensitive is None else sensitive.names
        self._frontier: Frontier | None = None
        return self

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """Decide each row: where the rule decides by lot, drawn by its content and the seed.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The features.
        sensitive_features : array-like of shape (n,) or (n, k), or data frame, optional
            Needed if the rule is aware; else it is not looked at.
        """
        table, scores = self._scores(X, sensitive_features)
        drawn = row_draws(table, self.random_state, draw_by=check_draw_by(self.draw_by))
        return np.asarray(self.classes_[(scores > drawn).astype(np.int64)])

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """Probability that `predict` gives each of the classes, not that the label is one (see `predict_label_proba`).

        It is 0 or 1 if the rule does without coins.

        Parameters
        ----------
        X, sensitive_features
            See `predict`.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        _, scores = self._scores(X, sensitive_features)
        return np.column_stack([1 - scores, scores])

    def predict_label_proba(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """Estimate P(Y = y | x) of each of the classes, whatever is decided: for ranking metrics and calibration.

        If the rule sees the group, it is P(Y = y | x, group).

        Parameters
        ----------
        X, sensitive_features
            See `predict`.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        _, columns, group = self._read(X, sensitive_features)
        law = self.rule_.policy.law
        if law.places is not None:
            q = law.places.q_of(columns, len(next(iter(columns.values()))))
        else:
            q = law.mass[law.cells_of(columns)]
        joint = q.sum(axis=1) if group is None else q[np.arange(len(q)), group]
        total = joint.sum(axis=1, keepdims=True)
        # A cell where nobody of the group was seen says nothing.
        return np.asarray(np.where(total > 0, joint / np.where(total > 0, total, 1.0), 0.5))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Accuracy of `predict`: the share of rows, by weight, whose label it gives.

        Parameters
        ----------
        X, sensitive_features
            See `predict`.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.
        """
        decided = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, decided, sample_weight=sample_weight))

    @property
    def distribution_(self) -> CellDistribution:
        """The cells that the rule was solved on."""
        check_is_fitted(self, "rule_")
        return self.rule_.distribution

    @property
    def frontier_(self) -> Frontier:
        """Accuracy over a range of tolerances of the notions that are held, or of DP."""
        check_is_fitted(self, "rule_")
        if len(self.groups_) < 2:
            raise AttributeError("There is no frontier_ for one group only; give sensitive_features to fit.")
        if self._frontier is None:
            notions = tuple(self.rule_.tolerances) or ("DP",)
            self._frontier = frontier(self.rule_.distribution, notions, aware=self.rule_.aware, **self._goal())
        return self._frontier

    def _check_choices(self, asked: Mapping[str, float]) -> Partition:
        """Refuse choices that contradict each other; return what the cells cut."""
        partition = self.partition
        if partition is None:
            partition = "blend" if INDIVIDUAL in asked else "outcome"
        check_partition(partition, self.estimator)
        return partition

    def _goal(self) -> dict[str, Any]:
        """What is solved for, beside the tolerances."""
        return {
            "neighbours": self.neighbours,
            "requirements": read_requirements(self.requirements),
            "objective": read_objective(self.objective),
        }

    def _scores(self, X: Any, sensitive_features: Any) -> tuple[Table, Floats]:
        """Open rows, and find the probability of deciding 1 for each."""
        table, columns, group = self._read(X, sensitive_features)
        policy = self.rule_.policy
        return table, policy.scores_at(policy.locate(columns, group), group)

    def _read(self, X: Any, sensitive_features: Any) -> tuple[Table, dict[str, NDArray[Any]], Ints | None]:
        """Open rows: as they are, as coded features, and their groups if the rule sees them."""
        check_is_fitted(self, "rule_")
        X = as_rows(self.prefit, X)
        table = open_rows(self, X)
        n_rows = len(table)
        if self.prefit is None:
            columns = read_features(self._schema, table, unseen="missing")
        else:
            _, columns = score_feature(self.prefit, table, X)
        group = None
        if self.rule_.aware:
            group = read_group(self._schema, self._sensitive_names, sensitive_features, n_rows)
        return table, columns, group

    def __getstate__(self) -> dict[str, Any]:
        # A frontier would repeat the cells in a file, once for every rule.
        state: dict[str, Any] = super().__getstate__()
        return state | {key: None for key in ("_frontier",) if key in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "rule_"):
            self._frontier = None
            check_restored(self, self.rule_, Rule)
            check_seed(self.random_state)
            check_draw_by(self.draw_by)
            if self.prefit is not None:
                check_scores(self.prefit)
            goal = self._goal()
            if not isinstance(goal["neighbours"], Neighbourhood | None):
                raise InputError(f"The neighbours are a {type(self.neighbours).__name__}; give a Neighbourhood.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
