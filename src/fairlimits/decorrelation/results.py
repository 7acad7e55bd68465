"""`Decorrelation`: a map of people to cells, and everything that can be read off it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.types import Floats
from fairlimits.data import Dataset
from fairlimits.decorrelation.applying import Unseen, draw_bins, labelled, mapped_table, parts_for_rows, read_rows
from fairlimits.decorrelation.certificates import Certificate, certify
from fairlimits.decorrelation.exact import LARGEST_CORRELATION
from fairlimits.decorrelation.figures import draw_before_and_after
from fairlimits.decorrelation.maps import (
    Maps,
    largest_difference,
    mapped_laws,
    mapped_scores,
    moved,
)
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits import by_group, individual_gap, plug_in_accuracy
from fairlimits.notions import ALL_NOTIONS, INDIVIDUAL, check_tolerances, group_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["exact", "multipliers"]
Choice = Literal["least distortion", "distortion traded", "two points", "last iterate"]

_KIND = "plan"

# Columns of a map sum to 1 up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Decorrelation(Checked, Shown):
    """A map of people to cells that keeps a rule useful and hides their group, with all that it attains.

    Made by `decorrelate`. Every figure is read off the map itself.

    Parameters
    ----------
    distribution : CellDistribution
        What the map was made on: all figures are plug-in figures of it.
    scores : ndarray of shape (N,) or (N, G)
        The scores of the rule, which decides on mapped people.
    aware : bool
        Whether the rule, and the map, see the group.
    tolerances : mapping of str to float
        The tolerances that were asked for, of the scores after the map.
    neighbours : Neighbourhood
        What individual fairness compares.
    accuracy_weight, correlation_weight : float
        Weights of the objective, ``accuracy_weight * accuracy - correlation_weight * correlation``.
    maps : tuple of ndarray
        Column j of a map has the probabilities of where people of cell j are sent. Unaware: one map of shape
        (N, N). Aware: one for each group, of shape (N * G, N); row ``g * N + i`` is cell i scored as group g.
    optimum : float
        The largest objective that any map within the tolerances can have, proven.
    method : {"exact", "multipliers"}
        How the map was found.
    choice : {"least distortion", "distortion traded", "two points", "last iterate"}
        Which map it is: the one that moves people least among all optimal ones; the best one if distortion
        has a weight too; the one with two targets that proves the optimum; or where the multipliers ended.
    distortion_weight : float, optional
        The weight of distortion, if it was traded.
    optimality_gap : float
        What is left between the map and a proven bound: of its distortion (least), of the objective less the
        weighted distortion (traded), of the objective (two points); NaN for the multipliers, who prove nothing.
    converged : bool
        Whether the method came to its end; only the multipliers can fail to.
    iterations : int
        Iterations of the multipliers, or 0.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> plan = fl.decorrelate(dist, fl.solve(dist, {"DP": 0.1}))
    >>> round(plan.correlation, 3), round(plan.kept_in_place, 3)
    (0.0, 0.6)
    >>> round(plan.accuracy, 3)
    0.5
    """

    distribution: CellDistribution
    scores: Floats
    aware: bool
    tolerances: Mapping[str, float]
    neighbours: Neighbourhood
    accuracy_weight: float
    correlation_weight: float
    maps: Maps
    optimum: float
    method: Method
    choice: Choice
    distortion_weight: float | None
    optimality_gap: float
    converged: bool
    iterations: int

    def __post_init__(self) -> None:
        cells, groups = self.distribution.n_cells, self.distribution.n_groups
        if self.scores.shape != ((cells, groups) if self.aware else (cells,)):
            raise InputError(
                f"The scores have shape {self.scores.shape}, which does not fit {cells} cells and {groups} groups."
            )
        if not ((self.scores >= 0) & (self.scores <= 1)).all():
            raise InputError("The scores are not probabilities; each must lie between 0 and 1.")
        shape = (cells * groups, cells) if self.aware else (cells, cells)
        if [one.shape for one in self.maps] != [shape] * (groups if self.aware else 1):
            raise InputError(
                f"The maps have the shapes {[one.shape for one in self.maps]}; for {cells} cells and {groups} groups "
                f"{'each group needs one' if self.aware else 'there must be one'} of shape {shape}."
            )
        for one in self.maps:
            if not (np.isfinite(one).all() and (one >= 0).all() and np.allclose(one.sum(axis=0), 1, atol=_ROUNDING)):
                raise InputError("The columns of a map must be probabilities that sum to 1.")
            one.setflags(write=False)

    @cached_property
    def mapped_scores(self) -> Floats:
        """Score of each cell (aware: and group) after the map, of the shape of `scores`."""
        return mapped_scores(self.scores, self.maps)

    @cached_property
    def accuracy(self) -> float:
        """Accuracy of the rule on mapped people: the probability that it decides 1 exactly if the label is 1."""
        return plug_in_accuracy(self.distribution, self.mapped_scores, self.aware)

    @cached_property
    def rule_accuracy(self) -> float:
        """Accuracy of the rule on people who are not mapped."""
        return plug_in_accuracy(self.distribution, self.scores, self.aware)

    @cached_property
    def correlation(self) -> float:
        """Largest L1 distance between two groups' laws of mapped features: 0 independent, 2 fully told apart."""
        return largest_difference(mapped_laws(self.distribution, self.maps))

    @cached_property
    def baseline_correlation(self) -> float:
        """The correlation without a map; 2 if the rule sees the group, which is then among its features."""
        laws = self.distribution.mass.sum(axis=2).T
        laws = laws[laws.sum(axis=1) > 0]
        if self.aware and len(laws) > 1:
            return LARGEST_CORRELATION
        return largest_difference(laws / laws.sum(axis=1, keepdims=True))

    @cached_property
    def gaps(self) -> dict[str, float]:
        """Gap of every notion after the map, constrained or not (see `Rule.gaps`)."""
        return self._gaps(self.mapped_scores)

    @cached_property
    def rule_gaps(self) -> dict[str, float]:
        """Gap of every notion without a map."""
        return self._gaps(self.scores)

    def _gaps(self, scores: Floats) -> dict[str, float]:
        dist = self.distribution
        gaps = group_gaps(dist.rates, by_group(scores, self.aware, dist.n_groups))
        individual = individual_gap(dist, scores, self.aware, self.neighbours)
        return {name: float(gap) for name, gap in gaps.items()} | {INDIVIDUAL: individual}

    @cached_property
    def _moved(self) -> tuple[float, float]:
        return moved(self.distribution, self.maps)

    @property
    def distortion(self) -> float:
        """Mean distance in feature space that people are moved."""
        return self._moved[0]

    @property
    def kept_in_place(self) -> float:
        """Mass of the people who stay in their cell."""
        return self._moved[1]

    @property
    def objective(self) -> float:
        """The objective that the map attains."""
        return self.accuracy_weight * self.accuracy - self.correlation_weight * self.correlation

    def figures(self) -> list[dict[str, Any]]:
        """Figures before and after the map as plain data, a row for each."""
        rows: list[tuple[str, float, float]] = [
            ("correlation", self.baseline_correlation, self.correlation),
            ("accuracy", self.rule_accuracy, self.accuracy),
            *((f"gap {name}", self.rule_gaps[name], self.gaps[name]) for name in ALL_NOTIONS),
            ("mass kept in place", 1.0, self.kept_in_place),
            ("mean distance moved, cell to cell", 0.0, self.distortion),
        ]
        return [{"measure": name, "before": before, "after": after} for name, before, after in rows]

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.distribution.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Figures before and after the map as a table, a row for each."""
        return pa.Table.from_pylist(self.figures())

    def summary(self) -> str:
        """Say what the map does to correlation and accuracy, and how many people it moves."""
        sees = "sees the group" if self.aware else "does not see the group"
        left = ", ".join(
            f"{name} {self.gaps[name]:.4f}" for name in self.tolerances if not np.isnan(self.gaps.get(name, np.nan))
        )
        text = (
            f"The map takes the correlation of features and group from {self.baseline_correlation:.4f} to "
            f"{self.correlation:.4f}, and the accuracy of a rule that {sees} from {self.rule_accuracy:.4f} to "
            f"{self.accuracy:.4f} (plug-in). It leaves {self.kept_in_place:.1%} of the people in their cell."
        )
        if left:
            text += f" Gaps after it: {left}."
        if not self.converged:
            text += f" It was stopped at the limit of {self.iterations} iterations."
        return f"{text} What it keeps on rows that took no part, certificate() says."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw correlation, accuracy and the gap of every notion, before and after the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        with figure_style():
            return draw_before_and_after(self.figures(), axes_or_new(ax))

    def apply(
        self, rows: Any, random_state: int = 0, *, unseen: Unseen = "refuse", with_label: bool = False
    ) -> pa.Table:
        """Map rows: their cells to cells drawn from the map, and those to values of their own.

        The values are means of numbers and most frequent categories of the target cell, of at least five
        people; a number that fewer of them have is missing. They do not depend on the row's own values beyond its
        cell, also where the cell stays the same.

        Parameters
        ----------
        rows : Dataset, or a pandas, polars or Arrow table
            The rows, seen before or not. A table needs the features, and if the plan is aware the sensitive
            columns; no label.
        random_state : int, default=0
            Seed of the draws; the same seed gives the same rows.
        unseen : {"refuse", "missing"}, default="refuse"
            What to do with a category in a table that the plan does not know: raise an error, or take it as
            missing, which is as near to all categories where no missing value was known.
        with_label : bool, default=False
            Whether to put each row's own label beside its mapped features, for whoever is to learn from them. Where
            labels depend on the group, they give some of it away: the certificate says how much.

        Returns
        -------
        pyarrow.Table
            A row for each row, in the same order: the features alone, integers as integers, without group, weight,
            label (unless it was asked for) or anything else of the original; if the plan is aware, also
            ``scored_as``, the group that the rule is to take the row for.
        """
        found = read_rows(self.distribution, self.aware, rows, unseen)
        table = mapped_table(self.distribution, self.aware, draw_bins(self.maps, found, random_state))
        return labelled(table, parts_for_rows(self.distribution)[0], rows) if with_label else table

    def certificate(
        self,
        held_out: Dataset,
        *,
        train: Dataset | None = None,
        permutations: int = 200,
        confidence: float = 0.95,
        random_state: int = 0,
    ) -> Certificate:
        """Try the map on rows that it was not made from.

        Parameters
        ----------
        held_out : Dataset
            Rows that had no part in cells, rule and map, with their groups and labels.
        train : Dataset, optional
            Other such rows for the adversaries to learn on; by default half of the held-out rows are taken
            for that, and all figures are of the other half.
        permutations : int, default=200
            Number of times the groups are shuffled.
        confidence : float, default=0.95
            Of the intervals.
        random_state : int, default=0
            Seed of everything random.

        Returns
        -------
        Certificate
        """
        return certify(
            self.distribution,
            self.maps,
            held_out,
            train=train,
            permutations=permutations,
            confidence=confidence,
            random_state=random_state,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan and its distribution to one file (``.npz``, without pickle)."""
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "aware": self.aware,
            "tolerances": dict(self.tolerances),
            "neighbours": self.neighbours.to_dict(),
            "accuracy_weight": self.accuracy_weight,
            "correlation_weight": self.correlation_weight,
            "optimum": self.optimum,
            "method": self.method,
            "choice": self.choice,
            "distortion_weight": self.distortion_weight,
            "optimality_gap": self.optimality_gap,
            "converged": self.converged,
            "iterations": self.iterations,
        }
        of_map = {"scores": self.scores, "maps": np.stack(self.maps)}
        write_archive(path, _KIND, header, of_map | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Decorrelation:
        """Read what `save` wrote."""
        return cls._unpack(*read_archive(path, _KIND))

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Decorrelation:
        with reading("plan"):
            weight = header["distortion_weight"]
            inner = unnest("distribution", arrays)
            check_members(arrays, {"scores", "maps", *nest("distribution", inner)}, "plan")
            found = cls(
                distribution=CellDistribution._unpack(header["distribution"], inner),
                scores=np.asarray(arrays["scores"], dtype=np.float64),
                aware=plain.field(header, "aware", bool, "The file"),
                tolerances=check_tolerances(header["tolerances"]),
                neighbours=Neighbourhood(**header["neighbours"]),
                accuracy_weight=float(header["accuracy_weight"]),
                correlation_weight=float(header["correlation_weight"]),
                maps=tuple(np.asarray(arrays["maps"], dtype=np.float64)),
                optimum=float(header["optimum"]),
                method=header["method"],
                choice=header["choice"],
                distortion_weight=None if weight is None else float(weight),
                optimality_gap=float(header["optimality_gap"]),
                converged=plain.field(header, "converged", bool, "The file"),
                iterations=int(header["iterations"]),
            )
            found._check()
            return found

    def _check(self) -> None:
        """Refuse figures that cannot be, or are better than what is proven to be best."""
        numbers = dict.fromkeys(("accuracy_weight", "correlation_weight", "optimum", "optimality_gap"), (int, float))
        check_kinds(self, neighbours=Neighbourhood, iterations=int, **numbers)
        check_kinds(self, aware=bool, converged=bool, distortion_weight=(int, float, type(None)))
        if self.method not in get_args(Method) or self.choice not in get_args(Choice):
            raise InputError(f"it is of the unknown kind {self.method!r}, {self.choice!r}")
        check_tolerances(self.tolerances)
        weights = (self.accuracy_weight, self.correlation_weight, self.distortion_weight or 0.0)
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not math.isfinite(self.optimum):
            raise InputError("its weights and its optimum are not numbers of at least 0")
        if self.optimality_gap < -_ROUNDING or math.isinf(self.optimality_gap) or not 0 <= self.iterations < 2**63:
            raise InputError("its optimality gap, or its number of iterations, cannot be")
        if self.method == "exact":
            value = self.accuracy_weight * self.accuracy - self.correlation_weight * self.correlation
            if value > self.optimum + _ROUNDING * (1 + sum(weights)) or math.isnan(self.optimality_gap):
                raise InputError(f"its map reaches {value:g}, which is more than its proven optimum {self.optimum:g}")

    def __repr__(self) -> str:
        end = "" if self.converged else f", stopped at the limit of {self.iterations} iterations"
        return (
            f"Decorrelation({self.choice}{end}; {'aware' if self.aware else 'unaware'}; correlation "
            f"{self.baseline_correlation:.4f} to {self.correlation:.4f}, accuracy {self.rule_accuracy:.4f} to "
            f"{self.accuracy:.4f}, {self.kept_in_place:.1%} kept in place)"
        )
