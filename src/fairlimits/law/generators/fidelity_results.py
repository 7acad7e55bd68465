"""`Fidelity` and `FidelityReport`: results of comparing generated rows with real ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import stats

from fairlimits._util.frames import ARROW, arrow_table, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import COLOURS, MUTED, axes_or_new, figure_style, nth_colour, plain_text, subplots
from fairlimits._util.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Fidelity(Shown):
    """Real against generated rows, for each group and label.

    Parameters
    ----------
    groups : tuple of str
        The groups' names.
    real_mass, generated_mass : ndarray of shape (N, G, 2)
        Joint mass of cell, group and label.
    """

    groups: tuple[str, ...]
    real_mass: Floats
    generated_mass: Floats
    frame_kind: str = ARROW

    @property
    def n_cells(self) -> int:
        """Number of cells, N."""
        return len(self.real_mass)

    @property
    def distance(self) -> Floats:
        """Half the sum over cells of the difference of joint masses, of shape (G, 2)."""
        return np.asarray(np.abs(self.real_mass - self.generated_mass).sum(axis=0) / 2)

    @property
    def total_distance(self) -> float:
        """Total variation distance between the two laws of cell, group and label: the sum of `distance`."""
        return float(self.distance.sum())

    @property
    def correlation(self) -> Floats:
        """Pearson's correlation over the cells, of shape (G, 2); NaN where masses do not vary."""
        return self._pearson()[0]

    @property
    def p_value(self) -> Floats:
        """Two-sided p-value of the correlation, of shape (G, 2)."""
        return self._pearson()[1]

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return a table with a row for each group and label."""
        correlation, p_value, distance = self.correlation, self.p_value, self.distance
        pairs = [(g, y) for g in range(len(self.groups)) for y in (0, 1)]
        return pa.table(
            {
                "group": [self.groups[g] for g, _ in pairs],
                "label": [y for _, y in pairs],
                "mass": [float(self.real_mass[:, g, y].sum()) for g, y in pairs],
                "correlation": [float(correlation[pair]) for pair in pairs],
                "p_value": [float(p_value[pair]) for pair in pairs],
                "distance": [float(distance[pair]) for pair in pairs],
            }
        )

    def summary(self) -> str:
        """Say how far the two laws are apart."""
        known = self.correlation[~np.isnan(self.correlation)]
        text = (
            f"Over {self.n_cells} cells, {len(self.groups)} groups and both labels, the laws of the two sets of rows "
            f"are {self.total_distance:.4f} apart (total variation: 0 the same, 1 disjoint)."
        )
        if len(known):
            text += f" Their masses correlate by {known.min():.3f} or more in every group and label that has a figure."
        return text

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the generated mass of every cell against its real mass, all groups and labels together.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        with figure_style():
            ax = axes_or_new(ax, (5.6, 4.4))
            ax.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, zorder=1)
            for g, name in enumerate(self.groups):
                for y in (0, 1):
                    colour = nth_colour(g)
                    ax.scatter(
                        100 * self.real_mass[:, g, y],
                        100 * self.generated_mass[:, g, y],
                        s=18,
                        facecolors=colour if y else "none",
                        edgecolors=colour,
                        linewidths=0.9,
                        alpha=0.8,
                        label=plain_text(f"label {y}, {name}"),
                        zorder=2,
                    )
            ax.set_xlabel("mass of the cell among real rows, %")
            ax.set_ylabel("mass among generated rows, %")
            ax.legend(fontsize="small", ncols=1 + len(self.groups) // 5)
        return ax

    def figure(
        self, axes: Any = None, *, color: str = COLOURS["aware"], label: str | None = None, hollow: bool = False
    ) -> Figure:
        """Draw the generated mass of every cell against its real mass, a panel for each group and label.

        Parameters
        ----------
        axes : array of matplotlib Axes of shape (G, 2), optional
            Where to draw; a new figure by default.
        color : str
            Colour of the points.
        label : str, optional
            What the points are called in a legend.
        hollow : bool, default=False
            Draw rings instead of dots.
        """
        with figure_style():
            if axes is None:
                axes = _panels(self, "mass of the cell among real rows, %", "mass among generated rows, %")
            for g in range(len(self.groups)):
                for y in (0, 1):
                    ax: Axes = axes[g, y]
                    ax.scatter(
                        100 * self.real_mass[:, g, y],
                        100 * self.generated_mass[:, g, y],
                        s=34 if hollow else 14,
                        facecolors="none" if hollow else color,
                        edgecolors=color,
                        linewidths=0.9 if hollow else 0,
                        alpha=0.8,
                        label=label,
                        zorder=2,
                    )
        figure: Figure = axes[0, 0].figure
        return figure

    def _pearson(self) -> tuple[Floats, Floats]:
        correlation, p_value = np.full((2, len(self.groups), 2), np.nan)
        for g, y in np.ndindex(correlation.shape):
            real, generated = self.real_mass[:, g, y], self.generated_mass[:, g, y]
            if self.n_cells > 2 and np.ptp(real) > 0 and np.ptp(generated) > 0:
                correlation[g, y], p_value[g, y] = stats.pearsonr(real, generated)
        return correlation, p_value

    def __repr__(self) -> str:
        return f"Fidelity({self.n_cells} cells, groups {', '.join(self.groups)}, distance {self.total_distance:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class FidelityReport:
    """A generator judged on a data set.

    "Held out" means that the generator learned one half of the rows and is compared with the other half.

    Parameters
    ----------
    generator : str
        The generator's name.
    n_samples : int
        Rows generated for each comparison of masses.
    fitted : Fidelity
        Learned from all rows, compared with all rows: the paper's protocol, which rewards copying.
    held_out : Fidelity
        Learned from one half, compared with the other.
    noise_floor : Fidelity
        The half that was learned, itself compared with the other: no sample of its size gets below this distance
        except by luck or by smoothing well.
    auc, auc_floor : float
        AUC of gradient boosting that tells generated rows, or those of the learned half, from held-out rows, on rows
        that it did not see: 0.5 is chance.
    accuracy, accuracy_real : float
        Share of held-out labels that gradient boosting predicts after training on generated rows, or on as many
        rows of the learned half.
    copies, copies_natural : float
        Share of generated rows, or of held-out rows, that equal a row of the learned half in every column.
    fit_seconds, sample_seconds : float
        Time to learn all rows, and to draw `n_samples` from what was learned.
    """

    generator: str
    n_samples: int
    fitted: Fidelity
    held_out: Fidelity
    noise_floor: Fidelity
    auc: float
    auc_floor: float
    accuracy: float
    accuracy_real: float
    copies: float
    copies_natural: float
    fit_seconds: float
    sample_seconds: float

    @property
    def ratio(self) -> float:
        """Held-out distance over the noise floor; below 1, generated rows are nearer than the rows learned.

        NaN if the floor is 0, as with a single cell.
        """
        floor = self.noise_floor.total_distance
        return self.held_out.total_distance / floor if floor > 0 else math.nan

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.fitted.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return a table with a row for each comparison, group and label."""
        parts = {"all rows": self.fitted, "held out": self.held_out, "noise floor": self.noise_floor}
        tables = [
            arrow_table(part.to_frame()).add_column(0, "comparison", pa.array([name] * 2 * len(part.groups)))
            for name, part in parts.items()
        ]
        return pa.concat_tables(tables)

    def summary(self) -> str:
        """Say how near the generated rows are to rows held out, beside what real rows give."""
        return (
            f"Rows of {self.generator}, which learned one half of the table, are {self.held_out.total_distance:.4f} "
            f"from the held-out half (total variation over {self.held_out.n_cells} cells); the learned half itself is "
            f"{self.noise_floor.total_distance:.4f} from it. Boosting tells them from held-out rows with an AUC of "
            f"{self.auc:.3f}, the learned half with {self.auc_floor:.3f}; 0.5 is not at all. Trained on them it "
            f"decides {self.accuracy:.1%} of the held-out labels right, trained on the learned half "
            f"{self.accuracy_real:.1%}. Of them {self.copies:.1%} copy a learned row, of held-out rows "
            f"{self.copies_natural:.1%}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the held-out comparison, all groups and labels together (see `Fidelity.plot`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        ax = self.held_out.plot(ax)
        with figure_style():
            ax.set_xlabel("mass of the cell in the half held out, %")
            ax.set_ylabel(f"mass among rows of {self.generator}, %")
        return ax

    def figure(self) -> Figure:
        """Draw the held-out comparison over its noise floor, a panel for each group and label."""
        with figure_style():
            axes = _panels(
                self.held_out,
                "mass of the cell in the half held out, %",
                "mass in the rows compared, %",
                floor=self.noise_floor,
            )
            self.noise_floor.figure(axes, color=MUTED, hollow=True, label="the half that was learned (noise floor)")
            self.held_out.figure(axes, label=f"rows of {self.generator}, which learned that half")
            figure: Figure = axes[0, 0].figure
            handles, labels = axes[0, 0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=2, handletextpad=0.2)
        return figure

    def __repr__(self) -> str:
        return (
            f"FidelityReport({self.generator}; distance held out {self.held_out.total_distance:.4f}, noise floor "
            f"{self.noise_floor.total_distance:.4f}; AUC {self.auc:.3f})"
        )


def _panels(result: Fidelity, across: str, upwards: str, floor: Fidelity | None = None) -> Any:
    """Return empty panels, a row per group and a column per label, with the diagonal on which both masses are equal."""
    rows = len(result.groups)
    _, axes = subplots(rows, 2, figsize=(8.4, 3.7 * rows), squeeze=False)
    correlation, distance = result.correlation, result.distance
    for (g, y), ax in np.ndenumerate(axes):
        ax.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, zorder=1)
        # Names of groups come from the data, where a dollar sign does not start a formula.
        ax.set_title(f"{result.groups[g]}, label {y}", parse_math=False)
        words = f"correlation {correlation[g, y]:.3f}\ndistance {distance[g, y]:.4f}"
        if floor is not None:
            words += f" (floor {floor.distance[g, y]:.4f})"
        box = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 2}
        # Points lie along the diagonal, so this corner is free.
        ax.text(0.98, 0.04, words, transform=ax.transAxes, ha="right", va="bottom", fontsize="small", bbox=box)
        ax.set_xlabel(across)
        ax.set_ylabel(upwards)
    return axes
