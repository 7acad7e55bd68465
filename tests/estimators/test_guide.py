"""The guide's programs run in order, and print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "sklearn.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def test_the_programs_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    programs = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", TEXT, re.DOTALL)
    assert len(programs) > 5
    for program, printed in programs:
        exec(compile(program, str(GUIDE), "exec"), names)
        found = capsys.readouterr().out
        if printed:
            assert found == printed


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", TEXT))
def test_links_lead_somewhere(link: str) -> None:
    assert (GUIDE.parent / link).exists()
