"""From data to the joint law of features, group and label: outcome estimates, cells and generators."""

from __future__ import annotations

from fairlimits._util.lazy import attach_stub as _attach_stub

# The stub beside this file lists the names and where they are defined.
__getattr__, __dir__, __all__ = _attach_stub(__name__)
