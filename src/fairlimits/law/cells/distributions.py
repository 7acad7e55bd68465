"""`CellDistribution`: the frozen joint law of cell, group and label that every limit is computed from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style
from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Schema, set_aside_note, value_text
from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.arrays import (
    Distances,
    check_counted,
    check_index,
    checked_distances,
    checked_mass,
    frozen,
    numbers,
    pack_distances,
    unpack_distances,
    whole_numbers,
)
from fairlimits.law.cells.figures import draw_cells
from fairlimits.law.cells.labelled import LabelledCells
from fairlimits.law.cells.origins import Origin
from fairlimits.law.cells.outcome_cells import OutcomeCells
from fairlimits.law.cells.quantizer.codebook import assign
from fairlimits.law.cells.quantizer.rows import as_matrix
from fairlimits.law.cells.sampling import share_errors
from fairlimits.law.outcome.models import check_encoding
from fairlimits.notions import RateTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KIND = "distribution"


@dataclass(frozen=True, eq=False, repr=False)
class CellDistribution(Checked, Shown):
    """Joint law of cell, group and label: ``mass[i, g, y] = P(X in cell i, A = g, Y = y)``.

    Made by `discretize` from a table, or by `from_mass` from numbers.

    Parameters
    ----------
    mass : ndarray of shape (N, G, 2)
        Probabilities; they sum to 1.
    groups : tuple of str
        Names of the G groups.
    counts : ndarray of int of shape (N, G, 2), optional
        Rows behind each probability, before weights.
    centroids : ndarray of shape (N, d), optional
        The cells' centres in encoded features: the mean of their rows.
    encoding : Encoding, optional
        How rows become encoded features, and how centres are read.
    schema : Schema, optional
        What the columns of the table mean.
    distances : ndarray of shape (N, N) or sparse array, optional
        Distances between cells, where they do not follow from the centroids. A sparse array holds the
        neighbouring pairs only.
    origin : Origin, optional
        How the distribution was made.
    places : OutcomeCells, optional
        How rows find their cells, where that is not the nearest centroid. It holds fitted learners and is not saved.
    labelled : LabelledCells, optional
        Labels of people who were counted and not kept. They are not saved.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> dist.n_cells, dist.n_groups
    (2, 2)
    >>> dist.mass[0].tolist()  # the first cell: groups, then labels
    [[0.2, 0.1], [0.1, 0.0]]
    >>> fl.solve(dist, {}).accuracy
    0.7
    """

    mass: Floats
    groups: tuple[str, ...]
    counts: Ints | None = None
    centroids: NDArray[np.float32] | None = None
    encoding: Encoding | None = None
    schema: Schema | None = None
    distances: Distances | None = None
    origin: Origin = field(default_factory=Origin)
    places: OutcomeCells | None = None
    labelled: LabelledCells | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "mass", checked_mass(self.mass))
        set_(self, "groups", tuple(str(group) for group in self.groups))
        if len(self.groups) != self.n_groups or len(set(self.groups)) < self.n_groups:
            raise InputError(
                f"The mass has {self.n_groups} groups and the names are {list(self.groups)}; "
                "give one name of its own to each group."
            )
        if self.counts is not None:
            counts = whole_numbers(self.counts, "counts")
            if counts.shape != self.mass.shape or (counts < 0).any():
                raise InputError(f"The counts must be {self.mass.shape} numbers of at least 0.")
            set_(self, "counts", frozen(counts))
        if self.centroids is not None:
            centroids = as_matrix(self.centroids, "centroids").copy()
            if self.encoding is None or centroids.shape != (self.n_cells, self.encoding.n_columns):
                raise InputError("The centroids must have a row for each cell and come with their encoding.")
            set_(self, "centroids", frozen(centroids))
        if self.distances is not None:
            set_(self, "distances", checked_distances(self.distances, self.n_cells))

    @classmethod
    def from_mass(
        cls,
        mass: ArrayLike,
        distances: ArrayLike | sp.sparray | sp.spmatrix | None = None,
        groups: Sequence[str] | None = None,
    ) -> CellDistribution:
        """Build the distribution from its numbers.

        Parameters
        ----------
        mass : array-like of shape (N, G, 2)
            Probabilities or counts of (cell, group, label); they are divided by their sum.
        distances : array-like of shape (N, N) or sparse array, optional
            Distances between cells, needed for individual fairness only. In a sparse array every stored
            entry, zeros included, is a pair of neighbours.
        groups : sequence of str, optional
            Names of the groups, by default "0", "1", and so on.
        """
        array = numbers(mass, "mass")
        if array.ndim == 3 and array.size and np.isfinite(array).all() and array.max() > 0:
            with np.errstate(over="ignore"):
                if not np.isfinite(array.sum()):
                    array = array / array.max()
            array = array / array.sum()
        names = [str(g) for g in range(array.shape[1] if array.ndim == 3 else 0)] if groups is None else groups
        return cls(mass=array, groups=tuple(names), distances=distances)

    @property
    def n_cells(self) -> int:
        """Number of cells, N."""
        return int(self.mass.shape[0])

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return int(self.mass.shape[1])

    @cached_property
    def rates(self) -> RateTable:
        """Rates of the groups as affine functions of the scores."""
        return RateTable(self.mass, self.groups, self.counts)

    @property
    def small_groups_note(self) -> str | None:
        """Which groups are too small to speak about, by the rows that were counted; None if none are.

        That groups were joined, or dropped, is said where the table is read (`Dataset.small_groups_note`).
        """
        return None if self.counts is None else set_aside_note(self.groups, self.counts.sum(axis=0))

    def p(
        self,
        *,
        group: int | None = None,
        label: int | None = None,
        given_group: int | None = None,
        given_label: int | None = None,
    ) -> Floats:
        """Distribution over cells, joint with some variables and conditional on others.

        Every vector **p** of the paper is one call: superscripts are `group` and `label`, subscripts are
        `given_group` and `given_label` (``docs/paper.md`` has the table).

        Parameters
        ----------
        group, label : int, optional
            Joint with A = group, with Y = label.
        given_group, given_label : int, optional
            Conditional on A = given_group, on Y = given_label.

        Returns
        -------
        ndarray of shape (N,)
            NaN everywhere if the condition has probability 0.
        """
        if None not in (group, given_group) or None not in (label, given_label):
            raise InputError("A variable cannot be joint and given at once; choose one for each.")
        pick = slice(None)
        of_group = next((g for g in (group, given_group) if g is not None), None)
        of_label = next((y for y in (label, given_label) if y is not None), None)
        check_index("group", of_group, self.n_groups)
        check_index("label", of_label, 2)
        joint = self.mass[:, pick if of_group is None else [of_group]]
        joint = joint[:, :, pick if of_label is None else [of_label]].sum(axis=(1, 2))
        condition = self.mass[:, pick if given_group is None else [given_group]]
        condition = condition[:, :, pick if given_label is None else [given_label]].sum()
        with np.errstate(invalid="ignore"):
            return np.asarray(joint / condition)

    def cells_of(
        self, rows: Dataset | Mapping[str, NDArray[Any]], *, q: Floats | None = None, group: Ints | None = None
    ) -> Ints:
        """Find the cell of each row; the label is not looked at, and the group only if it is given.

        Parameters
        ----------
        rows : Dataset, or mapping of str to ndarray of shape (n,)
            The rows, or only their features, coded as in `Dataset.columns`.
        q : ndarray of shape (n, G, 2), optional
            P(A, Y | x) of each row, where it is known: for the rows that the cells were made from, `Outcome.q` has the
            estimates by learners that did not see the row. By default the learners of the cells estimate it. It has no
            meaning for cells of the features.
        group : ndarray of int of shape (n,), optional
            Each row's group, for a rule that sees it. Where cells cut q alone, such a rule depends on nothing but the
            chance of label 1 in the row's own group, so rows go to cells in the order of that, and to each as many of a
            group as it has of the group's people.
        """
        if isinstance(rows, Dataset):
            self._check_features(rows)
            columns = rows.columns
        elif isinstance(rows, Mapping):
            columns = rows
        else:
            raise InputError(
                f"The rows are a {type(rows).__name__}, which is not coded yet; give a Dataset, as "
                "Dataset.read_like(distribution.schema, table) makes."
            )
        n_rows = len(next(iter(columns.values()), ()))
        if self.places is not None:
            if group is not None and self.places.cuts is not None:
                return self.places.cells_by_chance(self.mass, self.places.q_of(columns, n_rows, q), group)
            return self.places.cells_of(columns, n_rows, q)
        if self.encoding is None or self.centroids is None:
            raise InputError(
                "This distribution is made of bare numbers and knows no columns, so rows have no cell in it: make the "
                "distribution with discretize."
            )
        if not self.origin.by_features:
            raise InputError(
                "These cells cut an estimate of P(A, Y | x), and its learners are not in the file that the "
                "distribution was loaded from, so rows have no cell in it: make the distribution with discretize again."
            )
        return assign(self.encoding.transform(columns, n_rows), self.centroids)

    def _check_features(self, rows: Dataset) -> None:
        if self.schema is None or self.schema.features == rows.schema.features:
            return
        ours, theirs = ({feature.name for feature in schema.features} for schema in (self.schema, rows.schema))
        odd = sorted(ours ^ theirs)
        what = f"differ in {', '.join(odd)}" if odd else "code their values in another way"
        raise InputError(
            f"The rows and the cells {what}; read the table with Dataset.read_like(distribution.schema, table)."
        )

    def share_errors(self, confidence: float = 0.95) -> Floats:
        """Error of each cell's shares that its own count of rows guarantees (see `fairlimits.law.cells.sampling`)."""
        if self.counts is None:
            raise InputError("This distribution was made without counts, so no sampling error can be given.")
        return share_errors(self.counts.sum(axis=(1, 2)), confidence=confidence, groups=self.n_groups)

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return ARROW if self.schema is None else self.schema.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Cells as a table: readable centre, mass, rate of the label and, where known, rows behind it."""
        columns: dict[str, Any] = {"cell": np.arange(self.n_cells), "mass": self.mass.sum(axis=(1, 2))}
        if self.counts is not None:
            columns["rows"] = self.counts.sum(axis=(1, 2))
        for g, name in enumerate(self.groups):
            columns[f"mass of {name}"] = self.mass[:, g].sum(axis=1)
            columns[f"mass of {name}, label 1"] = self.mass[:, g, 1]
        for name, values in self.centres().items():
            columns[name if name not in columns else f"{name} (feature)"] = values
        return pa.table(columns)

    def summary(self) -> str:
        """Say what the cells were counted from, and the share and the base rate of each group."""
        people = self.mass.sum(axis=(0, 2))
        shares = [
            f"{name} {size:.1%} of the people" + (f", {one / size:.1%} of them with label 1" if size > 0 else "")
            for name, size, one in zip(self.groups, people, self.mass[:, :, 1].sum(axis=0), strict=True)
        ]
        filled = int((self.mass.sum(axis=(1, 2)) > 0).sum())
        text = f"{self.n_cells:,} cells, {filled:,} of them with people"
        if self.counts is not None:
            behind = self.counts.sum(axis=(1, 2))
            text += f", from {behind.sum():,} rows (median {np.median(behind):,.0f} per cell)"
        if self.origin.generator is not None:
            text += f"; the shares are those of rows that the generator {self.origin.generator} drew"
        return f"{text}. Plug-in shares: {'; '.join(shares)}."

    def plot(self, ax: Axes | None = None, group: str | None = None) -> Axes:
        """Draw the cells: the share of label 1 in each against the share of one group in it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        group : str, optional
            The group; by default the smallest that has people.
        """
        with figure_style():
            return draw_cells(self.mass, self.groups, axes_or_new(ax), group)

    def centres(self) -> dict[str, Any]:
        """Centres of the cells in readable values: means of numbers, most frequent categories."""
        if self.centroids is None or self.encoding is None:
            return {}
        decoded = self.encoding.decode(self.centroids)
        return {
            name: values if isinstance(values, np.ndarray) else [value_text(value) for value in values]
            for name, values in decoded.items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the distribution to one file (``.npz``, without pickle).

        Where an estimate was learned with a classifier of your own, the classifier is not in the file, so that no rows
        can be placed in the cells again; `fairlimits.save` keeps it.
        """
        header, arrays = self._pack()
        write_archive(path, _KIND, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CellDistribution:
        """Read what `save` wrote."""
        return cls._unpack(*read_archive(path, _KIND))

    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "groups": list(self.groups),
            "encoding": None if self.encoding is None else self.encoding.to_dict(),
            "schema": None if self.schema is None else self.schema.to_dict(),
            "origin": self.origin.to_dict(),
        }
        arrays: dict[str, NDArray[Any]] = {"mass": self.mass}
        if self.counts is not None:
            arrays["counts"] = self.counts
        if self.centroids is not None:
            arrays["centroids"] = self.centroids
        arrays |= pack_distances(self.distances)
        if self.places is not None and self.places.model.is_plain:
            header["places"], placed = self.places.pack()
            arrays |= nest("places", placed)
        return header, arrays

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> CellDistribution:
        with reading("distribution"):
            encoding = None if header["encoding"] is None else Encoding.from_dict(header["encoding"])
            schema = None if header["schema"] is None else Schema.from_dict(header["schema"])
            places = None
            if "places" in header and encoding is not None:
                places = OutcomeCells.unpack(header["places"], unnest("places", arrays), encoding)
            found = cls(
                mass=arrays["mass"],
                groups=plain.items(header, "groups", str, "The distribution"),
                counts=arrays.get("counts"),
                centroids=arrays.get("centroids"),
                encoding=encoding,
                schema=schema,
                distances=unpack_distances(arrays, len(arrays["mass"])),
                places=places,
                origin=Origin.from_dict(header["origin"]),
            )
            found._check()
            check_members(arrays, found._pack()[1], "distribution")
            return found

    def _check(self) -> None:
        """Refuse parts that contradict each other."""
        check_kinds(
            self,
            encoding=(Encoding, type(None)),
            schema=(Schema, type(None)),
            origin=Origin,
            places=(OutcomeCells, type(None)),
            labelled=(LabelledCells, type(None)),
        )
        if self.encoding is not None and self.centroids is None:
            raise FileError("The file says how features are encoded, and not where cells lie; save it again.")
        if self.places is not None:
            told = self.places.model.schema == self.schema and self.places.space.encoding == self.encoding
            if not told or len(self.places.codewords) != self.n_cells:
                raise FileError("The file's cells and its estimate do not fit; save it again.")
        if self.schema is not None and self.schema.groups != self.groups:
            raise InputError("The groups of the distribution are not those of its schema.")
        if self.schema is not None and self.encoding is not None:
            check_encoding(self.encoding, self.schema)
        if self.counts is not None and self.origin.counted and self.origin.total_weight is None:
            check_counted(self.mass, self.counts)

    def __getstate__(self) -> dict[str, Any]:
        # Labels of people are in no file, whatever writes it.
        return super().__getstate__() | {"labelled": None}

    def __repr__(self) -> str:
        rows = "" if self.counts is None else f" from {int(self.counts.sum()):,} rows"
        return f"CellDistribution({self.n_cells} cells, groups {', '.join(self.groups)}{rows})"
