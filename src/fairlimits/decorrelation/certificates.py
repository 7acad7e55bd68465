"""What a map keeps on rows that it was not made from: correlation beside chance, and adversaries that try."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.small_samples import ESTIMABLE_ROWS, enough
from fairlimits._util.types import Flags, Floats, Ints
from fairlimits.data import Dataset, Schema, check_seed
from fairlimits.decorrelation.adversaries import Attack, View, attack, rows_by_group
from fairlimits.decorrelation.applying import SCORED_AS, cell_values, draw_bins, parts_for_rows, read_rows
from fairlimits.decorrelation.certificate_sentences import SIGNIFICANT, adversary_words, with_label_words
from fairlimits.decorrelation.figures import draw_attacks
from fairlimits.decorrelation.maps import Maps, largest_difference
from fairlimits.errors import DataError, InputError
from fairlimits.law import CellDistribution
from fairlimits.notions import NOT_ESTIMABLE_TEXT, check_confidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shown):
    """What a map keeps on held-out rows.

    Parameters
    ----------
    train_rows, test_rows : int
        Rows that the adversaries learned on, and rows that all figures are of.
    baseline_correlation : float
        Largest L1 distance between the groups' shares of cells in the test rows, before the map; NaN unless two groups
        have 30 rows or more, as of fewer it says nothing.
    correlation : float
        The same after the map. It is above 0 also where the mapped features do not depend on the group,
        because shares of a limited number of rows always differ.
    null : ndarray of shape (permutations,)
        The same after the groups of the test rows were shuffled: what limited rows alone give.
    baseline_null : ndarray of shape (permutations,)
        That before the map.
    categories_kept : float
        Share of the categorical values of the test rows that are the same after the map; NaN if there are none.
    numbers_moved : float
        How far their numbers are from those after the map, on average, in standard deviations; NaN if there are none.
    attacks : tuple of Attack
        What adversaries reach, before and after the map, with and without the label.
    confidence : float
        Of the attacks' intervals.
    """

    train_rows: int
    test_rows: int
    baseline_correlation: float
    correlation: float
    null: Floats
    baseline_null: Floats
    categories_kept: float
    numbers_moved: float
    attacks: tuple[Attack, ...]
    confidence: float
    frame_kind: str = ARROW

    @property
    def p_value(self) -> float:
        """P-value of the permutation test: how often shuffled groups are at least as far apart."""
        return float((1 + (self.null >= self.correlation).sum()) / (1 + len(self.null)))

    @property
    def baseline_p_value(self) -> float:
        """The p-value before the map: if it is large, these rows cannot show what the map does."""
        return float((1 + (self.baseline_null >= self.baseline_correlation).sum()) / (1 + len(self.baseline_null)))

    @property
    def worst(self) -> Attack:
        """The attack on mapped features, without the label, that tells a group best."""
        return self.best_attack(with_label=False)

    def best_attack(self, *, with_label: bool, mapped: bool = True) -> Attack:
        """Return the attack that tells a group best; its AUC is NaN where no group has enough rows."""
        tried = [a for a in self.attacks if a.mapped == mapped and a.with_label == with_label]
        return max(tried, key=lambda a: -math.inf if math.isnan(a.auc) else a.auc)

    def summary(self) -> str:
        """Say what the map promises, and what it cannot."""
        before, after = self.best_attack(with_label=False, mapped=False), self.worst
        return " ".join(
            [
                self._distances(),
                adversary_words(before, after, self.confidence),
                with_label_words(after, self.best_attack(with_label=True)),
            ]
        )

    def _distances(self) -> str:
        """The distances of the groups beside those of chance, and what that shows."""
        if math.isnan(self.correlation):
            return (
                f"How far apart the mapped features of two groups are on {self.test_rows:,} held-out rows is not "
                f"estimable: no two groups have {ESTIMABLE_ROWS} rows."
            )
        low, high = np.quantile(self.null, [0.025, 0.975])
        words = (
            f"On {self.test_rows:,} held-out rows the mapped features of two groups are {self.correlation:.3f} "
            f"apart (before: {self.baseline_correlation:.3f}); with shuffled groups, where there is nothing to "
            f"find, they are {low:.3f} to {high:.3f} apart in 95% of the cases (p = {self.p_value:.3f})"
        )
        least = 1 / (1 + len(self.null))
        if least > SIGNIFICANT:
            return f"{words}, but with {len(self.null)} shuffles p is never below {least:.3f}, which shows nothing."
        if self.p_value <= SIGNIFICANT:
            return f"{words}: more than chance explains."
        if self.baseline_p_value > SIGNIFICANT:
            return f"{words}; but on so few rows that was so before the map too, so this shows nothing of it."
        return f"{words}: no more than chance explains."

    def figures(self) -> list[dict[str, Any]]:
        """Figures before and after the map as plain data, a row for each."""
        rows: list[dict[str, Any]] = [
            {
                "measure": "correlation on held-out rows",
                "before": self.baseline_correlation,
                "after": self.correlation,
            },
            {"measure": "categories kept, per row", "before": 1.0, "after": self.categories_kept},
            {"measure": "numbers moved, per row, in standard deviations", "before": 0.0, "after": self.numbers_moved},
        ]
        before = {(a.adversary, a.with_label, a.group): a for a in self.attacks if not a.mapped}
        for found in (a for a in self.attacks if a.mapped):
            sees = "features and label" if found.with_label else "features"
            rows.append(
                {
                    "measure": f"AUC of {found.adversary} on {sees}, {found.group}",
                    "before": before[found.adversary, found.with_label, found.group].auc,
                    "after": found.auc,
                    "low": found.low,
                    "high": found.high,
                }
            )
        return rows

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the attacks as a table, a row for each."""
        return pa.Table.from_pylist([vars(found) for found in self.attacks])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how well adversaries tell each group, before and after the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        # Other figures than those of the adversaries are on other scales.
        known = [row for row in self.figures() if "low" in row and not np.isnan([row["before"], row["after"]]).any()]
        with figure_style():
            return draw_attacks(known, self.confidence, axes_or_new(ax, (7.4, 1.4 + 0.35 * len(known))))

    def __repr__(self) -> str:
        correlation, chance, auc, with_label = (
            NOT_ESTIMABLE_TEXT if math.isnan(own) else f"{own:.3f}"
            for own in (
                self.correlation,
                float(np.mean(self.null)),
                self.worst.auc,
                self.best_attack(with_label=True).auc,
            )
        )
        return (
            f"Certificate({self.test_rows:,} rows; correlation {correlation}, by chance {chance}; "
            f"AUC {auc} without, {with_label} with the label)"
        )


def certify(
    dist: CellDistribution,
    maps: Maps,
    held_out: Dataset,
    *,
    train: Dataset | None,
    permutations: int,
    confidence: float,
    random_state: int,
) -> Certificate:
    """Compute the certificate of maps on held-out rows; see `Decorrelation.certificate`."""
    check_confidence(confidence)
    if not (isinstance(permutations, int | np.integer) and permutations >= 1):
        raise InputError(f"permutations is {permutations!r}; it must be a whole number of at least 1.")
    if not isinstance(held_out, Dataset) or not (train is None or isinstance(train, Dataset)):
        raise InputError("A certificate needs groups and labels: pass Datasets.")
    aware = len(maps) > 1
    rng = np.random.default_rng(check_seed(random_state))
    if train is None:
        train, held_out = held_out.split(0.5, random_state=int(rng.integers(2**31)))
    parts = {}
    for name, rows in (("learning", train), ("testing", held_out)):
        _check_groups(rows, dist, name)
        parts[name] = _views(dist, maps, aware, rows, int(rng.integers(2**31)))
    schema, _, _ = parts_for_rows(dist)
    attacks = [
        found
        for mapped in (False, True)
        for with_label in (False, True)
        for found in attack(
            schema,
            parts["learning"][mapped],
            parts["testing"][mapped],
            mapped=mapped,
            with_label=with_label,
            confidence=confidence,
            random_state=random_state,
        )
    ]
    raw, after = parts["testing"]
    kept, moved = _distortion(schema, raw, after)
    compared = enough(rows_by_group(raw, len(schema.groups)))
    null, baseline_null = (
        np.array([_apart(view, rng.permutation(view.group), compared) for _ in range(permutations)])
        for view in (after, raw)
    )
    return Certificate(
        train_rows=len(train),
        test_rows=len(held_out),
        baseline_correlation=_apart(raw, raw.group, compared),
        correlation=_apart(after, after.group, compared),
        null=null,
        baseline_null=baseline_null,
        categories_kept=kept,
        numbers_moved=moved,
        attacks=tuple(attacks),
        confidence=confidence,
        frame_kind=held_out.frame_kind,
    )


def _check_groups(rows: Dataset, dist: CellDistribution, name: str) -> None:
    if rows.groups != dist.groups:
        raise InputError(
            f"The rows for {name} have the groups {', '.join(rows.groups)}, the plan was made for "
            f"{', '.join(dist.groups)}; read them with Dataset.read_like(plan.distribution.schema, table)."
        )
    present = np.unique(rows.group if rows.weight is None else rows.group[rows.weight > 0])
    if len(present) < 2:
        raise DataError(f"The rows for {name} are of one group only; give more rows, of at least two groups.")


def _views(dist: CellDistribution, maps: Maps, aware: bool, data: Dataset, random_state: int) -> tuple[View, View]:
    """What adversaries see of some rows before and after the map."""
    rows = read_rows(dist, aware, data, "refuse")
    bins = draw_bins(maps, rows, random_state)
    of_cell = cell_values(dist)
    values = {name: column[bins % dist.n_cells] for name, column in of_cell.items()}
    if aware:
        values[SCORED_AS] = bins // dist.n_cells
    weight = np.ones(len(data)) if data.weight is None else data.weight
    label = data.label.astype(np.int64)
    return (
        View(rows.cell, data.columns, label, data.group, weight),
        View(bins, values, label, data.group, weight),
    )


def _distortion(schema: Schema, before: View, after: View) -> tuple[float, float]:
    """Share of categories that rows keep, and how far their numbers move: means over features and rows."""
    kept, moved = [], []
    for feature in schema.features:
        old, new = before.values[feature.name], after.values[feature.name]
        if feature.kind != "numeric":
            kept.append(float(np.average(old == new, weights=before.weight)))
            continue
        known = ~(np.isnan(old) | np.isnan(new)) & (before.weight > 0)
        if known.any():
            old, new, weight = old[known], new[known], before.weight[known]
            spread = math.sqrt(np.average((old - np.average(old, weights=weight)) ** 2, weights=weight))
            if spread > 0:
                moved.append(float(np.average(np.abs(new - old), weights=weight)) / spread)
    return tuple(float(np.mean(shares)) if shares else math.nan for shares in (kept, moved))  # type: ignore[return-value]


def _apart(view: View, group: Ints, compared: Flags) -> float:
    """Largest L1 distance between the shares of cells of the groups that are compared; NaN if these are not two."""
    if compared.sum() < 2:
        return math.nan
    cells, groups = int(view.cell.max()) + 1, len(compared)
    held = np.bincount(group * cells + view.cell, weights=view.weight, minlength=groups * cells)
    held = held.reshape(groups, cells)[compared]
    held = held[held.sum(axis=1) > 0]
    return largest_difference(held / held.sum(axis=1, keepdims=True))
