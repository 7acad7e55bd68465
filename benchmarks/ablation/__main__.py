"""``python -m benchmarks.ablation [NAMES]``: measure some solvers, by default all; ``page`` writes the page.

``python -m benchmarks ablation`` does both.
"""

from __future__ import annotations

import sys

from benchmarks.__main__ import write
from benchmarks.ablation.pages import markdown
from benchmarks.ablation.running import run

if __name__ == "__main__":
    names = tuple(sys.argv[1:])
    if names == ("page",):
        write("ablation", markdown())
    else:
        run(names)
