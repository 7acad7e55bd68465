"""`Origin`: how a distribution on cells was made, kept with it; and the defaults for making one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from fairlimits._util.states import Described
from fairlimits.errors import FileError

Partition: TypeAlias = Literal["features", "outcome", "blend"]

FEATURES: Partition = "features"
"""The partition whose cells are found by the nearest centroid."""

DEFAULT_GENERATOR = "auto"
"""The default generator: trees for cells of the features of rows in memory, and none elsewhere."""

DEFAULT_SAMPLES = 1_000_000
"""Default number of rows to generate."""

# The least value of each whole number.
_WHOLE = {"rows": 0, "n_samples": 1, "random_state": 0, "iterations": 0, "merged": 1}


@dataclass(frozen=True)
class Origin(Described):
    """How a distribution was made; a field is None where it is not known, or has no meaning.

    Parameters
    ----------
    rows : int, optional
        Rows of the table, whatever their weight.
    partition : {"features", "outcome", "blend"}, default="features"
        What the cells cut.
    generator : str, optional
        Generator whose rows the masses are counted from; by default they are those of the table.
    n_samples : int, optional
        Rows that were generated.
    random_state : int, optional
        Seed.
    relative_error : float, optional
        Share by which the last pass had to lower the quantization error for another one to follow.
    distortion : float, optional
        Mean squared distance of the rows to the centres of their cells.
    iterations : int, optional
        Passes of Lloyd's iteration over all rows.
    total_weight : float, optional
        Sum of the weights, where rows have weights and were counted; `merge` needs it to add up several sites.
    merged : int, optional
        Distributions that were added up.
    """

    rows: int | None = None
    partition: Partition = FEATURES
    generator: str | None = None
    n_samples: int | None = None
    random_state: int | None = None
    relative_error: float | None = None
    distortion: float | None = None
    iterations: int | None = None
    total_weight: float | None = None
    merged: int | None = None

    @property
    def by_features(self) -> bool:
        """Whether the cells cut the features alone, so that a row is in the cell with the nearest centroid."""
        return self.partition == FEATURES

    @property
    def counted(self) -> bool:
        """Whether the masses are the counts of the table's rows: neither generated, nor sums of an estimate."""
        return self.by_features and self.generator is None

    def to_dict(self) -> dict[str, Any]:
        """Return the origin as plain data that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: object) -> Origin:
        """Build the origin from what `to_dict` returned.

        Raises
        ------
        FileError
            If a field is not known, or holds what it cannot be.
        """
        if not isinstance(record, Mapping):
            raise FileError(f"The origin must be a mapping, got {type(record).__name__}: {_REMEDY}.")
        known = {field.name: field.default for field in fields(cls)}
        for name, value in record.items():
            if name not in known:
                raise FileError(f"The origin has a field {name!r}, which is not known: {_REMEDY}.")
            if value != known[name] and not _can_be(name, value):
                raise FileError(f"The origin has {value!r} as {name!r}: {_REMEDY}.")
        return cls(**record)


_REMEDY = "the file is damaged or not ours"


def _can_be(name: str, value: object) -> bool:
    if name == "partition":
        return value in get_args(Partition)
    if name == "generator":
        return isinstance(value, str)
    # bool is a subclass of int, but True is not a number of rows.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name in _WHOLE:
        return isinstance(value, int) and _WHOLE[name] <= value < 2**63
    return 0 <= value <= sys.float_info.max
