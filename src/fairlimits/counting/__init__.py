"""Rows to counts: how many people, and how much weight, each cell holds of each group and label."""

from __future__ import annotations

from fairlimits.counting.memory import Counts, count_cells
from fairlimits.counting.streaming import count_stream, train_codebook

__all__ = ["Counts", "count_cells", "count_stream", "train_codebook"]
