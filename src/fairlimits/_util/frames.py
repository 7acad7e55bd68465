"""Frames of the user's kind: results are pandas frames if pandas came in, polars if polars did, else Arrow tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, cast

import narwhals.stable.v1 as nw
import pyarrow as pa

ARROW = "pyarrow"
"""The kind of frame that is returned where no frame was given."""

_KINDS = (ARROW, "pandas", "polars", "modin.pandas", "cudf")


class _Kind(Protocol):
    @property
    def frame_kind(self) -> str: ...


_Result = TypeVar("_Result", bound=_Kind)


def usable_kind(name: str) -> str:
    """Return the kind of frame that a file names, or Arrow if it is unknown or its library is not installed."""
    return name if name in _KINDS and find_spec(name.partition(".")[0]) is not None else ARROW


def kind_of(*given: Any) -> str:
    """Return the name of the library of the first frame or series among the arguments, or Arrow if there is none."""
    for values in given:
        if nw.dependencies.is_into_series(values) or nw.dependencies.is_into_dataframe(values):
            native = nw.from_native(values, eager_only=True, allow_series=True)
            return str(nw.get_native_namespace(native).__name__)
    return ARROW


def of_user_kind(method: Callable[[_Result], pa.Table]) -> Callable[[_Result], Any]:
    """Decorate a method of a result to return a frame of the user's kind, which the result has as ``frame_kind``."""

    @wraps(method)
    def convert(self: _Result) -> Any:
        table, kind = method(self), cast(Any, self.frame_kind)
        return table if kind == ARROW else nw.from_arrow(table, backend=kind).to_native()

    return convert


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame of any kind as an Arrow table."""
    return frame if isinstance(frame, pa.Table) else nw.from_native(frame, eager_only=True).to_arrow()
