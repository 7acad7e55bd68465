"""``python -m benchmarks [names]``: run the benchmarks, or some of them, and write their part of the docs.

Each benchmark writes ``docs/benchmarks/NAME.md``; ``docs/benchmarks.md`` explains them. Most take minutes,
decorrelation and scale about half an hour, fidelity two hours. Those that need peers are run only when
they are named; the benchmark against peers (``docs/benchmark.md``) and that of guarantees (``benchmarks/guarantee.py``)
are run on their own.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    any_size_page,
    audits,
    deciding,
    decorrelation,
    explorer,
    fidelity,
    frontiers,
    growth,
    included,
    individual,
    law_cost,
    law_loss,
    main_job,
    monitoring,
    quantizer,
    scale,
)
from benchmarks.ablation.pages import markdown as ablation_page
from benchmarks.ablation.running import run as run_ablation

RESULTS = Path(__file__).parents[1] / "docs" / "benchmarks"


def _quantizer() -> str:
    return quantizer.markdown(quantizer.run())


def _frontiers() -> str:
    return frontiers.markdown(frontiers.run())


def _individual() -> str:
    return individual.markdown(individual.run())


def _decorrelation() -> str:
    return decorrelation.markdown(decorrelation.run())


def _fidelity() -> str:
    return fidelity.markdown(fidelity.run())


def _explorer() -> str:
    return explorer.markdown(explorer.run())


def _main_job() -> str:
    return main_job.markdown(main_job.run())


def _growth() -> str:
    results = growth.run()
    growth.draw(results, RESULTS / "growth.png")
    return growth.markdown(results) + "\n\n![Seconds and peak memory against the number of cells](growth.png)"


def _scale() -> str:
    return scale.markdown(scale.run())


def _any_size() -> str:
    return any_size_page.markdown(any_size_page.run())


def _law_cost() -> str:
    return law_cost.markdown(law_cost.run())


def _law_loss() -> str:
    return law_loss.markdown(law_loss.run())


def _ablation() -> str:
    run_ablation()
    return ablation_page()


def _deciding() -> str:
    return deciding.markdown(deciding.run())


def _audits() -> str:
    return audits.markdown(audits.run())


def _monitoring() -> str:
    return monitoring.markdown(monitoring.run())


BENCHMARKS: dict[str, Callable[[], str]] = {
    "quantizer": _quantizer,
    "frontiers": _frontiers,
    "individual": _individual,
    "decorrelation": _decorrelation,
    "fidelity": _fidelity,
    "explorer": _explorer,
    "main_job": _main_job,
    "growth": _growth,
    "scale": _scale,
    "any_size": _any_size,
    "ablation": _ablation,
    "law_cost": _law_cost,
    "law_loss": _law_loss,
    "deciding": _deciding,
    "monitoring": _monitoring,
    "audits": _audits,
}

TITLES = {
    "quantizer": "Cutting a million rows into cells",
    "frontiers": "Frontiers",
    "individual": "Individual fairness",
    "decorrelation": "Decorrelation",
    "fidelity": "Generators",
    "explorer": "Moves of a slider",
    "main_job": "From start to answer",
    "growth": "Cells by the million",
    "scale": "Rows by the million",
    "any_size": "The good law at any size",
    "ablation": "Our solvers against those of others",
    "law_cost": "What learning the law costs",
    "law_loss": "How well the law is learned",
    "deciding": "How fast rules decide, here and elsewhere",
    "monitoring": "False alarms",
    "audits": "Intervals of an audit",
}
"""Titles of the pages."""

NEED_PEERS = ("law_cost", "law_loss", "deciding", "ablation")
"""What needs packages that ``make bench`` does not install."""


def machine() -> str:
    """Name what the figures were measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "highspy"))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"


def write(name: str, text: str) -> None:
    """Write the page of a benchmark."""
    page = f"# {TITLES[name]}\n\n{text}\n\nMeasured on {machine()}.\n"
    (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")


def main(names: list[str]) -> int:
    """Run the named benchmarks, by default all that need no peers."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. The benchmarks are {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names or [own for own in BENCHMARKS if own not in NEED_PEERS]:
        print(f"{name} ...", flush=True)
        text = BENCHMARKS[name]()
        write(name, text)
        print(text, flush=True)
    return included.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
