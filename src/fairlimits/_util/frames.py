"""Frames of the user's kind: results are pandas frames if pandas came in, polars if polars did, else Arrow tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, cast

import narwhals.stable.v1 as nw
import pyarrow as pa

ARROW = "pyarrow"
"""The kind of frame where none came in."""

_KINDS = (ARROW, "pandas", "polars", "modin.pandas", "cudf")


class _Kind(Protocol):
    @property
    def frame_kind(self) -> str: ...


_Result = TypeVar("_Result", bound=_Kind)


def usable_kind(name: str) -> str:
    """Return a kind of frame that a file names; that of Arrow if it is not known, or its library is not here."""
    return name if name in _KINDS and find_spec(name.partition(".")[0]) is not None else ARROW


def kind_of(*given: Any) -> str:
    """Name of the library of the first frame or series that is given; that of Arrow if there is none."""
    for values in given:
        if nw.dependencies.is_into_series(values) or nw.dependencies.is_into_dataframe(values):
            native = nw.from_native(values, eager_only=True, allow_series=True)
            return str(nw.get_native_namespace(native).__name__)
    return ARROW


def of_user_kind(method: Callable[[_Result], pa.Table]) -> Callable[[_Result], Any]:
    """Let a method of a result return a frame of the kind that came in; the result says which as ``frame_kind``."""

    @wraps(method)
    def convert(self: _Result) -> Any:
        table, kind = method(self), cast(Any, self.frame_kind)
        return table if kind == ARROW else nw.from_arrow(table, backend=kind).to_native()

    return convert


def arrow_table(frame: Any) -> pa.Table:
    """A frame of any kind as an Arrow table."""
    return frame if isinstance(frame, pa.Table) else nw.from_native(frame, eager_only=True).to_arrow()
