"""`Frontier`: the best rules over a range of what is asked, with all that can be read off them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.progress import Progress
from fairlimits._util.states import Checked, check_items, check_kinds
from fairlimits._util.types import Flags, Floats
from fairlimits.errors import FileError, InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.bands import Band, Retrace, find_band
from fairlimits.limits.determinism import Determinism
from fairlimits.limits.figures import draw_frontier
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.rules import OnLabels, Rule, read_prices
from fairlimits.notions import (
    ACCURACY,
    Evaluation,
    Objective,
    Requirement,
    check_names,
    check_tolerances,
    pack_objective,
    pack_requirement,
    unpack_objective,
    unpack_requirements,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KIND = "frontier"
_ARRAYS = ("grid", "accuracy", "scores", "optimality_gap")


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(Checked, Shown):
    """The best rules over a range of tolerances, or of ratios.

    Parameters
    ----------
    rules : tuple of Rule
        The best rule at each point. Between two breakpoints of an exact frontier, the same mix of the two
        rules is optimal. All figures of the rules are plug-in figures of their law.
    grid : mapping of str to ndarray of shape (P,)
        Tolerance of each notion at each point; for a frontier of ratios, the ratios by what they are of.
    exact : bool
        Whether the points are all breakpoints of the curve, so that straight lines between them are exact.
    held_out : tuple of Evaluation
        How the rules do on people that took no part in making them, after `evaluate`; else empty.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> curve = fl.frontier(dist, "DP", [0.0, 0.2, 0.4], aware=True)
    >>> curve.accuracy.round(3).tolist()
    [0.63, 0.654, 0.678]
    >>> curve.to_frame().column_names[:2]
    ['tolerance DP', 'accuracy']
    """

    rules: tuple[Rule, ...]
    grid: Mapping[str, Floats]
    exact: bool = False
    held_out: tuple[Evaluation, ...] = ()

    @property
    def aware(self) -> bool:
        """Whether the rules see the group."""
        return self.rules[0].aware

    @property
    def notions(self) -> tuple[str, ...]:
        """Names of the notions that are constrained."""
        return tuple(self.rules[0].tolerances)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What all rules keep besides."""
        last = self.rules[-1].requirements
        return tuple(requirement for requirement in self.rules[0].requirements if requirement in last)

    @property
    def objective(self) -> Objective:
        """What the rules are best at: accuracy, if nothing else was asked for."""
        return self.rules[0].objective

    @property
    def neighbours(self) -> Neighbourhood:
        """What individual fairness compares."""
        return self.rules[0].neighbours

    @property
    def bayes_accuracy(self) -> float:
        """Accuracy of the best rule without constraints."""
        return self.rules[0].bayes_accuracy

    @property
    def distribution(self) -> CellDistribution:
        """The cells that the rules were solved on."""
        return self.rules[0].distribution

    @cached_property
    def scores(self) -> Floats:
        """Scores of the cells at each point, of shape (P, N) or (P, N, G)."""
        return np.stack([rule.scores for rule in self.rules])

    @cached_property
    def accuracy(self) -> Floats:
        """Optimal accuracy at each point, plug-in; held out after `evaluate`."""
        if self.held_out:
            return np.array([evaluation.accuracy.value for evaluation in self.held_out])
        return self.plug_in

    @cached_property
    def plug_in(self) -> Floats:
        """Accuracy of the rules on the law that they were solved on."""
        return np.array([rule.accuracy for rule in self.rules])

    @cached_property
    def value(self) -> Floats:
        """What the rules are best at, at each point (plug-in): accuracy, balanced accuracy or minus expected cost."""
        return np.array([rule.value for rule in self.rules])

    @property
    def tolerances(self) -> Floats | Mapping[str, Floats]:
        """Tolerances as one array where all notions share them, else one array for each notion."""
        first, *others = self.grid.values()
        return first if all(np.array_equal(first, other) for other in others) else self.grid

    @cached_property
    def gaps(self) -> dict[str, Floats]:
        """Attained gap of every notion at each point, constrained or not (see `Rule.gaps`)."""
        return {name: np.array([rule.gaps[name] for rule in self.rules]) for name in self.rules[0].gaps}

    @cached_property
    def is_constant(self) -> Flags:
        """At which points the best rule gives everybody the same score."""
        return np.array([rule.is_constant for rule in self.rules])

    @property
    def at(self) -> Floats:
        """Where the points lie: the tolerance, or ratio, that moves."""
        return next((values for values in self.grid.values() if np.ptp(values) > 0), next(iter(self.grid.values())))

    def __len__(self) -> int:
        return len(self.rules)

    def band(
        self,
        *,
        resamples: int = 200,
        confidence: float = 0.95,
        random_state: int = 0,
        client: Any = None,
        progress: Progress | None = None,
    ) -> Band:
        """Find how far the frontier would move if other people had been counted.

        Parameters
        ----------
        resamples : int, default=200
            How often the people are drawn anew.
        confidence : float, default=0.95
            Of the band, at each point by itself.
        random_state : int, default=0
            Seed; the same seed gives the same band, on any number of workers.
        client : distributed.Client, optional
            The Dask cluster to share the resamples out to.
        progress : callable, optional
            Called with the fraction done and a few words.

        Notes
        -----
        The frontier must be one of cells with counts. With a generator, as many people are drawn from it as there are
        real rows; rows of one cell, group and label count the same, also where they have weights. The band is about
        the law on these cells: that other cells, or other features, would allow better rules is not in it. It is made
        at each point by itself, so where small groups leave much open its upper end may lie above what looser
        tolerances reach.
        """
        return find_band(
            self.distribution,
            self.at,
            self.value,
            Retrace(self.grid, self.aware, self.neighbours, self.requirements, self.objective),
            resamples=resamples,
            confidence=confidence,
            random_state=random_state,
            client=client,
            progress=progress,
        )

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.rules[0].frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """What was asked, accuracy, its loss and every attained gap as a table, a row for each point.

        With a confidence it has the upper limits of the gaps that hold with it, whether they are within the tolerances,
        and the share of decisions that do not depend on the person. After `evaluate` the held-out figures are beside.
        """
        ratios = self._ratios
        columns: dict[str, Any] = {
            (name if name in ratios else f"tolerance {name}"): values for name, values in self.grid.items()
        }
        if ratios:
            columns["attained"] = np.array([list(rule.attained.values())[-1] for rule in self.rules])
        columns |= {"accuracy": self.plug_in, "loss": self.bayes_accuracy - self.plug_in}
        columns["same score for all"] = self.is_constant
        if self.objective != ACCURACY:
            columns[str(self.objective)] = self.value
        columns |= {f"gap {name}": values for name, values in self.gaps.items()}
        if self.rules[0].on_labels is not None:
            shown = [math.nan if rule.on_labels is None else rule.on_labels.accuracy for rule in self.rules]
            columns["accuracy on labels"] = np.array(shown)
        if self.rules[0].guarantee is not None:
            known = [rule.guarantee for rule in self.rules if rule.guarantee is not None]
            columns |= {
                f"at most {name}": np.array([guarantee.limits[name] for guarantee in known]) for name in self.notions
            }
            columns["certified"] = np.array([guarantee.certified for guarantee in known])
            columns["diluted"] = np.array([guarantee.diluted for guarantee in known])
        beside = [rule.determinism for rule in self.rules if rule.determinism is not None]
        if len(beside) == len(self.rules):
            columns["accuracy with coins"] = np.array([each.accuracy for each in beside])
            columns["no coins cost at most"] = np.array([each.cost_at_most for each in beside])
        records = [evaluation.to_dict() for evaluation in self.held_out]
        for key in records[0] if records else ():
            if key != "plug-in accuracy":
                columns[f"held out: {key}"] = np.array([record[key] for record in records])
        return pa.table(columns)

    def summary(self) -> str:
        """Say where the frontier starts, where it ends, and what that costs."""
        sees = "group seen" if self.aware else "group hidden"
        what = " and ".join(self.grid)
        ends = ", ".join(f"{self.plug_in[i]:.4f} at {self.at[i]:g}" for i in (0, len(self) - 1))
        text = f"{what}, {sees}: accuracy {ends} (plug-in); without any constraint {self.bayes_accuracy:.4f}."
        if self.held_out:
            text += f" Held out: {self.held_out[0].accuracy} at {self.at[0]:g}, {self.held_out[-1].accuracy} at "
            text += f"{self.at[-1]:g}."
        if self.is_constant.any():
            text += f" The best rule has the same score for everybody at {_listed(self.at[self.is_constant])}."
        beside = [rule.determinism for rule in self.rules if rule.determinism is not None]
        if beside:
            dear = max(beside, key=lambda each: each.cost_at_most)
            text += f" {dear.cost_in_words} at any point (proven)."
        known = [rule.guarantee for rule in self.rules if rule.guarantee is not None]
        if known:
            certified = np.array([guarantee.certified for guarantee in known])
            where = "nowhere" if not certified.any() else f"at {_listed(self.at[certified])}"
            text += f" With confidence {known[0].confidence:g}, each point by itself, the tolerance is kept {where}."
        return text

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw accuracy, or what else the rules are best at, against the tolerance or ratio that moves.

        After `evaluate` the held-out accuracy is drawn with its band, and the plug-in accuracy dashed beside it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed on to matplotlib's ``plot``, such as ``label`` or ``color``.
        """
        with figure_style():
            return draw_frontier(self, axes_or_new(ax), options)

    @property
    def _ratios(self) -> tuple[str, ...]:
        """What the grid has that are ratios of rates, not tolerances of notions."""
        return tuple(name for name in self.grid if name not in self.notions)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a frontier of rules on cells, and its distribution, to one file (``.npz``, without pickle)."""
        if self._ratios:
            raise InputError("A frontier of ratios is not saved; save its rules one by one.")
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "notions": list(self.grid),
            "aware": self.aware,
            "neighbours": self.neighbours.to_dict(),
            "bayes_accuracy": self.bayes_accuracy,
            "exact": self.exact,
            "requirements": [pack_requirement(requirement) for requirement in self.requirements],
            "objective": pack_objective(self.objective),
            "made": self.rules[0].made,
            "guarantees": [None if rule.guarantee is None else rule.guarantee.to_dict() for rule in self.rules],
            "determinism": [None if rule.determinism is None else rule.determinism.to_dict() for rule in self.rules],
            "on_labels": [None if rule.on_labels is None else rule.on_labels.to_dict() for rule in self.rules],
            "prices": [None if rule.prices is None else plain.without_nan(rule.prices) for rule in self.rules],
        }
        curves = {
            "grid": np.stack(list(self.grid.values())),
            "accuracy": self.plug_in,
            "scores": self.scores,
            "optimality_gap": np.array([rule.optimality_gap for rule in self.rules]),
        }
        write_archive(path, _KIND, header, curves | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Frontier:
        """Read what `save` wrote."""
        header, arrays = read_archive(path, _KIND)
        with reading("frontier"):
            inner = unnest("distribution", arrays)
            check_members(arrays, {*_ARRAYS, *nest("distribution", inner)}, "frontier")
            dist = CellDistribution._unpack(header["distribution"], inner)
            names = check_names(header["notions"])
            grid, accuracy, scores, left = (np.asarray(arrays[key], dtype=np.float64) for key in _ARRAYS)
            aware = plain.field(header, "aware", bool, "The file")
            cells = (dist.n_cells, dist.n_groups) if aware else (dist.n_cells,)
            fits = grid.shape == (len(names), len(accuracy)) and scores.shape == (len(accuracy), *cells)
            if not fits or left.shape != accuracy.shape or not len(accuracy):
                raise FileError("The file's frontier does not fit its cells; save it again.")
            rule = Rule(
                policy=CellPolicy(dist, scores[0], aware),
                tolerances={},
                accuracy=0.0,
                bayes_accuracy=float(header["bayes_accuracy"]),
                requirements=unpack_requirements(header),
                objective=unpack_objective(header["objective"]),
                neighbours=Neighbourhood(**header["neighbours"]),
                made=str(header["made"]),
            )
            rules = tuple(
                replace(
                    rule,
                    policy=CellPolicy(dist, scores[at], aware),
                    tolerances=check_tolerances(dict(zip(names, grid[:, at].tolist(), strict=True))),
                    accuracy=float(accuracy[at]),
                    optimality_gap=float(left[at]),
                    guarantee=Guarantee.from_dict(known),
                    determinism=Determinism.from_dict(beside),
                    on_labels=OnLabels.from_dict(on_labels),
                    prices=read_prices(prices),
                )
                for at, known, beside, on_labels, prices in zip(
                    range(len(accuracy)),
                    *(header[key] for key in ("guarantees", "determinism", "on_labels", "prices")),
                    strict=True,
                )
            )
            found = cls(
                rules, dict(zip(names, grid, strict=True)), exact=plain.field(header, "exact", bool, "The file")
            )
            found._check()
            return found

    def _check(self) -> None:
        """Refuse rules that are damaged, or not those of the grid."""
        check_kinds(self, grid=Mapping, exact=bool, held_out=tuple)
        check_items(self, rules=Rule)
        for values in self.grid.values():
            if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype != np.float64:
                raise InputError("its tolerances are not numbers")
        for rule in self.rules:
            rule._check()
        points = {len(self.rules), *(len(values) for values in self.grid.values())}
        if len(points) != 1 or not self.rules or not set(self.notions) <= set(self.grid):
            raise InputError("its rules are not those of its tolerances")
        if self.exact and (np.diff(self.at) < 0).any():
            raise InputError("its breakpoints are not in order")

    def __repr__(self) -> str:
        what = f"{' + '.join(self.grid)}, {'aware' if self.aware else 'unaware'}"
        points = f"{len(self)} {'breakpoints' if self.exact else 'points'}"
        return f"Frontier({what}, {points}, accuracy {self.accuracy.min():.4f} to {self.accuracy.max():.4f})"


def _listed(values: Floats) -> str:
    """A few numbers one by one, many as a range."""
    if len(values) <= 3:
        return ", ".join(f"{value:g}" for value in values)
    return f"{values.min():g} to {values.max():g} ({len(values)} points)"
