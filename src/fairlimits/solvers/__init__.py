"""Proven optima of linear programs, and unproven points of convex ones for the caller to check; nothing of fairness."""

from __future__ import annotations

from fairlimits.solvers.constraints import PairConstraints
from fairlimits.solvers.layouts import Layout
from fairlimits.solvers.lp import Program
from fairlimits.solvers.margins import Compared, Means, solve_with_margins
from fairlimits.solvers.pairs import MISSED, LazyPairs, difference_rows, times
from fairlimits.solvers.parametric import Line, Piece, certify, follow
from fairlimits.solvers.proofs import Optimum
from fairlimits.solvers.rounding import Rounded, round_optimum
from fairlimits.solvers.sifting import SiftedProgram
from fairlimits.solvers.ties import most_even

__all__ = [
    "MISSED",
    "Compared",
    "Layout",
    "LazyPairs",
    "Line",
    "Means",
    "Optimum",
    "PairConstraints",
    "Piece",
    "Program",
    "Rounded",
    "SiftedProgram",
    "certify",
    "difference_rows",
    "follow",
    "most_even",
    "round_optimum",
    "solve_with_margins",
    "times",
]
