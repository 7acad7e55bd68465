"""`Findings`: all that a report says, as plain data; words and pictures come later."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.small_samples import enough
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits.data import Dataset, Feature, Stream, check_seed
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation.reports.cautions import find_cautions
from fairlimits.evaluation.reports.explained import ExplainedRule, explain_rules
from fairlimits.evaluation.reports.from_above import FromAbove, find_from_above
from fairlimits.evaluation.reports.held_out import HeldOut, find_held_out
from fairlimits.evaluation.reports.on_cells import OnCells, find_on_cells
from fairlimits.evaluation.reports.parts import Caution, FeatureLine, GroupCount
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.evaluation.reports.surveys import Survey
from fairlimits.law import estimate_outcome
from fairlimits.limits import ConstantRuleWarning
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    Objective,
    Requirement,
    check_confidence,
    check_tolerances,
    read_objective,
    read_requirements,
)

SCHEMA = 1
"""Version of the layout that `Findings.to_dict` gives; ``docs/report.md`` describes it."""

# Shares of the progress that have passed once the law is learned, once it is solved on, and once rules are judged.
_LEARNED, _SOLVED, _JUDGED = 0.4, 0.45, 0.65


@dataclass(frozen=True)
class Findings:
    """Everything a report shows.

    Parameters
    ----------
    name : str
        What the data is called.
    label, positive : str
        The column that is decided on and the value that counts as 1.
    sensitive : tuple of str
        The columns that make up the groups.
    rows : int
        Rows of the table.
    groups : tuple of GroupCount
    features : tuple of FeatureLine
        What rules see, the group aside.
    left_out : tuple of str
        Columns of the table that play no part.
    weight : str or None
        The column that says what each row counts.
    base_rate : float
        Share of the people who have the label.
    majority_accuracy : float
        Accuracy of deciding everybody alike.
    suppress : int or None
        Fewest people that a figure rests on, where others are suppressed.
    held_out : HeldOut
        Figures on rows that took no part in making the rules.
    on_cells : OnCells
        Plug-in figures, on the rows that were learned from.
    from_above : FromAbove or None
        What no rule passes, if it was asked for.
    explained : tuple of ExplainedRule
        The rules within the tolerances in words, with the group hidden and seen (plug-in).
    warnings : tuple of Caution
        What to know before the figures are used.
    versions : dict
        Versions of what computed it.
    """

    name: str
    label: str
    positive: str
    sensitive: tuple[str, ...]
    rows: int
    groups: tuple[GroupCount, ...]
    features: tuple[FeatureLine, ...]
    left_out: tuple[str, ...]
    weight: str | None
    base_rate: float
    majority_accuracy: float
    suppress: int | None
    held_out: HeldOut
    on_cells: OnCells
    from_above: FromAbove | None
    explained: tuple[ExplainedRule, ...]
    warnings: tuple[Caution, ...]
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, just as JSON would give them back."""
        content: dict[str, Any] = _plain({"schema": SCHEMA, **asdict(self)})
        return content


def collect_findings(
    data: Dataset | Stream,
    name: str,
    *,
    tolerances: Mapping[str, float] | None = None,
    confidence: float | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    test_size: float = 0.3,
    estimator: Any = None,
    suppress: int | None = None,
    ceiling: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Findings:
    """Compute everything that a report shows, from one law that is learned once.

    The law is estimated on one part of the rows. Plug-in figures are read on it, and the rules that are best on it are
    judged on the other part.

    Parameters
    ----------
    data : Dataset or Stream
        The people.
    name : str
        What the data is called.
    tolerances : mapping of str to float, optional
        Of the four situations; by default DP within 0.05.
    confidence : float, optional
        Confidence with which rules are to keep their tolerances among people whom nobody has seen; see `solve`.
    requirements : iterable of Requirement or str
        What the rule that is asked for besides must keep; see `solve`.
    objective : Objective or str
        What that rule is best at.
    test_size : float, default=0.3
        Share of the rows to judge rules on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people.
    ceiling : bool, default=True
        Whether to find what no rule passes, too.
    random_state : int, default=0
        Seed of everything.
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    asked = check_tolerances({"DP": 0.05} if tolerances is None else tolerances)
    random_state = check_seed(random_state)
    if confidence is not None:
        check_confidence(confidence)
        if INDIVIDUAL in asked:
            raise InputError("Gaps of groups can be certified, individual fairness cannot; leave one of the two out.")
    kept, goal = read_requirements(requirements), read_objective(objective)
    tell = or_silent(progress)
    survey = Survey.of(data, random_state)
    withhold = Suppression.of(survey, suppress)
    learn, test = data.split(test_size, random_state)
    outcome = estimate_outcome(
        learn, estimator=estimator, random_state=random_state, progress=lambda done, words: tell(_LEARNED * done, words)
    )
    with warnings.catch_warnings():
        # Small groups, and what cannot be compared for them, are among the cautions; tables mark constant rules.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        warnings.simplefilter("ignore", ConstantRuleWarning)
        cells = find_on_cells(
            outcome, withhold, random_state, lambda done, words: tell(_LEARNED + (_SOLVED - _LEARNED) * done, words)
        )
        judged = find_held_out(
            outcome,
            test,
            asked,
            requirements=kept,
            objective=goal,
            counts=survey.counts,
            certified=confidence,
            withhold=withhold,
            random_state=random_state,
            tell=lambda done, words: tell(_SOLVED + (_JUDGED - _SOLVED) * done, words),
        )
        above = None
        if ceiling:
            above = find_from_above(
                data, judged, random_state, lambda done, words: tell(_JUDGED + (1 - _JUDGED) * done, words)
            )
        explained = explain_rules(outcome, asked, kept, goal, confidence, withhold, random_state)
    rate = float(survey.shares[:, 1].sum())
    return Findings(
        name=name,
        label=survey.schema.label,
        positive=str(survey.schema.positive),
        sensitive=survey.schema.sensitive,
        rows=survey.n_rows,
        groups=tuple(_group(survey, g, withhold) for g in range(len(survey.groups))),
        features=tuple(_feature(survey, own, withhold) for own in survey.schema.features),
        left_out=survey.schema.left_out,
        weight=survey.schema.weight,
        base_rate=rate,
        majority_accuracy=max(rate, 1 - rate),
        suppress=withhold.least,
        held_out=judged,
        on_cells=cells,
        from_above=above,
        explained=explained,
        warnings=find_cautions(survey, judged, cells, withhold),
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "highspy", "pyarrow")
    return {"python": platform.python_version()} | {package: version(package) for package in packages}


def _plain(value: Any) -> Any:
    """Make lists of tuples, which JSON does not tell apart."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _group(survey: Survey, g: int, withhold: Suppression) -> GroupCount:
    if withhold.rows[g]:
        return GroupCount(survey.groups[g], SUPPRESSED_TEXT, SUPPRESSED_TEXT, SUPPRESSED_TEXT)
    weight, rows = float(survey.shares[g].sum()), survey.counts[g].sum()
    base = float(survey.shares[g, 1]) / weight if weight > 0 and enough(rows) else None
    return GroupCount(
        name=survey.groups[g],
        rows=int(rows),
        share=weight,
        base_rate=SUPPRESSED_TEXT if withhold.labels[g] else base,
    )


def _feature(survey: Survey, feature: Feature, withhold: Suppression) -> FeatureLine:
    missing = withhold.share(survey.missing[feature.name] / survey.n_rows, survey.n_rows)
    if feature.kind == "numeric":
        return FeatureLine(feature.name, feature.kind, None, missing)
    present = sum(own is not None for own in feature.categories)
    return FeatureLine(feature.name, feature.kind, present, missing)
