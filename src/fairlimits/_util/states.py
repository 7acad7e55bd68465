"""`Checked`: results that are checked anew when they come out of a file or from another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class Checked:
    """Base of frozen dataclasses whose state is their fields, and is checked wherever it comes from.

    What is computed from the fields is neither saved nor sent to workers: a file could contradict itself by it.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: getattr(self, own.name) for own in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        type(self).__init__(self, **state)
        self._check()

    def _check(self) -> None:
        """Raise an error if the values contradict each other; what a constructor checks needs no second look."""
