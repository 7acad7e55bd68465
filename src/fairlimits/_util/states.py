"""`Checked`: results that are checked again when they are read from a file or another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class Checked:
    """Base of frozen dataclasses whose state is their fields, and is checked whenever it is restored.

    What is computed from the fields is neither saved nor sent to workers: a file could contradict itself by it.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        type(self).__init__(self, **state)
        self._check()

    def _check(self) -> None:
        """Raise an error if the values contradict each other; what a constructor checks needs no second look."""
