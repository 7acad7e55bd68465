"""The best rule without some of the constraints, which tells whether a decision is due to one of them.

This is not computed from duals: the program is solved again, on the same cells, and the scores are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.limits.programs import FairProgram
from fairlimits.limits.weights import Weights, constraints_of
from fairlimits.notions import INDIVIDUAL

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule


def constraints_that_count(rule: Rule, weights: Weights) -> tuple[str, ...]:
    """Return the notions and requirements without which the best rule may change: those with a nonzero dual, and IF.

    For a rule without coins all may matter, also those that cost nothing with coins.
    """
    paid = {name for own in weights.added for name in (own, *own.split(" and "))}
    names = (*rule.tolerances, *map(str, rule.requirements))
    searched = rule.determinism is not None
    return tuple(name for name in names if searched or name in paid or name == INDIVIDUAL)


def scores_without(rule: Rule, constraint: str | None = None) -> Floats:
    """Return scores, as in `Rule.scores`, of the best rule without one constraint; by default without any.

    For a rule without coins it is the best rule found without coins, if one is found.
    """
    everything = constraint is None
    kept = {} if everything else {name: eps for name, eps in constraints_of(rule).items() if name != constraint}
    requirements = [] if everything else [own for own in rule.requirements if str(own) != constraint]
    program = FairProgram(rule.distribution, tuple(kept), rule.aware, rule.neighbours, requirements, rule.objective)
    solved = program.solve(kept)
    x = None if rule.determinism is None else program.whole_scores(solved, kept)
    if x is None:
        return np.asarray(program.variables.expand(program.scores(solved, kept)[None])[0])
    return np.asarray(np.rint(program.variables.expand(x[None])[0]))
