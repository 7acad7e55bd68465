"""q(x) = P(A, Y | x) as a product of two-way chances: P(Y | x), and a tree of splits of the groups for P(A | x, Y)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.types import Floats

LEAST_CHANCE = 1e-7
"""No chance is nearer to 0 or 1: one that comes true all the same must not make the log-loss infinite."""


@dataclass(frozen=True)
class GroupSplit:
    """A question that tells some groups from others, among people of these groups only.

    Parameters
    ----------
    first, second : tuple of int
        The groups on either side.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]

    def name(self, groups: Sequence[str]) -> str:
        """What the split is called in tables."""
        if len(groups) == 2:
            return "P(A|x,Y)"
        first, second = (" or ".join(groups[g] for g in side) for side in (self.first, self.second))
        return f"P(A|x,Y), {second} against {first}"


def group_splits(shares: Sequence[float]) -> tuple[GroupSplit, ...]:
    """Return Huffman's tree over the groups: the two rarest are split last, by a question about few people.

    Of all trees it needs the fewest rows for all questions together: per person, at most the entropy of the shares in
    bits plus 1. One question per group would take one row per person and group.

    Parameters
    ----------
    shares : sequence of float
        Share of each group among all people.
    """
    heap: list[tuple[float, int, tuple[int, ...]]] = [(share, g, (g,)) for g, share in enumerate(shares)]
    heapq.heapify(heap)
    splits = []
    while len(heap) > 1:
        rare, second = heapq.heappop(heap), heapq.heappop(heap)
        splits.append(GroupSplit(second[2], rare[2]))
        heapq.heappush(heap, (rare[0] + second[0], min(rare[1], second[1]), tuple(sorted(rare[2] + second[2]))))
    return tuple(reversed(splits))


def joint(label: Floats, sides: Sequence[Floats], splits: Sequence[GroupSplit], groups: int) -> Floats:
    """Return q, as the product of its two-way chances.

    Parameters
    ----------
    label : ndarray of shape (n,)
        P(Y = 1 | x).
    sides : sequence of ndarray of shape (n, 2)
        For each split, the chance of its second side for label 0 and for label 1.
    splits : sequence of GroupSplit
    groups : int
        G, the number of groups.

    Returns
    -------
    ndarray of shape (n, G, 2)
    """
    q = np.empty((len(label), groups, 2))
    q[:, :, 0], q[:, :, 1] = (1 - label)[:, None], label[:, None]
    for split, side in zip(splits, sides, strict=True):
        q[:, split.first] *= (1 - side)[:, None]
        q[:, split.second] *= side[:, None]
    return q


def log_loss(chance: Floats, target: NDArray[np.bool_], weight: Floats) -> float:
    """Return the weighted log-loss; `chance` is that of a true target."""
    hit = np.clip(np.where(target, chance, 1 - chance), LEAST_CHANCE, None)
    total = weight.sum()
    return float(weight @ -np.log(hit) / total) if total > 0 else 0.0


def best_average(chances: Sequence[Floats], target: NDArray[np.bool_], weight: Floats) -> tuple[tuple[int, ...], float]:
    """Find the learners whose plain average has the lowest log-loss.

    Parameters
    ----------
    chances : sequence of ndarray of shape (n,)
        Out-of-fold chance of the target by each learner.
    target : ndarray of bool of shape (n,)
        Whether it came true.
    weight : ndarray of shape (n,)

    Returns
    -------
    chosen : tuple of int
        Positions of the learners.
    loss : float
    """
    tried = [
        (log_loss(np.mean([chances[m] for m in members], axis=0), target, weight), members)
        for count in range(1, len(chances) + 1)
        for members in combinations(range(len(chances)), count)
    ]
    # Of equal losses the first, with the fewest members.
    loss, chosen = min(tried, key=lambda loss_and_members: loss_and_members[0])
    return chosen, loss
