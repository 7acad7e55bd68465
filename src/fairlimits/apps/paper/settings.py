"""How a reproduction is made: every choice that changes a figure, so that kept results are never taken for others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import fairlimits as fl
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Floats
from fairlimits.apps.paper import printed
from fairlimits.data import check_seed

GENERATORS = ("cart", "ctgan", "bootstrap")
PARTITIONS = ("features", "outcome", "blend")

INDIVIDUAL_SCALE = 1.2
"""Ind's relaxation for each unit of the groups': Section 5.2 names 0.12 beside 0.10, and gives no other pair."""

_LARGEST_RELAXATION = 0.3


@dataclass(frozen=True)
class Settings:
    """What a reproduction is made with.

    Parameters
    ----------
    generator : {"cart", "ctgan", "bootstrap"}, default="cart"
        What draws the rows that are cut into cells.
    partition : {"features", "outcome", "blend"}, default="features"
        What the cells of all figures and of Table 2 cut; Table 3 compares two of them in any case.
    cells : int, default=256
        Number of cells, where the paper's tables name no other.
    seed : int, default=0
        Seed of everything random.
    quick : bool, default=False
        A trial in seconds: few rows, few cells, few points. Its figures mean nothing.
    """

    generator: str = "cart"
    partition: str = "features"
    cells: int = 256
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        for what, value, known in (
            ("generator", self.generator, GENERATORS),
            ("partition", self.partition, PARTITIONS),
        ):
            if value not in known:
                hint = did_you_mean(value, known)
                raise fl.InputError(f"The {what} is {value!r}; the known ones are {', '.join(known)}.{hint}")
        if self.cells < 2:
            raise fl.InputError(f"The number of cells is {self.cells}; give at least 2.")
        check_seed(self.seed, "seed")

    @property
    def name(self) -> str:
        """Name of the folder for results of these settings."""
        size = f"{self.cells}-cells-seed-{self.seed}{'-quick' if self.quick else ''}"
        return f"{self.generator}-{self.partition}-{size}"

    @property
    def n_cells(self) -> int:
        """Number of cells that is really used."""
        return min(self.cells, 24) if self.quick else self.cells

    @property
    def n_samples(self) -> int:
        """Rows to generate."""
        return 40_000 if self.quick else printed.SAMPLES

    @property
    def most_rows(self) -> int | None:
        """Real rows to take of a data set, or None for all."""
        return 2_000 if self.quick else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of cells of Table 3."""
        return printed.SIZES[:2] if self.quick else printed.SIZES

    @property
    def grid(self) -> Floats:
        """Relaxations of the groups' notions on the curves of the figures."""
        return np.linspace(0, _LARGEST_RELAXATION, 7 if self.quick else 31)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, with the version that uses them."""
        return {**asdict(self), "version": fl.__version__}
