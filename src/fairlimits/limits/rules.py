"""`Rule`: a decision rule with everything it attains, on the law that it was solved on."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util import plain
from fairlimits._util.archives import check_members, nest, read_archive, reading, unnest, write_archive
from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, colour_of, figure_style
from fairlimits._util.states import Checked, check_items, check_kinds
from fairlimits._util.types import Floats
from fairlimits.data import DrawBy
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution, Neighbourhood
from fairlimits.limits.attained import (
    by_group,
    constraints_in_words,
    individual_gap,
    plug_in_accuracy,
    shadow_prices,
)
from fairlimits.limits.cards import ModelCard, rule_card
from fairlimits.limits.deciding import decide
from fairlimits.limits.determinism import Determinism
from fairlimits.limits.drawing import Draws, draw
from fairlimits.limits.explanations import Explanation, explain
from fairlimits.limits.exporting import export
from fairlimits.limits.guarantees import Guarantee
from fairlimits.limits.person_explanations import Explanations, explain_people
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.programs import FairProgram
from fairlimits.notions import (
    ACCURACY,
    INDIVIDUAL,
    NOTIONS,
    Objective,
    Requirement,
    check_tolerances,
    group_gaps,
    pack_objective,
    pack_requirement,
    unpack_objective,
    unpack_requirements,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KIND = "rule"

# How far a stored accuracy may be from that of the stored scores: solvers work to about this precision.
_PRECISION = 1e-6

# Scores nearer to each other than this are the same.
_SAME = 1e-9


class OnLabels(NamedTuple):
    """Accuracy and gaps of a rule on the labels of the rows of an estimate, each row placed out of fold."""

    accuracy: float
    gaps: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Numbers that can be written as JSON."""
        return {"accuracy": self.accuracy, "gaps": plain.without_nan(self.gaps)}

    @classmethod
    def from_dict(cls, record: Any) -> OnLabels | None:
        """Read what `to_dict` gave."""
        if record is None:
            return None
        what = "What the file says of labels"
        return cls(plain.number(record, "accuracy", what), plain.with_nan(record, "gaps", what))


def read_prices(record: Any) -> dict[str, float] | None:
    """Read shadow prices that were saved, if there are any."""
    return None if record is None else plain.with_nan({"prices": record}, "prices", "What the file says of prices")


@dataclass(frozen=True, eq=False, repr=False)
class Rule(Checked, Shown):
    """The best decision rule under some tolerances and requirements.

    Parameters
    ----------
    policy : CellPolicy
        How a person is decided.
    tolerances : mapping of str to float
        The tolerances that were asked for.
    accuracy : float
        Probability that the decision equals the label, on the law (plug-in).
    bayes_accuracy : float
        The same for the most accurate rule without any constraint.
    optimality_gap : float
        What is left between the value and its proven upper bound.
    requirements : tuple of Requirement
        What the rule keeps besides.
    objective : Objective
        What the rule is best at: accuracy, if nothing else was asked for.
    neighbours : Neighbourhood
        What individual fairness compares.
    on_labels : OnLabels, optional
        For a rule on an estimate, accuracy and gaps on labels, out of fold.
    guarantee : Guarantee, optional
        For a rule with a confidence, what is known about its gaps among people whom nobody has seen. It was found on
        labels, which may put gaps elsewhere than the law does; and it is not the best rule on the law.
    prices : mapping of str to float, optional
        The shadow prices, where they do not follow from the law and what was asked.
    determinism : Determinism, optional
        For a rule without coins, the best rule with them beside it, and what doing without costs at most.
    made : str
        The day on which the rule was made, such as 2026-01-31.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> rule = fl.solve(dist, {"DP": 0.1})
    >>> rule.scores.round(2).tolist()  # the chance of a yes in each cell
    [0.4, 0.57]
    >>> {name: round(gap, 3) for name, gap in rule.gaps.items() if name in ("DP", "EOd")}
    {'DP': 0.1, 'EOd': 0.114}
    >>> round(rule.shadow_prices["DP"], 3)
    0.343
    """

    policy: CellPolicy
    tolerances: Mapping[str, float]
    accuracy: float
    bayes_accuracy: float
    optimality_gap: float = 0.0
    requirements: tuple[Requirement, ...] = ()
    objective: Objective = ACCURACY
    neighbours: Neighbourhood = field(default_factory=Neighbourhood)
    on_labels: OnLabels | None = None
    guarantee: Guarantee | None = None
    prices: Mapping[str, float] | None = None
    determinism: Determinism | None = None
    made: str = field(default_factory=lambda: date.today().isoformat())

    @property
    def aware(self) -> bool:
        """Whether the rule sees the group."""
        return self.policy.aware

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' names."""
        return self.policy.groups

    @property
    def distribution(self) -> CellDistribution:
        """The cells that the rule was solved on."""
        return self.policy.law

    @property
    def scores(self) -> Floats:
        """Probability of deciding 1 in each cell, (N,); for each group too, (N, G), if the rule is aware."""
        return self.policy.scores

    @property
    def group_scores(self) -> Floats:
        """Scores of shape (N, G), whether the rule is aware or not."""
        return by_group(self.scores, self.aware, self.distribution.n_groups)

    @cached_property
    def is_constant(self) -> bool:
        """Whether everybody gets the same score, so that decisions do not depend on the person."""
        filled = self.distribution.mass.sum(axis=2) > 0
        return bool(np.ptp(self.group_scores[filled]) <= _SAME)

    @property
    def value(self) -> float:
        """What was maximised: accuracy, balanced accuracy or minus the expected cost."""
        if self.objective == ACCURACY:
            return self.accuracy
        return float(self.objective.value(self.distribution.rates, self.group_scores))

    @property
    def price(self) -> float:
        """Accuracy lost against the best rule without constraints."""
        return self.bayes_accuracy - self.accuracy

    @cached_property
    def attained(self) -> dict[str, float]:
        """Value of what each requirement is about, by the requirement's text."""
        return {
            str(requirement): requirement.value(self.distribution.rates, self.group_scores)
            for requirement in self.requirements
        }

    @cached_property
    def gaps(self) -> Mapping[str, float]:
        """Attained gap of every notion, constrained or not, on the law that the rule was solved on (plug-in).

        EOd is the larger of its two. IF is the largest difference between neighbours, weighted by nearness.
        NaN stands for a gap that cannot be computed: fewer than two groups with a rate, no distances, or
        cells by the ten thousand without a sparse neighbour graph.
        """
        gaps = {name: float(gap) for name, gap in group_gaps(self.distribution.rates, self.group_scores).items()}
        return gaps | {INDIVIDUAL: individual_gap(self.distribution, self.scores, self.aware, self.neighbours)}

    @cached_property
    def shadow_prices(self) -> Mapping[str, float]:
        """For each tolerance, how fast the value would rise with that tolerance alone (the right derivative).

        Of a rule without coins they are those of the best rule with coins.
        """
        if self.prices is not None:
            return self.prices
        program = FairProgram(
            self.distribution, tuple(self.tolerances), self.aware, self.neighbours, self.requirements, self.objective
        )
        return shadow_prices(program, self.tolerances)

    def decide(self, rows: Any) -> Any:
        """Probability of deciding 1 for each of some rows; labels are not looked at. Safe in several threads at once.

        Parameters
        ----------
        rows : Dataset; pandas or polars frame; Arrow table, record batch or reader; or Dask frame
            The people. They need the features, and for a rule that sees the group the sensitive columns.

        Returns
        -------
        ndarray of shape (n,)
            For a Dask frame a Dask series with its index, computed part by part when it is asked for.
        """
        return decide(self, rows)

    def draw(self, rows: Any, *, draw_by: DrawBy = "row", random_state: int = 0) -> Draws:
        """Decide each of some rows 1 or 0, by lot where the rule does; the same rows get the same decisions again.

        Parameters
        ----------
        rows : pandas or polars frame, Arrow table or record batch
            The people, as in `decide`.
        draw_by : {"row", "content"}, default="row"
            Whether people who are alike in all features have draws of their own, or one in common.
        random_state : int, default=0
            Seed of the draws.

        Returns
        -------
        Draws
            The decisions, and in ``summary()`` what chance does to the gaps of these people.
        """
        return draw(self, rows, draw_by, random_state)

    @overload
    def explain(self, rows: None = None) -> Explanation: ...

    @overload
    def explain(self, rows: Any) -> Explanations: ...

    def explain(self, rows: Any = None) -> Explanation | Explanations:
        """Say in words, in a table and in a picture what the rule does, or why it decides people as it does.

        Parameters
        ----------
        rows : Dataset, or any table that `decide` takes, optional
            People to explain the decisions of; by default the rule itself is explained.

        Returns
        -------
        Explanation or Explanations
        """
        return explain(self) if rows is None else explain_people(self, rows)

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of: the one whose frame the people came in."""
        return self.distribution.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Tolerance, shadow price and attained gap of every notion, a row each."""
        names = list(self.gaps)
        return pa.table(
            {
                "notion": names,
                "tolerance": pa.array([self.tolerances.get(name) for name in names], pa.float64()),
                "gap": pa.array([self.gaps[name] for name in names], pa.float64()),
                "shadow price": pa.array([self.shadow_prices.get(name) for name in names], pa.float64()),
            }
        )

    def summary(self) -> str:
        """Say what was asked and what was found, in a sentence or two."""
        sees = "that sees the group" if self.aware else "that does not see the group"
        asked = constraints_in_words(self.tolerances, self.requirements)
        held = ", ".join(
            f"{name} {self.gaps[name]:.4f}" for name in self.tolerances if not math.isnan(self.gaps.get(name, math.nan))
        )
        goal = "" if self.objective == ACCURACY else f" and {self.objective.in_words(self.value)}"
        text = (
            f"With {asked or 'no constraint'}, the best rule {sees} has accuracy {self.accuracy:.4f}"
            f"{goal} (plug-in); without any constraint it is {self.bayes_accuracy:.4f}."
        )
        if self.is_constant:
            text += " Everybody gets the same score."
        text += f" Gaps: {held}." if held else ""
        text += "" if self.determinism is None else f" {self.determinism.summary()}"
        return text if self.guarantee is None else f"{text} {self.guarantee.summary()}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the attained gap of every notion beside its tolerance."""
        with figure_style():
            ax = axes_or_new(ax)
            names = [name for name, gap in self.gaps.items() if not math.isnan(gap)]
            ax.barh(names, [self.gaps[name] for name in names], color=[colour_of(name) for name in names])
            for at, name in enumerate(names):
                if math.isfinite(self.tolerances.get(name, math.inf)):
                    ax.plot([self.tolerances[name]] * 2, [at - 0.45, at + 0.45], color="black")
            ax.invert_yaxis()
            ax.set_xlabel("gap; a black line is the tolerance")
        return ax

    def card(self, *, since: str | date | None = None) -> ModelCard:
        """Return the rule's model card: what it may see and keeps, at which confidence, on whom and since when.

        Parameters
        ----------
        since : str or date, optional
            The day from which it holds; by default the day on which the rule was made.
        """
        return rule_card(self, since)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the rule as one Python file that runs wherever numpy is, without this package.

        The file has a function ``decide(columns)``, and as a program reads a .csv file and writes the scores. It gives
        the scores of `decide`. Classifiers of your own cannot be exported.

        Parameters
        ----------
        path : path
            The file, such as ``rule.py``.
        """
        export(self, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a rule on cells, and its distribution, to one file (``.npz``, without pickle)."""
        inner, arrays = self.distribution._pack()
        header = {
            "distribution": inner,
            "tolerances": dict(self.tolerances),
            "aware": self.aware,
            "neighbours": self.neighbours.to_dict(),
            "accuracy": self.accuracy,
            "bayes_accuracy": self.bayes_accuracy,
            "optimality_gap": self.optimality_gap,
            "requirements": [pack_requirement(requirement) for requirement in self.requirements],
            "objective": pack_objective(self.objective),
            "on_labels": None if self.on_labels is None else self.on_labels.to_dict(),
            "prices": None if self.prices is None else plain.without_nan(self.prices),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "determinism": None if self.determinism is None else self.determinism.to_dict(),
            "made": self.made,
        }
        write_archive(path, _KIND, header, {"scores": self.scores} | nest("distribution", arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Rule:
        """Read what `save` wrote."""
        return cls._unpack(*read_archive(path, _KIND))

    @classmethod
    def _unpack(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Rule:
        with reading("rule"):
            inner = unnest("distribution", arrays)
            dist = CellDistribution._unpack(header["distribution"], inner)
            check_members(arrays, {"scores"} | nest("distribution", inner).keys(), "rule")
            found = cls(
                policy=CellPolicy(
                    dist, np.asarray(arrays["scores"], dtype=np.float64), plain.field(header, "aware", bool, "The file")
                ),
                tolerances=check_tolerances(header["tolerances"]),
                accuracy=float(header["accuracy"]),
                bayes_accuracy=float(header["bayes_accuracy"]),
                optimality_gap=float(header["optimality_gap"]),
                requirements=unpack_requirements(header),
                objective=unpack_objective(header["objective"]),
                on_labels=OnLabels.from_dict(header["on_labels"]),
                prices=read_prices(header["prices"]),
                neighbours=Neighbourhood(**header["neighbours"]),
                guarantee=Guarantee.from_dict(header["guarantee"]),
                determinism=Determinism.from_dict(header["determinism"]),
                made=date.fromisoformat(header["made"]).isoformat(),
            )
            found._check()
            return found

    def _check(self) -> None:
        """Refuse figures that are not those of the scores."""
        self._check_kinds()
        self.policy._check()
        mass = self.distribution.mass
        decided = mass if self.aware else mass.sum(axis=1)
        best = float(np.maximum(decided[..., 0], decided[..., 1]).sum())
        plug_in = plug_in_accuracy(self.distribution, self.scores, self.aware)
        for what, said, is_ in (("accuracy", self.accuracy, plug_in), ("best accuracy", self.bayes_accuracy, best)):
            if not abs(said - is_) <= _PRECISION:
                raise InputError(f"its {what} is {said:g}, and that of its scores {is_:g}")
        if not -_PRECISION <= self.optimality_gap < math.inf:
            raise InputError(f"its optimality gap is {self.optimality_gap:g}")
        if self.guarantee is not None:
            self.guarantee.check(self.tolerances)

    def _check_kinds(self) -> None:
        """Refuse what cannot be part of a rule."""
        none = type(None)
        numbers = dict.fromkeys(("accuracy", "bayes_accuracy", "optimality_gap"), (int, float))
        check_kinds(self, policy=CellPolicy, objective=Objective, neighbours=Neighbourhood, made=str, **numbers)
        check_kinds(self, on_labels=(OnLabels, none), prices=(Mapping, none))
        check_kinds(self, guarantee=(Guarantee, none), determinism=(Determinism, none))
        check_items(self, requirements=Requirement)
        for requirement in self.requirements:
            requirement.check(self.groups)
        check_tolerances(self.tolerances)
        date.fromisoformat(self.made)
        on_labels: dict[str, float] = {}
        if self.on_labels is not None:
            on_labels = {"accuracy": self.on_labels.accuracy} | dict(self.on_labels.gaps)
        named = (self.prices or {}, self.tolerances), (on_labels, ("accuracy", *NOTIONS))
        if any(not set(figures) <= set(known) for figures, known in named):
            raise InputError("it has figures of notions that are not there")
        for figures, most in ((dict(self.prices or {}), math.inf), (on_labels, 1 + _PRECISION)):
            for name, figure in figures.items():
                if not isinstance(figure, float) or not (math.isnan(figure) or -_PRECISION <= figure <= most):
                    raise InputError(f"its {name} is {figure!r}")

    def __repr__(self) -> str:
        asked = [*(f"{name} <= {value:g}" for name, value in self.tolerances.items()), *map(str, self.requirements)]
        sees = "aware" if self.aware else "unaware"
        goal = "" if self.objective == ACCURACY else f"{self.objective.in_words(self.value)}; "
        figures = f"{goal}accuracy {self.accuracy:.4f}, best without {self.bayes_accuracy:.4f}"
        alike = "; the same score for everybody" if self.is_constant else ""
        return f"Rule({', '.join(asked) or 'no constraint'}; {sees}; {figures}{alike})"
