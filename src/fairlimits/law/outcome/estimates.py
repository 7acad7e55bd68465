"""`Outcome`: an estimate of q(x) = P(A, Y | x) on a table of people, how good it is, and how it is kept in files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import MUTED, axes_or_new, figure_style, nth_colour, plain_text
from fairlimits._util.states import Checked
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset
from fairlimits.errors import InputError
from fairlimits.law.outcome.models import OutcomeModel, Packed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_KIND = "outcome"

# Probabilities sum to 1 up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Checked, Shown):
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

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> outcome = fl.estimate_outcome(data, estimator=LogisticRegression(max_iter=500))
    >>> rule = fl.solve(outcome, {"DP": 0.05})
    >>> round(rule.gaps["DP"], 3)
    0.05
    >>> bool(rule.accuracy <= rule.bayes_accuracy)
    True
    """

    data: Dataset
    q: Floats
    model: OutcomeModel
    losses: Mapping[str, Mapping[str, float]]
    chosen: Mapping[str, tuple[str, ...]]

    @property
    def weight(self) -> Floats:
        """Weight of each row; the weights sum to 1."""
        return self.data.shares

    def calibration(self, bins: int = 10) -> pa.Table:
        """Compare estimates with what came true, out of fold (calibration table).

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
                    # Shares sum to 1 up to rounding.
                    rate = min(float(share @ true[part]), 1.0)
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
        """Return the mean absolute difference between estimate and what came true, over groups, labels and bins."""
        return mean_difference(self.calibration(bins))

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""
        return self.data.groups

    @property
    def counts(self) -> Ints:
        """Number of rows with a weight above 0, by group and label, of shape (G, 2)."""
        return self.data.counts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.data.n_rows

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.data.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the table of `calibration`: a row for each group, label and bin."""
        return self.calibration()

    def summary(self) -> str:
        """Say what was learned with, how well, and how far the estimate is off; all out of fold."""
        return (
            f"P(A, Y | x) was estimated for {self.data.n_rows:,} rows, each by learners that did not see it (held out, "
            f"{self.model.n_folds} folds). {losses_in_words(self.losses, self.chosen, self.group_loss())} "
            f"{difference_in_words(self.calibration_error())}"
        )

    def group_loss(self) -> float:
        """Return the out-of-fold log-loss of the group, given features and label."""
        rows = np.arange(self.data.n_rows)
        of_label = self.q[rows, :, self.data.label]
        return float(self.weight @ -np.log(of_label[rows, self.data.group] / of_label.sum(axis=1)))

    def plot(self, ax: Axes | None = None, bins: int = 10) -> Axes:
        """Draw the share that came true against the mean estimate, out of fold, for every group and label.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        bins : int, default=10
            Bins for each group and label.
        """
        return draw_calibration(self.calibration(bins), self.data.groups, ax)

    def __repr__(self) -> str:
        return f"Outcome({self.data.n_rows} rows, groups {', '.join(self.data.groups)})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimate to one file (``.npz``, without pickle), with the rows of the people it was learned from.

        Rules and classifiers are kept without them. An estimate by a classifier of your own is kept by
        `fairlimits.save`.
        """
        write_archive(path, _KIND, *self._pack())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Outcome:
        """Read what `save` wrote."""
        return cls._unpack(*read_archive(path, _KIND))

    def _pack(self) -> Packed:
        """Write the estimate as a JSON-able header and arrays, the people's rows among them."""
        inner, arrays = self.model._pack()
        header = {
            "model": inner,
            "losses": {name: dict(losses) for name, losses in self.losses.items()},
            "chosen": {name: list(learners) for name, learners in self.chosen.items()},
        }
        people: dict[str, NDArray[Any]] = {"group": self.data.group, "label": self.data.label}
        if self.data.weight is not None:
            people["weight"] = self.data.weight
        columns = {str(at): values for at, values in enumerate(self.data.columns.values())}
        return header, nest("model", arrays) | nest("people", people) | nest("columns", columns) | {"q": self.q}

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Outcome:
        with reading("estimate"):
            model = OutcomeModel._unpack(header["model"], unnest("model", arrays))
            people, columns = unnest("people", arrays), unnest("columns", arrays)
            names = [feature.name for feature in model.schema.features]
            rows = {name: columns[str(at)] for at, name in enumerate(names)}
            data = Dataset(model.schema, rows, people["group"], people["label"], people.get("weight"))
            q = np.array(arrays["q"], dtype=np.float64)
            losses = {
                name: {key: float(loss) for key, loss in stored.items()} for name, stored in header["losses"].items()
            }
            chosen = {name: plain.items(header["chosen"], name, str, "The estimate") for name in header["chosen"]}
            found = cls(data, q, model, losses, chosen)
            found._check()
            check_members(arrays, found._pack()[1], "estimate")
            return found

    def _check(self) -> None:
        """Refuse parts that contradict each other."""
        q = self.q
        if q.shape != (self.data.n_rows, len(self.data.groups), 2) or not (np.isfinite(q) & (q > 0)).all():
            raise InputError("the probabilities of group and label are not numbers above 0")
        if np.abs(q.sum(axis=(1, 2)) - 1).max(initial=0.0) > _ROUNDING:
            raise InputError("the probabilities of group and label of a row do not sum to 1")
        questions = {"P(Y|x)"} <= self.losses.keys() == self.chosen.keys()
        known = [loss for losses in self.losses.values() for loss in losses.values()]
        if not questions or not all("chosen" in losses for losses in self.losses.values()):
            raise InputError("the losses of the learners are not there")
        if not all(math.isfinite(loss) and loss >= 0 for loss in known):
            raise InputError("a loss of a learner is not a number of at least 0")
        if not all(isinstance(name, str) for learners in self.chosen.values() for name in learners):
            raise InputError("a name of a learner is not text")


def mean_difference(calibration: pa.Table) -> float:
    """Return the mean absolute difference between estimate and what came true in a table of `Outcome.calibration`."""
    rows = calibration["rows"].to_numpy()
    off = np.abs(calibration["estimate"].to_numpy() - calibration["came true"].to_numpy())
    return float(rows @ off / rows.sum())


def losses_in_words(
    losses: Mapping[str, Mapping[str, float]], chosen: Mapping[str, tuple[str, ...]], group_loss: float
) -> str:
    """Say the log-losses of label and group, and by which learners."""
    label = f"{losses['P(Y|x)']['chosen']:.4f} for the label by {' and '.join(chosen['P(Y|x)'])}"
    questions = [name for name in losses if name != "P(Y|x)"]
    group = "; there is one group"
    if len(questions) == 1:
        (name,) = questions
        group = f", {losses[name]['chosen']:.4f} for the group by {' and '.join(chosen[name])}"
    elif questions:
        group = f", {group_loss:.4f} for the group in {len(questions)} two-way splits"
    return f"Log-loss: {label}{group}."


def difference_in_words(difference: float) -> str:
    """Say how far estimates are off."""
    return (
        f"Estimates and what came true differ by {difference:.4f} on average over groups, labels and bins, chance "
        "included."
    )


def draw_calibration(calibration: pa.Table, groups: tuple[str, ...], ax: Axes | None) -> Axes:
    """Draw a table of `Outcome.calibration`."""
    found = calibration.to_pylist()
    with figure_style():
        ax = axes_or_new(ax, (5.6, 4.4))
        ax.axline((0, 0), slope=1, color=MUTED, linewidth=1)
        for g, name in enumerate(groups):
            for y in (0, 1):
                points = [row for row in found if row["group"] == name and row["label"] == y]
                ax.errorbar(
                    [row["estimate"] for row in points],
                    [row["came true"] for row in points],
                    yerr=[2 * row["standard error"] for row in points],
                    fmt="o",
                    markersize=5,
                    elinewidth=1,
                    color=nth_colour(g),
                    markerfacecolor=nth_colour(g) if y else "white",
                    label=plain_text(f"label {y}, {name}"),
                )
        ax.set_xlabel("mean estimate of group and label; bars: two standard errors")
        ax.set_ylabel("share that came true (held out)")
        ax.legend(fontsize="small", ncols=1 + len(groups) // 5)
    return ax
