"""``fairlimits datasets``: which benchmarks there are, and where they are looked for."""

from __future__ import annotations

from fairlimits.apps.cli.terminal import print_table, say


def datasets() -> None:
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


def _where(place: str) -> str:
    return "would be fetched from" if "://" in place else "looked for in"
