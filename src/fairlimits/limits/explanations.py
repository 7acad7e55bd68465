"""`Explanation`: a rule in words, in a short table, and in a picture of who is decided differently by it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairlimits._util.frames import of_user_kind
from fairlimits._util.names import in_a_sentence
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import GRID, INK, axes_or_new, figure_style, plain_text
from fairlimits._util.types import Floats
from fairlimits.limits.counterfactuals import scores_without
from fairlimits.limits.thresholds import Thresholds, thresholds_of
from fairlimits.limits.weights import Weights, weights_of
from fairlimits.notions import INDIVIDUAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairlimits.limits.rules import Rule

# Entries of the table about lots where there are none.
_NO_LOT = dict.fromkeys(("odds from", "odds to", "even at"), math.nan)

# Weights that a sentence would round to 0 are left out.
_TOLD = 5e-4

# Colours of who stays and who changes, and shares from which on a bar has room for its figure.
_KINDS = {"stay yes": "#56B4E9", "become yes": "#009E73", "become no": "#D55E00", "stay no": GRID}
_ROOM = 0.04


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """What a rule does, and to whom.

    Parameters
    ----------
    rule : Rule
        The rule.
    weights : Weights
        How much people weigh in favour of deciding 1, and what each constraint adds or takes away.
    """

    rule: Rule
    weights: Weights

    @cached_property
    def free(self) -> Floats:
        """Scores of cells and groups, (N, G), of the best rule without any constraint."""
        rule = self.rule
        scores = scores_without(rule)
        return scores if rule.aware else np.broadcast_to(scores[:, None], rule.group_scores.shape)

    @cached_property
    def changed(self) -> dict[str, Floats]:
        """Shares of each group by decision with and without the constraints, and by lot, each of shape (G,)."""
        people = self.rule.distribution.mass.sum(axis=2)
        share = people / np.where(people.sum(axis=0) > 0, people.sum(axis=0), 1.0)
        scores, free = self.rule.group_scores, self.free
        tossed = (scores > 0) & (scores < 1)
        return {
            "stay yes": (share * np.minimum(scores, free)).sum(axis=0),
            "become yes": (share * np.maximum(scores - free, 0)).sum(axis=0),
            "become no": (share * np.maximum(free - scores, 0)).sum(axis=0),
            "stay no": (share * np.minimum(1 - scores, 1 - free)).sum(axis=0),
            "by lot": (share * tossed).sum(axis=0),
        }

    @cached_property
    def agreement(self) -> float:
        """Share of people whom the margins decide as the rule does: 1 up to rounding, if it is an optimum."""
        dist = self.rule.distribution
        people = dist.mass.sum(axis=2)
        weighed = (dist.mass * self.weights.total).sum(axis=2)
        if not self.rule.aware:
            weighed = np.broadcast_to(weighed.sum(axis=1, keepdims=True), weighed.shape)
        sure = np.abs(weighed) > 1e-9 * np.maximum(people, 1e-12)
        off = np.where(sure, np.abs(self.rule.group_scores - (weighed > 0)), 0.0)
        return float(1 - (people * off).sum())

    @cached_property
    def thresholds(self) -> list[tuple[Thresholds, Thresholds]]:
        """For each group, where a rule that sees it says yes: without constraints, and with them."""
        law, scores = self.rule.distribution, self.rule.group_scores
        return [(thresholds_of(law, self.free, g), thresholds_of(law, scores, g)) for g in range(law.n_groups)]

    @property
    def frame_kind(self) -> str:
        """Library that `to_frame` makes a frame of."""
        return self.rule.frame_kind

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """Return the rule as a short table.

        If the group is seen, a row for each group: the chances of label 1 up to which people are decided 0 and above
        which they are decided 1, without constraints and with them; between the two they are decided by lot. If it is
        hidden, a row for each group and label: how much a chance of being there weighs in favour of a yes without
        constraints, what each constraint adds, and the sum.
        """
        return pa.Table.from_pylist(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of the table of `to_frame`."""
        moved = {name: own for name, own in self.changed.items() if name in ("become yes", "become no", "by lot")}
        lines = []
        for g, group in enumerate(self.weights.groups):
            shares = {name: float(own[g]) for name, own in moved.items()}
            if self.rule.aware:
                before, now = self.thresholds[g]
                ends = {"yes above, without": before.yes_above, "no up to": now.no_up_to, "yes above": now.yes_above}
                ends |= {"odds from": now.least, "odds to": now.most, "even at": now.even_at} if now.by_lot else _NO_LOT
                lines.append({"group": group, **{k: _within(v) for k, v in ends.items()}, **shares})
                continue
            for y in (0, 1):
                counts = {"counts without": float(self.weights.free[g, y])}
                counts |= {f"{name} adds": float(own[g, y]) for name, own in self.weights.added.items()}
                lines.append(
                    {"group": group, "label": y, **counts, "counts": float(self.weights.total[g, y]), **shares}
                )
        return lines

    def summary(self) -> str:
        """Return the rule in words: how it decides, what each constraint does to whom, and how many people change."""
        return "\n".join([*self.rule_words, *self.change_words, *self._limits_of_words()])

    @property
    def rule_words(self) -> list[str]:
        """Return in sentences how the rule decides, and what each constraint adds for whom or takes from whom."""
        lines = [self._seen() if self.rule.aware else self._hidden()]
        if not self.weights.added:
            lines.append("No constraint changes anything.")
        return lines + [self._adds(name) for name in self.weights.added]

    @property
    def change_words(self) -> list[str]:
        """Return a sentence for each group on how many of its decisions change."""
        lines = []
        for g, group in enumerate(self.weights.groups):
            own = {name: float(share[g]) for name, share in self.changed.items()}
            lot = f"; {own['by lot']:.1%} are decided by lot" if own["by lot"] >= _TOLD else ""
            lines.append(
                f"Because of the constraints, {own['become yes']:.1%} of {in_a_sentence(group)} become a yes and "
                f"{own['become no']:.1%} a no{lot}."
            )
        return lines

    def _limits_of_words(self) -> list[str]:
        lines = []
        if self.rule.guarantee is not None or self.rule.determinism is not None:
            lines.append(f"These words describe the decisions of {self.agreement:.1%} of the people.")
        if INDIVIDUAL in self.rule.tolerances:
            lines.append("What individual fairness changes is not in these words.")
        return lines

    def _seen(self) -> str:
        parts = []
        for group, (before, now) in zip(self.weights.groups, self.thresholds, strict=True):
            parts.append(f"{in_a_sentence(group)}: {_in_words(now)} (without constraints {_in_words(before)})")
        return f"The rule sees the group and says yes by the chance of label 1. {'; '.join(parts)}."

    def _hidden(self) -> str:
        no, yes = self.weights.free[0].tolist()
        return (
            "The rule does not see the group. It says yes where the chance of label 1 is above "
            f"{no / (no - yes):.3f}, after what the constraints add or take for the groups that a person may belong to."
        )

    def _adds(self, name: str) -> str:
        parts = []
        for g, group in enumerate(map(in_a_sentence, self.weights.groups)):
            no, yes = self.weights.added[name][g].tolist()
            if abs(no - yes) <= _TOLD and abs(yes) > _TOLD:
                parts.append(f"{_told(yes)} {group}")
                continue
            for label, own in ((0, no), (1, yes)):
                if abs(own) > _TOLD:
                    parts.append(f"{_told(own)} {group} with label {label}")
        each = "" if self.rule.aware else ", in proportion to the chance of being that"
        return f"{name} {', '.join(parts) or 'adds next to nothing'}{each}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw who changes: the share of each group that is decided otherwise because of the constraints.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        groups = self.weights.groups
        with figure_style():
            ax = axes_or_new(ax, (6.4, max(2.0, 1.3 + 0.45 * len(groups))))
            draw_changes(ax, groups, self.changed)
        return ax

    def __repr__(self) -> str:
        return f"Explanation({', '.join(self.weights.added) or 'no constraint'}; {', '.join(self.weights.groups)})"


def draw_changes(ax: Axes, groups: Sequence[str], changed: Mapping[str, Floats]) -> None:
    """Draw the share of each group that is decided otherwise because of the constraints (see `Explanation.changed`)."""
    left = np.zeros(len(groups))
    for name, colour in _KINDS.items():
        share = np.asarray(changed[name])
        ax.barh(range(len(groups)), share, left=left, color=colour, label=name)
        for g, own in enumerate(share.tolist()):
            if own >= _ROOM:
                middle = float(left[g]) + own / 2
                ax.text(middle, g, f"{own:.0%}", ha="center", va="center", fontsize="small", color=INK)
        left = left + share
    ax.set_yticks(range(len(groups)), [plain_text(in_a_sentence(own)) for own in groups])
    ax.set_xlim(0, 1)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("share of the group (plug-in), with the constraints and without")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)


def explain(rule: Rule) -> Explanation:
    """Explain a rule (see `Rule.explain`)."""
    return Explanation(rule, weights_of(rule))


def _told(number: float) -> str:
    return f"adds {number:.3f} for" if number > 0 else f"takes {-number:.3f} from"


def _within(chance: float) -> float | None:
    """Return a chance if it lies between 0 and 1, else None."""
    return None if math.isnan(chance) else min(max(chance, 0.0), 1.0)


def _in_words(ends: Thresholds) -> str:
    if math.isnan(ends.yes_above):
        return "no threshold, for scores rise and fall with that chance"
    if ends.no_up_to >= 1:
        return "nobody"
    if not ends.by_lot:
        return "everybody" if ends.yes_above < 0 else f"above {ends.yes_above:.3f}"
    low, high = ends.no_up_to, ends.yes_above
    if high >= 1:
        by_lot = "everybody by lot" if low < 0 else f"by lot above {low:.3f}"
    else:
        by_lot = f"above {high:.3f}, and by lot {'below' if low < 0 else f'from {low:.3f} on'}"
    return f"{by_lot}, {_odds(ends)}"


def _odds(ends: Thresholds) -> str:
    """Return in words how often a lot says yes."""
    if ends.most - ends.least < _TOLD:
        return f"at {ends.least:.1%}"
    rise = f"at {ends.least:.1%} to {ends.most:.1%}"
    return f"{rise}, half at {ends.even_at:.3f}" if 0 <= ends.even_at < 1 else rise
