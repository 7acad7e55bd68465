"""Our own rules, as the benchmark runs them."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.bases import Estimates
from benchmarks.peers.splits import Floats, Setting, Split


def ours(split: Split, setting: Setting, estimates: Estimates) -> Callable[[], Floats]:
    """Fit our rule at one tolerance; the answer gives its probability of deciding 1 for the test rows."""
    raise NotImplementedError
