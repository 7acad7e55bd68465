"""Rows to counts: how many people, and how much weight, each cell holds of each group and label."""

from __future__ import annotations

from fairlimits.counting.memory import Counts, count_cells

__all__ = ["Counts", "count_cells"]
