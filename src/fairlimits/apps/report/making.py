"""`report`: from a table of people to what fairness costs on it, all in one call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from fairlimits._util.progress import Progress, or_silent
from fairlimits.apps.report.results import Report
from fairlimits.data import Dataset
from fairlimits.errors import InputError
from fairlimits.evaluation import collect_findings
from fairlimits.law import DEFAULT_GENERATOR, DEFAULT_SAMPLES, FEATURES, SamplingWarning, discretize
from fairlimits.notions import check_tolerances

# Share of the progress that cutting cells takes.
_CUTTING = 0.1


def report(
    data: Dataset,
    tolerances: Mapping[str, float] | None = None,
    *,
    name: str = "this data",
    cells: int = 256,
    generator: Any = DEFAULT_GENERATOR,
    n_samples: int = DEFAULT_SAMPLES,
    test_size: float = 0.3,
    estimator: Any = None,
    random_state: int = 0,
    progress: Progress | None = None,
    command: str | None = None,
) -> Report:
    """Say what fairness costs on this data, on people that no rule has seen: all that ``fairlimits report`` says.

    Rules for all group notions, alone and in pairs, with the group seen and hidden, are made from one part of the rows
    and evaluated on the other. Exact limits on cells, tension, who is affected and decorrelation stand beside.

    Parameters
    ----------
    data : Dataset
        The people.
    tolerances : mapping of str to float, optional
        Largest gaps in the four situations; by default ``{"DP": 0.05}``.
    name : str, default="this data"
        What the data is called in the report.
    cells : int, default=256
        Number of cells.
    generator : str, generator or None, default="auto"
        What to count on the cells; None takes the rows as they are. See `discretize`.
    n_samples : int, default=1_000_000
        Rows to generate; without a generator it has no meaning.
    test_size : float, default=0.3
        Share of the rows to evaluate rules on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    random_state : int, default=0
        Seed of everything.
    progress : callable, optional
        Called with the fraction done and a few words.
    command : str, optional
        What makes the report again, for its last section; by default this call.

    Returns
    -------
    Report
        Too few generated rows, tolerances that could not be met and the like are in its ``warnings``.
    """
    if not isinstance(data, Dataset):
        raise InputError(
            f"The data is a {type(data).__name__}; a report needs a Dataset, which open_data and Dataset.from_frame "
            "make."
        )
    asked = check_tolerances({"DP": 0.05} if tolerances is None else tolerances)
    tell = or_silent(progress)
    with warnings.catch_warnings():
        # It is among the report's own warnings, where it stays with the figures.
        warnings.simplefilter("ignore", SamplingWarning)
        dist = discretize(
            data,
            cells,
            partition=FEATURES,
            generator=generator,
            n_samples=n_samples,
            random_state=random_state,
            progress=lambda done, words: tell(_CUTTING * done, words),
        )
    findings = collect_findings(
        data,
        dist,
        name,
        tolerances=asked,
        test_size=test_size,
        estimator=estimator,
        random_state=random_state,
        progress=lambda done, words: tell(_CUTTING + (1 - _CUTTING) * done, words),
    )
    if command is None:
        command = _call(
            asked,
            name=name,
            cells=cells,
            generator=generator,
            n_samples=n_samples,
            test_size=test_size,
            estimator=estimator,
            random_state=random_state,
        )
    return Report(findings, command)


def _call(tolerances: Mapping[str, float], **options: Any) -> str:
    """Write the call that makes a report, without options that are at their defaults."""
    usual = report.__kwdefaults__ or {}
    given = "".join(f", {key}={value!r}" for key, value in options.items() if value != usual[key])
    return f"fairlimits.report(data, {dict(tolerances)!r}{given})"
