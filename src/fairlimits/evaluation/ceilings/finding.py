"""`ceiling`: from a table and tolerances to what no rule passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Schema, Stream, check_seed, open_rows
from fairlimits.errors import InputError
from fairlimits.evaluation.ceilings.curves import find_curve
from fairlimits.evaluation.ceilings.kinds import Resolution, check_resolution, coarsen, feature_kinds
from fairlimits.evaluation.ceilings.questions import Question
from fairlimits.evaluation.ceilings.resolutions import Proposal, propose_steps
from fairlimits.evaluation.ceilings.results import Ceiling
from fairlimits.evaluation.ceilings.streamed import Counted, StreamedTwins
from fairlimits.evaluation.ceilings.twins import PeopleByKind, Twins, set_apart
from fairlimits.limits import tolerance_grid
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    Objective,
    Requirement,
    check_confidence,
    check_names,
    read_objective,
    read_requirements,
    warn_of_nothing_to_compare,
)

AUTO = "auto"


def ceiling(
    data: Any,
    tolerances: Mapping[str, Any],
    *,
    aware: bool = False,
    confidence: float = 0.95,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    resolution: Mapping[str, float] | Literal["auto"] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **columns: Any,
) -> Ceiling:
    """Bound from above what any rule can attain whose fairness gaps stay within tolerances.

    Nothing is assumed about the law but that people are drawn independently of each other. What is used are twins:
    people who are alike in all that a rule sees, and differ in label or group all the same, so that no rule can be
    right about all of them. Of people without a twin everything is taken to be known.

    Parameters
    ----------
    data : Dataset, or what `open_data` takes or returns with ``stream=True``
        The people. Rows that are not in memory are counted by kind, part by part.
    tolerances : mapping of str to float or array
        Largest gap allowed for each notion, among DP, EA, EOp, PE and EOd; empty for rules without constraints. Arrays,
        all of one length, give a curve, whose limits hold for all points at once. Individual fairness is left out: the
        limit holds for rules that keep it, too.
    aware : bool, default=False
        Whether the rules may see the group.
    confidence : float, default=0.95
        Of the upper limits.
    requirements : iterable of Requirement or str, optional
        What the rules keep besides, such as ``"selection rate <= 0.3"`` (see `solve`).
    objective : Objective or str, default="accuracy"
        What is bounded: ``"accuracy"``, ``"balanced accuracy"``, or minus the expected cost, such as ``"costs 1:5"``.
    resolution : mapping of str to float, or "auto", optional
        Steps in which the rules see numeric features, such as ``{"age": 5}``: more people are then alike, and the limit
        is that of rules that see no more than the steps. "auto" proposes the coarsest at which the best rule found
        loses nothing beyond noise. By default rules see features as they are.
    random_state : int, default=0
        Seed of who is set apart, of folds and of learners.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read `data` that is a path, an Arrow dataset or a Dask DataFrame: see `estimate_outcome`.

    Returns
    -------
    Ceiling
        ``value`` is an estimate of the bound, ``upper`` what no rule passes, with the stated confidence; ``on_twins``
        has both for people with a twin, and ``twins`` is their share.

    Raises
    ------
    InfeasibleError
        If no rule keeps all of it.

    Examples
    --------
    >>> import fairlimits as fl
    >>> people = fl.load_dataset("adult").take(range(3000))
    >>> top = fl.ceiling(people, {"DP": 0.05}, resolution={"age": 10, "hours-per-week": 20})
    >>> bool(top.value <= top.upper <= 1.0)
    True
    """
    if not columns and not isinstance(data, Dataset | Stream):
        raise InputError(
            f"The people are given as {type(data).__name__}; give a Dataset, such as Dataset.from_frame makes, or say "
            "which columns of files, or of a Dask DataFrame, are the label and sensitive."
        )
    return Study.of(open_rows(data, **columns), resolution, random_state, progress).ceiling(
        tolerances, aware=aware, confidence=confidence, requirements=requirements, objective=objective
    )


@dataclass(frozen=True, eq=False)
class Study:
    """People prepared for ceilings, whatever is asked: kinds are made, and models are learned, once.

    Parameters
    ----------
    twins : PeopleByKind
        The people by kind, and what was learned.
    resolution : mapping of str to float
        Steps in which rules see features; empty if they see them as they are.
    proposal : Proposal or None
        What the steps cost, if they were proposed.
    """

    twins: PeopleByKind
    resolution: Mapping[str, float]
    proposal: Proposal | None

    @classmethod
    def of(
        cls,
        data: Dataset | Stream,
        resolution: Mapping[str, float] | Literal["auto"] | None = None,
        random_state: int = 0,
        progress: Progress | None = None,
        *,
        enough_twins: float | None = None,
    ) -> Study:
        """Prepare people (see `ceiling`); where enough of them have a twin, no steps are proposed."""
        random_state, tell = check_seed(random_state), or_silent(progress)
        if isinstance(resolution, str) and resolution != AUTO:
            raise InputError(f"The resolution is {resolution!r}; give steps such as {{'age': 5}}, or 'auto'.")
        if isinstance(data, Stream):
            return cls._of_stream(data, resolution, random_state, enough_twins, tell)
        if not isinstance(data, Dataset):
            raise InputError(
                f"The people are given as {type(data).__name__}; give a Dataset, such as Dataset.from_frame makes."
            )
        if data.weight is not None:
            data = data.take(data.weight > 0)
        apart = set_apart(data, random_state)
        proposal: Proposal | None = None
        steps: Resolution = {}
        if resolution == AUTO:
            kind = feature_kinds(data)
            if _is_worth_steps(data.schema, float(data.shares @ (np.bincount(kind)[kind] > 1)), enough_twins):
                tell(0.0, "looking for steps of features")
                proposal = propose_steps(data.take(apart), random_state)
                steps = proposal.steps
        elif resolution is not None:
            steps = check_resolution(data.schema, resolution)
        return cls(Twins.of(coarsen(data, steps), apart, random_state, progress), steps, proposal)

    @classmethod
    def _of_stream(
        cls, data: Stream, resolution: Any, random_state: int, enough_twins: float | None, tell: Progress
    ) -> Study:
        """Prepare people whose rows are read part by part."""
        steps: Resolution | None = {}
        if resolution == AUTO:
            steps = None
        elif resolution is not None:
            steps = check_resolution(data.learn().schema, resolution)
        counted = Counted.of(data, random_state, lambda done, words: tell(0.3 * done, words))
        if steps is None and not _is_worth_steps(counted.learned.schema, counted.share_of_twins, enough_twins):
            steps = {}
        learnt = counted.learn(steps, lambda done, words: tell(0.3 + 0.5 * done, words))
        people = StreamedTwins.of(counted, learnt, lambda done, words: tell(0.8 + 0.2 * done, words))
        return cls(people, learnt.steps, learnt.proposal)

    def ceiling(
        self,
        tolerances: Mapping[str, Any],
        *,
        aware: bool = False,
        confidence: float = 0.95,
        requirements: Iterable[Requirement | str] = (),
        objective: Objective | str = ACCURACY,
    ) -> Ceiling:
        """Find a ceiling (see `ceiling`)."""
        check_confidence(confidence)
        kept, goal = read_requirements(requirements), read_objective(objective)
        if not isinstance(tolerances, Mapping):
            raise InputError(f"The tolerances are {tolerances!r}; give a dict such as {{'DP': 0.05}}.")
        given = dict(zip(check_names(tolerances), tolerances.values(), strict=True))
        left_out = tuple(name for name in given if name == INDIVIDUAL)
        asked = {name: own for name, own in given.items() if name != INDIVIDUAL}
        grid = tolerance_grid(tuple(asked), asked)
        points = _points(grid)
        groups = self.twins.groups
        warn_of_nothing_to_compare(asked, groups, self.twins.counts)
        people = self.twins.seen(aware)
        question = Question(tuple(asked), kept, goal, groups, people.rows)
        curve, twins_curve = find_curve(question, people, points, confidence), None
        if people.on_twins is not None:
            own = people.on_twins
            among = Question(tuple(asked), kept, goal, groups, own.rows)
            twins_curve = find_curve(among, own, points, confidence, given_kinds=True)
        return Ceiling(
            curve,
            twins_curve,
            grid,
            all(np.ndim(own) == 0 for own in asked.values()),
            bool(aware),
            float(confidence),
            self.twins.share(aware),
            self.twins.n_rows,
            self.twins.kinds(aware),
            kept,
            goal,
            self.resolution,
            self.proposal,
            left_out,
            self.twins.frame_kind,
        )


def _is_worth_steps(schema: Schema, twins: float, enough: float | None) -> bool:
    """Whether steps of features are to be proposed."""
    if enough is None:
        return True
    return twins < enough and any(own.kind == "numeric" for own in schema.features)


def _points(grid: Mapping[str, Floats]) -> list[dict[str, float]]:
    """Tolerances of each point; one point where nothing is asked."""
    if not grid:
        return [{}]
    return [dict(zip(grid, point, strict=True)) for point in zip(*(v.tolist() for v in grid.values()), strict=True)]
