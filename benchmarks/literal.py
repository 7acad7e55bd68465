"""The programs of the paper written out for two groups, as a user without fairlimits would give them to a solver."""

from __future__ import annotations

from typing import Any, TypeAlias

import highspy
import numpy as np
import scipy.sparse as sp

import fairlimits as fl
from fairlimits.law import Neighbourhood, neighbour_pairs

Array: TypeAlias = np.ndarray[Any, Any]


def group_rows(dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> tuple[Array, float, Array, Array]:
    """Objective and its constant, and rows whose absolute value (plus an offset) is at most the tolerance."""
    mass = dist.mass
    rows, offsets = [], []
    for notion in notions:
        for rate in {"DP": ("all",), "EOd": ("1", "0"), "EA": ("right",), "IF": ()}[notion]:
            parts = np.zeros(mass.shape[:2])
            offset = 0.0
            for g, sign in ((0, 1.0), (1, -1.0)):
                if rate == "all":
                    parts[:, g] = sign * mass[:, g].sum(axis=1) / mass[:, g].sum()
                elif rate == "right":
                    parts[:, g] = sign * (mass[:, g, 1] - mass[:, g, 0]) / mass[:, g].sum()
                    offset += sign * mass[:, g, 0].sum() / mass[:, g].sum()
                else:
                    parts[:, g] = sign * mass[:, g, int(rate)] / mass[:, g, int(rate)].sum()
            rows.append(parts.ravel() if aware else parts.sum(axis=1))
            offsets.append(offset)
    gain = mass[:, :, 1] - mass[:, :, 0]
    cost = gain.ravel() if aware else gain.sum(axis=1)
    return cost, float(mass[:, :, 0].sum()), np.array(rows).reshape(len(rows), len(cost)), np.array(offsets)


class FullProgram:
    """The whole program with every neighbour constraint, given to HiGHS at once with its own defaults."""

    def __init__(self, dist: fl.CellDistribution, notions: tuple[str, ...], aware: bool) -> None:
        self.cost, self.base, self.matrix, self.offset = group_rows(dist, notions, aware)
        pairs = neighbour_pairs(dist, Neighbourhood())
        self.loose = np.exp(pairs.distance**2)
        n, groups = dist.n_cells, dist.n_groups if aware else 1
        held = dist.mass.sum(axis=2)
        share = (held / held.sum(axis=1, keepdims=True)).ravel() if aware else np.ones(n)
        columns = np.arange(n * groups)
        mean = sp.csr_array((share, (columns // groups, columns)), shape=(n, n * groups))
        self.pairs = mean[pairs.first] - mean[pairs.second]

    def solve(self, group_tolerance: float, individual_tolerance: float) -> float:
        """Optimal accuracy."""
        solver: Any = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        rows = sp.csr_array(sp.vstack([sp.csr_array(self.matrix), self.pairs], format="csr"))
        bound = self.loose * individual_tolerance
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.cost), rows.shape[0]
        model.col_cost_ = -self.cost
        model.col_lower_, model.col_upper_ = np.zeros(len(self.cost)), np.ones(len(self.cost))
        model.row_lower_ = np.concatenate([-group_tolerance - self.offset, -bound])
        model.row_upper_ = np.concatenate([group_tolerance - self.offset, bound])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_ = rows.indptr, rows.indices
        model.a_matrix_.value_ = rows.data
        solver.passModel(model)
        solver.run()
        return float(self.base - solver.getInfo().objective_function_value)
