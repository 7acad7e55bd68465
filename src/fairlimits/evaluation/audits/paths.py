"""The rules that models are compared with: paths from tight tolerances to none, made from the rows to learn from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairlimits._util.progress import Progress
from fairlimits.evaluation.audits.audited_people import AuditedPeople
from fairlimits.law import Outcome, StreamedOutcome
from fairlimits.limits import ConstantRuleWarning, MarginWarning, Rule, frontier, on_cells, solve
from fairlimits.notions import alike_accuracy, tally

Path: TypeAlias = tuple[Rule, ...]
"""Rules from the tightest to the loosest."""

# Tolerances along a notion's path.
_TOLERANCES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6)


@dataclass(frozen=True, eq=False)
class Rules:
    """What was found.

    Parameters
    ----------
    free : Rule
        The rule without tolerances, where the notions' paths end.
    positive : float
        Share of label 1, which says what deciding all alike is worth.
    paths : mapping of str to Path
        Rules on each notion alone.
    joint : tuple of Path
        For each model, the rule whose tolerances are the model's gaps in all notions at once; none for one notion.
    """

    free: Rule
    positive: float
    paths: Mapping[str, Path]
    joint: tuple[Path, ...]

    def all(self) -> list[Rule]:
        """Every rule: the free one, then those of each path."""
        return [self.free, *(rule for path in (*self.paths.values(), *self.joint) for rule in path)]


def find_rules(
    outcome: Outcome | StreamedOutcome,
    names: tuple[str, ...],
    people: AuditedPeople,
    aware: bool,
    random_state: int,
    tell: Progress,
) -> Rules:
    """Solve along all paths.

    Parameters
    ----------
    outcome : Outcome or StreamedOutcome
        Estimate of P(A, Y | x) on the rows to learn from.
    names : tuple of str
        The notions.
    people : AuditedPeople
        All rows, held-out ones too, and decisions on them: a model's gaps in all notions at once are noisy enough.
    aware : bool
        Whether the rules see the group.
    random_state : int
        Seed of the cells that the estimate is cut into.
    tell : callable
        Called with the fraction done and a few words.
    """
    positive = _positive(outcome, random_state)
    paths: dict[str, Path] = {}
    joint: list[Path] = []
    together: list[tuple[str, dict[str, float]]] = []
    if len(names) > 1:
        found = tally(*people.everybody())
        gaps = {name: found.gap(name) for name in names}
        together = [(own.name, {name: float(gaps[name][at]) for name in names}) for at, own in enumerate(people.models)]
    steps = len(names) + len(together)
    with warnings.catch_warnings():
        # What gaps come to is judged on held-out rows, whether or not they met their tolerance here.
        warnings.simplefilter("ignore", MarginWarning)
        warnings.simplefilter("ignore", ConstantRuleWarning)
        for name in names:
            tell(len(paths) / steps, f"frontier of {name}")
            paths[name] = _path(outcome, [{name: eps} for eps in _TOLERANCES], aware, random_state, positive)
        for model, own in together:
            tell((len(paths) + len(joint)) / steps, f"rules as fair as {model}")
            joint.append(_path(outcome, [own], aware, random_state, positive))
    free = solve(outcome, {}, aware=aware, random_state=random_state)
    return Rules(free, positive, paths, tuple(joint))


def _positive(outcome: Outcome | StreamedOutcome, random_state: int) -> float:
    """Share of label 1 among the people that rules are made from."""
    if isinstance(outcome, Outcome):
        return float(outcome.weight @ outcome.data.label)
    labelled = on_cells(outcome, (), random_state).labelled
    assert labelled is not None
    return float(labelled.hidden.shares @ labelled.hidden.label)


def _path(
    outcome: Outcome | StreamedOutcome,
    tolerances: Sequence[Mapping[str, float]],
    aware: bool,
    random_state: int,
    positive: float,
) -> Path:
    """Rules at tolerances that are looser and looser."""
    names = tuple(tolerances[0])
    asked = {name: [own[name] for own in tolerances] for name in names}
    curve = frontier(outcome, names, asked, aware=aware, random_state=random_state)
    # What is no better than deciding all alike is of no use.
    least = alike_accuracy(names, positive)
    return tuple(rule for rule in curve.rules if rule.accuracy > least)
