"""`ModelCard`: what a rule, or other decider, may see, what it keeps, at which confidence, on whom and since when.

A card is plain data, written as Markdown or as JSON of a published schema (``model_card.schema.json`` beside this
file).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairlimits._util.storage import write_text
from fairlimits.data import value_text
from fairlimits.errors import FileError, InputError
from fairlimits.notions import ACCURACY, Estimate

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule

_VERSION = 1
_SUFFIXES = (".md", ".json")
_NOBODY = (
    "No figure says that anything is fair, only how far apart rates are; rules that we could not find may do better."
)


@dataclass(frozen=True)
class CardFigure:
    """A figure of a card: its kind is plug-in, out of fold or held out; ends are None without an interval."""

    name: str
    kind: Literal["plug-in", "out of fold", "held out"]
    value: float | str | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, name: str, estimate: Estimate) -> CardFigure:
        """Return a held-out estimate as a figure; a word where it is not estimable or suppressed."""
        if not estimate.known:
            return cls(name, "held out", str(estimate))
        ends = (None if math.isnan(end) else float(end) for end in (estimate.low, estimate.high))
        kind: Literal["plug-in", "held out"] = "plug-in" if math.isnan(estimate.low) else "held out"
        return cls(name, kind, float(estimate.value), *ends)


@dataclass(frozen=True)
class Kept:
    """A constraint that is kept: its upper bound, and its value on the law; None where it is not a number."""

    what: str
    at_most: float | None
    found: float | None


@dataclass(frozen=True)
class ModelCard:
    """What a decider may see, what it keeps, at which confidence, on whom and since when.

    Parameters
    ----------
    kind : {"rule", "audit", "report"}
        What the card describes.
    title : str
        Title, in a sentence.
    since : str
        The day from which it holds, such as 2026-01-31.
    group : bool or None
        Whether decisions may look at the group; None where both are compared.
    features : tuple of str or None
        The columns that they look at; None where they are not known.
    decides : str
        Whether and how decisions are left to chance.
    keeps : tuple of Kept
        Gaps and requirements.
    confidence : mapping or None
        Level, upper bounds and whether they are certified; None if none was asked for.
    label : str or None
        What is predicted.
    sensitive : tuple of str
        The columns that make up groups.
    rows : int or None
        People that the figures rest on.
    groups : mapping of str to int, str or None
        People of each group, or a word where that is suppressed.
    figures : tuple of CardFigure
        Accuracy and other figures.
    beware : tuple of str
        What to know before use.
    objective : str, default="accuracy"
        The objective.
    """

    kind: Literal["rule", "audit", "report"]
    title: str
    since: str
    group: bool | None
    features: tuple[str, ...] | None
    decides: str
    keeps: tuple[Kept, ...]
    confidence: Mapping[str, Any] | None
    label: str | None
    sensitive: tuple[str, ...]
    rows: int | None
    groups: Mapping[str, int | str | None]
    figures: tuple[CardFigure, ...]
    beware: tuple[str, ...]
    objective: str = str(ACCURACY)

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain data that the schema describes (`card_schema`)."""
        return {
            "schema": _VERSION,
            "kind": self.kind,
            "title": self.title,
            "since": self.since,
            "made_by": _made_by(),
            "sees": {"group": self.group, "features": None if self.features is None else list(self.features)},
            "decides": self.decides,
            "objective": self.objective,
            "keeps": [asdict(kept) for kept in self.keeps],
            "confidence": None if self.confidence is None else dict(self.confidence),
            "people": {
                "label": self.label,
                "sensitive": list(self.sensitive),
                "rows": self.rows,
                "groups": [{"name": name, "rows": rows} for name, rows in self.groups.items()],
            },
            "figures": [asdict(figure) for figure in self.figures],
            "beware": [*self.beware, _NOBODY],
        }

    def to_json(self) -> str:
        """Return the card as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """Return the card as Markdown text."""
        sees = {True: "the group and", False: "not the group, but", None: "the group or not, and"}[self.group]
        features = "features that it does not name" if self.features is None else ", ".join(map(_text, self.features))
        people = "a law of bare numbers" if self.rows is None else f"{self.rows:,} people"
        about = "" if self.label is None else f"; label {_text(self.label)}"
        by = f"; groups by {', '.join(map(_text, self.sensitive))}" if self.sensitive else ""
        parts = [
            f"# Model card: {_text(self.title)}",
            f"Made by {_made_by()}. Holds since {self.since}.",
            f"- **May see**: {sees} {features}.",
            f"- **Decides**: {_text(self.decides)} Best at: {_text(self.objective)}.",
            f"- **On whom**: {people}{about}{by}.",
            f"- **At which confidence**: {self._confidence_text()}",
            _table(("group", "rows"), [(name, _number(rows)) for name, rows in self.groups.items()]),
            "## What it keeps",
            _table(
                ("what", "at most", "found (plug-in)"),
                [(kept.what, _number(kept.at_most), _number(kept.found)) for kept in self.keeps],
            )
            if self.keeps
            else "Nothing was asked to be kept.",
            "## Figures",
            _table(
                ("figure", "kind", "value", "low", "high"),
                [
                    (figure.name, figure.kind, *map(_number, (figure.value, figure.low, figure.high)))
                    for figure in self.figures
                ],
            ),
            "## Beware",
            "\n".join(f"- {_text(text)}" for text in (*self.beware, _NOBODY)),
        ]
        # Lines of the list stay together.
        return "\n\n".join([*parts[:2], "\n".join(parts[2:6]), *parts[6:]]) + "\n"

    def _confidence_text(self) -> str:
        if self.confidence is None:
            return "none was asked for; tolerances hold on the law, and are exceeded by chance among people."
        limits = ", ".join(f"{name} {_number(limit)}" for name, limit in self.confidence["limits"].items())
        word = "certified" if self.confidence["certified"] else "not within what was asked for"
        return f"{self.confidence['level']:g}, gaps at most {limits} ({word})."

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a ``.md`` or ``.json`` file, whole or not at all."""
        suffix = Path(path).suffix.lower()
        if suffix not in _SUFFIXES:
            raise FileError(f"The card {path} ends in {suffix or 'no suffix'}; it must end in .md or .json.")
        write_text(path, self.to_markdown() if suffix == ".md" else self.to_json())

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def card_schema() -> dict[str, Any]:
    """Return the JSON schema of model cards."""
    text = files("fairlimits.limits").joinpath("model_card.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def check_since(since: str | date | None) -> str:
    """Return a day as text, such as 2026-01-31; today by default."""
    try:
        return (date.today() if since is None else date.fromisoformat(str(since))).isoformat()
    except ValueError:
        raise InputError(f"since is {since!r}; give a day, such as '2026-01-31'.") from None


def rule_card(rule: Rule, since: str | date | None = None) -> ModelCard:
    """Make the card of a rule (see `Rule.card`)."""
    law, schema = rule.distribution, rule.distribution.schema
    counts = None if law.counts is None else law.counts.sum(axis=(0, 2))
    plain = {name: None if math.isnan(gap) else gap for name, gap in rule.gaps.items()}
    keeps = [Kept(name, None if math.isinf(eps) else eps, plain[name]) for name, eps in rule.tolerances.items()]
    keeps += [Kept(text, None, value) for text, value in rule.attained.items()]
    figures = [
        CardFigure("accuracy", "plug-in", rule.accuracy),
        CardFigure("accuracy of the best rule without constraints", "plug-in", rule.bayes_accuracy),
        *(CardFigure(f"gap {name}", "plug-in", gap) for name, gap in plain.items() if gap is not None),
    ]
    if rule.on_labels is not None:
        figures.append(CardFigure("accuracy", "out of fold", rule.on_labels.accuracy))
        known = {name: gap for name, gap in rule.on_labels.gaps.items() if not math.isnan(gap)}
        figures += [CardFigure(f"gap {name}", "out of fold", gap) for name, gap in known.items()]
    given = rule.guarantee
    confidence = None
    if given is not None:
        limits = {name: None if math.isnan(limit) else limit for name, limit in given.limits.items()}
        confidence = {"level": given.confidence, "limits": limits, "certified": given.certified}
    beware = [law.small_groups_note] if law.small_groups_note else []
    if rule.is_constant:
        beware.append("Everybody gets the same score.")
    return ModelCard(
        kind="rule",
        title=repr(rule).removeprefix("Rule(").removesuffix(")"),
        since=rule.made if since is None else check_since(since),
        group=rule.aware,
        features=None if schema is None else tuple(feature.name for feature in schema.features),
        decides=_decides(rule),
        keeps=tuple(keeps),
        confidence=confidence,
        label=None if schema is None else f"{schema.label} = {value_text(schema.positive)}",
        sensitive=() if schema is None else schema.sensitive,
        rows=None if counts is None else int(counts.sum()),
        groups=dict(zip(rule.groups, [None] * len(rule.groups) if counts is None else counts.tolist(), strict=True)),
        figures=tuple(figures),
        beware=tuple(beware),
        objective=str(rule.objective),
    )


def _decides(rule: Rule) -> str:
    if rule.determinism is not None:
        return rule.determinism.summary()
    tossed = (rule.group_scores > 0) & (rule.group_scores < 1)
    share = float(rule.distribution.mass.sum(axis=2)[tossed].sum())
    return f"{share:.1%} of the people are decided by lot." if share > 0 else "Nobody is decided by lot."


def _made_by() -> str:
    return f"fairlimits {version('fairlimits')}"


def _number(value: float | str | None) -> str:
    if value is None:
        return ""
    return _text(value) if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _text(text: str) -> str:
    """Return a name from the data with everything that Markdown would interpret escaped."""
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _table(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    rows = [heads, ("---",) * len(heads), *((_text(first), *rest) for first, *rest in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
