"""Suppression of rates and gaps of groups that rest on too few people, before anybody sees them.

Label and decision divide the people of a group in four. Its base rate and its selection rate are shown if enough people
are on both sides of them; rates that depend on label and decision together (TPR, FPR, accuracy, precision) only if
enough are in all four parts, for the others can be worked out from some of them. A gap is shown if both groups that it
lies between are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from fairlimits._util.small_samples import few_rows
from fairlimits._util.suppression import SUPPRESSED_TEXT, withheld
from fairlimits._util.types import Flags, Floats
from fairlimits.errors import InputError
from fairlimits.notions.evaluations import Evaluation
from fairlimits.notions.group_rates import Gap, GroupRates
from fairlimits.notions.intervals import SUPPRESSED, Estimate
from fairlimits.notions.parsing import read_requirements
from fairlimits.notions.registry import NOTIONS
from fairlimits.notions.requirements import EACH_GROUP, Limit

_BOTH = ("true positive rate", "false positive rate", "accuracy", "precision")


def suppress_rates(found: GroupRates, least: int | None, hidden: Collection[str] = ()) -> GroupRates:
    """Leave out what rests on too few people.

    Parameters
    ----------
    found : GroupRates
        Rates of people who are counted.
    least : int or None
        Fewest people that a figure may rest on; None leaves nothing out.
    hidden : collection of str
        Groups to be left out anyway, because they are left out elsewhere.
    """
    if least is None:
        return found
    if found.parts is None:
        raise InputError(
            "This law was given without counts of rows, so nothing says which figures rest on few people; leave "
            "suppress out, or give rows."
        )
    out = _withheld(found, found.parts, least)
    always = np.isin(found.groups, list(hidden)) | out["rows"]
    figures = {name: _without(figure, out[name] | always) for name, figure in found.figures.items()}
    selected = out["selection rate"] | always
    return replace(
        found,
        rows=tuple(SUPPRESSED_TEXT if hide else count for count, hide in zip(found.rows, always, strict=True)),
        figures=figures,
        ratios=_without(found.ratios, selected | (selected & _is_top(found.ratios)).any()),
        gaps={name: _gap(found, name, figures) for name in found.gaps},
        parts=None,
        suppress=least,
    )


def suppress_evaluation(found: Evaluation, least: int | None, hidden: Collection[str] = ()) -> Evaluation:
    """Leave out of an evaluation what rests on too few people (see `suppress_rates`)."""
    if least is None:
        return found
    rates = suppress_rates(found.by_group, least, hidden)
    gaps = {name: rates.gaps[name].estimate if name in rates.gaps else gap for name, gap in found.gaps.items()}
    return replace(
        found,
        by_group=rates,
        gaps=gaps,
        at_most={name: limit for name, limit in found.at_most.items() if not gaps[name].suppressed},
        attained={text: SUPPRESSED if _hides(text, rates) else value for text, value in found.attained.items()},
        counts=None,
        set_aside=found.set_aside if found.counts is None else few_rows(rates.groups, found.counts, counted=False),
    )


def _withheld(found: GroupRates, parts: Floats, least: int) -> dict[str, Flags]:
    """Return the groups that each figure is left out for, from their people by label and decision."""
    known = np.array([estimate.known for estimate in found.figures["accuracy"]])
    by_label = np.column_stack([parts[:, [0, 2]].sum(axis=1), parts[:, [1, 3]].sum(axis=1)])
    by_decision = np.column_stack([parts[:, :2].sum(axis=1), parts[:, 2:].sum(axis=1)])
    base, selected, both = (withheld(parted, least, known) for parted in (by_label, by_decision, parts))
    return {
        "rows": withheld(parts.sum(axis=1, keepdims=True), least),
        "base rate": base,
        "selection rate": selected,
        **dict.fromkeys(_BOTH, both | base | selected),
    }


def _without(figures: tuple[Estimate, ...], hide: Flags) -> tuple[Estimate, ...]:
    return tuple(SUPPRESSED if one and figure.known else figure for figure, one in zip(figures, hide, strict=True))


def _is_top(ratios: tuple[Estimate, ...]) -> Flags:
    """Return whose rate all ratios are relative to: another rate beside its ratio would give that rate away."""
    return np.array([ratio.value == 1 for ratio in ratios])


def _gap(found: GroupRates, name: str, figures: dict[str, tuple[Estimate, ...]]) -> Gap:
    """Return the gap of a notion, suppressed if one of its two groups is left out, or any if it names none."""
    gap = found.gaps[name]
    if not gap.estimate.known:
        return gap
    shown = {group: at for at, group in enumerate(found.groups)}
    if gap.lowest:
        ends = [_figures_of(gap.rate, figures)[shown[group]] for group in (gap.lowest, gap.highest)]
    else:
        ends = [figure for rate in NOTIONS[name].rates for figure in _figures_of(rate.name, figures)]
    return Gap(SUPPRESSED) if any(figure.suppressed for figure in ends) else gap


def _figures_of(rate: str, figures: Mapping[str, tuple[Estimate, ...]]) -> tuple[Estimate, ...]:
    """Return the figures that a rate is suppressed with: its own, or those of accuracy, which need most people."""
    return figures.get(rate, figures["accuracy"])


def _hides(text: str, rates: GroupRates) -> bool:
    """Return whether the value of a requirement tells something about a group that is left out."""
    (requirement,) = read_requirements(text)
    if isinstance(requirement, Limit) and requirement.group is None:
        return False
    figures = _figures_of(requirement.needed.name, rates.figures)
    if isinstance(requirement, Limit) and requirement.group != EACH_GROUP:
        figures = (figures[rates.groups.index(str(requirement.group))],)
    return any(figure.suppressed for figure in figures)
