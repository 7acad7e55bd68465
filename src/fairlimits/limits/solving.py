"""`solve`: from a law and tolerances to the best rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits.errors import InfeasibleError, InputError
from fairlimits.law import CellDistribution, Neighbourhood, Outcome
from fairlimits.limits.infeasibility import Asked, explained
from fairlimits.limits.laws import Law, estimated, on_cells
from fairlimits.limits.outcome_rules import OutcomeProgram
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
    law: Law,
    tolerances: Mapping[str, float],
    *,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    confidence: float | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Rule:
    """Find the best rule whose fairness gaps stay within tolerances.

    Parameters
    ----------
    law : Outcome, CellDistribution or Dataset
        The joint law of features, group and label: an estimate (`estimate_outcome`), on which single people are
        decided; cells (`discretize`); or the people, whose law is estimated first. Where an estimate is asked for what
        needs cells (individual fairness, requirements, another objective), it is cut into them.
    tolerances : mapping of str to float
        Largest gap allowed for each notion, among DP, EA, EOp, PE, EOd and IF; empty for the best rule
        without constraints. Notions answer to their names too, such as "demographic_parity".
    aware : bool, default=False
        Whether the rule may see the group.
    neighbours : Neighbourhood, optional
        What individual fairness (IF) compares.
    requirements : iterable of Requirement or str, optional
        What the rule must keep besides: limits and floors of rates, of all people or of groups
        (``"selection rate <= 0.3"``, ``"accuracy of Female >= 0.8"``), ratios (``"selection rate ratio >= 0.8"``,
        the four-fifths rule) and differences (``"error rate difference from the rest <= 0.05"``).
    objective : Objective or str, default="accuracy"
        What the rule is to be best at: ``"accuracy"``, ``"balanced accuracy"``, or the least expected cost of a false
        positive and a false negative, such as ``"costs 1:5"``.
    confidence : float, optional
        On an estimate: tighten each tolerance by a margin, so that the gap stays within it in the population with this
        confidence, such as 0.95. By default the tolerance holds on the rows, and is exceeded by chance on others.
    random_state : int, default=0
        Seed of what has to be estimated or cut into cells first.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    Rule
        On cells, a proven optimum.

    Raises
    ------
    InfeasibleError
        If no rule meets all of it; the message names the smallest relaxation of each constraint that would help.

    Warns
    -----
    MarginWarning
        On an estimate, if a margin is larger than its tolerance, or a rate has fewer than 30 rows behind it: then
        everybody gets the same score. Without a confidence, if the rows are too few for a gap on their labels to meet
        its tolerance.

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
    kept, goal = read_requirements(requirements), read_objective(objective)
    hood = Neighbourhood() if neighbours is None else neighbours
    known = estimated(law, random_state, progress)
    if isinstance(known, Outcome) and single_people(asked, kept, goal):
        if confidence is not None:
            check_confidence(confidence)
        return OutcomeProgram(known, tuple(asked), aware).rule(asked, confidence)
    refuse_confidence(confidence)
    dist = on_cells(known, asked, random_state, progress)
    program = FairProgram(dist, tuple(asked), aware, hood, kept, goal)
    try:
        solved = program.solve(asked)
    except InfeasibleError:
        raise infeasible(program, asked, hood) from None
    return make_rules(program, [solved], [asked], hood)[0]


def single_people(
    names: Iterable[str], requirements: tuple[Requirement, ...] = (), objective: Objective = ACCURACY
) -> bool:
    """Whether what is asked can be solved on an estimate itself: group notions, and accuracy to be best at."""
    return not requirements and objective == ACCURACY and INDIVIDUAL not in names


def refuse_confidence(confidence: float | None) -> None:
    """Refuse a confidence where cells are solved on."""
    if confidence is not None:
        raise InputError(
            "A confidence is for rules that decide single people; leave it out, or all that needs cells: individual "
            "fairness, requirements, another objective."
        )


def infeasible(program: FairProgram, tolerances: Mapping[str, float], neighbours: Neighbourhood) -> InfeasibleError:
    """Make the error that says what to relax."""
    variables = program.variables
    return explained(variables.dist, Asked(tolerances, program.requirements, variables.aware, neighbours))


def make_rules(
    program: FairProgram, solved: list[Solved], tolerances: list[dict[str, float]], neighbours: Neighbourhood
) -> tuple[Rule, ...]:
    """Put together what was found at some tolerances."""
    variables = program.variables
    x = np.stack([point.x for point in solved])
    scores = variables.expand(x)
    accuracy = variables.base + x @ variables.cost
    best = bayes_accuracy(variables)
    dist: CellDistribution = variables.dist
    return tuple(
        Rule(
            policy=CellPolicy(dist, scores[at], variables.aware),
            tolerances=tolerances[at],
            accuracy=point.value if program.objective == ACCURACY else float(accuracy[at]),
            bayes_accuracy=best,
            optimality_gap=point.gap,
            requirements=program.requirements,
            objective=program.objective,
            neighbours=neighbours,
        )
        for at, point in enumerate(solved)
    )


def bayes_accuracy(variables: Variables) -> float:
    """Accuracy of the best rule without constraints: the majority label of each cell (and group)."""
    return variables.base + float(np.maximum(variables.cost, 0).sum())
