"""One data set with its generated rows and cells, each made once and shared by all that need them."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits._util.progress import Progress
from fairlimits.apps.paper.cache import Kept
from fairlimits.apps.paper.settings import Settings
from fairlimits.law import make_generator

# Generators whose rows are kept, for they take hours to learn where others take seconds.
_SLOW = ("ctgan",)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A generator that gives the rows it was made with: those that were drawn already."""

    rows: fl.Dataset
    name: str

    def fit(self, dataset: fl.Dataset, random_state: int = 0, progress: Progress | None = None) -> _Drawn:
        """Learn nothing more."""
        return self

    def sample(self, n: int, random_state: int = 0) -> fl.Dataset:
        """Give the rows."""
        return self.rows


class Bench:
    """A data set and all that is made of it.

    Parameters
    ----------
    name : str
        The data set's name.
    data : Dataset
        Its rows.
    settings : Settings
        How things are made.
    kept : Kept
        Where they are kept.
    tell : callable
        Called with the fraction done and a few words.
    """

    def __init__(self, name: str, data: fl.Dataset, settings: Settings, kept: Kept, tell: Progress) -> None:
        most = settings.most_rows
        if most is not None and data.n_rows > most:
            data = data.split(most / data.n_rows, random_state=settings.seed)[1]
        self.name, self.data, self.settings, self.kept, self.tell = name, data, settings, kept, tell
        self.notes: list[str] = []
        self._cells: dict[str, fl.CellDistribution] = {}
        self._drawing_seconds = self._learning_seconds = 0.0

    @cached_property
    def drawn(self) -> fl.Dataset:
        """Rows of the generator, learned from all rows."""
        settings = self.settings
        known = self.kept.read_rows(self.name, self.data)
        if known is not None:
            rows, facts = known
            self._drawing_seconds = float(facts["seconds"])
            return rows
        recipe = make_generator(settings.generator, **self._hurry)
        start = time.perf_counter()
        self.tell(0.0, f"learning the rows with {settings.generator}")
        fitted = recipe.fit(self.data, settings.seed, self.tell)
        rows = fitted.sample(settings.n_samples, settings.seed)
        self._drawing_seconds = time.perf_counter() - start
        if settings.generator in _SLOW:
            self.kept.write_rows(self.name, rows, {"seconds": self._drawing_seconds})
        return rows

    @property
    def _hurry(self) -> dict[str, Any]:
        return {"epochs": 1} if self.settings.quick and self.settings.generator == "ctgan" else {}

    @cached_property
    def outcome(self) -> fl.Outcome:
        """Estimate of P(A, Y | x)."""
        learner = LogisticRegression(max_iter=200) if self.settings.quick else None
        start = time.perf_counter()
        found = fl.estimate_outcome(self.data, estimator=learner, random_state=self.settings.seed, progress=self.tell)
        self._learning_seconds = time.perf_counter() - start
        return found

    @property
    def dist(self) -> fl.CellDistribution:
        """The cells that the figures and Table 2 are computed on."""
        return self.cells(self.settings.n_cells, self.settings.partition)

    def cells(self, size: int, partition: str) -> fl.CellDistribution:
        """Cut into cells, or give cells that were cut before."""
        unit = cells_unit(size, partition)
        if unit not in self._cells:
            found = self.kept.read_cells(unit, self.name)
            if found is None:
                found = self._cut(unit, size, partition)
            self._cells[unit] = found
        return self._cells[unit]

    def _cut(self, unit: str, size: int, partition: str) -> fl.CellDistribution:
        settings = self.settings
        made: dict[str, Any] = {}
        if partition == "features":
            made = {"generator": _Drawn(self.drawn, settings.generator), "n_samples": settings.n_samples}
        else:
            made = {"outcome": self.outcome}
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fl.law.SamplingWarning)
            dist = fl.discretize(
                self.data,
                size,
                partition=partition,  # type: ignore[arg-type]
                random_state=settings.seed,
                progress=self.tell,
                **made,
            )
        seconds = time.perf_counter() - start
        for warning in caught:
            if issubclass(warning.category, fl.law.SamplingWarning):
                self.notes.append(f"{self.name}: {warning.message}")
        # Made once for all numbers of cells.
        shared = self._drawing_seconds if partition == "features" else self._learning_seconds
        self.kept.write_cells(unit, self.name, dist, {"seconds": seconds, "shared seconds": shared})
        return dist


def cells_unit(size: int, partition: str) -> str:
    """Name under which cells are kept."""
    return f"cells-{partition}-{size}"
