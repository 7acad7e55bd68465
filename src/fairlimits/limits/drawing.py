"""`Draws`: people decided 1 or 0 by a rule, by lot where it does, and what chance does to the gaps among them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairlimits._util.types import Floats, Ints
from fairlimits.data import DrawBy, as_table, check_draw_by, check_seed, content_keys, read_groups, row_draws
from fairlimits.errors import DataError
from fairlimits.limits.deciding import policies_on

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule


@dataclass(frozen=True, eq=False)
class Draws:
    """People decided 1 or 0.

    Parameters
    ----------
    decided : ndarray of int of shape (n,)
        The decisions.
    scores : ndarray of shape (n,)
        Probability of each person to be decided 1.
    draw_by : {"row", "content"}
        Whether people who are alike in all features have draws of their own, or one in common.
    alike : int
        Number of people who have the same features as somebody before them.
    spread : mapping of str to float
        For "row" and "content", the standard deviation of a selection gap that the draws alone make among these
        people: the largest of any two groups, or of all people where groups are not known.
    """

    decided: Ints
    scores: Floats
    draw_by: DrawBy
    alike: int
    spread: Mapping[str, float]

    def summary(self) -> str:
        """Say how many are decided by lot, and what that does to realised gaps."""
        tossed = int(((self.scores > 0) & (self.scores < 1)).sum())
        if not tossed:
            return f"None of the {len(self.scores):,} people is decided by lot: realised gaps are the rule's own."
        other = "content" if self.draw_by == "row" else "row"
        return (
            f"{tossed:,} of {len(self.scores):,} people are decided by lot, drawn by {self.draw_by}; {self.alike:,} "
            "are alike in everything to somebody before them. Draws alone move the realised gap of selection rates by "
            f"{self.spread[self.draw_by]:.4f} (standard deviation) from the rule's own; drawn by {other} it would be "
            f"{self.spread[other]:.4f}."
        )


def draw(rule: Rule, rows: Any, draw_by: DrawBy, random_state: int) -> Draws:
    """Decide rows by lot where a rule does (see `Rule.draw`)."""
    check_draw_by(draw_by)
    table = as_table(rows)
    scores = policies_on([rule.policy], table)[0]
    schema = rule.distribution.schema
    assert schema is not None
    features = table.only([feature.name for feature in schema.features])
    decided = (scores > row_draws(features, check_seed(random_state), draw_by=draw_by)).astype(np.int64)
    key = content_keys(features)
    group = np.zeros(len(scores), dtype=np.int64)
    if set(schema.sensitive) <= set(table.names):
        try:
            group = read_groups(schema, table)
        except DataError:
            # People can be decided even where their groups are missing or not known.
            group = np.zeros(len(scores), dtype=np.int64)
    apart = {"row": np.arange(len(scores)), "content": key}
    spread = {name: _spread(scores, group, keys) for name, keys in apart.items()}
    return Draws(decided, scores, draw_by, len(scores) - len(np.unique(key)), spread)


def _spread(scores: Floats, group: Ints, key: Ints) -> float:
    """Return the largest standard deviation that draws, one for each key, give a difference of two groups' rates."""
    size = np.bincount(group)
    deviation = np.sqrt(scores * (1 - scores)) / size[group]
    # People of both groups can share a draw: it contributes to their difference by its net effect.
    names = np.flatnonzero(size)
    found = np.zeros((len(names), int(key.max()) + 1))
    for at, g in enumerate(names):
        found[at] = np.bincount(key, weights=np.where(group == g, deviation, 0.0), minlength=found.shape[1])
    if len(names) == 1:
        return math.sqrt(float((found[0] ** 2).sum()))
    pairs = [found[g] - found[h] for g in range(len(names)) for h in range(g)]
    return math.sqrt(max(float((difference**2).sum()) for difference in pairs))
