"""Constraints on pairs of points, as plain data: which pairs, and how far apart their scores may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from fairlimits._util.types import Floats, Ints


@dataclass(frozen=True)
class PairConstraints:
    """Pairs of points with a bound on how far their scores may differ; points are linear forms of the variables.

    Parameters
    ----------
    forms : sparse array of shape (P, n)
        A row for each point: its score as a linear form of the variables.
    first, second : ndarray of int of shape (B,)
        The points of each pair.
    looseness : ndarray of shape (B,)
        The scores of a pair may differ by the tolerance times this.
    """

    forms: sp.csr_array
    first: Ints
    second: Ints
    looseness: Floats

    @cached_property
    def rows(self) -> sp.csr_array:
        """The difference of scores of each pair, as linear forms of the variables."""
        return sp.csr_array(self.forms[self.first] - self.forms[self.second])

    def differences(self, x: Floats) -> Floats:
        """How far the scores of each pair are apart."""
        points = self.forms @ x
        return np.asarray(np.abs(points[self.first] - points[self.second]))

    def gap(self, x: Floats) -> float:
        """Largest difference of scores, weighted by nearness."""
        return float((self.differences(x) / self.looseness).max(initial=0.0))
