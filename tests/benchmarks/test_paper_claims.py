"""The page of the paper's claims is what its program writes of the claims that a run checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.included import results

from benchmarks import paper

CLAIMS = """"target","where","claim","ours","holds"
"table1","Section 5.1","All p-values are below 0.001.","largest 1.5e-15",true
"table2","Section 5.3","EA+EOd struggles, for all data sets.","the optimum removes 100.0%",false
"""


def test_the_page_has_every_claim_and_how_many_hold(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text(CLAIMS, encoding="utf-8")
    text = paper.markdown(paper.read(tmp_path), "Measured on 2 cores.")
    assert text.startswith("# The paper's claims\n\nOf 2 claims 1 hold on ours and 1 do not.\n")
    assert "| Section 5.1 | All p-values are below 0.001. | largest 1.5e-15 | yes |" in text
    assert "| Section 5.3 | EA+EOd struggles, for all data sets. | the optimum removes 100.0% | **no** |" in text
    assert text.endswith("\n\nMeasured on 2 cores.\n")


def test_the_page_that_is_kept_has_this_form() -> None:
    lines = [
        [field.strip() for field in line.strip("|").split(" | ")]
        for line in results(paper.PAGE, None).splitlines()
        if line.startswith("|")
    ][2:]
    claims = [
        {"where": where, "claim": claim, "ours": ours, "holds": {"yes": "true", "**no**": "false"}[holds]}
        for where, claim, ours, holds in lines
    ]
    kept = paper.PAGE.read_text(encoding="utf-8")
    assert kept == paper.markdown(claims, kept.rstrip().splitlines()[-1])


def test_a_folder_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.main([]) == 2
    assert "Give the folder" in capsys.readouterr().err
