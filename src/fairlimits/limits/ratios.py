"""`ratio_frontier`: the best rule at each ratio of rates, such as the selection rates of the four-fifths rule.

The optimum is not concave in the ratio, for the ratio multiplies a variable: the points are proven optima, and nothing
is said about what lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.rules import Rule, solve
from fairlimits.notions import ACCURACY, Objective, Ratio, Requirement, rate_name, read_requirements

DEFAULT_RATIOS = np.linspace(0.5, 1, 26)


@dataclass(frozen=True, eq=False, repr=False)
class RatioFrontier:
    """The best rule at each of some ratios.

    Parameters
    ----------
    rate : str
        The rate whose lowest value, over groups, is compared with its highest.
    ratios : ndarray of shape (P,)
        Smallest ratio allowed at each point.
    rules : tuple of Rule
        The rule at each point.
    """

    rate: str
    ratios: Floats
    rules: tuple[Rule, ...]

    @property
    def accuracy(self) -> Floats:
        """Accuracy at each point (plug-in)."""
        return np.array([rule.accuracy for rule in self.rules])

    @property
    def value(self) -> Floats:
        """What the rules are best at, at each point."""
        return np.array([rule.value for rule in self.rules])

    @property
    def objective(self) -> Objective:
        """What the rules are best at."""
        return self.rules[0].objective

    @property
    def bayes_accuracy(self) -> float:
        """Accuracy of the best rule without constraints."""
        return self.rules[0].bayes_accuracy

    def __len__(self) -> int:
        return len(self.rules)

    def to_frame(self) -> pa.Table:
        """Ratio asked for and attained, accuracy and every gap as a table, a row for each point."""
        columns: dict[str, Any] = {
            f"{self.rate} ratio": self.ratios,
            "attained": [Ratio(self.rate).value(rule.distribution.rates, rule.group_scores) for rule in self.rules],
            "accuracy": self.accuracy,
            "loss": self.bayes_accuracy - self.accuracy,
        }
        if self.objective != ACCURACY:
            columns[str(self.objective)] = self.value
        return pa.table(
            columns | {f"gap {name}": [rule.gaps[name] for rule in self.rules] for name in self.rules[0].gaps}
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw accuracy against the ratio; options go on to matplotlib's ``plot``."""
        with figure_style():
            ax = axes_or_new(ax)
            given = {"color": colour_of(self.rate), "label": f"{self.rate} ratio", **options}
            ax.plot(self.ratios, self.value, **given)
            ax.set_xlabel(f"smallest ratio allowed, {self.rate}")
            ax.set_ylabel(f"{self.objective.title} (plug-in)")
        return ax

    def __repr__(self) -> str:
        low, high = self.accuracy.min(), self.accuracy.max()
        return f"RatioFrontier({self.rate}, {len(self)} points, accuracy {low:.4f} to {high:.4f})"


def ratio_frontier(
    dist: CellDistribution,
    ratios: ArrayLike | None = None,
    *,
    rate: str = "selection rate",
    tolerances: Mapping[str, float] | None = None,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    progress: Progress | None = None,
) -> RatioFrontier:
    """Find the best rule at each of some ratios between the lowest and the highest rate of a group.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    ratios : array-like, optional
        Smallest ratios allowed, each in 0 to 1; by default 26 from 0.5 to 1.
    rate : str, default="selection rate"
        The rate: of selection, the ratio 0.8 is the four-fifths rule.
    tolerances, aware, neighbours, requirements, objective
        What else is asked of all rules (see `solve`).
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    try:
        asked = np.asarray(DEFAULT_RATIOS if ratios is None else ratios, dtype=np.float64)
    except (TypeError, ValueError):
        asked = np.zeros(0)
    if asked.ndim != 1 or not len(asked) or not ((asked >= 0) & (asked <= 1)).all():
        raise InputError("The ratios are no list of numbers in 0 to 1; give some, such as [0.5, 0.8, 1].")
    others = read_requirements(requirements)
    rules = []
    for done, ratio in enumerate(asked.tolist(), 1):
        rules.append(
            solve(
                dist,
                {} if tolerances is None else tolerances,
                aware=aware,
                neighbours=neighbours,
                requirements=(*others, Ratio(rate, ratio)),
                objective=objective,
            )
        )
        if progress is not None:
            progress(done / len(asked), f"ratio {done} of {len(asked)}")
    return RatioFrontier(rate_name(rate), asked, tuple(rules))
