"""Rules in use, watched over time: figures with limits, drift, people without a known group, and one alarm."""

from __future__ import annotations

from fairlimits.evaluation.monitoring.missing_groups import GapBounds
from fairlimits.evaluation.monitoring.results import Alarm, Monitoring, PeriodFigures
from fairlimits.evaluation.monitoring.watching import monitor

__all__ = ["Alarm", "GapBounds", "Monitoring", "PeriodFigures", "monitor"]
