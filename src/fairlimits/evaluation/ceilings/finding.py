"""`ceiling`: from a table and tolerances to what no rule passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, check_seed
from fairlimits.errors import InputError
from fairlimits.evaluation.ceilings.curves import find_curve
from fairlimits.evaluation.ceilings.kinds import check_resolution, coarsen
from fairlimits.evaluation.ceilings.questions import Question
from fairlimits.evaluation.ceilings.resolutions import Proposal, propose_steps
from fairlimits.evaluation.ceilings.results import Ceiling
from fairlimits.evaluation.ceilings.twins import Twins, set_apart
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
    data: Dataset,
    tolerances: Mapping[str, Any],
    *,
    aware: bool = False,
    confidence: float = 0.95,
    requirements: Iterable[Requirement | str] = (),
    objective: Objective | str = ACCURACY,
    resolution: Mapping[str, float] | Literal["auto"] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Ceiling:
    """Bound from above what any rule can attain whose fairness gaps stay within tolerances.

    Nothing is assumed about the law but that people are drawn independently of each other. What is used are twins:
    people who are alike in all that a rule sees, and differ in label or group all the same, so that no rule can be
    right about all of them. Of people without a twin everything is taken to be known.

    Parameters
    ----------
    data : Dataset
        The people.
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
    return Study.of(data, resolution, random_state, progress).ceiling(
        tolerances, aware=aware, confidence=confidence, requirements=requirements, objective=objective
    )


@dataclass(frozen=True, eq=False)
class Study:
    """People prepared for ceilings, whatever is asked: kinds are made, and models are learned, once.

    Parameters
    ----------
    twins : Twins
        The people by kind, and what was learned.
    resolution : mapping of str to float
        Steps in which rules see features; empty if they see them as they are.
    proposal : Proposal or None
        What the steps cost, if they were proposed.
    """

    twins: Twins
    resolution: Mapping[str, float]
    proposal: Proposal | None

    @classmethod
    def of(
        cls,
        data: Dataset,
        resolution: Mapping[str, float] | Literal["auto"] | None = None,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> Study:
        """Prepare people (see `ceiling`)."""
        if not isinstance(data, Dataset):
            raise InputError(
                f"The people are a {type(data).__name__}; give a Dataset, such as Dataset.from_frame makes."
            )
        random_state = check_seed(random_state)
        if data.weight is not None:
            data = data.take(data.weight > 0)
        apart = set_apart(data, random_state)
        proposal = None
        if isinstance(resolution, str):
            if resolution != AUTO:
                raise InputError(f"The resolution is {resolution!r}; give steps such as {{'age': 5}}, or 'auto'.")
            or_silent(progress)(0.0, "looking for steps of features")
            proposal = propose_steps(data.take(apart), random_state)
        steps = check_resolution(data, {} if resolution is None else resolution) if proposal is None else proposal.steps
        return cls(Twins.of(coarsen(data, steps), apart, random_state, progress), steps, proposal)

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
        data = self.twins.data
        warn_of_nothing_to_compare(asked, data.groups, data.counts, stacklevel=4)
        people = self.twins.seen(aware)
        question = Question(tuple(asked), kept, goal, data.groups, people.rows)
        curve, twins_curve = find_curve(question, people, points, confidence), None
        if people.on_twins is not None:
            own = people.on_twins
            among = Question(tuple(asked), kept, goal, data.groups, own.rows)
            twins_curve = find_curve(among, own, points, confidence, given_kinds=True)
        return Ceiling(
            curve,
            twins_curve,
            grid,
            all(np.ndim(own) == 0 for own in asked.values()),
            bool(aware),
            float(confidence),
            self.twins.share(aware),
            data.n_rows,
            self.twins.kinds(aware),
            kept,
            goal,
            self.resolution,
            self.proposal,
            left_out,
            data.frame_kind,
        )


def _points(grid: Mapping[str, Floats]) -> list[dict[str, float]]:
    """Tolerances of each point; one point where nothing is asked."""
    if not grid:
        return [{}]
    return [dict(zip(grid, point, strict=True)) for point in zip(*(v.tolist() for v in grid.values()), strict=True)]
