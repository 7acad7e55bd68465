"""Which notions clash: what two of them cost together beyond the dearer one alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import ARROW, arrow_table, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import INK, MUTED, axes_or_new, figure_style
from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Neighbourhood, can_compare
from fairlimits.limits.laws import Law, estimated, on_cells
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.solving import bayes_accuracy
from fairlimits.notions import INDIVIDUAL, NOTIONS, check_names, check_tolerances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A smaller loss of accuracy is a rounding error.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Tension(Shown):
    """What notions cost alone, in pairs, and in pairs beyond the dearer of the two.

    Parameters
    ----------
    notions : tuple of str
        The K notions.
    tolerance : float
        The tolerance of all of them.
    aware : bool
        Whether the rules see the group.
    loss : ndarray of shape (K,)
        Accuracy lost under each notion alone.
    pair_loss : ndarray of shape (K, K)
        Accuracy lost under two notions together; on the diagonal under one alone.
    matrix : ndarray of shape (K, K)
        The tension: ``pair_loss[i, j] - max(loss[i], loss[j])``.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> clash = fl.tension(dist, 0.05, notions=["DP", "EA"])
    >>> clash.notions
    ('DP', 'EA')
    >>> clash.to_frame().column_names
    ['first', 'second', 'loss first', 'loss second', 'loss together', 'tension']
    """

    notions: tuple[str, ...]
    tolerance: float
    aware: bool
    loss: Floats
    pair_loss: Floats
    matrix: Floats
    frame_kind: str = ARROW

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the pairs of notions as a table, the one in highest tension first."""
        first, second = np.triu_indices(len(self.notions), 1)
        order = np.argsort(-self.matrix[first, second], kind="stable")
        first, second = first[order], second[order]
        return pa.table(
            {
                "first": [self.notions[i] for i in first],
                "second": [self.notions[j] for j in second],
                "loss first": self.loss[first],
                "loss second": self.loss[second],
                "loss together": self.pair_loss[first, second],
                "tension": self.matrix[first, second],
            }
        )

    def summary(self) -> str:
        """Name the pair in highest tension, and say what it costs."""
        sees = "seen" if self.aware else "hidden"
        start = f"With every tolerance at {self.tolerance:g} and the group {sees},"
        pairs = arrow_table(self.to_frame()).to_pylist()
        if not pairs:
            return f"{start} {self.notions[0]} alone costs {self.loss[0]:.4f} of accuracy (plug-in)."
        worst = pairs[0]
        if worst["tension"] <= _ROUNDING:
            return f"{start} no two of {', '.join(self.notions)} cost more than the dearer one alone (plug-in)."
        return (
            f"{start} {worst['first']} and {worst['second']} clash most: together they cost "
            f"{worst['loss together']:.4f} of accuracy, {worst['tension']:.4f} more than the dearer one (plug-in). "
            f"{worst['first']} alone costs {worst['loss first']:.4f}, {worst['second']} {worst['loss second']:.4f}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tension of every pair in points of accuracy; on the diagonal, what each notion costs alone.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        size = len(self.notions)
        # Points of accuracy; nothing but rounding is below 0.
        points = 100 * np.where(np.eye(size, dtype=bool), self.loss, np.maximum(self.matrix, 0))
        shown = np.where(np.eye(size, dtype=bool), np.nan, points)
        highest = max(np.nanmax(shown, initial=0.0), 100 * _ROUNDING)
        with figure_style():
            ax = axes_or_new(ax, (4.6, 4.0))
            ax.imshow(shown, cmap="Blues", vmin=0, vmax=highest)
            for i, j in np.ndindex(size, size):
                colour = MUTED if i == j else "white" if shown[i, j] > 0.6 * highest else INK
                style = "italic" if i == j else "normal"
                ax.text(j, i, f"{points[i, j]:.2f}", ha="center", va="center", color=colour, style=style)
            ax.set_xticks(range(size), self.notions)
            ax.set_yticks(range(size), self.notions)
            ax.grid(visible=False)
            ax.tick_params(length=0)
            for spine in ax.spines.values():
                spine.set_visible(False)
            ax.set_title("Points of accuracy lost together\nbeyond the dearer notion alone (plug-in)", fontsize=10)
            ax.set_xlabel(f"tolerance {self.tolerance:g}; in italics: the notion alone")
        return ax

    def __repr__(self) -> str:
        sees = "aware" if self.aware else "unaware"
        most = float(self.matrix[np.triu_indices(len(self.notions), 1)].max(initial=0.0))
        return f"Tension({', '.join(self.notions)} <= {self.tolerance:g}; {sees}; at most {most:.4f})"


def tension(
    law: Law,
    tolerance: float = 0.05,
    *,
    aware: bool = False,
    notions: str | Sequence[str] | None = None,
    neighbours: Neighbourhood | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Tension:
    """Measure what each pair of notions costs beyond the dearer of the two.

    Parameters
    ----------
    law : Outcome, CellDistribution or Dataset
        The joint law of features, group and label (see `solve`); an estimate is cut into cells.
    tolerance : float, default=0.05
        The tolerance of every notion.
    aware : bool, default=False
        Whether the rules may see the group.
    notions : str or sequence of str, optional
        The notions to compare; by default all, individual fairness only where cells can be compared.
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares.
    random_state : int, default=0
        Seed of what has to be estimated or cut into cells first.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Tension

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> clash = fl.tension(dist, 0.05, notions=["DP", "EOp"])
    >>> [round(row["tension"], 3) for row in clash.to_frame().to_pylist()]
    [0.0]
    """
    known = estimated(law, random_state, progress, {})
    if notions is None:
        # An estimate can be cut into cells that can be compared.
        comparable = not isinstance(known, CellDistribution) or can_compare(known)
        notions = [*NOTIONS, INDIVIDUAL] if comparable else list(NOTIONS)
    names = check_names([notions] if isinstance(notions, str) else notions)
    if not names:
        raise InputError("No notion was named; name at least one, or leave notions out to compare all.")
    dist = on_cells(known, names, random_state, progress)
    hood = Neighbourhood() if neighbours is None else neighbours
    size = len(names)
    loss = np.zeros((size, size))
    for i, j in [*((i, i) for i in range(size)), *combinations(range(size), 2)]:
        asked = check_tolerances(dict.fromkeys((names[i], names[j]), tolerance))
        program = FairProgram(dist, tuple(asked), aware, hood)
        loss[i, j] = loss[j, i] = bayes_accuracy(program.variables) - program.solve(asked).value
    alone = np.diag(loss).copy()
    return Tension(
        notions=names,
        tolerance=float(tolerance),
        aware=aware,
        loss=alone,
        pair_loss=loss,
        matrix=loss - np.maximum(alone[:, None], alone[None, :]),
        frame_kind=dist.frame_kind,
    )
