"""A local page on which a person moves tolerances and sees the limit follow: plain answers first, Dash second."""

from __future__ import annotations

from fairlimits.apps.explorer.server import check_port, make_app, require_dash, serve
from fairlimits.apps.explorer.subject import Subject

__all__ = ["Subject", "check_port", "make_app", "require_dash", "serve"]
