"""`estimate_outcome`: a cross-fitted estimate of q(x) = P(A, Y | x), all that accuracy and group notions depend on.

Every row's q comes from learners that did not see the row, so that what is solved on these rows holds on others. A new
row's q is the average over all folds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from threadpoolctl import threadpool_limits

from fairlimits._util.plotting import MUTED, axes_or_new, figure_style, nth_colour, plain_text
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Schema, read_features
from fairlimits.errors import DataError, InputError
from fairlimits.law.outcome.factors import FACTORS, Factor, best_average, joint, log_loss, predict_given
from fairlimits.law.outcome.learners import Chances, Columns, Given, Learner, Rows, default_learners, own_learner

FOLDS = 5
"""Folds of the cross-fit."""


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeModel:
    """Fitted learners of q(x) = P(A, Y | x).

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    folds : tuple of mapping of str to tuple of Chances
        For each fold and factor, the learners whose chances are averaged.
    """

    schema: Schema
    folds: tuple[Mapping[str, tuple[Chances, ...]], ...]

    def predict(self, rows: Any) -> Floats:
        """Estimate q for new rows; neither their label nor their group is looked at.

        Parameters
        ----------
        rows : Dataset, or a pandas, polars or Arrow table
            The rows. A table needs the features only; a category that the schema does not know counts as
            missing.

        Returns
        -------
        ndarray of shape (n, G, 2)
            For each row P(A = g, Y = y | x); the entries of a row sum to 1.
        """
        if isinstance(rows, Dataset):
            _check_like(self.schema, rows.schema)
            return self.predict_columns(rows.columns, rows.n_rows)
        columns = read_features(self.schema, rows, unseen="missing")
        return self.predict_columns(columns, len(next(iter(columns.values()))))

    def predict_columns(self, columns: Columns, n_rows: int) -> Floats:
        """Estimate q for features coded as in `Dataset.columns`."""
        rows = Rows(columns, n_rows)
        # One limit around all, so that predictions side by side do not restore each other's.
        with threadpool_limits(limits=1), ThreadPoolExecutor(os.cpu_count()) as pool:
            estimates = list(pool.map(lambda fold: self._predict_fold(fold, rows), range(len(self.folds))))
        return np.asarray(np.mean(estimates, axis=0))

    def _predict_fold(self, fold: int, rows: Rows) -> Floats:
        """Estimate q by the learners of one fold alone."""
        parts = []
        for factor in FACTORS:
            size = _size_of(factor.given, self.schema)
            members = self.folds[fold][factor.name]
            parts.append(np.mean([predict_given(member, rows, size) for member in members], axis=0))
        return joint(*parts)

    def __repr__(self) -> str:
        return f"OutcomeModel({len(self.folds)} folds, groups {', '.join(self.schema.groups)})"


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """An estimate of q(x) = P(A, Y | x) on a table of people, out of fold, and the model for new rows.

    Parameters
    ----------
    data : Dataset
        The people that it was learned from.
    q : ndarray of shape (n, G, 2)
        Each row's estimate, by learners that did not see the row.
    model : OutcomeModel
        The estimate for new rows.
    losses : mapping of str to mapping of str to float
        For each factor, the out-of-fold log-loss of every learner tried, and of the average that was chosen.
    chosen : mapping of str to tuple of str
        For each factor, the learners that are averaged.
    """

    data: Dataset
    q: Floats
    model: OutcomeModel
    losses: Mapping[str, Mapping[str, float]]
    chosen: Mapping[str, tuple[str, ...]]

    @property
    def weight(self) -> Floats:
        """What each row counts; the weights sum to 1."""
        return self.data.shares

    def calibration(self, bins: int = 10) -> pa.Table:
        """Compare estimates with what came true, out of fold.

        For every group and label, the rows are put in bins of equal size by the estimate of that group and label.

        Returns
        -------
        pyarrow.Table
            A row for each group, label and bin: rows, mean estimate, share that came true and its standard error.
        """
        if bins < 1:
            raise InputError(f"The number of bins is {bins}; give at least 1.")
        lines: list[dict[str, Any]] = []
        weight = self.weight
        for g, name in enumerate(self.data.groups):
            for y in (0, 1):
                true = (self.data.group == g) & (self.data.label == y)
                order = np.argsort(self.q[:, g, y], kind="stable")
                for number, part in enumerate(np.array_split(order, bins)):
                    total = weight[part].sum()
                    if total <= 0:
                        continue
                    share = weight[part] / total
                    rate = float(share @ true[part])
                    lines.append(
                        {
                            "group": name,
                            "label": y,
                            "bin": number,
                            "rows": len(part),
                            "estimate": float(share @ self.q[part, g, y]),
                            "came true": rate,
                            "standard error": float(np.sqrt(rate * (1 - rate) * (share**2).sum())),
                        }
                    )
        return pa.Table.from_pylist(lines)

    def calibration_error(self, bins: int = 10) -> float:
        """Mean absolute difference between estimate and what came true, over all groups, labels and bins."""
        found = self.calibration(bins)
        rows = found["rows"].to_numpy()
        off = np.abs(found["estimate"].to_numpy() - found["came true"].to_numpy())
        return float(rows @ off / rows.sum())

    def to_frame(self) -> pa.Table:
        """Return the table of `calibration`: a row for each group, label and bin."""
        return self.calibration()

    def summary(self) -> str:
        """Say what was learned with, how well, and how far the estimate is off; all out of fold."""
        learned = "; ".join(
            f"{factor} {self.losses[factor]['chosen']:.4f} by {' and '.join(names)}"
            for factor, names in self.chosen.items()
        )
        return (
            f"P(A, Y | x) was estimated for {self.data.n_rows:,} rows, each by learners that did not see it (held out, "
            f"{len(self.model.folds)} folds). Log-loss: {learned}. Estimates and what came true differ by "
            f"{self.calibration_error():.4f} on average over groups, labels and bins, chance included."
        )

    def plot(self, ax: Axes | None = None, bins: int = 10) -> Axes:
        """Draw the share that came true against the mean estimate, out of fold, for every group and label.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        bins : int, default=10
            Bins for each group and label.
        """
        found = self.calibration(bins).to_pylist()
        with figure_style():
            ax = axes_or_new(ax, (5.6, 4.4))
            ax.axline((0, 0), slope=1, color=MUTED, linewidth=1)
            for g, name in enumerate(self.data.groups):
                for y in (0, 1):
                    own = [row for row in found if row["group"] == name and row["label"] == y]
                    ax.errorbar(
                        [row["estimate"] for row in own],
                        [row["came true"] for row in own],
                        yerr=[2 * row["standard error"] for row in own],
                        fmt="o",
                        markersize=5,
                        elinewidth=1,
                        color=nth_colour(g),
                        markerfacecolor=nth_colour(g) if y else "white",
                        label=plain_text(f"label {y}, {name}"),
                    )
            ax.set_xlabel("mean estimate of group and label; bars: two standard errors")
            ax.set_ylabel("share that came true (held out)")
            ax.legend(fontsize="small", ncols=1 + len(self.data.groups) // 5)
        return ax

    def __repr__(self) -> str:
        return f"Outcome({self.data.n_rows} rows, groups {', '.join(self.data.groups)})"


def estimate_outcome(
    data: Dataset,
    *,
    estimator: Any = None,
    folds: int = FOLDS,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Estimate q(x) = P(A, Y | x) by cross-fitting.

    Four conditional laws are learned in each fold, P(Y|x), P(A|x,Y), P(A|x) and P(Y|x,A). For each, the learners
    whose plain average has the lowest out-of-fold log-loss are kept.

    Parameters
    ----------
    data : Dataset
        The people.
    estimator : scikit-learn classifier, optional
        What to learn with, instead of boosting and logistic regression: anything with ``fit(X, y, sample_weight)``
        and ``predict_proba``. It sees numbers scaled, categories as a column each, and no missing values.
    folds : int, default=5
        Folds, each with its share of every group and label.
    random_state : int, default=0
        Seed of folds and learners.
    n_jobs : int, optional
        Fits that run side by side, by default as many as there are cores; the result does not depend on it.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Outcome
    """
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InputError(f"The number of folds is {folds!r}; give a whole number of at least 2.")
    if n_jobs is not None and n_jobs < 1:
        raise InputError(f"The number of jobs is {n_jobs!r}; give at least 1, or leave it out.")
    if data.n_rows < folds:
        raise DataError(f"The table has {data.n_rows} rows, too few for {folds} folds; give more rows.")
    tell = or_silent(progress)
    # Learners weigh their penalties against rows that count 1 on average.
    weight = data.shares * data.n_rows
    encoding = Encoding.fit(data)
    learners = default_learners(data.schema, encoding) if estimator is None else (own_learner(estimator, encoding),)
    fold = _folds(data, folds, random_state)
    jobs = list(_jobs(data, weight, learners, fold, folds, random_state))
    fitted: dict[tuple[str, int, int], tuple[Chances, Floats]] = {}
    # Fits limit their threads too; side by side, the last one would give back the limit of another, not the user's own.
    with threadpool_limits(limits=1), ThreadPoolExecutor(n_jobs or os.cpu_count()) as pool:
        waiting = [pool.submit(job) for job in jobs]
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                key, model, estimate = future.result()
                fitted[key] = model, estimate
                tell(done / len(jobs), f"learning P(A, Y | x), fit {done} of {len(jobs)}")
        except BaseException:
            # An error, or the user's ctrl-c, need not wait for fits that nobody will use.
            pool.shutdown(wait=False, cancel_futures=True)
            raise

    parts, losses, chosen = [], {}, {}
    members_of: dict[str, tuple[int, ...]] = {}
    for factor in FACTORS:
        target, given = _values(factor.target, data), _values(factor.given, data)
        chances = [
            _assemble([fitted[factor.name, member, k][1] for k in range(folds)], fold, folds)
            for member in range(len(learners))
        ]
        came_true = [each[np.arange(data.n_rows), given] for each in chances]
        members, loss = best_average(came_true, target, weight)
        members_of[factor.name] = members
        chosen[factor.name] = tuple(learners[m].name for m in members)
        losses[factor.name] = {
            **{learner.name: log_loss(own, target, weight) for learner, own in zip(learners, came_true, strict=True)},
            "chosen": loss,
        }
        parts.append(np.mean([chances[m] for m in members], axis=0))
    models = tuple(
        {name: tuple(fitted[name, m, k][0] for m in members) for name, members in members_of.items()}
        for k in range(folds)
    )
    return Outcome(data, joint(*parts), OutcomeModel(data.schema, models), losses, chosen)


_Result: TypeAlias = tuple[tuple[str, int, int], Chances, Floats]


def _jobs(
    data: Dataset, weight: Floats, learners: tuple[Learner, ...], fold: Ints, folds: int, random_state: int
) -> Iterator[Callable[[], _Result]]:
    """Fits to be done, each with its estimate for the rows that it does not see."""
    for k in range(folds):
        seen, unseen = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        for factor in FACTORS:
            for member, learner in enumerate(learners):
                yield _job(data, weight, factor, learner, (factor.name, member, k), seen, unseen, random_state)


def _job(
    data: Dataset,
    weight: Floats,
    factor: Factor,
    learner: Learner,
    key: tuple[str, int, int],
    seen: Ints,
    unseen: Ints,
    random_state: int,
) -> Callable[[], _Result]:
    def run() -> _Result:
        size = _size_of(factor.given, data.schema)
        given = None if size is None else Given(_values(factor.given, data)[seen], size)
        columns = {name: values[seen] for name, values in data.columns.items()}
        target = _values(factor.target, data)[seen]
        classes = 2 if factor.target == "label" else len(data.groups)
        model = learner.fit(columns, target, classes, weight[seen], given, random_state)
        others = {name: values[unseen] for name, values in data.columns.items()}
        return key, model, predict_given(model, Rows(others, len(unseen)), size)

    return run


def _folds(data: Dataset, folds: int, random_state: int) -> Ints:
    """Fold of each row: every group and label is dealt out evenly."""
    order = np.random.default_rng(random_state).permutation(data.n_rows)
    order = order[np.argsort((data.group * 2 + data.label)[order], kind="stable")]
    fold = np.empty(data.n_rows, dtype=np.int64)
    fold[order] = np.arange(data.n_rows) % folds
    return fold


def _assemble(parts: list[Floats], fold: Ints, folds: int) -> Floats:
    """Put the folds' estimates back in the order of the rows."""
    whole = np.empty((len(fold), *parts[0].shape[1:]))
    for k in range(folds):
        whole[fold == k] = parts[k]
    return whole


def _values(of: str | None, data: Dataset) -> Ints:
    if of is None:
        return np.zeros(data.n_rows, dtype=np.int64)
    return data.group if of == "group" else data.label.astype(np.int64)


def _size_of(given: str | None, schema: Schema) -> int | None:
    if given is None:
        return None
    return 2 if given == "label" else len(schema.groups)


def _check_like(schema: Schema, other: Schema) -> None:
    if schema.features != other.features:
        raise InputError(
            "These rows have other features, or other categories, than those the estimate was learned from; "
            "read them with Dataset.read_like(schema, table)."
        )
