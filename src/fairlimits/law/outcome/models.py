"""`OutcomeModel`: the fitted estimate of q(x) = P(A, Y | x) for new rows, and how it is kept in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.archives import nest, unnest
from fairlimits._util.states import check_kinds
from fairlimits._util.threads import ONE_BLAS_THREAD
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, Encoding, Schema, read_features
from fairlimits.errors import FileError, InputError
from fairlimits.law.outcome.classifiers import ClassifierLaw, CodesView
from fairlimits.law.outcome.codes import Codes, Columns
from fairlimits.law.outcome.ensembles import Ensemble, distinct_rows
from fairlimits.law.outcome.recalibration import Recalibration
from fairlimits.law.outcome.splits import GroupSplit, joint

# Rows from which on it pays to hold BLAS to one thread, which costs some milliseconds.
_MANY_ROWS = 1000

Packed: TypeAlias = tuple[dict[str, Any], dict[str, NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class SplitLaw:
    """q(x) = P(Y | x) P(A | x, Y), as two-way chances of the package's own learners; plain arrays throughout.

    Parameters
    ----------
    codes : Codes
        How trees see features.
    encoding : Encoding
        How logistic regression sees them.
    splits : tuple of GroupSplit
        The questions that tell the groups apart.
    label : Ensemble
        Chance of the label.
    sides : tuple of Ensemble
        For each split, the chance of its second side, given features and label.
    folds : int
        Number of folds whose learners are averaged.
    """

    codes: Codes
    encoding: Encoding
    splits: tuple[GroupSplit, ...]
    label: Ensemble
    sides: tuple[Ensemble, ...]
    folds: int

    def predict(self, columns: Columns, n_rows: int) -> Floats:
        """Estimate q, of shape (n_rows, G, 2)."""
        found = distinct_rows(columns, n_rows)
        if found is None:
            return self._predict(columns, n_rows)
        first, kind = found
        return self._predict({name: values[first] for name, values in columns.items()}, len(first))[kind]

    def _predict(self, columns: Columns, n_rows: int) -> Floats:
        codes = self.codes.transform(columns, n_rows)
        encoded = self.encoding.transform(columns, n_rows) if self._linear else None
        # Matrix products are of few rows: threads of BLAS would wait for each other longer than these take.
        with ONE_BLAS_THREAD if n_rows > _MANY_ROWS else nullcontext():
            label = self.label.chances(codes, encoded)[:, 0]
            sides = [side.chances(codes, encoded, 2) for side in self.sides]
        return joint(label, sides, self.splits, len(self.codes.schema.groups))

    def predict_fold(self, fold: int, columns: Columns, n_rows: int) -> Floats:
        """Estimate q by the learners of one fold alone."""
        return self._of_fold[fold].predict(columns, n_rows)

    @cached_property
    def _of_fold(self) -> tuple[SplitLaw, ...]:
        # The members of a fold follow those of the fold before, as many in each.
        return tuple(
            replace(
                self,
                label=self.label.part(k, self.folds),
                sides=tuple(side.part(k, self.folds) for side in self.sides),
                folds=1,
            )
            for k in range(self.folds)
        )

    @cached_property
    def _linear(self) -> bool:
        return any(len(ensemble.linear) for ensemble in (self.label, *self.sides))

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return all that `predict` needs as named arrays, beside schema, encoding and splits."""
        arrays = nest("codes", self.codes.pack()) | nest("label", self.label.tables())
        for at, side in enumerate(self.sides):
            arrays |= nest(f"side {at}", side.tables())
        return arrays | {"sizes": np.array(self.codes.sizes)}

    def pack(self) -> Packed:
        """Return the law as a JSON-able header and named arrays."""
        header = {
            "schema": self.codes.schema.to_dict(),
            "encoding": self.encoding.to_dict(),
            "splits": [[list(split.first), list(split.second)] for split in self.splits],
            "folds": self.folds,
        }
        arrays = nest("codes", self.codes.pack()) | nest("label", self.label.pack())
        for at, side in enumerate(self.sides):
            arrays |= nest(f"side {at}", side.pack())
        return header, arrays

    @classmethod
    def unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SplitLaw:
        """Build the law from what `pack` returned, after checking all of it."""
        try:
            schema = Schema.from_dict(header["schema"])
            encoding = Encoding.from_dict(header["encoding"])
            splits = tuple(GroupSplit(tuple(first), tuple(second)) for first, second in header["splits"])
            folds = header["folds"]
        except (LookupError, TypeError, ValueError) as error:
            raise FileError(f"The file's model has a damaged header ({error}); save the model again.") from error
        if not isinstance(folds, int) or isinstance(folds, bool) or folds < 1:
            raise FileError(f"The file's model has {folds!r} folds; save the model again.")
        _check_splits(splits, len(schema.groups))
        check_encoding(encoding, schema)
        codes = Codes.unpack(schema, unnest("codes", arrays))
        columns = encoding.n_columns
        label = Ensemble.unpack(codes.sizes, columns, unnest("label", arrays))
        sides = tuple(
            Ensemble.unpack((*codes.sizes, 2), columns + 1, unnest(f"side {at}", arrays)) for at in range(len(splits))
        )
        return cls(codes, encoding, splits, label, sides, folds)


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeModel:
    """The fitted estimate of q(x) = P(A, Y | x).

    Parameters
    ----------
    schema : Schema
        What the columns mean.
    law : SplitLaw or ClassifierLaw
        The package's own learners, or the user's classifiers.
    recalibration : Recalibration
        The correction of their estimates.
    """

    schema: Schema
    law: SplitLaw | ClassifierLaw
    recalibration: Recalibration

    @property
    def n_folds(self) -> int:
        """Number of folds whose learners are averaged."""
        return self.law.folds

    def predict(self, rows: Any) -> Floats:
        """Estimate q for new rows; neither their label nor their group is looked at.

        Parameters
        ----------
        rows : Dataset, or a pandas, polars or Arrow table
            The rows. A table needs the features only; a category that the schema does not know counts as
            missing.

        Returns
        -------
        ndarray of shape (n, G, 2)
            For each row P(A = g, Y = y | x); the entries of a row sum to 1.
        """
        if isinstance(rows, Dataset):
            if self.schema.features != rows.schema.features:
                raise InputError(
                    "These rows have other features, or other categories, than those the estimate was learned from; "
                    "read them with Dataset.read_like(schema, table)."
                )
            return self.predict_columns(rows.columns, rows.n_rows)
        columns = read_features(self.schema, rows, unseen="missing")
        return self.predict_columns(columns, len(next(iter(columns.values()))))

    def predict_columns(self, columns: Columns, n_rows: int) -> Floats:
        """Estimate q for features coded as in `Dataset.columns`."""
        return self.recalibration.apply(self.law.predict(columns, n_rows))

    def predict_out_of_fold(self, columns: Columns, fold: Ints) -> Floats:
        """Estimate q for rows that were learned from, each by the learners of its fold, which did not see it."""
        q = np.empty((len(fold), len(self.schema.groups), 2))
        for k in np.unique(fold).tolist():
            rows = np.flatnonzero(fold == k)
            q[rows] = self.law.predict_fold(k, {name: values[rows] for name, values in columns.items()}, len(rows))
        return self.recalibration.apply(q)

    @property
    def is_plain(self) -> bool:
        """Whether the model consists of plain arrays; one with a user's classifiers does not."""
        return isinstance(self.law, SplitLaw)

    def _pack(self) -> Packed:
        if not isinstance(self.law, SplitLaw):
            raise InputError(
                "This model holds a classifier of your own, which is not made of plain numbers; save what holds the "
                "model with fairlimits.save."
            )
        header, arrays = self.law.pack()
        return header | {"recalibration": self.recalibration.to_dict()}, arrays

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> OutcomeModel:
        law = SplitLaw.unpack(header, arrays)
        recalibration = Recalibration.from_dict(header.get("recalibration"), len(law.codes.schema.groups))
        return cls(law.codes.schema, law, recalibration)

    def __getstate__(self) -> dict[str, Any]:
        # Pickled as a few arrays: much faster than the objects that hold them, and checked when they are read.
        if not self.is_plain:
            return {"schema": self.schema, "law": self.law, "recalibration": self.recalibration}
        header, arrays = self._pack()
        return {"header": json.dumps(header), "arrays": arrays}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        if "header" in state:
            model = OutcomeModel._unpack(json.loads(state["header"]), state["arrays"])
            state = {"schema": model.schema, "law": model.law, "recalibration": model.recalibration}
        self.__dict__.update(state)
        self._check()

    def _check(self) -> None:
        """Refuse parts that contradict each other."""
        check_kinds(self, schema=Schema, law=(SplitLaw, ClassifierLaw), recalibration=Recalibration)
        self.recalibration.check_groups(len(self.schema.groups))
        if isinstance(self.law, ClassifierLaw):
            self.law.check_fits(len(self.schema.groups))
            for chances in (*self.law.label, *self.law.group):
                check_encoding(chances.view.encoding, self.schema)
                if isinstance(chances.view, CodesView) and chances.view.schema != self.schema:
                    raise InputError("a classifier sees other features than those of the estimate")

    def __repr__(self) -> str:
        return f"OutcomeModel({self.n_folds} folds, groups {', '.join(self.schema.groups)})"


def _check_splits(splits: tuple[GroupSplit, ...], groups: int) -> None:
    """Refuse splits that do not tell all groups apart: each side is split by a later one, until one group is left."""
    waiting = {tuple(range(groups))}
    for split in splits:
        whole = (*split.first, *split.second)
        if not all(type(g) is int for g in whole) or tuple(sorted(whole)) not in waiting:
            break
        waiting.remove(tuple(sorted(whole)))
        waiting |= {tuple(sorted(split.first)), tuple(sorted(split.second))}
    if any(len(side) != 1 for side in waiting) or len(splits) != groups - 1:
        raise FileError("The splits of the groups in the file's model are damaged; save the model again.")


def check_encoding(encoding: Encoding, schema: Schema) -> None:
    """Refuse an encoding that is not one of the schema's columns."""
    known = {feature.name: feature for feature in schema.features}
    for encoded in encoding.features:
        kind = "numeric" if encoded.kind == "missing" else encoded.kind
        if (
            encoded.name not in known
            or known[encoded.name].kind != kind
            or encoded.categories != known[encoded.name].categories
        ):
            raise FileError("The encoding and the schema in the file differ; save it again.")
    numbers = np.array([(encoded.center, encoded.scale, encoded.fill) for encoded in encoding.features])
    if len(numbers) and not np.isfinite(numbers).all():
        raise FileError("The encoding in the file is damaged; save it again.")
