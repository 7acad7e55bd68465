"""Measure solvers one after the other, in one process, and keep what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.ablation.alike import interior
from benchmarks.ablation.coins import coins
from benchmarks.ablation.lines import Line, keep
from benchmarks.ablation.maps import maps
from benchmarks.ablation.programs import parametric, sifting, ties
from benchmarks.ablation.room import room

SOLVERS: dict[str, Callable[[], Iterator[Line]]] = {
    "parametric": parametric,
    "ties": ties,
    "coins": coins,
    "room": room,
    "maps": maps,
    "sifting": sifting,
    "interior": interior,
}


def run(names: tuple[str, ...] = ()) -> None:
    """Measure the named ones, by default all."""
    for name in names or SOLVERS:
        found: list[Line] = []
        for line in SOLVERS[name]():
            print(line.solver, line.case, line.ours, {key: str(own) for key, own in line.others.items()}, flush=True)
            found.append(line)
            keep(name, found)
