"""``fairlimits datasets``: which benchmarks there are, and where they are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlimits.apps.cli.terminal import print_table, say

if TYPE_CHECKING:
    from fairlimits.data import BenchmarkStatus


def datasets() -> dict[str, Any]:
    """List the benchmark data sets, where each is looked for, and whether it is there."""
    from fairlimits.data import benchmark_status

    known = benchmark_status()
    rows = [
        (status.name, f"{status.rows:,}", status.label, status.sensitive, "yes" if status.found else "no")
        for status in known
    ]
    print_table(("data set", "rows", "label", "sensitive", "at hand"), rows)
    for status in known:
        say()
        say(f"{status.name}: {status.source}. Licence: {status.licence}.")
        for place in status.places:
            say(f"  {'found in' if place == status.found else _where(place)} {place}")
    return {status.name: _record(status) for status in known}


def _record(status: BenchmarkStatus) -> dict[str, Any]:
    return {
        "rows": status.rows,
        "label": status.label,
        "sensitive": status.sensitive,
        "found": status.found,
        "looked for in": list(status.places),
        "source": status.source,
        "licence": status.licence,
    }


def _where(place: str) -> str:
    return "would be fetched from" if "://" in place else "looked for in"
