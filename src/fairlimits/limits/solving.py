"""`solve`: from a law and tolerances to the best rule."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairlimits._util.callers import outside
from fairlimits._util.progress import Progress
from fairlimits.errors import ConstantRuleWarning, InfeasibleError, InputError
from fairlimits.law import CellDistribution, Neighbourhood, Outcome, StreamedOutcome
from fairlimits.limits.attained import constraints_in_words
from fairlimits.limits.certification import Uncertified, certify, check_uncertified
from fairlimits.limits.determinism import Determinism, check_randomize
from fairlimits.limits.infeasibility import Asked, explained
from fairlimits.limits.labels import LabelledRows
from fairlimits.limits.laws import Law, estimated, on_cells
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.limits.rules import Rule
from fairlimits.limits.variables import Variables
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    Objective,
    Requirement,
    check_confidence,
    check_tolerances,
    read_objective,
    read_requirements,
)


def solve(
    law: Law | Any,
    tolerances: Mapping[str, float],
    *,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    confidence: float | None = None,
    uncertified: Uncertified = "best",
    randomize: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
    **columns: Any,
) -> Rule:
    """Find the best rule whose fairness gaps stay within tolerances.

    Parameters
    ----------
    law : Outcome, StreamedOutcome, CellDistribution, Dataset, or what `open_data` takes or returns with ``stream=True``
        The joint law of features, group and label: an estimate (`estimate_outcome`), which is cut into cells of people
        with alike P(A, Y | x); cells (`discretize`); or the people, of any size, whose law is estimated first. For
        individual fairness the cells cut the features too.
    tolerances : mapping of str to float
        Largest gap allowed for each notion, among DP, EA, EOp, PE, EOd and IF; empty for the best rule
        without constraints. Full names are taken too, such as "demographic_parity".
    aware : bool, default=False
        Whether the rule may see the group.
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares.
    requirements : iterable of Requirement or str, optional
        Further constraints: upper and lower bounds of rates, of all people or of groups
        (``"selection rate <= 0.3"``, ``"accuracy of Female >= 0.8"``), ratios (``"selection rate ratio >= 0.8"``,
        the four-fifths rule) and differences (``"error rate difference from the rest <= 0.05"``).
    objective : Objective or str, default="accuracy"
        What is optimised: ``"accuracy"``, ``"balanced accuracy"``, or the least expected cost of a false
        positive and a false negative, such as ``"costs 1:5"``.
    confidence : float, optional
        On an estimate: find the best rule whose gaps among people are within the tolerances with this confidence, such
        as 0.95 (``rule.guarantee``). By default tolerances hold on the law, and chance may exceed them among people.
    uncertified : {"best", "raise", "constant"}, default="best"
        With a confidence, what to do where the rows cannot certify the tolerances: return the rule that comes nearest,
        raise an error, or return the best certified rule, however many decisions it leaves to a lot, if need be the
        same score for everybody. "best" and "constant" warn, and say how many rows would be enough. "constant" also
        returns such a rule where it is better than one that leaves hardly anything to a lot.
    randomize : bool, default=True
        Whether the rule may decide by lot. If not, it is the best rule found whose scores are all 0 or 1;
        ``rule.determinism`` compares it with the best rule with coins, and has a proven bound on what it costs.
    random_state : int, default=0
        Seed of what has to be estimated or cut into cells first.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read a `law` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Returns
    -------
    Rule
        A proven optimum; where there are several, the most even one; without coins, the best rule found, with a proven
        bound on its distance from the optimum. On an estimate, ``rule.on_labels`` has its accuracy and gaps
        on the labels of the rows, out of fold.

    Raises
    ------
    InfeasibleError
        If no rule meets all constraints; the message names the smallest relaxation of each constraint that would help.

    Warns
    -----
    ConstantRuleWarning
        If the best rule gives everybody the same score.
    MarginWarning
        On an estimate, if a gap on labels is wider than its tolerance by more than chance explains.
    UncertifiedWarning
        With a confidence, if the rows cannot certify the tolerances.
    SmallGroupsWarning
        If no two groups have 30 rows behind a rate of some notion: it is left out.

    Examples
    --------
    >>> from fairlimits import CellDistribution
    >>> dist = CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> rule = solve(dist, {"DP": 0.0})
    >>> round(rule.accuracy, 3), round(rule.bayes_accuracy, 3)
    (0.5, 0.7)
    >>> rule = solve(dist, {}, requirements=["selection rate <= 0.3"])
    >>> {name: round(value, 3) for name, value in rule.attained.items()}
    {'selection rate <= 0.3': 0.3}
    """
    asked = check_tolerances(tolerances)
    check_randomize(randomize, asked)
    kept, goal = read_requirements(requirements), read_objective(objective)
    known = estimated(law, random_state, progress, columns)
    check_certifiable(known, confidence, asked, kept)
    return solve_on(
        on_cells(known, asked, random_state, progress),
        None if isinstance(known, CellDistribution) else known,
        asked,
        aware=aware,
        neighbours=neighbours,
        requirements=kept,
        objective=goal,
        confidence=confidence,
        uncertified=check_uncertified(uncertified),
        randomize=randomize,
    )


def solve_on(
    dist: CellDistribution,
    outcome: Outcome | StreamedOutcome | None,
    asked: dict[str, float],
    *,
    aware: bool,
    neighbours: Neighbourhood | None,
    requirements: tuple[Requirement, ...],
    objective: Objective,
    confidence: float | None,
    uncertified: Uncertified = "best",
    randomize: bool = True,
) -> Rule:
    """Find the best rule on cells, judged on the labels of the estimate that they were cut from, if there is one."""
    hood = Neighbourhood() if neighbours is None else neighbours
    program = FairProgram(dist, tuple(asked), aware, hood, requirements, objective)
    try:
        solved = program.solve(asked)
    except InfeasibleError:
        raise infeasible(program, asked, hood) from None
    rules = make_rules(program, [solved], [asked], hood)
    if not randomize:
        rules = without_coins(program, [solved], rules)
    if outcome is not None:
        rules = on_labels(program, rules, outcome, confidence, uncertified)
    else:
        warn_if_constant(rules)
    return rules[0]


def check_certifiable(
    law: CellDistribution | Outcome | StreamedOutcome,
    confidence: float | None,
    names: Iterable[str],
    requirements: tuple[Requirement, ...],
) -> None:
    """Refuse a confidence where there are no labels to judge by, or where it would not cover all constraints."""
    if confidence is None:
        return
    check_confidence(confidence)
    if isinstance(law, CellDistribution):
        raise InputError(
            "A confidence is judged by the labels of rows, and cells have none; give the people, or their estimate "
            "(estimate_outcome)."
        )
    if requirements or INDIVIDUAL in names:
        raise InputError(
            "A confidence is for the gaps of groups; leave it out, or individual fairness and requirements."
        )


def on_labels(
    program: FairProgram,
    rules: tuple[Rule, ...],
    outcome: Outcome | StreamedOutcome,
    confidence: float | None,
    uncertified: Uncertified = "best",
) -> tuple[Rule, ...]:
    """Return rules judged on the labels of an estimate's rows, certified if a confidence is given, with warnings."""
    rows = LabelledRows(outcome, program.variables.dist)
    if confidence is not None and program.notions:
        rules = rows.judge(certify(program, rows, rules, confidence, uncertified))
        # Rules that were mixed with a constant have had their warning.
        warn_if_constant([rule for rule in rules if rule.guarantee and not rule.guarantee.diluted])
        return rules
    rules = rows.judge(rules)
    rows.warn_if_missed(rules)
    warn_if_constant(rules)
    return rules


def infeasible(program: FairProgram, tolerances: Mapping[str, float], neighbours: Neighbourhood) -> InfeasibleError:
    """Return the error that says what to relax."""
    variables = program.variables
    return explained(variables.dist, Asked(tolerances, program.requirements, variables.aware, neighbours))


def make_rules(
    program: FairProgram, solved: list[Solved], tolerances: list[dict[str, float]], neighbours: Neighbourhood
) -> tuple[Rule, ...]:
    """Return the rules of the optima at some tolerances."""
    variables = program.variables
    x = np.stack([program.scores(point, at) for point, at in zip(solved, tolerances, strict=True)])
    scores = variables.expand(x)
    accuracy = variables.base + x @ variables.cost
    best = bayes_accuracy(variables)
    dist: CellDistribution = variables.dist
    return tuple(
        Rule(
            policy=CellPolicy(dist, scores[at], variables.aware),
            tolerances=tolerances[at],
            accuracy=float(accuracy[at]),
            bayes_accuracy=best,
            optimality_gap=point.gap,
            requirements=program.requirements,
            objective=program.objective,
            neighbours=neighbours,
        )
        for at, point in enumerate(solved)
    )


def without_coins(program: FairProgram, solved: list[Solved], rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return for each rule, a proven optimum with coins, the best rule found without them."""
    variables, found = program.variables, []
    for point, rule in zip(solved, rules, strict=True):
        x = program.whole_scores(point, rule.tolerances)
        if x is None:
            asked = constraints_in_words(rule.tolerances, rule.requirements)
            raise InfeasibleError(
                f"No rule without coins was found that keeps {asked}; relax one of them, or allow coins."
            )
        # A cell and group without people has the mean score of its cell, which may be anything.
        scores = np.rint(variables.expand(x[None])[0])
        whole = replace(
            rule, policy=CellPolicy(variables.dist, scores, variables.aware), accuracy=variables.accuracy(x)
        )
        # Measured from the proven bound, not from the optimum found, so that the cost is proven.
        cost = max(point.value + point.gap - whole.value, 0.0)
        beside = Determinism.beside(rule, cost)
        found.append(replace(whole, optimality_gap=cost, determinism=beside))
    return tuple(found)


def bayes_accuracy(variables: Variables) -> float:
    """Return the accuracy of the best rule without constraints: the majority label of each cell (and group)."""
    return variables.base + float(np.maximum(variables.cost, 0).sum())


def warn_if_constant(rules: Sequence[Rule]) -> None:
    """Warn, once for all rules, where the best rule gives everybody the same score."""
    alike = [rule for rule in rules if rule.is_constant]
    if not alike:
        return
    first = alike[0]
    asked = constraints_in_words(first.tolerances, first.requirements)
    under = f"under {asked}" if asked else "without any constraint"
    more = f", and at {len(alike) - 1} more of {len(rules)} points" if len(alike) > 1 else ""
    score = float(first.group_scores[first.distribution.mass.sum(axis=2) > 0][0])
    better = "nothing that depends on the person does better"
    if first.determinism is not None:
        better = "without coins, nothing better was found that depends on the person"
    warnings.warn(
        f"The best rule {under} gives everybody the same score, {score:.2f}{more}: {better}"
        f"{'; give a wider tolerance' if asked else ''}.",
        ConstantRuleWarning,
        stacklevel=outside(),
    )
