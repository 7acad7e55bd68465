"""The paper's tables and figures, made again: one module per table or figure, its printed values beside ours."""

from __future__ import annotations

from fairlimits.apps.paper.run import TARGETS, Reproduction, reproduce
from fairlimits.apps.paper.section import Claim, Section, Table
from fairlimits.apps.paper.settings import Settings

__all__ = ["TARGETS", "Claim", "Reproduction", "Section", "Settings", "Table", "reproduce"]
