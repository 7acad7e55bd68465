"""Write docs/licences.md: what installing fairlimits brings, with the licences that packages state of themselves."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).resolve().parents[1] / "docs" / "licences.md"
EXTRAS = ("app", "distributed", "paper")
HEAD = """# Licences

fairlimits is under the MIT licence. This is what installing it brings, with the licences that the packages state of
themselves (`make licences` writes this page). `ctgan`, of the extra `ctgan`, is not listed, since nothing installs it
unasked: it is under the Business Source License 1.1, which is not an open-source licence.
"""


def main() -> None:
    """Write the page."""
    core = needed("fairlimits", "")
    lines = [*HEAD.splitlines(), "", *table(core)]
    for extra in EXTRAS:
        if more := needed("fairlimits", extra) - core:
            lines += ["", f"## With the extra `{extra}`", "", *table(more)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def needed(name: str, extra: str) -> set[str]:
    """Every package that a package needs, directly or not, where it is installed."""
    found: set[str] = set()
    ahead = [(name, frozenset([extra]))]
    while ahead:
        own, extras = ahead.pop()
        for text in distribution(own).requires or []:
            asked = Requirement(text)
            wanted = asked.marker is None or any(asked.marker.evaluate({"extra": each}) for each in {"", *extras})
            key = canonicalize_name(asked.name)
            if wanted and key not in found and installed(key):
                found.add(key)
                ahead.append((key, frozenset(asked.extras)))
    return found


def installed(name: str) -> bool:
    """Whether a package is there: some are for other systems, or other Pythons."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def table(names: set[str]) -> list[str]:
    """A line for each package."""
    return [
        "| package | licence |",
        "| --- | --- |",
        *(f"| {name} | {licence(distribution(name))} |" for name in sorted(names)),
    ]


def licence(held: Distribution) -> str:
    """What a package states: an expression, a classifier, or the first line of its licence."""
    about: Any = held.metadata
    if stated := about.get("License-Expression"):
        return str(stated)
    classifiers = [own.split(" :: ")[-1] for own in about.get_all("Classifier") or [] if own.startswith("License ::")]
    if named := [own for own in classifiers if own != "OSI Approved"]:
        return ", ".join(named)
    texts = [file.read_text() for file in held.files or [] if "licen" in file.name.lower()]
    stated = about.get("License") or next(iter(texts), None) or "not stated"
    return str(stated).strip().splitlines()[0]


if __name__ == "__main__":
    main()
