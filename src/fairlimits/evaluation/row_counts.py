"""How many rows it takes to say something about small groups."""

from __future__ import annotations

from collections.abc import Mapping

from fairlimits._util.small_samples import enough
from fairlimits._util.types import Flags, Ints
from fairlimits.notions import NOTIONS, rows_to_certify


def rows_needed(counts: Ints, tolerances: Mapping[str, float], compared: Flags | None = None) -> dict[str, int]:
    """For each tolerance, the rows it takes to certify it between the smallest two groups that are compared.

    Parameters
    ----------
    counts : ndarray of int of shape (G, 2)
        Rows by group and label, whose shares are taken.
    tolerances : mapping of str to float
        Gaps to be shown, above 0 and below 1, of group notions.
    compared : ndarray of bool of shape (G,), optional
        Groups to speak about; by default all.

    Returns
    -------
    dict
        Rows in the worst case, if the gap is 0; without notions that no two groups are compared in.
    """
    found = {}
    for name, tolerance in tolerances.items():
        needed = []
        for rate in NOTIONS[name].rates:
            rows = counts[:, list(rate.given)].sum(axis=1)
            shares = sorted((rows[enough(rows) & (True if compared is None else compared)] / counts.sum()).tolist())
            if len(shares) > 1:
                needed.append(rows_to_certify(tolerance, shares=shares[:2]))
        if needed:
            found[name] = max(needed)
    return found
