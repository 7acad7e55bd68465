r"""What is asked of a rule, as a function of a person's group and label: all that weak duality needs.

Let :math:`P_{gy}` be the shares of groups and labels. A notion, or a requirement, is a set of rows

.. math:: l_r \le \mathrm{E}[s \varphi_r(A, Y)] + b_r z \le u_r , \qquad 0 \le z \le 1,

of the score s of a person, where z is a variable that only a few rows share. The objective is
:math:`\beta + \mathrm{E}[s\,\gamma(A, Y)]`. For any multipliers :math:`\nu`, every rule that keeps the rows has an
objective of at most

.. math:: \beta + \sum_r (\nu_r^+ u_r - \nu_r^- l_r) + \max(0, -\nu \cdot b)
          + \mathrm{E}[\max(0, \mathrm{E}[Z \mid X])], \qquad Z = \gamma(A, Y) - \sum_r \nu_r \varphi_r(A, Y) .
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.law import CellDistribution
from fairlimits.limits import RateRows, Variables, compile_rows
from fairlimits.notions import Objective, Requirement


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """A question at given shares of groups and labels.

    Parameters
    ----------
    base : float
        The objective of deciding 0 for everybody.
    gain : ndarray of shape (G, 2)
        What deciding 1 adds, by group and label.
    rows : RateRows
        Bounds of the rows, and which of them share a variable.
    form : ndarray of shape (R, G, 2)
        What deciding 1 for a person adds to each row, by the person's group and label.
    """

    base: float
    gain: Floats
    rows: RateRows
    form: Floats

    def credit(self, duals: Floats) -> Floats:
        """What deciding 1 is worth once the rows are paid for, by group and label: Z, of shape (G, 2)."""
        return np.asarray(self.gain - np.tensordot(duals, self.form, axes=1))

    def constant(self, duals: Floats, tolerances: Mapping[str, float]) -> float:
        """The part of the bound that depends on no person's score."""
        bound = np.where(duals > 0, self.rows.upper(tolerances), self.rows.lower(tolerances))
        # A row whose multiplier is 0 may have an infinite bound.
        paid = float((duals[duals != 0] * bound[duals != 0]).sum())
        shared = -(duals @ self.rows.matrix[:, self.rows.n_scores :])
        return self.base + paid + float(np.maximum(shared, 0).sum())

    def best(self, shares: Floats) -> float:
        """What a rule attains that knows every label: no rule passes it."""
        return self.base + float((shares * np.maximum(self.gain, 0)).sum())

    def names(self, question: Question) -> tuple[str, ...]:
        """What each row bounds: a rate of a group against another's or against the lowest, or a requirement."""
        found: list[str] = []
        fixed = iter(question.requirements)
        for block in self.rows.blocks:
            if block.rate is None:
                requirement = str(next(fixed))
                found += [requirement] if len(block) == 1 else [f"{requirement} [{at}]" for at in range(len(block))]
            else:
                names = [question.groups[g] for g in block.compared]
                against = [" - ".join(names)] if len(block) == 1 else names
                found += [f"{block.rate.name}, {own}" for own in against]
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Question:
    """Notions, requirements and an objective, to be read at any shares of groups and labels.

    Parameters
    ----------
    notions : tuple of str
        Short names of the group notions.
    requirements : tuple of Requirement
    objective : Objective
    groups : tuple of str
        Names of the groups.
    counts : ndarray of int of shape (G, 2)
        Rows of each group and label: a rate with too few behind it is not compared.
    """

    notions: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    objective: Objective
    groups: tuple[str, ...]
    counts: Ints

    def at(self, shares: Floats) -> Lagrangian:
        """Read the question at shares of groups and labels, of shape (G, 2)."""
        # A law with a cell for each label: its scores are those of a rule that sees group and label.
        mass = np.zeros((2, *shares.shape))
        counts = np.zeros(mass.shape, dtype=np.int64)
        for y in (0, 1):
            mass[y, :, y], counts[y, :, y] = shares[:, y], self.counts[:, y]
        law = CellDistribution(mass / mass.sum(), self.groups, counts)
        variables = Variables(law, aware=True)
        rows = compile_rows(variables, self.notions, [own.rows(law.rates) for own in self.requirements])
        form = np.zeros((len(rows), *shares.shape))
        assert variables.group is not None
        place = (slice(None), variables.group, variables.cell)
        form[place] = rows.matrix[:, : rows.n_scores] / variables.mass
        zero, one = self.objective.credit(law.rates)
        gain = np.broadcast_to(np.array([-zero, one]), shares.shape)
        return Lagrangian(self.objective.base(law.rates), gain, rows, form)
