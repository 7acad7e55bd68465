"""`Ceiling`: what no rule passes, with stated confidence, and how much it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.types import Floats
from fairlimits.evaluation.ceilings.curves import Curve
from fairlimits.evaluation.ceilings.resolutions import Proposal
from fairlimits.notions import ACCURACY, Objective, Requirement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Below this share of people with a twin, and above this height of the limit, the data cannot say much.
_FEW_TWINS = 0.2


@dataclass(frozen=True, eq=False)
class Height:
    """A ceiling for some people: one number where one tolerance was asked for, else an array.

    Parameters
    ----------
    value : float or ndarray of shape (P,)
        The estimate of the bound: right on average, or too high.
    upper : float or ndarray of shape (P,)
        What no rule passes, with the stated confidence; in all points at once.
    """

    value: Any
    upper: Any


@dataclass(frozen=True, eq=False, repr=False)
class Ceiling(Shown):
    """What no rule that sees these features can pass, without any assumption about the law.

    Parameters
    ----------
    curve : Curve
        For all people.
    twins_curve : Curve or None
        For people who have a twin, and rules that keep the tolerances among them; None where too few have.
    grid : mapping of str to ndarray of shape (P,)
        Tolerance of each notion at each point.
    is_point : bool
        Whether one tolerance was asked for, so that there are numbers and no arrays.
    aware : bool
        Whether the rules see the group.
    confidence : float
        Of the upper limits.
    twins : float
        Share of people who have a twin: somebody alike in all that a rule sees.
    rows, kinds : int
        How many people there are, and of how many kinds.
    requirements : tuple of Requirement
        What the rules keep besides.
    objective : Objective
        What is bounded.
    resolution : mapping of str to float
        Steps in which the rules see features; empty if they see them as they are.
    proposal : Proposal or None
        Where the steps were proposed: what rules lose that see features in these steps.
    left_out : tuple of str
        Notions that were asked for and are not among the constraints, so that the ceiling is that of more rules.

    Examples
    --------
    >>> import fairlimits as fl
    >>> people = fl.load_dataset("adult", features=["education-num", "race"]).take(range(3_000))
    >>> top = fl.ceiling(people, {"DP": [0.05, 0.1]})
    >>> bool((top.value <= top.upper).all())
    True
    """

    curve: Curve
    twins_curve: Curve | None
    grid: Mapping[str, Floats]
    is_point: bool
    aware: bool
    confidence: float
    twins: float
    rows: int
    kinds: int
    requirements: tuple[Requirement, ...] = ()
    objective: Objective = ACCURACY
    resolution: Mapping[str, float] = field(default_factory=dict)
    proposal: Proposal | None = None
    left_out: tuple[str, ...] = ()
    frame_kind: str = ARROW

    @property
    def value(self) -> Any:
        """The estimate of the bound; a float, or an array over the tolerances."""
        return self._shown(self.curve.value)

    @property
    def upper(self) -> Any:
        """What no rule passes, with the stated confidence; a float, or an array over the tolerances."""
        return self._shown(self.curve.upper)

    @property
    def on_twins(self) -> Height:
        """The ceiling for people who have a twin, and rules that keep the tolerances among them; NaN if nobody has."""
        if self.twins_curve is None:
            nothing = self._shown(np.full(len(self.curve.value), np.nan))
            return Height(nothing, nothing)
        return Height(self._shown(self.twins_curve.value), self._shown(self.twins_curve.upper))

    @property
    def alone(self) -> Any:
        """How much of the value is due to people without a twin, of whom everything is taken to be known."""
        return self._shown(self.curve.alone)

    @property
    def duals(self) -> dict[str, Any]:
        """The multipliers of the bound, by the name of their row."""
        return {name: self._shown(own) for name, own in zip(self.curve.rows, self.curve.duals.T, strict=True)}

    @property
    def says_little(self) -> bool:
        """Whether so few people have a twin that the data cannot say what is out of reach."""
        return self.twins < _FEW_TWINS

    def _shown(self, values: Floats) -> Any:
        return float(values[0]) if self.is_point else values

    @property
    def at(self) -> Floats:
        """Where the points lie: the tolerance that moves."""
        moving = [values for values in self.grid.values() if np.ptp(values) > 0]
        return (moving or list(self.grid.values()) or [np.zeros(1)])[0]

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Tolerances, ceiling and its limit, for all people and for those with a twin, a row for each point."""
        columns: dict[str, Any] = {f"tolerance {name}": values for name, values in self.grid.items()}
        columns |= {
            "ceiling": self.curve.value,
            "upper limit": self.curve.upper,
            "standard error": self.curve.standard_error,
            "due to people without a twin": self.curve.alone,
        }
        on_twins = self.on_twins
        columns |= {
            "ceiling on twins": np.atleast_1d(on_twins.value),
            "upper limit on twins": np.atleast_1d(on_twins.upper),
        }
        columns["share with a twin"] = np.full(len(self.curve.value), self.twins)
        return pa.table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "aware": self.aware,
            "confidence": self.confidence,
            "objective": str(self.objective),
            "requirements": [str(own) for own in self.requirements],
            "rows": self.rows,
            "kinds": self.kinds,
            "share with a twin": self.twins,
            "resolution": dict(self.resolution),
            "left out": list(self.left_out),
            "points": [
                {key: None if value != value else value for key, value in row.items()}
                for row in type(self).to_frame.__wrapped__(self).to_pylist()  # type: ignore[attr-defined]
            ],
        }

    def summary(self) -> str:
        """Say what no rule passes, of whom, and how much of it is due to people of whom nothing is known."""
        what = self.objective.title if self.objective == ACCURACY else str(self.objective)
        sees = "the group and " if self.aware else ""
        steps = ", ".join(f"{name} in steps of {step:g}" for name, step in self.resolution.items())
        seen = f"{sees}these features{f' ({steps})' if steps else ''}"
        ends = (0,) if self.is_point else (0, len(self.curve.value) - 1)
        points = "; ".join(f"{self.curve.upper[at]:.4f}{self._asked(at)}" for at in ends)
        every = "" if self.is_point else " (all tolerances at once)"
        lines = [
            f"With {self.confidence:.0%} confidence{every}, no rule that sees {seen} has {what} above {points}; the "
            f"estimate is {'; '.join(f'{self.curve.value[at]:.4f}' for at in ends)}. Nothing is assumed about the law.",
            f"{self.twins:.0%} of {self.rows:,} people have a twin, somebody alike in all of that; of the others "
            f"everything is taken to be known, which makes up {self.curve.alone[ends[0]]:.4f} of the estimate.",
        ]
        if self.twins_curve is not None:
            limits = "; ".join(f"{self.twins_curve.upper[at]:.4f}{self._asked(at)}" for at in ends)
            lines.append(f"On the people with a twin, rules that keep this among them: at most {limits}.")
        if self.says_little:
            lines.append(
                "So few people have a twin that the data cannot say what is out of reach; coarser steps of numeric "
                "features (resolution) may help."
            )
        if self.proposal is not None:
            lines.append(self.proposal.summary())
        if self.left_out:
            lines.append(
                f"{' and '.join(self.left_out)} is left out: the limit holds for rules that keep it, too, but may be "
                "far above them."
            )
        return "\n".join(lines)

    def _asked(self, at: int) -> str:
        asked = ", ".join(f"{name} <= {values[at]:g}" for name, values in self.grid.items())
        return f" at {asked}" if asked else ""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the ceiling, with its upper limit, against the tolerance that moves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. On a frontier's axes it makes a bracket of it.
        **options
            Passed on to matplotlib's ``plot``, such as ``color``.
        """
        with figure_style():
            ax = axes_or_new(ax)
            given = {"color": colour_of(" + ".join(self.grid)), **options}
            x = self.at if len(self.at) > 1 else np.array([0.0, 1.0])
            value, upper = (np.broadcast_to(own, len(x)) for own in (self.curve.value, self.curve.upper))
            ax.fill_between(x, value, upper, color=given["color"], alpha=0.15, linewidth=0, hatch="///")
            ax.plot(x, upper, **{"label": f"ceiling, {self.confidence:.0%} limit", "linewidth": 1.2, **given})
            if len(self.at) > 1:
                ax.set_xlabel(f"tolerance: largest gap allowed, {' and '.join(self.grid)}")
            else:
                ax.set_xticks([])
            ax.set_ylabel(self.objective.title)
            ax.legend()
        return ax

    def __repr__(self) -> str:
        asked = ", ".join(self.grid) or "no constraint"
        ends = f"{self.curve.upper.min():.4f} to {self.curve.upper.max():.4f}"
        upper = f"{self.curve.upper[0]:.4f}" if self.is_point else ends
        return f"Ceiling({asked}, {'aware' if self.aware else 'unaware'}, at most {upper}, twins {self.twins:.0%})"
