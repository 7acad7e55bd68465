"""`report`: from a table of people to what fairness costs on it, all in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fairlimits._util.frames import ARROW
from fairlimits._util.progress import Progress
from fairlimits.apps.report.results import Report
from fairlimits.data import Dataset, Stream, open_rows
from fairlimits.errors import InputError
from fairlimits.evaluation import collect_findings
from fairlimits.notions import Objective, Requirement, check_tolerances, read_objective, read_requirements


def report(
    data: Any,
    tolerances: Mapping[str, float] | None = None,
    *,
    name: str = "this data",
    confidence: float | None = None,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = "accuracy",
    test_size: float = 0.3,
    estimator: Any = None,
    suppress: int | None = None,
    ceiling: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
    command: str | None = None,
    **columns: Any,
) -> Report:
    """Say what fairness costs on this data, on people that no rule has seen: all that ``fairlimits report`` says.

    The law of features, group and label is learned once, from one part of the rows. On it stand the plug-in figures:
    exact limits, prices, tension, who is affected. The rules that are best on it, for all group notions, alone and in
    pairs, with the group seen and hidden, and the map that decorrelates are judged on the other part.

    Parameters
    ----------
    data : Dataset, or what `open_data` takes or returns with ``stream=True``
        The people.
    tolerances : mapping of str to float, optional
        Largest gaps in the four situations; by default ``{"DP": 0.05}``.
    name : str, default="this data"
        What the data is called in the report.
    confidence : float, optional
        Confidence with which rules are to keep their tolerances among people whom nobody has seen, such as 0.95; see
        `solve`. What every rule's gap stays within on the people held out is said in any case.
    requirements : iterable of Requirement or str
        What the best rule must keep besides, such as ``["selection rate <= 0.3"]``; see `solve`. With them, or with
        another objective, the report has a section about the rule that is best at the objective within tolerances and
        requirements. All other figures are about accuracy.
    objective : Objective or str, default="accuracy"
        What that rule is to be best at: "balanced accuracy", or costs of errors as in "costs 1:5".
    test_size : float, default=0.3
        Share of the rows to evaluate rules on.
    estimator : scikit-learn classifier, optional
        What to learn with; see `estimate_outcome`.
    suppress : int, optional
        Leave out counts and rates that rest on fewer people than this, such as 10, and others from which they could be
        worked out: on the page, in words and in `to_dict` alike.
    ceiling : bool, default=True
        Whether to say what no rule passes, too (see `fairlimits.ceiling`); it takes about as long again as learning.
    random_state : int, default=0
        Seed of everything.
    progress : callable, optional
        Called with the fraction done and a few words.
    command : str, optional
        What makes the report again, for its last section; by default this call.
    **columns
        How to read `data` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Returns
    -------
    Report
        Too few rows, tolerances that could not be met and the like are in its ``warnings``.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = fl.load_dataset("adult", features=["age", "education-num", "hours-per-week"]).take(range(2_000))
    >>> found = fl.report(data, {"DP": 0.05}, name="Adult, a part", estimator=LogisticRegression())
    >>> found.to_html()[:15]
    '<!doctype html>'
    """
    if not columns and not isinstance(data, Dataset | Stream):
        raise InputError(
            f"The data is a {type(data).__name__}; a report needs a Dataset, which open_data and Dataset.from_frame "
            "make, or say which columns of files, or of a Dask DataFrame, are the label and sensitive."
        )
    people = open_rows(data, **columns)
    asked = check_tolerances({"DP": 0.05} if tolerances is None else tolerances)
    kept, goal = read_requirements(requirements), read_objective(objective)
    findings = collect_findings(
        people,
        name,
        tolerances=asked,
        confidence=confidence,
        requirements=kept,
        objective=goal,
        test_size=test_size,
        estimator=estimator,
        suppress=suppress,
        ceiling=ceiling,
        random_state=random_state,
        progress=progress,
    )
    if command is None:
        command = _call(
            asked,
            name=name,
            confidence=confidence,
            requirements=tuple(map(str, kept)),
            objective=str(goal),
            test_size=test_size,
            estimator=estimator,
            suppress=suppress,
            ceiling=ceiling,
            random_state=random_state,
        )
    return Report(findings, command, people.frame_kind if isinstance(people, Dataset) else ARROW)


def _call(tolerances: Mapping[str, float], **options: Any) -> str:
    """Write the call that makes a report, without options that are at their defaults."""
    usual = report.__kwdefaults__ or {}
    given = "".join(f", {key}={value!r}" for key, value in options.items() if value != usual[key])
    return f"fairlimits.report(data, {dict(tolerances)!r}{given})"
