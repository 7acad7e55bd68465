"""Maps applied to rows: rows to cells, cells to drawn target cells, target cells to values of their own.

The values of a mapped row are those of its target cell and nothing else. They do not depend on the row it came
from, also if the cell stayed the same: what is left of a row's own values would give its group away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Feature, Schema, Table, check_seed, read_features, read_groups
from fairlimits.decorrelation.maps import Maps
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, cell_distances

Unseen: TypeAlias = Literal["refuse", "missing"]

SCORED_AS = "scored_as"
"""Column that says as which group a mapped row is scored, if the rule sees the group."""

FEWEST_PEOPLE = 5
"""People whose values are averaged, at least, before they are shown as those of a cell."""


@dataclass(frozen=True, eq=False)
class Rows:
    """People to be mapped.

    Parameters
    ----------
    cell : ndarray of int of shape (n,)
        The cell that each is in.
    group : ndarray of int of shape (n,), optional
        The group that each is of, if the map depends on it.
    """

    cell: Ints
    group: Ints | None


def parts_for_rows(dist: CellDistribution) -> tuple[Schema, Encoding, NDArray[np.float32]]:
    """Return what it takes to find the cells of rows: schema, encoding and centroids."""
    if dist.schema is None or dist.encoding is None or dist.centroids is None:
        raise InputError(
            "This plan was made on a distribution of bare numbers, which knows no columns, so it cannot be "
            "applied to rows: make the distribution with discretize."
        )
    return dist.schema, dist.encoding, dist.centroids


def read_rows(dist: CellDistribution, aware: bool, rows: Any, unseen: Unseen) -> Rows:
    """Find the cells (aware: and groups) of rows.

    Parameters
    ----------
    dist : CellDistribution
        Whose cells.
    aware : bool
        Whether the groups are needed.
    rows : Dataset, or a pandas, polars or Arrow table
        The rows. A table needs the features, and if `aware` the sensitive columns; no label.
    unseen : {"refuse", "missing"}
        What to do with a category of a table that the plan does not know: raise an error, or take it as
        missing (see `fairlimits.data.read_features`).
    """
    schema, _, _ = parts_for_rows(dist)
    if unseen not in get_args(Unseen):
        raise InputError(f"unseen is {unseen!r}; use {' or '.join(map(repr, get_args(Unseen)))}.")
    if isinstance(rows, Dataset):
        cell = dist.cells_of(rows)
        if aware and rows.groups != schema.groups:
            raise InputError(
                f"The rows have the groups {', '.join(rows.groups)}, the plan has maps for "
                f"{', '.join(schema.groups)}; read the table with Dataset.read_like(plan.distribution.schema, table)."
            )
        return Rows(cell, rows.group if aware else None)
    cell = dist.cells_of(read_features(schema, rows, unseen=unseen))
    return Rows(cell, read_groups(schema, rows) if aware else None)


def draw_bins(maps: Maps, rows: Rows, random_state: int) -> Ints:
    """Draw where each row is sent: a row of the maps."""
    draws = np.random.default_rng(check_seed(random_state)).random(len(rows.cell))
    if rows.group is None:
        return draw_targets(maps[0], rows.cell, draws)
    bins = np.zeros(len(rows.cell), dtype=np.int64)
    for g, columns in enumerate(maps):
        members = np.flatnonzero(rows.group == g)
        bins[members] = draw_targets(columns, rows.cell[members], draws[members])
    return bins


def draw_targets(columns: Floats, cell: Ints, draws: Floats) -> Ints:
    """Turn draws from 0 to 1 into where rows are sent, by a map whose column j has the chances of people in cell j."""
    targets = np.zeros(len(cell), dtype=np.int64)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    for source, start, stop in zip(cells.tolist(), starts, [*starts[1:], len(cell)], strict=False):
        members = order[start:stop]
        reached = np.cumsum(columns[:, source])
        drawn = np.searchsorted(reached, draws[members] * reached[-1], side="right")
        # Rounding may put the very last draw behind the last target.
        targets[members] = np.minimum(drawn, np.flatnonzero(columns[:, source])[-1])
    return targets


def cell_values(dist: CellDistribution) -> dict[str, NDArray[Any]]:
    """Values that stand for each cell, coded as in `Dataset.columns`: means of numbers, most frequent categories.

    They are those of no single person: a cell of fewer than `FEWEST_PEOPLE` rows is averaged with its nearest
    cells until there are as many, and a number that fewer people have is missing.
    """
    schema, encoding, centroids = parts_for_rows(dist)
    shared, people = _shared_centroids(dist, centroids)
    decoded = encoding.decode(shared)
    values: dict[str, NDArray[Any]] = {}
    for feature in schema.features:
        decoded_values = decoded[feature.name]
        if feature.kind == "numeric":
            values[feature.name] = np.asarray(decoded_values, dtype=np.float64)
        else:
            code = {category: k for k, category in enumerate(feature.categories)}
            values[feature.name] = np.array([code[value] for value in decoded_values], dtype=np.int32)
    for encoded in encoding.features:
        if encoded.kind == "missing":
            known = people * (1 - shared[:, encoded.start])
            # Half a person for the rounding of shares.
            values[encoded.name][known < FEWEST_PEOPLE - 0.5] = np.nan
    return values


def _shared_centroids(dist: CellDistribution, centroids: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Centroids of enough people, and how many those are."""
    shared = np.asarray(centroids, dtype=np.float64).copy()
    if dist.counts is None:
        return shared, np.full(len(shared), np.inf)
    rows = dist.counts.sum(axis=(1, 2))
    people = rows.astype(np.float64)
    few = np.flatnonzero(rows < FEWEST_PEOPLE)
    if len(few) == 0:
        return shared, people
    distances = cell_distances(dist)
    for cell in few.tolist():
        order = np.argsort(distances[cell], kind="stable")
        reached = np.cumsum(rows[order])
        near = order[: int(np.searchsorted(reached, min(FEWEST_PEOPLE, reached[-1]))) + 1]
        shared[cell] = np.average(np.asarray(centroids)[near], axis=0, weights=rows[near])
        people[cell] = rows[near].sum()
    return shared, people


def mapped_table(dist: CellDistribution, aware: bool, bins: Ints) -> pa.Table:
    """Mapped rows as a table: the features, and if `aware` as which group each row is scored."""
    schema, _, _ = parts_for_rows(dist)
    cells = bins % dist.n_cells
    table: dict[str, Any] = {}
    values = cell_values(dist)
    for feature in schema.features:
        mapped = values[feature.name][cells]
        if feature.kind == "numeric":
            table[feature.name] = _numbers(feature, mapped)
        else:
            table[feature.name] = pa.array(list(feature.categories)).take(pa.array(mapped))
    if aware:
        if SCORED_AS in table:
            raise InputError(f"A feature is called {SCORED_AS!r}, the name of a column of the result: rename it.")
        table[SCORED_AS] = pa.array(list(dist.groups)).take(pa.array(bins // dist.n_cells))
    return pa.table(table)


def _numbers(feature: Feature, values: Floats) -> pa.Array:
    """Numbers of the kind that the feature has: integers, days, or any."""
    if feature.whole or feature.date:
        integers = pa.array(np.rint(values), from_pandas=True).cast(pa.int64())
        return integers.cast(pa.int32()).cast(pa.date32()) if feature.date else integers
    return pa.array(values, from_pandas=True)


def labelled(table: pa.Table, schema: Schema, rows: Any) -> pa.Table:
    """Put the label of the rows beside their mapped features, as it came."""
    if schema.label in table.column_names:
        raise InputError(f"A column of the result is called {schema.label!r}, like the label: rename it.")
    if isinstance(rows, Dataset):
        values = [schema.negative, schema.positive]
        if schema.negative is None:
            # Several values count as 0; which of them it was is not kept.
            values = [f"not {schema.positive}", str(schema.positive)]
        return table.append_column(schema.label, pa.array(values).take(pa.array(rows.label)))
    known = Table.open(rows)
    if schema.label not in known.names:
        raise InputError(f"The rows have no column {schema.label!r}, the label; leave the label out, or add it.")
    return table.append_column(schema.label, known.column(schema.label))
