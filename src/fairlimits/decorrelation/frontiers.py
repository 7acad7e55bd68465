"""`decorrelation_frontier`: accuracy against correlation, over the weight of the one against the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import of_user_kind
from fairlimits._util.memory import refuse_too_many
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.decorrelation.exact import ExactProgram
from fairlimits.decorrelation.solving import make_problem, scaled
from fairlimits.decorrelation.weights import ACCURACY_WEIGHT, check_weight
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits import CellPolicy, Rule, plug_in_accuracy
from fairlimits.notions import check_tolerances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_WEIGHTS = np.concatenate([[0.0], np.geomspace(0.02, 200, 161)])
"""Weights of the correlation, against an accuracy that weighs 15 as in the paper."""

# Memory of a point at least, beside its scores.
_POINT_BYTES = 2000

_KIND = "decorrelation frontier"
_ARRAYS = ("weights", "accuracy", "correlation", "scores")

# Solvers work to about this precision.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class DecorrelationFrontier(Shown):
    """Accuracy and correlation of optimal maps, over the weight of the correlation.

    Parameters
    ----------
    distribution : CellDistribution
        What the maps are for: all figures are plug-in figures of it.
    aware : bool
        Whether rule and maps see the group.
    tolerances : mapping of str to float
        Largest gaps after the map.
    neighbours : Neighbourhood
        What individual fairness compares.
    accuracy_weight : float
        The weight of accuracy.
    weights : ndarray of shape (P,)
        The weights of correlation.
    accuracy, correlation : ndarray of shape (P,)
        What an optimal map attains at each weight.
    scores : ndarray of shape (P, N) or (P, N, G)
        Its scores after the map.
    """

    distribution: CellDistribution
    aware: bool
    tolerances: Mapping[str, float]
    neighbours: Neighbourhood
    accuracy_weight: float
    weights: Floats
    accuracy: Floats
    correlation: Floats
    scores: Floats

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def objective(self) -> Floats:
        """The optimal objective at each weight."""
        return self.accuracy_weight * self.accuracy - self.weights * self.correlation

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.distribution.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Weights, accuracy, correlation and objective as a table, a row for each weight."""
        return pa.table(
            {
                "correlation weight": self.weights,
                "accuracy": self.accuracy,
                "correlation": self.correlation,
                "objective": self.objective,
            }
        )

    def summary(self) -> str:
        """Say how far accuracy and correlation reach over the weights."""
        sees = "group seen" if self.aware else "group hidden"
        least, most = int(self.correlation.argmin()), int(self.correlation.argmax())
        return (
            f"Over {len(self)} weights, {sees}: correlation {self.correlation[most]:.4f} at accuracy "
            f"{self.accuracy[most]:.4f}, down to {self.correlation[least]:.4f} at {self.accuracy[least]:.4f} (plug-in)."
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw accuracy against correlation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed on to matplotlib's ``plot``, such as ``label`` or ``color``.
        """
        with figure_style():
            ax = axes_or_new(ax)
            name = "aware" if self.aware else "unaware"
            order = np.lexsort((self.accuracy, self.correlation))
            given = {"label": name, "color": colour_of(name), "marker": ".", **options}
            ax.plot(self.correlation[order], self.accuracy[order], **given)
            ax.set_xlabel("correlation of features and group: 0 independent, 2 told apart")
            ax.set_ylabel("accuracy (plug-in)")
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the frontier and its distribution to one file (``.npz``, without pickle)."""
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "aware": self.aware,
            "tolerances": dict(self.tolerances),
            "neighbours": self.neighbours.to_dict(),
            "accuracy_weight": self.accuracy_weight,
        }
        curves = {
            "weights": self.weights,
            "accuracy": self.accuracy,
            "correlation": self.correlation,
            "scores": self.scores,
        }
        write_archive(path, _KIND, header, curves | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DecorrelationFrontier:
        """Read what `save` wrote."""
        header, arrays = read_archive(path, _KIND)
        with reading("frontier"):
            inner = unnest("distribution", arrays)
            check_members(arrays, {*_ARRAYS, *nest("distribution", inner)}, "frontier")
            dist = CellDistribution._unpack(header["distribution"], inner)
            found = cls(
                distribution=dist,
                aware=plain.field(header, "aware", bool, "The file"),
                tolerances=check_tolerances(header["tolerances"]),
                neighbours=Neighbourhood(**header["neighbours"]),
                accuracy_weight=float(header["accuracy_weight"]),
                **{name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS},
            )
            found._check()
            return found

    def _check(self) -> None:
        """Refuse curves that cannot be, or are not those of the scores."""
        for scores in self.scores:
            CellPolicy(self.distribution, scores, self.aware)._check()
        curves = (self.weights, self.accuracy, self.correlation)
        if not len(self.scores) or {curve.shape for curve in curves} != {(len(self.scores),)}:
            raise InputError("its curves have other points than its scores")
        weights = np.append(self.weights, self.accuracy_weight)
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise InputError("its weights are not numbers of at least 0")
        if not ((self.correlation >= -_ROUNDING) & (self.correlation <= 2 + _ROUNDING)).all():
            raise InputError("its correlations do not lie between 0 and 2")
        accuracies = [plug_in_accuracy(self.distribution, scores, self.aware) for scores in self.scores]
        if not (np.abs(self.accuracy - accuracies) <= _ROUNDING).all():
            raise InputError("its accuracies are not those of its scores")

    def __repr__(self) -> str:
        return (
            f"DecorrelationFrontier({'aware' if self.aware else 'unaware'}, {len(self)} weights, accuracy "
            f"{self.accuracy.min():.4f} to {self.accuracy.max():.4f}, correlation {self.correlation.min():.4f} "
            f"to {self.correlation.max():.4f})"
        )


def decorrelation_frontier(
    dist: CellDistribution,
    rule: Rule,
    weights: ArrayLike | None = None,
    *,
    accuracy_weight: float = ACCURACY_WEIGHT,
    tolerances: Mapping[str, float] | None = None,
    neighbours: Neighbourhood | None = None,
    progress: Progress | None = None,
) -> DecorrelationFrontier:
    """Trace what decorrelation costs a rule: accuracy against correlation, over their weights.

    Each point is a proven optimum and takes milliseconds, but has no map: for that, pass a weight to `decorrelate`. As
    the weight rises, the correlation never rises.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    rule : Rule
        The rule that decides on the mapped people, on the cells of `dist`.
    weights : array-like of shape (P,), optional
        Weights of the correlation, in any order; by default 0 and 161 weights from 0.02 to 200.
    accuracy_weight : float, default=15.0
        The weight of accuracy.
    tolerances : mapping of str to float, optional
        Largest gaps after the map; by default those of the rule.
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares; by default what the rule's did.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    DecorrelationFrontier

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> curve = fl.decorrelation.decorrelation_frontier(dist, fl.solve(dist, {}), [0.0, 5.0, 25.0])
    >>> curve.correlation.round(3).tolist()
    [1.167, 0.0, 0.0]
    """
    refuse_too_many(weights, "weights", _POINT_BYTES)
    try:
        chosen = np.array(DEFAULT_WEIGHTS if weights is None else weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"The weights are {weights!r}; give an array of numbers.") from None
    if chosen.ndim != 1 or len(chosen) == 0 or not (np.isfinite(chosen) & (chosen >= 0)).all():
        raise InputError("The weights must be a list of at least one finite number, each at least 0.")
    of_accuracy = check_weight(accuracy_weight)
    program = ExactProgram(make_problem(dist, rule, tolerances, neighbours))
    tell = or_silent(progress)
    found = []
    for point, weight in enumerate(chosen.tolist(), start=1):
        found.append(program.solve(*scaled(of_accuracy, weight)[1]))
        tell(point / len(chosen), f"weight {point} of {len(chosen)}")
    return DecorrelationFrontier(
        distribution=dist,
        aware=rule.aware,
        tolerances=program.problem.tolerances,
        neighbours=program.problem.neighbours,
        accuracy_weight=of_accuracy,
        weights=chosen,
        accuracy=np.array([point.accuracy for point in found]),
        correlation=np.array([point.correlation for point in found]),
        scores=program.problem.variables.expand(np.stack([point.scores for point in found])),
    )
