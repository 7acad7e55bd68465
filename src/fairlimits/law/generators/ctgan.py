"""`CtganGenerator`: the paper's generator, and its sibling TVAE, through the optional package ``ctgan``.

CTGAN and TVAE are due to Xu et al. (2019), "Modeling tabular data using conditional GAN". The package ``ctgan`` is
not part of fairlimits and has a licence of its own, the Business Source License 1.1 (BUSL-1.1), which is not an
open-source licence: read it before you use the package in production.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Schema, check_seed
from fairlimits.errors import InputError, MissingExtraError
from fairlimits.law.generators.protocol import check_size, check_weights, fitted

PAPER_EPOCHS = 400
"""Epochs that the paper trains for."""

# CTGAN shows its critic rows in packs of ten and halves a batch, so a batch must be a multiple of ten.
_PACK = 10

# Rows drawn at a time: a million at once would take gigabytes in one-hot form.
_CHUNK = 100_000


class _Trained(NamedTuple):
    model: Any
    layout: _Layout


@dataclass(frozen=True)
class CtganGenerator:
    """A neural generator of tables: CTGAN, the paper's choice, or TVAE.

    It needs the extra ``fairlimits[ctgan]``, whose package ``ctgan`` is licensed under BUSL-1.1, and hours where
    `CartGenerator` needs seconds; ``docs/fidelity.md`` compares them.

    Missing numbers become the median beside a column that flags them, columns of whole numbers
    are rounded again, and weighted tables are first resampled by weight, as the package knows neither missing
    values nor weights.

    Parameters
    ----------
    network : {"ctgan", "tvae"}, default="ctgan"
        Which of the two.
    epochs : int, default=400
        Passes over the rows. The paper trains for 400.
    batch_size : int, default=500
        Rows per step, a multiple of 10.

    Examples
    --------
    >>> import fairlimits as fl
    >>> generator = fl.law.CtganGenerator("tvae", epochs=10)
    >>> generator.name
    'tvae'
    >>> rows = generator.fit(fl.load_dataset("adult")).sample(1_000)  # doctest: +SKIP
    """

    network: Literal["ctgan", "tvae"] = "ctgan"
    epochs: int = PAPER_EPOCHS
    batch_size: int = 500
    _trained: _Trained | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.network not in ("ctgan", "tvae"):
            raise InputError(f"The network is {self.network!r}; it must be 'ctgan' or 'tvae'.")
        if not _whole(self.epochs) or self.epochs < 1:
            raise InputError(f"The number of epochs is {self.epochs!r}; it must be a whole number of at least 1.")
        if not _whole(self.batch_size) or self.batch_size < _PACK or self.batch_size % _PACK:
            raise InputError(f"The batch size is {self.batch_size!r}; it must be a multiple of {_PACK}, such as 500.")

    @property
    def name(self) -> str:
        """How the generator is called in tables and files."""
        return self.network

    def fit(self, dataset: Dataset, random_state: int = 0, progress: Progress | None = None) -> CtganGenerator:
        """Train the network and return the trained generator.

        Raises
        ------
        MissingExtraError
            If the package ``ctgan`` is not installed.
        """
        check_weights(dataset)
        random_state = check_seed(random_state)
        model = _watched(_network(self.network), self.epochs, progress)(epochs=self.epochs, batch_size=self.batch_size)
        model.set_random_state(random_state)
        if dataset.weight is not None:
            rng = np.random.default_rng(random_state)
            dataset = dataset.take(rng.choice(dataset.n_rows, dataset.n_rows, p=dataset.weight / dataset.weight.sum()))
        layout = _Layout.of(dataset)
        model.fit(layout.matrix(dataset), layout.discrete)
        return replace(self, _trained=_Trained(model, layout))

    def sample(self, n: int, random_state: int = 0) -> Dataset:
        """Draw `n` rows."""
        model, layout = fitted(self._trained)
        check_size(n)
        model.set_random_state(check_seed(random_state))
        return layout.dataset(np.concatenate([model.sample(min(_CHUNK, n - at)) for at in range(0, n, _CHUNK)]))

    def save(self, path: object) -> NoReturn:
        """Refuse: the package can store its networks as pickles only, and fairlimits neither writes nor reads those.

        Raises
        ------
        InputError
            Always; it says what to do instead.
        """
        raise InputError(
            f"A {self.network} generator cannot be saved without pickle, which runs code when it is read; "
            "save rows instead: pyarrow.parquet.write_table(generator.sample(1_000_000).to_frame(), path)."
        )


@dataclass(frozen=True)
class _Layout:
    """The columns of the matrix of numbers that the package learns: group, label, features, missing flags."""

    schema: Schema
    fill: dict[str, float]  # medians of the numeric features, for those with missing values only
    whole: frozenset[str]  # numeric features that hold whole numbers only

    @classmethod
    def of(cls, dataset: Dataset) -> _Layout:
        fill, whole = {}, set()
        for feature in dataset.schema.features:
            if feature.kind == "numeric":
                values = dataset.columns[feature.name]
                present = values[~np.isnan(values)]
                if len(present) < len(values):
                    fill[feature.name] = float(np.median(present)) if len(present) else 0.0
                if (present == np.rint(present)).all():
                    whole.add(feature.name)
        return cls(dataset.schema, fill, frozenset(whole))

    @property
    def discrete(self) -> list[int]:
        """Positions of the columns that hold codes."""
        features = self.schema.features
        codes = [2 + at for at, feature in enumerate(features) if feature.kind == "categorical"]
        return [0, 1, *codes, *range(2 + len(features), 2 + len(features) + len(self.fill))]

    def matrix(self, dataset: Dataset) -> Floats:
        columns: list[Any] = [dataset.group, dataset.label]
        for feature in self.schema.features:
            values = dataset.columns[feature.name]
            columns.append(np.where(np.isnan(values), self.fill.get(feature.name, 0.0), values))
        columns += [np.isnan(dataset.columns[name]) for name in self.fill]
        return np.column_stack(columns).astype(np.float64)

    def dataset(self, matrix: Floats) -> Dataset:
        matrix = np.asarray(matrix, dtype=np.float64)
        flags = dict(zip(self.fill, matrix[:, 2 + len(self.schema.features) :].T, strict=True))
        columns = {}
        for feature, values in zip(self.schema.features, matrix[:, 2:].T, strict=False):
            if feature.kind == "categorical":
                columns[feature.name] = np.rint(values).astype(np.int32)
                continue
            numbers = np.rint(values) if feature.name in self.whole else values
            if feature.name in flags:
                numbers = np.where(flags[feature.name] > 0.5, np.nan, numbers)
            columns[feature.name] = numbers
        group, label = np.rint(matrix[:, :2]).T
        return Dataset(self.schema, columns, group.astype(np.int64), label.astype(np.int8))


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _network(name: str) -> Any:
    try:
        package = import_module("ctgan")
    except ImportError as error:
        raise MissingExtraError(
            f"The generator {name!r} needs the package ctgan (licence BUSL-1.1), which is not installed; "
            "run: pip install 'fairlimits[ctgan]'"
        ) from error
    return getattr(package, name.upper())


def _watched(network: Any, epochs: int, progress: Progress | None) -> Any:
    """Let the network report progress: it sets its public attribute ``loss_values`` once per epoch."""
    if progress is None:
        return network

    def __setattr__(self: Any, key: str, value: Any) -> None:  # noqa: N807
        object.__setattr__(self, key, value)
        if key == "loss_values" and value is not None and len(value):
            done = int(value["Epoch"].max()) + 1
            progress(done / epochs, f"epoch {done} of {epochs}")

    return type(network.__name__, (network,), {"__setattr__": __setattr__})
