"""Maps as arrays: built from the entries of sources and targets, and what can be read off them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from fairlimits._util.types import Flags, Floats
from fairlimits.decorrelation.exact import Exact, ExactProgram
from fairlimits.decorrelation.problems import Problem, Targets, all_distances
from fairlimits.law import CellDistribution

Maps: TypeAlias = tuple[Floats, ...]
"""One array of shape (N, N), or one for each group of shape (N * G, N)."""


def full_maps(problem: Problem, targets: Targets, entries: Floats) -> Maps:
    """Maps of all cells, from the entries of the sources and targets.

    People of a cell and group without mass are sent where the cell's other people are sent on average, people
    of a cell without mass where those of the nearest cell are: as with the scores of a rule.

    Parameters
    ----------
    problem : Problem
    targets : Targets
        The rows of the entries.
    entries : ndarray of shape (targets, sources)
        Columns that sum to 1.
    """
    dist, aware = problem.dist, problem.variables.aware
    # Two points need two rows: all others stay 0.
    used = np.flatnonzero(entries.any(axis=1))
    sent = problem.variables.expand(entries[used])
    parts = [sent[..., g] for g in range(dist.n_groups)] if aware else [sent]
    maps = tuple(np.zeros((dist.n_cells * len(parts), dist.n_cells)) for _ in parts)
    for columns, part in zip(maps, parts, strict=True):
        columns[targets.bin[used]] = part / part.sum(axis=0)
    return maps


def two_point_entries(program: ExactProgram, exact: Exact, targets: Targets) -> Floats:
    """Entries of the map that attains the exact optimum with two targets.

    Each source goes to the target of highest score with the probability that its score takes, else to that
    of lowest score. It proves the optimum, and throws the features away.
    """
    width = program.high - program.low
    up = (exact.scores - program.low) / width if width > 0 else np.zeros(len(exact.scores))
    entries = np.zeros((len(targets), len(up)))
    entries[targets.score.argmax()] = up
    entries[targets.score.argmin()] += 1 - up
    return entries


def mapped_scores(scores: Floats, maps: Sequence[Floats]) -> Floats:
    """Scores after the map, of the shape of the rule's own."""
    if scores.ndim == 1:
        return scores @ maps[0]
    by_bin = scores.T.ravel()
    return np.stack([by_bin @ columns for columns in maps], axis=1)


def mapped_laws(dist: CellDistribution, maps: Sequence[Floats]) -> Floats:
    """P(bin after the map | group), a row for each group that has mass."""
    held = dist.mass.sum(axis=2)
    some: Flags = held.sum(axis=0) > 0
    laws = [maps[g if len(maps) > 1 else 0] @ held[:, g] / held[:, g].sum() for g in np.flatnonzero(some).tolist()]
    return np.array(laws)


def largest_difference(laws: Floats) -> float:
    """Largest L1 distance between the laws of two groups; 0 if there are no two."""
    return max((float(np.abs(law - laws[g + 1 :]).sum(axis=1).max(initial=0.0)) for g, law in enumerate(laws)))


def moved(dist: CellDistribution, maps: Sequence[Floats]) -> tuple[float, float]:
    """Mean distance that people are moved, and the mass that stays in its cell."""
    distances = all_distances(dist)
    held = dist.mass.sum(axis=2)
    total = kept = 0.0
    for g in range(dist.n_groups):
        columns = maps[g if len(maps) > 1 else 0]
        by_cell = columns.reshape(-1, dist.n_cells, dist.n_cells).sum(axis=0)
        total += float(((distances * by_cell).sum(axis=0) * held[:, g]).sum())
        kept += float((np.diagonal(by_cell) * held[:, g]).sum())
    return total, kept
