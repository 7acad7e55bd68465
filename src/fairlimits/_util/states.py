"""`Checked` and `Described`: results that are checked again when they are read from a file or another process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class Checked:
    """Base of frozen dataclasses whose state is their fields, and is checked whenever it is restored.

    What is computed from the fields is neither saved nor sent to workers, so that a file cannot contradict itself.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        type(self).__init__(self, **state)
        self._check()

    def _check(self) -> None:
        """Raise an error if the values contradict each other; what the constructor checks is not checked again."""


class Described:
    """Base of frozen dataclasses whose state is the text of their `to_dict`, read with all checks of `from_dict`."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data that JSON can hold."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, record: Any) -> Any:
        """Build it from what `to_dict` returned, after checking all of it."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {"plain": json.dumps(self.to_dict())}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(vars(self.from_dict(json.loads(state["plain"]))))


def check_kinds(thing: object, **kinds: type | tuple[type, ...]) -> None:
    """Refuse fields of other types than those that a file may hold.

    Parameters
    ----------
    thing : object
        What the fields are of.
    **kinds : type or tuple of type
        For each field, what it may be; a truth value counts as a number only where bool is named.
    """
    for name, kind in kinds.items():
        value = getattr(thing, name)
        several = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, several) or (isinstance(value, bool) and bool not in several):
            raise TypeError(f"{name} of a {type(thing).__name__} is a {type(value).__name__}")


def check_items(thing: object, **kinds: type | tuple[type, ...]) -> None:
    """Refuse fields that are not tuples of some types."""
    for name, kind in kinds.items():
        values = getattr(thing, name)
        if not isinstance(values, tuple) or not all(isinstance(value, kind) for value in values):
            raise TypeError(f"{name} of a {type(thing).__name__} is not a tuple of what belongs there")
