"""Laws over kinds of people whose limits are known exactly, to draw tables from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairlimits as fl
from fairlimits._util.types import Floats, Ints
from fairlimits.data import Feature, Schema
from fairlimits.evaluation.ceilings.kinds import feature_kinds
from fairlimits.law import estimate_apart


@dataclass(frozen=True, eq=False)
class KindLaw:
    """A law with finitely many kinds of people.

    Parameters
    ----------
    name : str
        What it is called.
    rows : int
        People that are drawn.
    share : ndarray of shape (K,)
        P(kind).
    chances : ndarray of shape (K, G, 2)
        P(A, Y | kind).
    columns : mapping of str to ndarray of shape (K,)
        The features of the kinds.
    schema : Schema
        What the columns mean.
    worth : ndarray of shape (G, 2), optional
        Mean weights by group and label, of people who have weights with a heavy tail (Pareto, 2.2).
    times : int
        How many times each person is in the table.
    """

    name: str
    rows: int
    share: Floats
    chances: Floats
    columns: Mapping[str, NDArray[Any]]
    schema: Schema
    worth: Floats | None = None
    times: int = 1

    @cached_property
    def mass(self) -> Floats:
        """P(kind, A, Y), by weight."""
        return self.weigh(self.share[:, None, None] * self.chances)

    def weigh(self, mass: Floats) -> Floats:
        """A law (K, G, 2) of people, with each of them counted by weight."""
        heavy = mass if self.worth is None else mass * self.worth
        return np.asarray(heavy / heavy.sum())

    def limit(self, tolerances: Mapping[str, float], aware: bool) -> float:
        """The best accuracy that any rule has."""
        return limit(self.mass, tolerances, aware)

    def draw(self, seed: int) -> tuple[fl.Dataset, Ints]:
        """Draw people; returns them and their kinds."""
        rng = np.random.default_rng(seed)
        drawn = self.rows // self.times
        kind = rng.choice(len(self.share), drawn, p=self.share)
        below = self.chances.reshape(len(self.share), -1).cumsum(axis=1)[:, :-1]
        sort = (rng.random(drawn)[:, None] > below[kind]).sum(axis=1)
        kind, sort = np.repeat(kind, self.times), np.repeat(sort, self.times)
        columns = {name: values[kind] for name, values in self.columns.items()}
        weight = None if self.worth is None else self.worth.reshape(-1)[sort] * (1 + rng.pareto(2.2, len(sort)))
        return fl.Dataset(self.schema, columns, sort // 2, (sort % 2).astype(np.int8), weight), kind


def limit(mass: Floats, tolerances: Mapping[str, float], aware: bool) -> float:
    """The best accuracy that any rule on cells has."""
    return fl.solve(fl.CellDistribution.from_mass(mass), tolerances, aware=aware).accuracy


def _schema(columns: Mapping[str, NDArray[Any]], groups: int) -> Schema:
    features = tuple(Feature(name, "numeric") for name in columns)
    names = tuple(f"group {g}" for g in range(groups))
    return Schema(features=features, label="label", positive=1, negative=0, sensitive=("group",), groups=names)


def _simulated(
    name: str,
    rows: int,
    sides: tuple[int, ...],
    groups: int,
    outcome: Callable[[Floats, Ints], Floats],
    zipf: float,
    seed: int,
    tilt: tuple[float, ...] | None = None,
) -> KindLaw:
    """Kinds on a grid of features, with frequencies by a power of their rank, and groups that lean on the features."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*(np.arange(side) for side in sides), indexing="ij"), axis=-1).reshape(-1, len(sides))
    x = grid / (np.array(sides) - 1) * 2 - 1
    share = (1 + rng.permutation(len(x))) ** -zipf
    lean = rng.normal(size=(len(sides), groups))
    group = np.exp(x @ lean + (np.linspace(0.7, 0, groups) if tilt is None else np.array(tilt)))
    group /= group.sum(axis=1, keepdims=True)
    label = np.stack([outcome(x, np.full(len(x), g)) for g in range(groups)], axis=1)
    chances = np.stack([group * (1 - label), group * label], axis=2)
    columns = {f"x{at}": grid[:, at].astype(np.float64) for at in range(len(sides))}
    return KindLaw(name, rows, share / share.sum(), chances, columns, _schema(columns, groups))


def _smooth(x: Floats, group: Ints) -> Floats:
    slope = np.array([1.6, -1.0, 0.8, 0.5])[: x.shape[1]]
    return np.asarray(1 / (1 + np.exp(-1.5 * (x @ slope) - 0.35 * group + 0.3)))


def _rough(x: Floats, group: Ints) -> Floats:
    wave = np.sin(7 * x[:, 0]) * np.cos(5 * x[:, -1]) + 0.7 * np.sign(np.sin(11 * x.sum(axis=1)))
    return np.asarray(1 / (1 + np.exp(-1.8 * wave - 0.3 * group)))


def _hashed(x: Floats, group: Ints) -> Floats:
    """A chance that nothing can be learned about from other kinds: a hash of the kind."""
    key = np.floor(
        np.sin(x @ np.array([12.9898, 78.233, 37.719, 4.581])[: x.shape[1]] + 3.1 * group) * 43758.5453 % 1 * 997
    )
    return np.asarray(0.05 + 0.9 * (key * 7919 % 997) / 997)


def _even(x: Floats, group: Ints) -> Floats:
    """Chances of 0.15 or 0.85, by a hash of the kind: all |m| are equal, so that the bound has no slack to hide in."""
    return np.asarray(np.where(_hashed(x, np.zeros_like(group)) > 0.5, 0.85, 0.15))


def _rare(x: Floats, group: Ints) -> Floats:
    """Chances of a rare label, one in fifty or so, nearly all of it in few kinds; no other kind tells in which."""
    return np.asarray(np.where(_hashed(x, np.zeros_like(group)) > 0.93, 0.75 - 0.2 * group, 0.002))


def _unequal(x: Floats, group: Ints) -> Floats:
    """Base rates that differ a lot between the groups."""
    return np.asarray(0.15 + 0.55 * group + 0.25 * (_hashed(x, group) - 0.5))


def _crossed(name: str, rows: int, seed: int) -> KindLaw:
    """Groups and labels that lean on whether two features are both high or both low, which no linear model sees."""
    plain = _simulated(name, rows, (16, 16, 8), 2, _smooth, 0.0, seed)
    high = [plain.columns[f"x{at}"] >= 8 for at in (0, 1)]
    group = np.where(high[0] ^ high[1], 0.85, 0.15)
    label = np.where(high[0] ^ high[1], 0.8, 0.25)
    chances = np.stack([1 - group, group], axis=1)[:, :, None] * np.stack([1 - label, label], axis=1)[:, None, :]
    return replace(plain, chances=chances)


def _dutch(strength: float) -> KindLaw:
    """Kinds as frequent as in Dutch; their (A, Y) from counts and a model of other kinds, worth `strength` people."""
    data = fl.load_dataset("dutch")
    kind = feature_kinds(data)
    fold = np.random.default_rng(0).integers(5, size=int(kind.max()) + 1)[kind]
    chances = estimate_apart(data, fold)
    _, first = np.unique(kind, return_index=True)
    counts = np.zeros((len(first), len(data.groups), 2))
    np.add.at(counts, (kind, data.group, data.label.astype(np.int64)), 1)
    size = counts.sum(axis=(1, 2))
    law = (counts + strength * chances[first]) / (size + strength)[:, None, None]
    columns = {name: values[first] for name, values in data.columns.items()}
    return KindLaw(f"Dutch, {strength:g}", data.n_rows, size / size.sum(), law, columns, data.schema)


_LAWS: dict[str, Callable[[], KindLaw]] = {
    "smooth": lambda: _simulated("smooth", 2_000, (10, 10, 8), 2, _smooth, 0.0, 1),
    "smooth, few twins": lambda: _simulated("smooth, few twins", 2_000, (20, 20, 20), 2, _smooth, 0.0, 2),
    "rough": lambda: _simulated("rough", 5_000, (12, 12, 12), 3, _rough, 0.5, 3),
    "hash": lambda: _simulated("hash", 3_000, (12, 12, 10), 2, _hashed, 0.7, 4),
    "hash, large": lambda: _simulated("hash, large", 20_000, (14, 14, 10), 2, _hashed, 0.4, 5),
    "even": lambda: _simulated("even", 6_000, (10, 8, 6), 2, _even, 0.3, 7),
    "five groups": lambda: _simulated("five groups", 10_000, (8, 8, 6), 5, _smooth, 0.8, 6),
    "dutch 2": lambda: _dutch(2.0),
    "dutch 50": lambda: _dutch(50.0),
}
# Adversarial laws, made to see limits fail after they were found to hold on the laws above.
_HARD: dict[str, Callable[[], KindLaw]] = {
    "tight": lambda: _simulated("tight", 12_000, (5, 4), 2, _even, 0.0, 11),
    "heavy tail": lambda: _simulated("heavy tail", 8_000, (15, 15, 12), 2, _hashed, 1.6, 12),
    "one percent": lambda: _simulated("one percent", 8_000, (8, 8, 4), 2, _hashed, 0.3, 13, (0.0, -7.5)),
    "rare label": lambda: _simulated("rare label", 8_000, (8, 8, 4), 2, _rare, 0.3, 14),
    "five unequal": lambda: _simulated(
        "five unequal", 12_000, (7, 6, 5), 5, _hashed, 0.3, 15, (0, -0.7, -2.1, -3.3, -4)
    ),
    "crossed": lambda: _crossed("crossed", 3_000, 16),
    "unequal": lambda: _simulated("unequal", 4_000, (8, 6, 4), 2, _unequal, 0.3, 17),
    "few people": lambda: _simulated("few people", 400, (4, 4, 3), 2, _even, 0.0, 18),
    "twice": lambda: replace(_simulated("twice", 6_000, (10, 8, 6), 2, _even, 0.3, 19), times=2),
    "weights": lambda: replace(
        _simulated("weights", 6_000, (8, 6, 3), 2, _hashed, 0.3, 20), worth=np.array([[1.0, 2.0], [0.5, 1.0]])
    ),
}
NAMES, HARD = tuple(_LAWS), tuple(_HARD)


@cache
def law(name: str) -> KindLaw:
    """A law by its name."""
    return (_LAWS | _HARD)[name]()
