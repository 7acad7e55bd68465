"""Requirements and objectives as plain data: every bound to its last digit, every group's name as it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fairlimits._util import plain
from fairlimits.errors import FileError, InputError
from fairlimits.notions.objectives import ACCURACY, BALANCED_ACCURACY, Costs, Objective
from fairlimits.notions.requirements import Difference, Limit, Ratio
from fairlimits.notions.rows import Requirement

_KINDS: dict[str, type[Limit] | type[Ratio] | type[Difference]] = {
    "limit": Limit,
    "ratio": Ratio,
    "difference": Difference,
}


def pack_requirement(requirement: Requirement) -> dict[str, Any]:
    """Write a requirement as plain data that JSON can hold."""
    for name, kind in _KINDS.items():
        if type(requirement) is kind:
            return {"kind": name} | asdict(requirement)
    known = ", ".join(kind.__name__ for kind in _KINDS.values())
    raise InputError(f"A {type(requirement).__name__} cannot be saved; give requirements of the kinds {known}.")


def unpack_requirements(record: Any) -> tuple[Requirement, ...]:
    """Read the list of requirements of a rule or frontier."""
    return tuple(map(_unpack_requirement, plain.items(record, "requirements", dict, "The file")))


def _unpack_requirement(record: Any) -> Requirement:
    kind = plain.field(record, "kind", str, "The requirement")
    if kind not in _KINDS:
        raise FileError(f"The file has a requirement of the unknown kind {kind!r:.60}; save it again.")
    found = _KINDS[kind](**{name: value for name, value in record.items() if name != "kind"})
    found._check()
    return found


def pack_objective(objective: Objective) -> dict[str, Any]:
    """Write an objective as plain data that JSON can hold."""
    return {"name": objective.name} | (objective.__getstate__() if isinstance(objective, Costs) else {})


def unpack_objective(record: Any) -> Objective:
    """Read what `pack_objective` gave."""
    plain.field(record, "name", str, "The objective")
    for known in (ACCURACY, BALANCED_ACCURACY):
        if record == {"name": known.name}:
            return known
    return Costs(**{cost: value for cost, value in record.items() if cost != "name"})
