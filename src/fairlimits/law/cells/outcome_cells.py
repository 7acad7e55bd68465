"""Cells that cut q(x) = P(A, Y | x), or q and the features together, instead of the features alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.archives import nest, unnest
from fairlimits._util.states import Checked, check_kinds
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Encoding
from fairlimits.errors import FileError, InputError
from fairlimits.law.cells.quantizer.codebook import assign
from fairlimits.law.outcome.classifiers import ClassifierLaw
from fairlimits.law.outcome.codes import Columns
from fairlimits.law.outcome.models import OutcomeModel, Packed

# Points whose variance is below this share of their mean square are the same.
_ROUNDING = 1e-12

# Range of scales: points that differ by less than a rounding error are not blown up.
_LARGEST = 1e12


@dataclass(frozen=True, eq=False)
class Space(Checked):
    """Where rows lie: by their q, by their features, or by both.

    An entry of q is divided by the square root of its mean, so that small groups and rare labels are resolved as well
    as large ones. Both parts are scaled to a mean square distance from their centre of 1 before they are
    weighted.

    Parameters
    ----------
    divisor : ndarray of shape (G, 2)
        What the entries of q are divided by.
    encoding : Encoding
        How features become columns.
    outcome_scale, feature_scale : float
        What each part is multiplied by; a part of scale 0 is left out.
    """

    divisor: Floats
    encoding: Encoding
    outcome_scale: float
    feature_scale: float

    @classmethod
    def fit(cls, q: Floats, share: Floats, encoding: Encoding, encoded: NDArray[np.float32], features: float) -> Space:
        """Scale the parts; `features` is the weight of the features, between 0 and 1."""
        mean = share @ q.reshape(len(q), -1)
        divisor = np.sqrt(np.where(mean > 0, mean, 1.0)).reshape(q.shape[1:])
        return cls(
            divisor,
            encoding,
            float(np.sqrt(1 - features)) * _unit((q / divisor).reshape(len(q), -1), share),
            float(np.sqrt(features)) * _unit(encoded, share) if features > 0 else 0.0,
        )

    def place(self, q: Floats, encoded: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """Return the coordinates of rows."""
        parts = [((q / self.divisor) * self.outcome_scale).reshape(len(q), -1).astype(np.float32)]
        if encoded is not None and self.feature_scale > 0:
            parts.append(encoded * np.float32(self.feature_scale))
        return np.ascontiguousarray(np.hstack(parts))

    def _check(self) -> None:
        """Refuse a space in which rows cannot be placed."""
        check_kinds(self, divisor=np.ndarray, encoding=Encoding, outcome_scale=float, feature_scale=float)
        scales = [self.outcome_scale, self.feature_scale]
        whole = self.divisor.dtype == np.float64 and ((self.divisor > 0) & np.isfinite(self.divisor)).all()
        if not whole or not 0 <= min(scales) <= max(scales) < _LARGEST:
            raise FileError("The file's cells lie where no row can be; save it again.")


@dataclass(frozen=True, eq=False)
class OutcomeCells(Checked):
    """How a row finds its cell: it goes to the nearest codeword of the space.

    Parameters
    ----------
    model : OutcomeModel
        Estimates q.
    space : Space
        Where rows lie.
    codewords : ndarray of shape (N, d)
    cuts : ndarray of shape (G, N - 1), optional
        Where cells cut q alone, what `chance_cuts` returned, for rules that see the group.
    """

    model: OutcomeModel
    space: Space
    codewords: NDArray[np.float32]
    cuts: Floats | None = None

    def q_of(self, columns: Columns, n_rows: int, q: Floats | None = None) -> Floats:
        """Return P(A, Y | x) of each row: what is known of it, checked, or else estimated."""
        if q is None:
            return self.model.predict_columns(columns, n_rows)
        if q.shape != (n_rows, *self.space.divisor.shape):
            raise InputError(
                f"q has shape {q.shape}; it must be {(n_rows, *self.space.divisor.shape)}, that is P(A, Y | x) of each "
                "row, as in Outcome.q."
            )
        return q

    def cells_of(self, columns: Columns, n_rows: int, q: Floats | None = None) -> Ints:
        """Return the cell of each row, by its `q` where that is known; neither label nor group is looked at."""
        q = self.q_of(columns, n_rows, q)
        encoded = self.space.encoding.transform(columns, n_rows) if self.space.feature_scale > 0 else None
        return assign(self.space.place(q, encoded), self.codewords)

    def cells_by_chance(self, mass: Floats, q: Floats, group: Ints) -> Ints:
        """Return the cell of each row by the chance of label 1 in the row's own group; the cuts must exist."""
        assert self.cuts is not None
        cell = np.empty(len(q), dtype=np.int64)
        for g in np.unique(group).tolist():
            rows = np.flatnonzero(group == g)
            cell[rows] = cells_between(self.cuts, mass, g, q[rows, g, 1] / q[rows, g].sum(axis=1))
        return cell

    def in_order(self, mass: Floats, g: int) -> tuple[Ints, Floats]:
        """Return the cells of a group by its chance of label 1, and the cuts between them, which must exist."""
        assert self.cuts is not None
        order = _by_chance(mass, g)
        return order, self.cuts[g, : max(len(order) - 1, 0)]

    def tables(self, mass: Floats) -> Packed:
        """Return all that is needed to find a row's cell without this package: a JSON-able header and named arrays."""
        model = self.model.law
        if isinstance(model, ClassifierLaw):
            raise InputError(
                "The estimate was learned with a classifier of your own, which cannot be written as plain numbers; "
                "estimate without it to export a rule."
            )
        header = {
            "splits": [[list(own.first), list(own.second)] for own in model.splits],
            "recalibration": self.model.recalibration.to_dict(),
            "encoding": model.encoding.to_dict()["features"],
            "outcome_scale": self.space.outcome_scale,
            "feature_scale": self.space.feature_scale,
        }
        arrays = nest("law", model.tables()) | {"divisor": self.space.divisor, "codewords": self.codewords}
        if self.cuts is not None:
            for g in range(mass.shape[1]):
                order, cuts = self.in_order(mass, g)
                arrays |= {f"order/{g}": order, f"cuts/{g}": cuts}
        return header, arrays

    def pack(self) -> Packed:
        """Return how rows find their cell as a JSON-able header and named arrays."""
        header, arrays = self.model._pack()
        scales = {"outcome_scale": self.space.outcome_scale, "feature_scale": self.space.feature_scale}
        own: dict[str, NDArray[Any]] = {"divisor": self.space.divisor, "codewords": self.codewords}
        if self.cuts is not None:
            own["cuts"] = self.cuts
        return {"model": header, **scales}, own | nest("model", arrays)

    @classmethod
    def unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoding: Encoding) -> OutcomeCells:
        """Read what `pack` returned, for cells whose features are encoded by `encoding`."""
        model = OutcomeModel._unpack(header["model"], unnest("model", arrays))
        scales = [float(header[name]) for name in ("outcome_scale", "feature_scale")]
        divisor, codewords = np.asarray(arrays["divisor"]), np.asarray(arrays["codewords"])
        found = cls(model, Space(divisor, encoding, *scales), codewords, arrays.get("cuts"))
        found.space._check()
        found._check()
        return found

    def _check(self) -> None:
        """Refuse cells that do not fit the estimate."""
        check_kinds(self, model=OutcomeModel, space=Space, codewords=np.ndarray, cuts=(np.ndarray, type(None)))
        space, codewords, cuts = self.space, self.codewords, self.cuts
        columns = space.divisor.size + (space.encoding.n_columns if space.feature_scale > 0 else 0)
        fits = space.divisor.shape == (len(self.model.schema.groups), 2) and codewords.shape[1:] == (columns,)
        if not fits or not len(codewords) or codewords.dtype != np.float32 or not np.isfinite(codewords).all():
            raise FileError("The file's cells and its estimate do not fit; save it again.")
        if (space.feature_scale == 0) != (cuts is not None):
            raise FileError("The file's cells and their order do not fit; save it again.")
        if cuts is not None and not _are_cuts(cuts, space.divisor, codewords):
            raise FileError("The order of the file's cells is damaged; save it again.")


def chance_cuts(mass: Floats, chance: Floats, weight: Floats) -> Floats:
    """Find the cuts of the chance of label 1 that give each cell, in order, its share of a group's people.

    Cells cut q as a whole; a rule that sees the group depends on nothing but the chance of label 1 in the person's own
    group. Sorted by that, people get the cells' scores in the cells' order, and every group is selected just as often
    as on the cells.

    Parameters
    ----------
    mass : ndarray of shape (N, G, 2)
        Probabilities of cell, group and label.
    chance : ndarray of shape (n, G)
        Chance of label 1 in each group, of the rows that the cells were made from, or of ranges of chances.
    weight : ndarray of shape (n, G)
        Mass of the group that has this chance.

    Returns
    -------
    ndarray of shape (G, N - 1)
        For each group, the cuts between its cells in the order of `_by_chance`; infinite where it has no more cells.
    """
    cuts = np.full((mass.shape[1], len(mass) - 1), np.inf)
    for g in range(len(cuts)):
        order = _by_chance(mass, g)
        if len(order) < 2:
            continue
        held = np.cumsum(mass[order, g].sum(axis=1))
        rank = np.argsort(chance[:, g], kind="stable")
        passed = np.cumsum(weight[rank, g])
        last = np.searchsorted(passed, held[:-1] / held[-1] * passed[-1])
        last = np.minimum(last, len(rank) - 2)
        between = (chance[rank[last], g] + chance[rank[last + 1], g]) / 2
        cuts[g, : len(order) - 1] = np.maximum.accumulate(between)
    return cuts


def chances_of_label(q: Floats) -> Floats:
    """Return the chance of label 1 in each group, of shape (n, G), where q is P(A, Y | x)."""
    return np.asarray(q[:, :, 1] / q.sum(axis=2))


def cells_between(cuts: Floats, mass: Floats, g: int, chance: Floats) -> Ints:
    """Return the cells of people of a group by their chance of label 1."""
    order = _by_chance(mass, g)
    return np.asarray(order[np.searchsorted(cuts[g, : len(order) - 1], chance)])


def _by_chance(mass: Floats, g: int) -> Ints:
    """Return the cells that a group has mass in, in the order of its chance of label 1."""
    there = np.flatnonzero(mass[:, g].any(axis=1))
    return there[np.argsort(mass[there, g, 1] / mass[there, g].sum(axis=1), kind="stable")]


def _are_cuts(cuts: NDArray[Any], divisor: NDArray[Any], codewords: NDArray[Any]) -> bool:
    """Return whether cuts read from a file have the right shape and order."""
    if cuts.dtype != np.float64 or cuts.shape != (len(divisor), len(codewords) - 1):
        return False
    return bool((cuts >= 0).all()) and bool((cuts[:, 1:] >= cuts[:, :-1]).all())


def _unit(points: NDArray[np.float32] | Floats, share: Floats) -> float:
    """Return the factor that scales points to a mean square distance of 1 from their centre."""
    wide = np.asarray(points, dtype=np.float64)
    spread, size = (float(share @ (own**2).sum(axis=1)) for own in (wide - share @ wide, wide))
    # Where points differ by rounding errors only, these must not be blown up.
    return 1 / float(np.sqrt(spread)) if spread > _ROUNDING * size else 1.0
