"""What an audit found, in plain words that claim no more than was found."""

from __future__ import annotations

from collections.abc import Sequence

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Ints
from fairlimits.data import set_aside_note
from fairlimits.evaluation.audits.comparisons import NO_LEAD, ROUNDING, AuditedModel, Standing, above_zero
from fairlimits.notions import NOTIONS, Estimate, title

# A model that is right less often is worse than its opposite.
_COIN = 0.5


def model_words(model: AuditedModel, rows: int | None) -> str:
    """Two sentences on a model: where it stands, and what could be gained at the same fairness."""
    where = "of the distribution (plug-in)" if rows is None else f"of {rows:,} held-out rows"
    gaps = [own.notions[0] for own in model.standings if model.gaps[own.notions[0]].known]
    first = f"{model.name} decides {model.accuracy.hundredths('%')} {where} as their label says"
    if gaps:
        widest = max(gaps, key=lambda name: model.gaps[name].value)
        first += f", and its largest gap between groups is {_points(model.gaps[widest])} in {title(widest)} ({widest})"
        direction = model.by_group.gaps[widest].direction
        first += f": {direction}" if direction else ""
    return f"{first}. {_possible(model)}{_out_of_reach(model)}"


def _out_of_reach(model: AuditedModel) -> str:
    """What no rule gains, what one was found to gain, and what nobody knows, if it was asked for."""
    own = model.reach
    if own is None:
        return ""
    points = [f"{100 * part:.1f}" for part in (1 - model.accuracy.value, own.out_of_reach, own.reachable, own.unknown)]
    return (
        f" Of the {points[0]} points that it lacks of perfect accuracy, with {own.confidence:.0%} confidence "
        f"{points[1]} are out of reach of any rule that is as fair, {points[2]} were found to be reachable, and "
        f"{points[3]} are unknown ({own.twins:.0%} of the people have a twin, which that rests on)."
        + (" On these rows it is above what no rule passes: by chance, or it has seen them." if own.above else "")
    )


def rates_heading(model: AuditedModel) -> str:
    """What stands beside the rates of a model."""
    if model.headline is None:
        return ""
    at_once = " at once" if len(model.headline.notions) > 1 else ""
    fair = f"as fair{_up_to_chance(model, model.headline)} in {', '.join(model.headline.notions)}{at_once}"
    return f", beside the best rule found that is {fair}"


def _up_to_chance(model: AuditedModel, own: Standing) -> str:
    """Whether the rule beside a model is less fair on these rows, though by no more than chance explains."""
    exceeds = any(own.rule_gaps[name].value > model.gaps[name].value + NO_LEAD for name in own.notions)
    return " (up to chance)" if exceeds else ""


def _possible(model: AuditedModel) -> str:
    own = model.too_low[0] if model.too_low else model.headline
    if own is None:
        return "What is possible at the same fairness is not estimable: too few rows stand behind its gaps."
    at_once = " at once" if len(own.notions) > 1 else ""
    where = f"At the same fairness{_up_to_chance(model, own)} in {_listed(own.notions)}{at_once}"
    if own.beaten:
        by = f"{where} it is better than the best rule that we found by {_points(_turned(own.avoidable))}"
        so = (
            "so our estimate of the limit is too low to say what is avoidable"
            if len(own.notions) == 1
            else "so nothing is shown to be avoidable"
        )
        return f"{by}, {so}; {_beside_best(model)}."
    more = f"{_points(own.unavoidable)} more, which the best rule we found has at larger gaps,"
    if above_zero(own.avoidable):
        gain = f"{_points(own.avoidable)} of accuracy could be gained by a rule that we found"
        rest = f"{more} by none that we could find"
    elif own.avoidable.value < -NO_LEAD:
        ahead = f"it is ahead of the best by {_bare(_turned(own.avoidable))}"
        return f"{where}, no rule that we could find is clearly more accurate ({ahead}); {_beside_best(model)}."
    else:
        gain = f"no rule that we could find is clearly more accurate (the best by {_bare(own.avoidable)})"
        rest = f"{more} could be gained by none that we could find"
    if own.unavoidable.value < ROUNDING and not own.unavoidable.high > NO_LEAD:
        rest = "the best rule we found whatever its gaps is no better"
    elif not above_zero(own.unavoidable):
        rest = f"whether the best rule whatever its gaps is better than that is not clear ({_bare(own.unavoidable)})"
    return f"{where}, {gain}, and {rest}."


def _beside_best(model: AuditedModel) -> str:
    """Where a model that is ahead of the rule as fair stands beside the most accurate rule, whatever its gaps."""
    if above_zero(model.loss):
        more = f"{_points(model.loss)} of accuracy, which the best rule we found has at other gaps"
        return f"{more}, could be gained by none that we could find at these"
    if above_zero(_turned(model.loss)):
        by = _points(_turned(model.loss))
        return f"it is better than the most accurate rule we found, whatever its gaps, by {by}"
    return f"it is not clear whether the best rule we found, whatever its gaps, is better ({_bare(model.loss)})"


def beaten_words(model: AuditedModel, aware: bool) -> str:
    """Say that a model is better than what we found, loudly where chance does not explain it, and what to do."""
    sees = "" if aware else " if it sees the group, compare it with rules that see it too;"
    advice = (
        f"Make sure that it never learned from these rows;{sees} or estimate again with its features, with more rows, "
        "or in Python with its own learner."
    )
    if not model.too_low:
        (own,) = model.beaten
        return (
            f"{model.name} is better, by {_points(_turned(own.avoidable))}, than the best rule we found that is held "
            f"to its gaps in {_listed(own.notions)} at once: the estimated limit is too low there, or chance in the "
            f"measured gaps, which this interval does not hold, holds the rule back. {advice}"
        )
    by = ", ".join(f"{own.name} by {_points(_turned(own.avoidable))}" for own in model.too_low)
    return (
        f"THE ESTIMATED LIMIT IS TOO LOW: {model.name} is better than the best rule we found at its own gap ({by}). "
        f"{advice}"
    )


def notes(
    models: Sequence[AuditedModel],
    notions: Sequence[str],
    aware: bool,
    groups: Sequence[str],
    counts: Ints | None,
    alone: bool,
    plug_in: bool,
    suppress: int | None,
) -> tuple[str, ...]:
    """What a reader must know about the figures, a sentence or two each."""
    found = [beaten_words(model, aware) for model in models if model.beaten]
    how = [f"{model.name}: {model.decided}" for model in models if model.decided.startswith("scores")]
    if how:
        found.append(f"How predictions became decisions: {'; '.join(how)}.")
    if turned := [model.name for model in models if model.accuracy.high < _COIN]:
        found.append(
            f"{', '.join(turned)}: right about fewer than half of the people, so that the opposite would be right more "
            "often. A high score, or 1, has to stand for the positive label; if it stands for the other one, name that "
            "one as positive."
        )
    where = "" if plug_in else " on the held-out rows"
    small = (
        None
        if counts is None or not _sets_aside(notions, counts)
        else set_aside_note(groups, counts, where, counted=suppress is None)
    )
    if small is not None:
        found.append(small)
    if suppress is not None:
        found.append(
            f"Suppressed, to protect people: counts and rates that rest on fewer than {suppress} people, and others "
            "from which these could be worked out."
        )
    weak = [name for name in notions if not (models[0].gaps[name].known or models[0].gaps[name].suppressed)]
    if weak:
        found.append(
            f"Not estimable{where}: {', '.join(weak)}, for no two groups are left to compare. Give more rows, or join "
            "small groups."
        )
    if alone:
        found.append(
            "There is no feature besides the predictions, so the rules that we found are made from these alone: they "
            "show what another use of these predictions can reach, not what another model could."
        )
    if plug_in:
        found.append("Plug-in figures of the distribution, without intervals: on new people they will differ.")
    found.append("These are estimated limits: a rule that we could not find may do better.")
    return tuple(found)


def _sets_aside(notions: Sequence[str], counts: Ints) -> bool:
    """Whether a rate that one of some notions looks at is set aside for want of rows."""
    given = {rate.given for name in notions for rate in NOTIONS[name].rates}
    return any(not enough(counts[:, list(labels)].sum(axis=1)).all() for labels in given)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{title(names[0])} ({names[0]})"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _turned(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.value, -estimate.high, -estimate.low)


def _points(difference: Estimate) -> str:
    return difference.hundredths(" points")


def _bare(difference: Estimate) -> str:
    """A difference without brackets of its own, for use in others."""
    return _points(difference).replace(" (", ", ").removesuffix(")")


def avoidable_cell(standing: Standing) -> str:
    """What is avoidable, for a table; or by how much the model is ahead."""
    if standing.beaten:
        return f"none: ahead by {_turned(standing.avoidable).hundredths()}"
    return standing.avoidable.hundredths()


def unavoidable_cell(standing: Standing) -> str:
    """What could be gained by no rule found, for a table; none where the model is ahead of all of them."""
    return "none" if standing.unavoidable.high < -NO_LEAD else standing.unavoidable.hundredths()
