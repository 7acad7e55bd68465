r"""How much a person weighs in favour of a yes, without constraints, and what the dual of each constraint adds.

At an optimum with duals y, the reduced cost :math:`c - A^T y` of a score is what it is worth once the
constraints are paid for: above 0 the rule says yes, below 0 no, and at 0 chance may decide. Cost and rows are both
linear in the masses of group and label, so that for a person with :math:`q(x) = P(A, Y \mid x)` the margin is

.. math:: \sum_{g,y} w_{gy} \, q_{gy}(x) , \qquad w_{gy} = \pm 1 - \sum_k y_k a_{k,gy} ,

where +1 stands for the label 1 and -1 for the label 0 if accuracy is maximised. A rule that sees the group looks at the
person's own group alone, so that it is a threshold on the chance of label 1 in that group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.limits.programs import FairProgram

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule

# Weights nearer to 0 are rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Weights:
    """How much a chance of being in a group with a label weighs in favour of a yes.

    Parameters
    ----------
    groups : tuple of str
        Names of the G groups.
    aware : bool
        Whether only the person's own group counts.
    free : ndarray of shape (G, 2)
        Weights without any constraint.
    added : mapping of str to ndarray of shape (G, 2)
        What each constraint adds, by the notions or the requirement that ask for it; those that add nothing are left
        out.
    """

    groups: tuple[str, ...]
    aware: bool
    free: Floats
    added: Mapping[str, Floats]

    @property
    def total(self) -> Floats:
        """Weights with all constraints."""
        return self.free + sum(self.added.values(), np.zeros_like(self.free))

    def margins(self, q: Floats, group: Ints | None, weights: Floats | None = None) -> Floats:
        """Return the margins of people with some q, (n, G, 2); `group` is needed for a rule that sees it."""
        own = self.total if weights is None else weights
        if not self.aware:
            return np.asarray(np.einsum("ngy,gy->n", q, own))
        assert group is not None
        rows = q[np.arange(len(q)), group]
        total, counts = rows.sum(axis=1), np.einsum("ngy,gy->n", q, own)
        # Where q gives the person's group no mass, the margin is the mean over the other groups.
        return np.asarray(np.where(total > 0, (rows * own[group]).sum(axis=1) / np.where(total > 0, total, 1), counts))


def constraints_of(rule: Rule) -> dict[str, float]:
    """Return the tolerances that explain a rule: those asked for, or, with a guarantee, its own gaps.

    A rule with a guarantee has smaller gaps than were asked for; it is explained by the best rule at these gaps.
    """
    asked = dict(rule.tolerances)
    if rule.guarantee is not None:
        asked = {name: eps if math.isnan(rule.gaps[name]) else rule.gaps[name] for name, eps in asked.items()}
    return asked


def weights_of(rule: Rule) -> Weights:
    """Compute the weights from the duals of the program that a rule solves (see `constraints_of`)."""
    asked, dist = constraints_of(rule), rule.distribution
    program = FairProgram(dist, tuple(asked), rule.aware, rule.neighbours, rule.requirements, rule.objective)
    duals = program.solve(asked).duals
    zero, one = rule.objective.credit(dist.rates)
    free = np.tile([-zero, one], (dist.n_groups, 1))
    added: dict[str, Floats] = {}
    fixed = iter([(str(own), own.rows(dist.rates).coefficient) for own in rule.requirements])
    for block, place in zip(program.rate_rows.blocks, program.rate_rows.places, strict=True):
        if block.rate is None:
            name, forms = next(fixed)
            pressed = np.einsum("m,mgn->gn", duals[place], forms)
        else:
            name, own = " and ".join(block.askers), duals[place]
            by_group = np.zeros(dist.n_groups)
            # Two groups share a row for their difference; more groups have one row each.
            by_group[block.compared] = own if block.has_auxiliary else np.array([own[0], -own[0]])
            pressed = by_group[:, None] * dist.rates.of(block.rate).coefficient
        found = -_per_label(dist.mass, pressed)
        added[name] = added[name] + found if name in added else found
    kept = {name: own for name, own in added.items() if np.abs(own).max() > _NOTHING}
    return Weights(dist.groups, rule.aware, free, kept)


def _per_label(mass: Floats, forms: Floats) -> Floats:
    """Return coefficients (G, 2) of the masses of group and label whose sums are the forms (G, N) of the cells."""
    found = [np.linalg.lstsq(mass[:, g], forms[g], rcond=None)[0] for g in range(mass.shape[1])]
    return np.array(found)
