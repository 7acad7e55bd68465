"""What a reader must know before the figures of a report are used, each with a kind that programs can go by."""

from __future__ import annotations

from collections.abc import Iterator

from fairlimits.data import Dataset
from fairlimits.evaluation.reports.held_out import HeldOut
from fairlimits.evaluation.reports.on_cells import OnCells
from fairlimits.evaluation.reports.parts import SMALL_GROUPS, Caution, GeneratorJudged
from fairlimits.law import CellDistribution, samples_needed, sampling_note
from fairlimits.notions import title


def find_cautions(
    data: Dataset, dist: CellDistribution, held_out: HeldOut, on_cells: OnCells, generator: GeneratorJudged | None
) -> tuple[Caution, ...]:
    """Collect what few rows, unmet tolerances and the generator leave in doubt.

    Parameters
    ----------
    data : Dataset
        The people.
    dist : CellDistribution
        Their cells.
    held_out, on_cells, generator
        What was found on them.
    """
    return (
        *_small_groups(data, held_out),
        *_few_rows(data, held_out, on_cells),
        *_few_samples(dist),
        *(Caution("tolerance not met", (), note) for note in held_out.notes),
        *_generator(generator),
    )


def _small_groups(data: Dataset, held_out: HeldOut) -> Iterator[Caution]:
    """Say which groups are too small to speak about, in the table and, if they are more, among held-out rows."""
    for note in (data.small_groups_note, held_out.set_aside):
        if note is not None:
            yield Caution(SMALL_GROUPS, (*data.schema.sensitive, data.schema.label), note)


def _few_rows(data: Dataset, held_out: HeldOut, on_cells: OnCells) -> Iterator[Caution]:
    """Say which gaps are not shown, for no two groups are left to compare."""
    unknown = {
        "on held-out rows": dict.fromkeys(own.notion for own in held_out.costs if own.gap is None),
        "on the cells": dict.fromkeys(own.notion for own in on_cells.prices if not own.estimable),
    }
    words = [f"in {', '.join(map(title, notions))} {where}" for where, notions in unknown.items() if notions]
    if words:
        yield Caution(
            "few rows",
            (*data.schema.sensitive, data.schema.label),
            f"Not estimable, for no two groups are left to compare: gaps {', and '.join(words)}.",
        )


def _few_samples(dist: CellDistribution) -> Iterator[Caution]:
    """Say that the cells are more than the rows support."""
    if dist.counts is None:
        return
    counted = int(dist.counts.sum()) if dist.origin.n_samples is None else dist.origin.n_samples
    if counted < samples_needed(dist.n_cells, groups=dist.n_groups):
        yield Caution("few rows per cell", (), sampling_note(dist))


def _generator(found: GeneratorJudged | None) -> Iterator[Caution]:
    if found is not None and not found.as_near_as_real:
        yield Caution(
            "generator",
            (),
            f"Rows of the generator {found.name} are {found.held_out_distance:.3f} away from rows that it did not "
            f"learn (total variation), where real rows are {found.noise_floor:.3f} away: plug-in figures on the cells "
            "inherit its error.",
        )
