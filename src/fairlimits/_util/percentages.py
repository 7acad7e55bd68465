"""Shares as people read them: in percent, and their differences in points, with one digit after the point."""

from __future__ import annotations


def hundredfold(share: float, sign: str = "") -> str:
    """Return a share in percent, or a difference in points, without a unit; what rounds to 0 has no sign.

    Examples
    --------
    >>> hundredfold(0.1234), hundredfold(-0.0004), hundredfold(0.02, "+")
    ('12.3', '0.0', '+2.0')
    """
    rounded = round(100 * share, 1)
    return f"{rounded:{sign}.1f}" if rounded else "0.0"
