"""`reproduce`: do what is asked, keep every result, and write tables, pictures and the page from what is kept."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
from matplotlib.figure import Figure

import fairlimits as fl
from fairlimits._util.plotting import close, figure_style
from fairlimits._util.progress import Progress, or_silent, silent
from fairlimits._util.storage import write_text, write_whole
from fairlimits._util.suggestions import did_you_mean
from fairlimits.apps.paper import (
    figure1,
    figure3,
    figure4,
    frontier_figures,
    frontiers,
    multipliers,
    page,
    printed,
    sensitivity,
    table1,
    table2,
    table3,
    table4,
)
from fairlimits.apps.paper.bench import Bench, cells_unit
from fairlimits.apps.paper.cache import Kept, make_folder
from fairlimits.apps.paper.section import Found, Section
from fairlimits.apps.paper.settings import Settings

PAGE = "index.html"


@dataclass(frozen=True)
class Target:
    """A table or figure.

    Parameters
    ----------
    units : tuple of str
        The units of work it is made from; the first must be there for it to be shown.
    section : callable
        Makes it from what is kept.
    """

    units: tuple[str, ...]
    section: Callable[[Found, Settings], Section]


TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "figure1": Target((), figure1.section),
        "table1": Target(("table1",), table1.section),
        "figure2": Target(("frontiers",), partial(frontier_figures.section, "figure2")),
        "figure3": Target(("figure3",), figure3.section),
        "table2": Target(("table2",), table2.section),
        "figure4": Target(("figure4",), figure4.section),
        "figure5": Target(("frontiers",), partial(frontier_figures.section, "figure5")),
        "figure6": Target(("frontiers",), partial(frontier_figures.section, "figure6")),
        "table3": Target(("table3",), table3.section),
        "table4": Target(("table4", "table2"), table4.section),
        "sensitivity": Target(("sensitivity",), sensitivity.section),
    }
)
"""Every table and figure, in the order of the paper, and what it only speaks of."""

UNITS: Mapping[str, Callable[[Bench], dict[str, Any]]] = MappingProxyType(
    {
        "table1": table1.measure,
        "frontiers": frontiers.measure,
        "figure3": figure3.measure,
        "table2": table2.measure,
        "figure4": figure4.measure,
        "table3": table3.measure,
        "table4": table4.measure,
        "sensitivity": sensitivity.measure,
        **{unit: partial(multipliers.measure, unit) for unit in multipliers.UNITS},
    }
)
"""Units of work, each done once for each data set."""


@dataclass(frozen=True)
class Reproduction:
    """What was made.

    Parameters
    ----------
    sections : tuple of Section
        Everything that the page shows.
    page : Path
        The page.
    missing : tuple of str
        What is not there, and why.
    notes : tuple of str
        What came up on the way.
    """

    sections: tuple[Section, ...]
    page: Path
    missing: tuple[str, ...]
    notes: tuple[str, ...]


def reproduce(
    target: str,
    output: Path,
    settings: Settings,
    *,
    names: Sequence[str] = (),
    by_multipliers: Sequence[str] = (),
    fresh: bool = False,
    command: str = "",
    progress: Progress | None = None,
) -> Reproduction:
    """Reproduce a table or figure of the paper, or all of them.

    Parameters
    ----------
    target : str
        One of `TARGETS`, or "all".
    output : Path
        The folder to write to; what it holds of the same settings is not done again.
    settings : Settings
        How it is made.
    names : sequence of str, optional
        Data sets; by default all that can be found.
    by_multipliers : sequence of str, optional
        Data sets for which Table 2 is solved by the paper's own method too.
    fresh : bool, default=False
        Whether to do again what is kept.
    command : str
        The command that makes the page again.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Reproduction
    """
    asked = _asked(target)
    for name in (*names, *by_multipliers):
        if name not in printed.DATASETS:
            hint = did_you_mean(name, printed.DATASETS)
            raise fl.InputError(
                f"There is no data set {name!r} in the paper; it has {', '.join(printed.DATASETS)}.{hint}"
            )
    units = list(dict.fromkeys(unit for own in asked for unit in TARGETS[own].units))
    if by_multipliers and "table2" not in units:
        raise fl.InputError(f"The multipliers solve Table 2, and {target} was asked for; ask for table2 or all.")
    # A diagram needs no data.
    wanted = (*(names or printed.DATASETS), *by_multipliers) if units else ()
    data, missing = _load(wanted, strict={*names, *by_multipliers})
    work = _work(units, [name for name in names or printed.DATASETS if name in data], by_multipliers)
    kept = Kept(output, settings)
    if fresh:
        kept.forget()
    tell = or_silent(progress)
    failed: dict[str, str] = {}
    notes: list[str] = []
    for number, (name, own) in enumerate(work.items()):
        part = _part(tell, number / len(work), (number + 1) / len(work))
        notes += _do(own, Bench(name, data[name], settings, kept, silent), part, failed, alone=target != "all")
    missing += [f"{unit} was left out: {why}" for unit, why in failed.items()]
    if failed and not any(kept.read(unit, name) for name, own in work.items() for unit in own):
        raise fl.errors.MissingExtraError(next(iter(failed.values())))
    tell(1.0, "drawing")
    sections = _sections(kept, settings, asked)
    _write(output, sections, asked, kept, settings, missing, command)
    return Reproduction(tuple(sections), output / PAGE, tuple(missing), tuple(notes))


def _asked(target: str) -> list[str]:
    if target == "all":
        return list(TARGETS)
    if target not in TARGETS:
        hint = did_you_mean(target, TARGETS)
        raise fl.InputError(f"There is no {target!r} in the paper; ask for one of {', '.join(TARGETS)}, or all.{hint}")
    return [target]


def _load(names: Sequence[str], *, strict: Container[str]) -> tuple[dict[str, fl.Dataset], list[str]]:
    """Load data sets; one that was not asked for by name may be missing."""
    data, missing = {}, []
    for name in dict.fromkeys(names):
        try:
            data[name] = fl.load_dataset(name)
        except fl.errors.DatasetUnavailableError as error:
            if name in strict:
                raise
            missing.append(f"{printed.TITLES[name]} is missing: {error}")
    return data, missing


def _work(units: Sequence[str], names: Sequence[str], by_multipliers: Sequence[str]) -> dict[str, list[str]]:
    """Units to be done for each data set."""
    work = {name: [unit for unit in units if unit != "figure4"] for name in names}
    if "figure4" in units:
        work[figure4.chosen(names)].append("figure4")
    for name in by_multipliers:
        work.setdefault(name, []).extend(multipliers.UNITS)
    return {name: own for name, own in work.items() if own}


def _do(units: Sequence[str], bench: Bench, tell: Progress, failed: dict[str, str], *, alone: bool) -> list[str]:
    """Do for one data set what is not kept yet."""
    for number, unit in enumerate(units):
        start = number / len(units)
        bench.tell = _part(tell, start, (number + 1) / len(units), before=f"{printed.TITLES[bench.name]}, {unit}: ")
        bench.tell(0.0, "starting")
        if bench.kept.read(unit, bench.name) is not None:
            continue
        try:
            bench.kept.write(unit, bench.name, UNITS[unit](bench))
        except fl.errors.MissingExtraError as error:
            if alone:
                raise
            failed[unit] = str(error)
    return bench.notes


def _sections(kept: Kept, settings: Settings, asked: Sequence[str]) -> list[Section]:
    """Make what is asked for, and what earlier runs of the same settings have shown."""
    units = [*UNITS, cells_unit(settings.n_cells, settings.partition)]
    found: dict[str, dict[str, Any]] = {}
    for unit in units:
        results = {name: kept.read(unit, name) for name in printed.DATASETS}
        found[unit] = {name: result for name, result in results.items() if result is not None}
    sections = []
    for name, target in TARGETS.items():
        if all(found[unit] for unit in target.units):
            section = target.section(found, settings)
            # Drawing takes longest: curves are shared by three figures, of which maybe only one was asked for.
            if section.figure is None or name in asked or kept.has_picture(name):
                sections.append(section)
    return sections


def _write(
    output: Path,
    sections: Sequence[Section],
    asked: Sequence[str],
    kept: Kept,
    settings: Settings,
    missing: Sequence[str],
    command: str,
) -> None:
    make_folder(output)
    pictures: dict[str, bytes] = {}
    for section in sections:
        if section.records:
            _write_csv(output / f"{section.target}.csv", section.records)
        if section.figure is not None:
            drawn = _drawn(section.target, section.figure, kept, again=section.target in asked)
            pictures[section.target] = drawn["png"]
            for suffix, content in drawn.items():
                with write_whole(output / f"{section.target}.{suffix}") as temporary:
                    temporary.write_bytes(content)
    claims = [
        {
            "target": section.target,
            "where": claim.where,
            "claim": claim.text,
            "ours": claim.ours,
            "holds": claim.holds,
        }
        for section in sections
        for claim in section.claims
    ]
    if claims:
        _write_csv(output / "claims.csv", claims)
    text = page.render(sections, pictures, settings=settings.to_dict(), missing=missing, command=command)
    write_text(output / PAGE, text)


def _write_csv(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    with write_whole(path) as temporary:
        pa_csv.write_csv(pa.Table.from_pylist([dict(record) for record in records]), temporary)


def _drawn(target: str, draw: Callable[[], Figure], kept: Kept, *, again: bool) -> dict[str, bytes]:
    """Give a figure as PNG and PDF: as kept from an earlier run, or drawn now."""
    found = {suffix: kept.read_picture(target, TARGETS[target].units, suffix) for suffix in ("png", "pdf")}
    known = {suffix: content for suffix, content in found.items() if content is not None}
    if len(known) == len(found) and not again:
        return known
    figure = draw()
    # Without a date, so that the same results give the same file.
    formats: dict[str, dict[str, Any]] = {"png": {"dpi": 130}, "pdf": {"metadata": {"CreationDate": None}}}
    with figure_style():
        # Laid out once for both files.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for suffix, options in formats.items():
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix, **options)
            known[suffix] = stream.getvalue()
            kept.write_picture(target, suffix, known[suffix])
    close(figure)
    return known


def _part(tell: Progress, start: float, stop: float, before: str = "") -> Progress:
    return lambda fraction, words: tell(start + fraction * (stop - start), before + words)
