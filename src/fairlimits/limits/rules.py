"""`solve`: from a distribution and tolerances to the best rule, with everything it attains."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.storage import nest, read_archive, unnest, write_archive
from fairlimits._util.types import Floats
from fairlimits.errors import FileError, InfeasibleError
from fairlimits.law import CellDistribution, Neighbourhood, can_compare
from fairlimits.limits.infeasibility import Asked, explained
from fairlimits.limits.programs import FairProgram, Solved
from fairlimits.limits.variables import Variables
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    Objective,
    Requirement,
    check_tolerances,
    group_gaps,
    read_objective,
    read_requirements,
)

_KIND = "rule"

# How far to the right of a tolerance its right derivative is read: well above the solver's precision. The pieces that
# the concave curve consists of are wider, except with individual fairness, where some of 2e-10 to 1e-7 were seen: a
# tolerance that close to the end of its piece gets the slope of a piece that follows.
_STEP = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """The best decision rule under some tolerances and requirements.

    Parameters
    ----------
    distribution : CellDistribution
        What the rule was solved on.
    scores : ndarray of shape (N,) or (N, G)
        Probability of deciding 1 in each cell; for each group too, if the rule is aware.
    tolerances : mapping of str to float
        The tolerances that were asked for.
    aware : bool
        Whether the rule sees the group.
    neighbours : Neighbourhood
        What individual fairness compares.
    accuracy : float
        Probability that the decision equals the label, on the distribution.
    bayes_accuracy : float
        The same for the most accurate rule without any constraint.
    shadow_prices : mapping of str to float
        For each tolerance, how fast the value would rise with that tolerance alone.
    optimality_gap : float
        What is left between the value and its proven upper bound.
    requirements : tuple of Requirement
        What the rule keeps besides.
    objective : Objective
        What the rule is best at: accuracy, if nothing else was asked for.
    """

    distribution: CellDistribution
    scores: Floats
    tolerances: Mapping[str, float]
    aware: bool
    neighbours: Neighbourhood
    accuracy: float
    bayes_accuracy: float
    shadow_prices: Mapping[str, float]
    optimality_gap: float
    requirements: tuple[Requirement, ...] = ()
    objective: Objective = ACCURACY

    @property
    def value(self) -> float:
        """What was maximised: accuracy, balanced accuracy or minus the expected cost."""
        if self.objective == ACCURACY:
            return self.accuracy
        return float(self.objective.value(self.distribution.rates, self.group_scores))

    @cached_property
    def attained(self) -> dict[str, float]:
        """Value of what each requirement is about, by the requirement's text."""
        return {str(own): own.value(self.distribution.rates, self.group_scores) for own in self.requirements}

    @cached_property
    def gaps(self) -> dict[str, float]:
        """Attained gap of every notion, constrained or not.

        EOd is the larger of its two. IF is the largest difference between neighbours, weighted by nearness.
        NaN stands for a gap that cannot be computed: fewer than two groups with a rate, no distances, or
        cells by the ten thousand without a sparse neighbour graph.
        """
        scores = self.group_scores
        gaps = {name: float(gap) for name, gap in group_gaps(self.distribution.rates, scores).items()}
        return gaps | {INDIVIDUAL: individual_gap(self.distribution, self.scores, self.aware, self.neighbours)}

    @property
    def group_scores(self) -> Floats:
        """Scores of shape (N, G), whether the rule is aware or not."""
        return by_group(self.scores, self.aware, self.distribution.n_groups)

    @property
    def price(self) -> float:
        """Accuracy lost against the best rule without constraints."""
        return self.bayes_accuracy - self.accuracy

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule and its distribution to one file (``.npz``, without pickle)."""
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "tolerances": dict(self.tolerances),
            "aware": self.aware,
            "neighbours": self.neighbours.to_dict(),
            "accuracy": self.accuracy,
            "bayes_accuracy": self.bayes_accuracy,
            "shadow_prices": dict(self.shadow_prices),
            "optimality_gap": self.optimality_gap,
            "requirements": [str(own) for own in self.requirements],
            "objective": str(self.objective),
        }
        write_archive(path, _KIND, header, {"scores": self.scores} | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Rule:
        """Read what `save` wrote."""
        return cls._unpack(*read_archive(path, _KIND))

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Rule:
        try:
            dist = CellDistribution._unpack(header["distribution"], unnest("distribution", arrays))
            scores, aware = np.asarray(arrays["scores"], dtype=np.float64), bool(header["aware"])
            if scores.shape != ((dist.n_cells, dist.n_groups) if aware else (dist.n_cells,)):
                raise FileError("The file's scores do not fit its cells; save the rule again.")
            if not ((scores >= 0) & (scores <= 1)).all():
                raise FileError("The file's scores are no probabilities; save the rule again.")
            return cls(
                distribution=dist,
                scores=scores,
                tolerances=check_tolerances(header["tolerances"]),
                aware=aware,
                neighbours=Neighbourhood(**header["neighbours"]),
                accuracy=float(header["accuracy"]),
                bayes_accuracy=float(header["bayes_accuracy"]),
                shadow_prices={str(key): float(value) for key, value in header["shadow_prices"].items()},
                optimality_gap=float(header["optimality_gap"]),
                requirements=read_requirements(header["requirements"]),
                objective=read_objective(header["objective"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"The file's rule is damaged ({error}); save it again.") from error

    def __repr__(self) -> str:
        asked = [*(f"{name} <= {value:g}" for name, value in self.tolerances.items()), *map(str, self.requirements)]
        sees = "aware" if self.aware else "unaware"
        goal = "" if self.objective == ACCURACY else f"{self.objective.in_words(self.value)}; "
        figures = f"{goal}accuracy {self.accuracy:.4f}, best without {self.bayes_accuracy:.4f}"
        return f"Rule({', '.join(asked) or 'no constraint'}; {sees}; {figures})"


def solve(
    dist: CellDistribution,
    tolerances: Mapping[str, float],
    *,
    aware: bool = False,
    neighbours: Neighbourhood | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
) -> Rule:
    """Find the best rule whose fairness gaps stay within tolerances.

    Parameters
    ----------
    dist : CellDistribution
        The joint law of cell, group and label.
    tolerances : mapping of str to float
        Largest gap allowed for each notion, among DP, EA, EOp, PE, EOd and IF; empty for the best rule
        without constraints.
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

    Returns
    -------
    Rule
        A proven optimum on the distribution.

    Raises
    ------
    InfeasibleError
        If no rule meets all of it; the message names the smallest relaxation of each constraint that would help.

    Examples
    --------
    >>> dist = CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> rule = solve(dist, {"DP": 0.0})
    >>> round(rule.accuracy, 3), round(rule.bayes_accuracy, 3)
    (0.5, 0.7)
    >>> rule = solve(dist, {}, requirements=["selection rate <= 0.3"])
    >>> {name: round(value, 3) for name, value in rule.attained.items()}
    {'selection rate <= 0.3': 0.3}
    """
    asked = check_tolerances(tolerances)
    hood = Neighbourhood() if neighbours is None else neighbours
    kept, goal = read_requirements(requirements), read_objective(objective)
    program = FairProgram(dist, tuple(asked), aware, hood, kept, goal)
    try:
        solved = program.solve(asked)
    except InfeasibleError:
        raise infeasible(program, asked, hood) from None
    return make_rule(program, solved, asked, hood, shadow_prices(program, asked))


def infeasible(program: FairProgram, tolerances: Mapping[str, float], neighbours: Neighbourhood) -> InfeasibleError:
    """Make the error that says what to relax."""
    variables = program.variables
    return explained(variables.dist, Asked(tolerances, program.requirements, variables.aware, neighbours))


def make_rule(
    program: FairProgram,
    solved: Solved,
    tolerances: Mapping[str, float],
    neighbours: Neighbourhood,
    prices: Mapping[str, float],
) -> Rule:
    """Put together what was found at some tolerances."""
    variables = program.variables
    return Rule(
        distribution=variables.dist,
        scores=variables.expand(solved.x),
        tolerances=dict(tolerances),
        aware=variables.aware,
        neighbours=neighbours,
        accuracy=(solved.value if program.objective == ACCURACY else variables.base + float(variables.cost @ solved.x)),
        bayes_accuracy=bayes_accuracy(variables),
        shadow_prices=dict(prices),
        optimality_gap=solved.gap,
        requirements=program.requirements,
        objective=program.objective,
    )


def bayes_accuracy(variables: Variables) -> float:
    """Accuracy of the best rule without constraints: the majority label of each cell (and group)."""
    return variables.base + float(np.maximum(variables.cost, 0).sum())


def shadow_prices(program: FairProgram, tolerances: Mapping[str, float]) -> dict[str, float]:
    """Right derivative of the optimal value in each notion's tolerance alone."""
    prices = {}
    for name, value in tolerances.items():
        # Just beyond the tolerance the slope is that of the piece to the right, also at a breakpoint.
        solved = program.solve({**tolerances, name: value + _STEP})
        # Whether the notion alone sets a shared rate's limit is asked at the tolerances themselves.
        prices[name] = program.slope(solved, tolerances, {name: 1.0})
    return prices


def individual_gap(dist: CellDistribution, scores: Floats, aware: bool, neighbours: Neighbourhood) -> float:
    """Largest difference between the scores of neighbours, weighted by nearness; NaN if not known."""
    if not can_compare(dist):
        return math.nan
    variables = Variables(dist, aware)
    return variables.compare(neighbours).gap(scores[variables.filled])


def by_group(scores: Floats, aware: bool, groups: int) -> Floats:
    """Scores of shape (..., N, G), whether the rule is aware or not."""
    if aware:
        return scores
    return np.broadcast_to(scores[..., None], (*scores.shape, groups))
