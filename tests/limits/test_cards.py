"""Model cards of rules and audits keep to their published schema; those of reports are tried with reports."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

import fairlimits as fl
from fairlimits.errors import FileError, InputError
from fairlimits.limits import ModelCard, card_schema
from known_people import known, known_outcome

jsonschema = pytest.importorskip("jsonschema")


@cache
def cards() -> dict[str, ModelCard]:
    data = known(0, 900)[0]
    decided = (data.columns["skill"] > 0).astype(float)
    bare = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    return {
        "rule": fl.solve(known_outcome(), {"DP": 0.1}, confidence=0.9, randomize=False).card(),
        "required": fl.solve(known_outcome(), {}, requirements=["selection rate <= 0.3"], aware=True).card(),
        "bare": fl.solve(bare, {"DP": 0.1}).card(since="2026-01-31"),
        "audit": fl.audit(data, {"model": decided}, estimator=LogisticRegression(), resamples=100).card(),
    }


@pytest.mark.parametrize("name", ["rule", "required", "bare", "audit"])
def test_cards_keep_to_the_schema(name: str, tmp_path: Path) -> None:
    card = cards()[name]
    jsonschema.Draft202012Validator.check_schema(card_schema())
    card.save(tmp_path / "card.json")
    jsonschema.validate(json.loads((tmp_path / "card.json").read_text()), card_schema())
    card.save(tmp_path / "card.md")
    text = (tmp_path / "card.md").read_text()
    for part in ("May see", "What it keeps", "At which confidence", "On whom", "Holds since"):
        assert part in text


def test_a_card_says_what_the_rule_says() -> None:
    card = cards()["rule"]
    assert card.confidence is not None
    assert card.confidence["level"] == 0.9
    assert card.keeps[0].what == "DP"
    assert card.since == date.today().isoformat()
    assert card.features == ("skill", "area")
    assert sum(own for own in card.groups.values() if isinstance(own, int)) == card.rows == 4_000
    assert cards()["bare"].since == "2026-01-31"


def test_names_make_no_markup_and_wrong_days_are_refused(tmp_path: Path) -> None:
    dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]]], groups=["a|b", "<b>*x*"])
    rule = fl.solve(dist, {})
    text = rule.card().to_markdown()
    assert "| a\\|b |" in text
    assert "<b>" not in text
    with pytest.raises(InputError, match="give a day"):
        rule.card(since="soon")
    with pytest.raises(FileError, match=r"end in \.md or \.json"):
        rule.card().save(tmp_path / "card.txt")
