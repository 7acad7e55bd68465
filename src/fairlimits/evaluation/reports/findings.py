"""`Findings`: all that a report says, as plain data; words and pictures come later."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits.data import Dataset
from fairlimits.errors import InputError, SmallGroupsWarning
from fairlimits.evaluation.reports.cautions import find_cautions
from fairlimits.evaluation.reports.held_out import HeldOut, find_held_out
from fairlimits.evaluation.reports.on_cells import OnCells, find_on_cells
from fairlimits.evaluation.reports.parts import Caution, GeneratorJudged, GroupCount
from fairlimits.law import CellDistribution, fidelity_report, sampling_note
from fairlimits.notions import check_tolerances

SCHEMA = 1
"""Version of the layout that `Findings.to_dict` gives; ``docs/report.md`` describes it."""

# Generated rows that the generator is judged by; more change the third digit.
_JUDGED_BY = 200_000


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
    majority_accuracy : float
        Accuracy of deciding everybody alike.
    held_out : HeldOut
        Figures on rows that took no part in making the rules.
    on_cells : OnCells
        Plug-in figures of the cells.
    generator : GeneratorJudged or None
        How near generated rows come to real ones; None if the rows were counted as they are.
    sampling : str
        What the number of rows guarantees at this number of cells, in words.
    share_error : float or None
        The error that the median cell's own count guarantees at 95%.
    info : dict
        How the cells were made.
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
    majority_accuracy: float
    held_out: HeldOut
    on_cells: OnCells
    generator: GeneratorJudged | None
    sampling: str
    share_error: float | None
    info: dict[str, Any]
    warnings: tuple[Caution, ...]
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, just as JSON would give them back."""
        content: dict[str, Any] = _plain({"schema": SCHEMA, **asdict(self)})
        return content


def collect_findings(
    data: Dataset,
    dist: CellDistribution,
    name: str,
    *,
    tolerances: Mapping[str, float] | None = None,
    test_size: float = 0.3,
    estimator: Any = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Findings:
    """Compute everything that a report shows.

    Parameters
    ----------
    data : Dataset
        The people.
    dist : CellDistribution
        Their cells, made by `discretize`.
    name : str
        What the data is called.
    tolerances : mapping of str to float, optional
        Of the four situations; by default DP within 0.05.
    test_size : float, default=0.3
        Share of the rows to judge rules on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    random_state : int, default=0
        Seed of everything.
    progress : callable, optional
        Called with the fraction done and a few words.
    """
    if dist.schema is None or dist.schema.features != data.schema.features:
        raise InputError("The cells were not cut from this data; make them with discretize(data, ...).")
    asked = check_tolerances({"DP": 0.05} if tolerances is None else tolerances)
    tell = or_silent(progress)
    with warnings.catch_warnings():
        # Small groups, and what cannot be compared for them, are among the cautions.
        warnings.simplefilter("ignore", SmallGroupsWarning)
        cells = find_on_cells(dist, lambda done, words: tell(0.12 * done, words))
        judged = find_held_out(
            data,
            asked,
            cells=dist.n_cells,
            test_size=test_size,
            estimator=estimator,
            random_state=random_state,
            tell=lambda done, words: tell(0.12 + 0.78 * done, words),
        )
    tell(0.9, "judging the generator")
    generator = _generator(data, dist, random_state)
    share = data.shares
    rate = float(share @ data.label)
    return Findings(
        name=name,
        label=data.schema.label,
        positive=str(data.schema.positive),
        sensitive=data.schema.sensitive,
        rows=data.n_rows,
        groups=tuple(_group(data, share, g) for g in range(len(data.groups))),
        majority_accuracy=max(rate, 1 - rate),
        held_out=judged,
        on_cells=cells,
        generator=generator,
        sampling=sampling_note(dist),
        share_error=None if dist.counts is None else float(np.median(dist.share_errors())),
        info={"cells": dist.n_cells, **dist.origin.to_dict()},
        warnings=find_cautions(data, dist, judged, cells, generator),
        versions={"python": platform.python_version()}
        | {package: version(package) for package in ("numpy", "scipy", "scikit-learn", "highspy", "pyarrow")},
    )


def _plain(value: Any) -> Any:
    """Make lists of tuples, which JSON does not tell apart."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _group(data: Dataset, share: np.ndarray, g: int) -> GroupCount:
    inside = data.group == g
    weight = float(share[inside].sum())
    return GroupCount(
        name=data.groups[g],
        rows=int(data.counts[g].sum()),
        share=weight,
        base_rate=float(share[inside] @ data.label[inside]) / weight if weight > 0 else None,
    )


def _generator(data: Dataset, dist: CellDistribution, random_state: int) -> GeneratorJudged | None:
    used = dist.origin.generator
    if used is None:
        return None
    samples = min(_JUDGED_BY, dist.origin.n_samples or _JUDGED_BY)
    found = fidelity_report(data, used, n_samples=samples, random_state=random_state)
    return GeneratorJudged(
        name=found.generator,
        samples=samples,
        cells=found.fitted.n_cells,
        distance=found.fitted.total_distance,
        held_out_distance=found.held_out.total_distance,
        noise_floor=found.noise_floor.total_distance,
        copies=found.copies,
        copies_natural=found.copies_natural,
    )
