"""Names that a careless page would run, and files as a browser sends them."""

from __future__ import annotations

import base64

HOSTILE = "<script>window.harmed=1</script>"
LABEL = "<img src=x onerror='window.harmed=1'>"
BOLD = "<b>bold</b>"


def data_url(content: bytes | str) -> str:
    """What a browser sends of a file."""
    raw = content.encode() if isinstance(content, str) else content
    return "data:text/csv;base64," + base64.b64encode(raw).decode()
