r"""`fidelity`: how near generated rows come to real ones, by the paper's measure and on rows held out.

For each group g and label y, the joint masses of the cells, :math:`p_i = P(X \in i, A = g, Y = y)` from real rows and
:math:`q_i` from generated ones, are compared by Pearson's correlation and by the distance
:math:`\frac12 \sum_i |p_i - q_i|` (Table 1 of the paper). Cells are cut from the real rows alone.

Compared with the rows that it learned, a generator that copies them is perfect. So `fidelity_report` lets the
generator learn one half of the rows and compares with the other half, beside what the first half itself gives.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import stats

from fairlimits._util.frames import ARROW, arrow_table, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import COLOURS, MUTED, axes_or_new, figure_style, nth_colour, plain_text, subplots
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Encoding
from fairlimits.errors import InputError
from fairlimits.law.cells.counts import count_cells
from fairlimits.law.cells.quantizer.codebook import assign, fit_codebook
from fairlimits.law.cells.sampling import cells_supported
from fairlimits.law.generators import Generator, make_generator
from fairlimits.law.generators.two_sample import copied_share, label_accuracy, two_sample_auc

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Fewer cells than this say little, whatever the sampling bound allows: two cells have no correlation at all.
_FEWEST_CELLS = 8


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
        The half that was learned, itself compared with the other: what no sample of its size gets below
        except by luck or by smoothing well.
    auc, auc_floor : float
        How well gradient boosting tells generated rows, or those of the learned half, from held-out rows, on rows
        that it did not see: 0.5 is not at all.
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
        """Say how near the generated rows come to rows held out, beside what real rows give."""
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


def fidelity(real: Dataset, generated: Dataset, cells: int, *, random_state: int = 0) -> Fidelity:
    """Compare generated rows with real ones, cell by cell.

    Parameters
    ----------
    real : Dataset
        Real rows; the cells are cut from them.
    generated : Dataset
        Rows of the same schema.
    cells : int
        Number of cells, N. The paper takes what the sampling bound allows for the real rows
        (`fairlimits.law.cells_supported`).
    random_state : int, default=0
        Seed of the cells.

    Returns
    -------
    Fidelity

    Examples
    --------
    >>> import fairlimits as fl
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> generated = fl.law.CartGenerator().fit(data).sample(3_000)
    >>> near = fl.law.fidelity(data, generated, 32)
    >>> round(near.total_distance, 3)
    0.081
    """
    _check_schema(real, generated)
    encoding = Encoding.fit(real)
    codebook = fit_codebook(encoding.transform_dataset(real), cells, weights=real.weight, random_state=random_state)
    masses: list[Floats] = []
    for rows in (real, generated):
        weight = count_cells(assign(encoding.transform_dataset(rows), codebook.centroids), rows, cells).weight
        masses.append(weight / weight.sum())
    return Fidelity(real.groups, masses[0], masses[1], real.frame_kind)


def fidelity_report(
    dataset: Dataset,
    generator: str | Generator = "cart",
    *,
    cells: int | None = None,
    n_samples: int = 1_000_000,
    random_state: int = 0,
    progress: Progress | None = None,
) -> FidelityReport:
    """Judge a generator: by the paper's protocol, and on rows that it did not learn.

    Parameters
    ----------
    dataset : Dataset
        Real rows.
    generator : str or Generator, default="cart"
        Which generator.
    cells : int, optional
        Number of cells, at most half the number of rows; by default what the sampling bound allows for the real
        rows, as in the paper, but no fewer than 8.
    n_samples : int, default=1_000_000
        Rows to generate.
    random_state : int, default=0
        Seed of everything: halves, cells, generator and classifiers.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    FidelityReport
    """
    recipe = make_generator(generator)
    most = dataset.n_rows // 2
    if cells is None:
        supported = cells_supported(dataset.n_rows, groups=len(dataset.groups))
        cells = min(max(supported, _FEWEST_CELLS), max(most, 1))
    elif cells > most:
        raise InputError(
            f"{cells} cells were asked for, but the half of the rows that is held out has {most}: "
            f"ask for at most {most} cells."
        )
    tell = or_silent(progress)

    tell(0.0, "learning all rows")
    start = time.perf_counter()
    fitted = recipe.fit(dataset, random_state, _part(tell, 0.0, 0.3))
    middle = time.perf_counter()
    rows = fitted.sample(n_samples, random_state)
    end = time.perf_counter()
    tell(0.3, "comparing with all rows")
    all_rows = fidelity(dataset, rows, cells, random_state=random_state)
    del rows  # a million rows, not needed any more

    learned, other = dataset.split(0.5, random_state)
    tell(0.4, "learning one half")
    half = recipe.fit(learned, random_state, _part(tell, 0.4, 0.6))
    tell(0.6, "comparing with the other half")
    held_out = fidelity(other, half.sample(n_samples, random_state), cells, random_state=random_state)
    noise_floor = fidelity(other, learned, cells, random_state=random_state)

    # As many rows as were learned, so that both sides of every comparison below have the same size.
    tell(0.7, "training classifiers")
    drawn = half.sample(learned.n_rows, random_state + 1)
    report = FidelityReport(
        generator=recipe.name,
        n_samples=n_samples,
        fitted=all_rows,
        held_out=held_out,
        noise_floor=noise_floor,
        auc=two_sample_auc(other, drawn, random_state),
        auc_floor=two_sample_auc(other, learned, random_state),
        accuracy=label_accuracy(drawn, other, random_state),
        accuracy_real=label_accuracy(learned, other, random_state),
        copies=copied_share(drawn, learned),
        copies_natural=copied_share(other, learned),
        fit_seconds=middle - start,
        sample_seconds=end - middle,
    )
    tell(1.0, "done")
    return report


def _check_schema(real: Dataset, generated: Dataset) -> None:
    if real.schema != generated.schema:
        raise InputError(
            "The generated rows have another schema than the real ones; "
            "read them with Dataset.read_like(real.schema, table)."
        )


def _panels(result: Fidelity, across: str, upwards: str, floor: Fidelity | None = None) -> Any:
    """Empty panels, a row a group and a column a label, with the diagonal on which both masses are equal."""
    rows = len(result.groups)
    _, axes = subplots(rows, 2, figsize=(8.4, 3.7 * rows), squeeze=False)
    correlation, distance = result.correlation, result.distance
    for (g, y), ax in np.ndenumerate(axes):
        ax.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, zorder=1)
        # Names of groups come from the data, where a dollar sign is no formula.
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


def _part(tell: Progress, start: float, stop: float) -> Progress:
    return lambda fraction, words: tell(start + fraction * (stop - start), words)
