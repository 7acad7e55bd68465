"""Proven optima of linear programs; nothing here knows of fairness."""

from __future__ import annotations

from fairlimits.solvers.constraints import PairConstraints
from fairlimits.solvers.entropic import Points, Smoothed, margin, solve_smoothed
from fairlimits.solvers.lp import Program
from fairlimits.solvers.pairs import MISSED, LazyPairs, difference_rows, times
from fairlimits.solvers.parametric import Line, Piece
from fairlimits.solvers.proofs import Optimum
from fairlimits.solvers.sifting import SiftedProgram

__all__ = [
    "MISSED",
    "LazyPairs",
    "Line",
    "Optimum",
    "PairConstraints",
    "Piece",
    "Points",
    "Program",
    "SiftedProgram",
    "Smoothed",
    "difference_rows",
    "margin",
    "solve_smoothed",
    "times",
]
