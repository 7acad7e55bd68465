"""Models on a distribution of cells: exact plug-in figures, without intervals."""

from __future__ import annotations

import math

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.errors import InputError
from fairlimits.evaluation.audits.comparisons import AuditedModel, Curve, Standing, not_estimable
from fairlimits.evaluation.audits.predictions import (
    Decided,
    Predictions,
    Threshold,
    by_name,
    check_threshold,
    read_decisions,
)
from fairlimits.evaluation.audits.results import Audit
from fairlimits.law import CellDistribution
from fairlimits.limits import by_group, frontier, solve
from fairlimits.notions import Estimate, estimable, group_gaps, plug_in_rates

# How far a drawn curve goes beyond what it has to show.
_ROOM = 1.15


def audit_cells(
    dist: CellDistribution, predictions: Predictions, names: tuple[str, ...], threshold: Threshold, aware: bool
) -> Audit:
    """Audit models whose decisions are given for each cell, or for each cell and group."""
    check_threshold(threshold)
    if dist.n_groups < 2:
        raise InputError("The distribution has one group only: there is nothing to compare; give at least two.")
    shapes = ((dist.n_cells,), (dist.n_cells, dist.n_groups))
    decided = [read_decisions(name, values, shapes, threshold) for name, values in by_name(predictions).items()]
    known = tuple(name for name in names if estimable(dist.rates, name))
    best = solve(dist, {}, aware=aware)
    models = tuple(_model(dist, own, names, known, aware, best.accuracy) for own in decided)
    curves = {}
    for name in known:
        furthest = max([best.gaps[name], *(model.gaps[name].value for model in models)])
        curves[name] = _curve(dist, name, aware, min(_ROOM * furthest, 1.0), best.accuracy)
    return Audit(
        models=models,
        notions=names,
        aware=aware,
        best=_exact(best.accuracy),
        curves=curves,
        groups=dist.groups,
        counts=None if dist.counts is None else dist.counts.sum(axis=0),
        learned=None,
        confidence=None,
        alone=False,
    )


def _model(
    dist: CellDistribution, own: Decided, names: tuple[str, ...], known: tuple[str, ...], aware: bool, best: float
) -> AuditedModel:
    scores = own.scores if own.scores.ndim == 2 else by_group(own.scores, False, dist.n_groups)
    if not aware and np.ptp(scores, axis=1).any():
        raise InputError(f"The decisions of {own.name!r} differ between groups, so it sees the group; give aware=True.")
    accuracy = _accuracy(dist, scores)
    gaps = {name: float(gap) for name, gap in group_gaps(dist.rates, scores).items()}

    def beside(asked: tuple[str, ...]) -> Standing:
        rule = solve(dist, {name: gaps[name] for name in asked}, aware=aware)
        return Standing(
            asked,
            _exact(rule.accuracy),
            {name: _exact(rule.gaps[name]) for name in asked},
            _exact(rule.accuracy - accuracy),
            _exact(best - rule.accuracy),
            plug_in_rates(dist.rates, by_group(rule.scores, aware, dist.n_groups)),
        )

    return AuditedModel(
        own.name,
        own.how,
        _exact(accuracy),
        _exact(best - accuracy),
        plug_in_rates(dist.rates, scores),
        {name: _exact(gap) for name, gap in gaps.items()},
        tuple(beside((name,)) if name in known else not_estimable(name) for name in names),
        beside(known) if len(known) > 1 else None,
    )


def _curve(dist: CellDistribution, name: str, aware: bool, until: float, best: float) -> Curve:
    """Every breakpoint of the frontier, and a flat end."""
    found = frontier(dist, [name], aware=aware, exact=True)
    gap = np.append(found.grid[name], max(until, float(found.grid[name][-1])))
    nothing = np.full(len(gap), math.nan)
    return Curve(name, gap, np.append(found.accuracy, best), nothing, nothing)


def _accuracy(dist: CellDistribution, scores: Floats) -> float:
    return float((dist.mass[:, :, 1] * scores + dist.mass[:, :, 0] * (1 - scores)).sum())


def _exact(value: float) -> Estimate:
    """A figure without an interval."""
    return Estimate(value, math.nan, math.nan)
