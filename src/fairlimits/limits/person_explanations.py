"""`Explanations`: why a rule decides people as it does: score, margin, effect of constraints, main features.

People are decided by their cell, so the margin is that of the people in it, and what constraints change is found by
solving without them and looking the cell up again.

A feature moves a person by the mean change of the margin if the feature were somebody else's: it is replaced by its
distribution in the law, one feature at a time, and the mean margin is subtracted from the person's. Interactions of
features are not told apart. The law keeps no people, so a number is drawn from the means of its cells, and a category
from the cells' shares of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import axes_or_new, figure_style, plain_text
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Feature, value_text
from fairlimits.errors import InputError
from fairlimits.law import CellDistribution
from fairlimits.limits.counterfactuals import constraints_that_count, scores_without
from fairlimits.limits.deciding import Rows, read_rows
from fairlimits.limits.policies import CellPolicy
from fairlimits.limits.weights import Weights, weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairlimits.limits.rules import Rule

# People explained at a time, values that a feature is replaced by, and features that a sentence names.
_MOST_PEOPLE, _MOST_VALUES, _NAMED = 10_000, 16, 3

# Margins nearer to 0 are ties; moves that a sentence would round to 0 are left out.
_TIE, _TOLD = 1e-6, 5e-4

_YES, _NO = "#009E73", "#D55E00"


@dataclass(frozen=True)
class PersonExplanation:
    """Why one person is decided as they are.

    Parameters
    ----------
    score : float
        Probability of being decided 1.
    chance : float
        P(Y = 1 | x), in the person's own group if the rule sees it.
    margin : float
        How much the people of the cell weigh in favour of a yes with all constraints; below 0 for a no.
    without : float
        Probability of being decided 1 without any constraint.
    lacking : tuple of (str, float)
        The same without one constraint, for each that counts.
    added : tuple of (str, float)
        What each constraint adds to the margin, or takes from it.
    moved : tuple of (str, str, float)
        Features with the person's values and what they move the margin by, the largest first.
    """

    score: float
    chance: float
    margin: float
    without: float
    lacking: tuple[tuple[str, float], ...]
    added: tuple[tuple[str, float], ...]
    moved: tuple[tuple[str, str, float], ...]

    @property
    def change(self) -> str:
        """What the constraints change, alone or else together; empty if nothing that the words show."""
        told: dict[str, list[str]] = {}
        for name, score in self.lacking:
            if _decision(score) != self.decision:
                told.setdefault(_decision(score), []).append(name)
        if not told and _decision(self.without) != self.decision:
            told[_decision(self.without)] = ["the constraints"]
        return " and ".join(f"would be {word} without {' or without '.join(names)}" for word, names in told.items())

    @property
    def decision(self) -> str:
        """The decision in a word or two."""
        return _decision(self.score)

    def summary(self) -> str:
        """Return the explanation in two sentences."""
        change = f"; {self.change}" if self.change else ""
        if abs(self.margin) > _TIE and self.score == float(self.margin < 0):
            # The margin does not contain the effects of a guarantee, of individual fairness, or of doing without coins.
            change += "; the margin alone would decide otherwise"
        shown = [own for own in self.moved[:_NAMED] if abs(own[2]) >= _TOLD]
        told = ", ".join(f"{name} = {value} ({own:+.3f})" for name, value, own in shown)
        return (
            f"{self.decision.capitalize()}{change}. Chance of label 1 {self.chance:.3f}, margin {self.margin:+.3f}; "
            f"{f'moved most by {told}' if told else 'no feature moves it'}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Shown):
    """Why people are decided as they are.

    Parameters
    ----------
    people : tuple of PersonExplanation
        One for each, in the order of the rows.
    frame_kind : str
        Library that `to_frame` makes a frame of.
    """

    people: tuple[PersonExplanation, ...]
    frame_kind: str

    def __len__(self) -> int:
        return len(self.people)

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return a row per person: score, margin, decision without constraints, and the features that moved it most."""
        return pa.Table.from_pylist(
            [
                {
                    "score": own.score,
                    "chance of label 1": own.chance,
                    "margin": own.margin,
                    "without constraints": _decision(own.without),
                    "change": own.change,
                    **{f"{name} adds": value for name, value in own.added},
                    "moved most by": ", ".join(f"{name} = {value} ({by:+.3f})" for name, value, by in own.moved[:3]),
                }
                for own in self.people
            ]
        )

    def summary(self) -> str:
        """Return two sentences for each person; for many people, how many decisions change and how."""
        if len(self.people) <= 5:
            return "\n".join(own.summary() for own in self.people)
        up = sum(own.score > 0 and own.without == 0 for own in self.people)
        down = sum(own.score < 1 and own.without == 1 for own in self.people)
        return (
            f"{len(self.people):,} people: {up:,} are decided yes, or may be, who would be no without the constraints, "
            f"and {down:,} are decided no, or may be, who would be yes."
        )

    def plot(self, ax: Axes | None = None, person: int = 0) -> Axes:
        """Draw what moved one person.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        person : int, default=0
            Position of the person.
        """
        own = self.people[person]
        shown = own.moved[:8]
        with figure_style():
            ax = axes_or_new(ax, (6.4, 1.3 + 0.35 * len(shown)))
            colours = [_YES if by > 0 else _NO for _, _, by in shown]
            ax.barh(range(len(shown)), [by for _, _, by in shown], color=colours)
            ax.set_yticks(range(len(shown)), [plain_text(f"{name} = {value}") for name, value, _ in shown])
            ax.axvline(0, color="black", linewidth=1)
            ax.invert_yaxis()
            ax.set_xlabel("moves the margin towards yes (right) or no (left)")
            ax.set_title(plain_text(f"{own.decision}, margin {own.margin:+.3f}"))
        return ax

    def __repr__(self) -> str:
        return f"Explanations({len(self.people)} people)"


def explain_people(rule: Rule, rows: Any) -> Explanations:
    """Explain how a rule decides people (see `Rule.explain`)."""
    people = read_rows(rule.policy, rows, rule.aware)
    if people.n_rows > _MOST_PEOPLE:
        raise InputError(f"There are {people.n_rows:,} people to explain; give {_MOST_PEOPLE:,} at most at a time.")
    law, weights, group = rule.distribution, weights_of(rule), people.group
    assert law.schema is not None
    q = _q(law, people)
    cell = rule.policy.locate(people.columns, group, None if law.places is None else q)
    margin, added = _margins(law, weights, cell, group)
    lacking = {
        name: _scores_of(rule, scores_without(rule, name), cell, group)
        for name in constraints_that_count(rule, weights)
    }
    without = _scores_of(rule, scores_without(rule), cell, group)
    scores = _scores_of(rule, rule.scores, cell, group)
    own = q.sum(axis=1) if group is None else q[np.arange(len(q)), group]
    chance = own[:, 1] / own.sum(axis=1)
    moved = _moved(law, weights, people, q)
    found = []
    for at in range(people.n_rows):
        order = sorted(moved, key=lambda name: -abs(moved[name][1][at]))
        found.append(
            PersonExplanation(
                float(scores[at]),
                float(chance[at]),
                float(margin[at]),
                float(without[at]),
                tuple((name, float(each[at])) for name, each in lacking.items()),
                tuple((name, float(each[at])) for name, each in added.items()),
                tuple((name, moved[name][0][at], float(moved[name][1][at])) for name in order),
            )
        )
    return Explanations(tuple(found), law.frame_kind)


def _scores_of(rule: Rule, scores: Floats, cell: Ints, group: Ints | None) -> Floats:
    return CellPolicy(rule.distribution, scores, rule.aware).scores_at(cell, group)


def _margins(
    law: CellDistribution, weights: Weights, cell: Ints, group: Ints | None
) -> tuple[Floats, dict[str, Floats]]:
    """Return the margins of the people of some cells, and what each constraint adds to them."""
    q = _q_of_cells(law, cell)
    return weights.margins(q, group), {name: weights.margins(q, group, own) for name, own in weights.added.items()}


def _q(law: CellDistribution, people: Rows) -> Floats:
    """Return P(A, Y | x) of people: their estimate, or that of their cell."""
    if law.places is not None:
        return law.places.q_of(people.columns, people.n_rows)
    return _q_of_cells(law, law.cells_of(people.columns))


def _q_of_cells(law: CellDistribution, cell: Ints) -> Floats:
    """Return P(A, Y | cell); 0 for a cell without mass."""
    mass = law.mass[cell]
    total = mass.sum(axis=(1, 2), keepdims=True)
    return np.asarray(mass / np.where(total > 0, total, 1.0))


def _moved(law: CellDistribution, weights: Weights, people: Rows, q: Floats) -> dict[str, tuple[list[str], Floats]]:
    """Return for each feature the people's values, and by how much it moves their margins."""
    assert law.schema is not None
    margin, found = weights.margins(q, people.group), {}
    for feature in law.schema.features:
        values, share = _distribution(law, feature)
        column, times = people.columns[feature.name], len(values)
        # Each person as often as there are values, all in one call.
        others = {name: np.repeat(own, times) for name, own in people.columns.items()}
        others[feature.name] = np.tile(values, people.n_rows).astype(column.dtype)
        group = None if people.group is None else np.repeat(people.group, times)
        replaced = weights.margins(_q(law, Rows(others, times * people.n_rows, group)), group)
        found[feature.name] = _values(feature, column), margin - replaced.reshape(-1, times) @ share
    return found


def _distribution(law: CellDistribution, feature: Feature) -> tuple[Floats | Ints, Floats]:
    """Return values of a feature, coded as in `Dataset.columns`, and their shares in the law."""
    if law.centroids is None or law.encoding is None:
        raise InputError("The cells are bare numbers, without features to explain by; make them with discretize.")
    share = law.mass.sum(axis=(1, 2))
    place = next(own for own in law.encoding.features if own.name == feature.name and own.kind != "missing")
    block = law.centroids[:, place.start : place.stop].astype(np.float64)
    if feature.kind == "categorical":
        amount = np.maximum(share @ block, 0.0)
        most = np.argsort(-amount, kind="stable")[:_MOST_VALUES]
        most = most[amount[most] > 0]
        return most.astype(np.int32), amount[most] / amount[most].sum()
    numbers = place.center + place.scale * block[:, 0]
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(share[order]) - share[order] / 2
    at = np.searchsorted(reached, (np.arange(_MOST_VALUES) + 0.5) / _MOST_VALUES * share.sum())
    values = numbers[order[np.minimum(at, len(order) - 1)]]
    return values, np.full(_MOST_VALUES, 1 / _MOST_VALUES)


def _values(feature: Feature, column: Any) -> list[str]:
    if feature.kind == "numeric":
        return [value_text(None) if np.isnan(own) else f"{own:g}" for own in column.tolist()]
    # A category that is not known has the code -1.
    return [value_text(feature.categories[own] if own >= 0 else None) for own in column.tolist()]


def _decision(score: float) -> str:
    return {0.0: "no", 1.0: "yes"}.get(score, f"yes with probability {score:.2f}")
