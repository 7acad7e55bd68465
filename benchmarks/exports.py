"""A rule as an ONNX graph and as one SQL query: the exports that the Python file is measured against; see `deciding`.

Both hold the whole rule, from people's columns to scores, in double precision, each written the way that suits it:
trees are bit masks in ONNX (its own trees take twice as long) and nested CASE expressions in SQL. They cover what the
benchmark needs: outcome cells made of trees alone, the group not seen, no dates and no ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.peers.splits import peer
from fairlimits.limits.exporting import _tables

# The chances of an ensemble stay this far from 0 and 1, and a label's before its odds are taken.
_LEAST, _LEAST_POSITIVE = 1e-7, 1e-6


@dataclass(frozen=True)
class Parts:
    """What a rule decides by, as both exports read it.

    Parameters
    ----------
    header, arrays : dict
        What the Python file holds.
    label : Ensemble
        P(Y = 1 | x).
    sides : tuple of Ensemble
        For each split of the groups, the chance of its second side given the label.
    """

    header: dict[str, Any]
    arrays: dict[str, Any]
    label: Any
    sides: tuple[Any, ...]

    @classmethod
    def of(cls, rule: fl.Rule) -> Parts:
        """Read them off a rule."""
        header, arrays = _tables(rule)
        assert rule.distribution.places is not None
        law: Any = rule.distribution.places.model.law
        if rule.aware or any(len(own.linear) for own in (law.label, *law.sides)):
            raise SystemExit("The rule sees the group or is linear in part; this benchmark has exports of others only.")
        return cls(header, arrays, law.label, law.sides)

    @property
    def features(self) -> list[dict[str, Any]]:
        """Names, kinds and values of the features."""
        found: list[dict[str, Any]] = self.header["features"]
        return found

    def is_number(self, feature: int) -> bool:
        """Whether a feature of the trees is a number; the label, given behind the features, is not."""
        return feature < len(self.features) and self.features[feature]["kind"] == "numeric"

    def cut(self, feature: int, left: Any) -> float:
        """What a number is at most where it goes left; its code counts the cuts below it."""
        return float(self.arrays[f"law/codes/{feature}"][int(left[:-1].sum()) - 1])

    def codes(self, feature: int) -> tuple[dict[str, int], int, int]:
        """Codes of a feature's categories, of a value that is not known, and of a missing one."""
        own = self.features[feature]
        table = np.append(self.arrays[f"law/codes/{feature}"], self.arrays["law/sizes"][feature]).tolist()
        return dict(zip(own["values"], table, strict=False)), table[own["unknown"]], table[own["missing"]]

    def side_factors(self) -> list[tuple[Any, Any]]:
        """For each split, a and b by group: P(A | x, y) is the product of all a + b * chance of the second side."""
        groups, found = len(self.arrays["divisor"]), []
        for first, second in self.header["splits"]:
            a, b = np.ones(groups), np.zeros(groups)
            b[first], a[second], b[second] = -1.0, 0.0, 1.0
            found.append((a, b))
        return found


def tree_of(trees: Any, tree: int, low: int, high: int) -> Any:
    """A tree as a leaf's value, or as feature, codes that go left, left and right."""
    if high - low == 1:
        return float(trees.values[int(trees.leaves[:tree].sum(dtype=np.int64)) + low])
    own = np.flatnonzero((trees.tree_of_node == tree) & (trees.lower == low) & (trees.upper == high))[0]
    feature, middle = int(trees.feature[own]), int(trees.middle[own])
    left = np.unpackbits(trees.goes_left[own], count=trees.sizes[feature] + 1, bitorder="little").astype(bool)
    return feature, left, tree_of(trees, tree, low, middle), tree_of(trees, tree, middle, high)


class Graph:
    """An ONNX graph as it is written down."""

    def __init__(self) -> None:
        self.onnx = peer("onnx")
        self.nodes: list[Any] = []
        self.kept: list[Any] = []

    def add(self, kind: str, *given: Any, **options: Any) -> str:
        """Add a node and return its name; what is given is the name of another, or a constant."""
        names = [own if isinstance(own, str) else self.constant(own) for own in given]
        made = f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, names, [made], **options))
        return made

    def constant(self, value: Any) -> str:
        """Keep an array, and name it."""
        name = f"k{len(self.kept)}"
        self.kept.append(self.onnx.numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name


def onnx_rule(rule: fl.Rule) -> bytes:
    """Return a rule as an ONNX model: columns are its inputs, of strings or doubles; its output are the scores."""
    parts, graph = Parts.of(rule), Graph()
    helper, proto = graph.onnx.helper, graph.onnx.TensorProto
    inputs, codes = [], []
    for at, feature in enumerate(parts.features):
        number = parts.is_number(at)
        kind = proto.DOUBLE if number else proto.STRING
        inputs.append(helper.make_tensor_value_info(feature["name"], kind, [None]))
        codes.append(_onnx_number(graph, parts, at) if number else _onnx_category(graph, parts, at))
    points = _onnx_points(graph, parts, codes)
    cells = parts.arrays["codewords"].astype(np.float64)
    # |p - c|^2 without |p|^2, which is the same for all cells.
    distance = graph.add("Sub", (cells**2).sum(axis=1), graph.add("MatMul", points, 2 * cells.T))
    score = graph.add("Gather", parts.arrays["scores"], graph.add("ArgMin", distance, axis=1, keepdims=0))
    output = helper.make_tensor_value_info(score, proto.DOUBLE, [None])
    made = helper.make_graph(graph.nodes, "rule", inputs, [output], graph.kept)
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 4)]
    model: bytes = helper.make_model(made, opset_imports=sets, ir_version=10).SerializeToString()
    return model


def _onnx_number(graph: Graph, parts: Parts, feature: int) -> str:
    """Code of a number: how many cuts are below it; that of a missing one is the last."""
    name, cuts = parts.features[feature]["name"], parts.arrays[f"law/codes/{feature}"]
    below = graph.add("Greater", graph.add("Unsqueeze", name, np.array([1])), cuts)
    count = graph.add("ReduceSum", graph.add("Cast", below, to=graph.onnx.TensorProto.INT64), np.array([1]), keepdims=0)
    return graph.add("Where", graph.add("IsNaN", name), np.array(len(cuts) + 1), count)


def _onnx_category(graph: Graph, parts: Parts, feature: int) -> str:
    known, unknown, missing = parts.codes(feature)
    # An array of strings has no missing values, so the empty string must be one.
    known |= {"": missing}
    options = {"keys_strings": list(known), "values_int64s": list(known.values()), "default_int64": unknown}
    return graph.add("LabelEncoder", parts.features[feature]["name"], domain="ai.onnx.ml", **options)


def _onnx_points(graph: Graph, parts: Parts, codes: list[str]) -> str:
    """Where people are among the cells: P(A, Y | x), recalibrated and scaled."""
    (label,) = _onnx_chances(graph, parts.label, codes, None)
    both = graph.add("Concat", graph.add("Sub", np.array(1.0), label), label, axis=1)
    q = graph.add("Unsqueeze", both, np.array([1]))
    for side, (a, b) in zip(parts.sides, parts.side_factors(), strict=True):
        chances = graph.add("Concat", *_onnx_chances(graph, side, codes, 2), axis=1)
        chance = graph.add("Unsqueeze", chances, np.array([1]))
        q = graph.add("Mul", q, graph.add("Add", a[:, None], graph.add("Mul", b[:, None], chance)))
    again = parts.header["recalibration"]
    least = np.array(_LEAST_POSITIVE)
    positive = graph.add("Clip", graph.add("Unsqueeze", label, np.array([2])), least, 1 - least)
    odds = graph.add("Log", graph.add("Div", positive, graph.add("Sub", np.array(1.0), positive)))
    standard = graph.add("Div", graph.add("Sub", odds, np.array(again["centre"])), np.array(again["scale"]))
    start, slope = np.array(again["coefficient"])
    tilted = graph.add("Mul", q, graph.add("Exp", graph.add("Add", start, graph.add("Mul", standard, slope))))
    share = graph.add("Div", tilted, graph.add("ReduceSum", tilted, np.array([1, 2])))
    scaled = graph.add("Mul", share, parts.header["outcome_scale"] / parts.arrays["divisor"])
    single = graph.add("Cast", scaled, to=graph.onnx.TensorProto.FLOAT)
    points = graph.add("Cast", single, to=graph.onnx.TensorProto.DOUBLE)
    return graph.add("Reshape", points, np.array([-1, parts.arrays["divisor"].size]))


def _onnx_chances(graph: Graph, ensemble: Any, codes: list[str], values: int | None) -> list[str]:
    """Mean chance of the members of an ensemble, of shape (n, 1), for each value of what is given; see `Trees`."""
    tables, proto = ensemble.tables(), graph.onnx.TensorProto
    masks, reach = graph.constant(tables["masks"].astype(np.uint32)), ""
    for feature in tables["used"].tolist():
        if feature < len(codes):
            row = graph.add("Add", codes[feature], np.array(tables["starts"][feature]))
            own = graph.add("Gather", masks, row, axis=0)
            reach = graph.add("BitwiseAnd", reach, own) if reach else own
    found = []
    for value in range(values or 1):
        left = reach
        if values is not None:
            left = graph.add("BitwiseAnd", reach, ensemble.trees.masks_of(len(codes), value).astype(np.uint32))
        power = graph.add("Log", graph.add("Cast", left, to=proto.FLOAT))
        bit = graph.add("Round", graph.add("Div", power, np.array(np.log(2.0), dtype=np.float32)))
        place = graph.add("Add", graph.add("Cast", bit, to=proto.INT64), tables["first"] + 127)
        leaves = graph.add("Gather", tables["values"], place)
        total = graph.add("Cast", graph.add("MatMul", leaves, tables["membership"]), to=proto.DOUBLE)
        each = graph.add("Sigmoid", graph.add("Add", total, ensemble.base))
        mean = graph.add("ReduceMean", each, np.array([1]))
        found.append(graph.add("Clip", mean, np.array(_LEAST), np.array(1 - _LEAST)))
    return found


def sql_rule(rule: fl.Rule, table: str) -> str:
    """Return a rule as a query of the people of a table; its rows are their scores, in their order."""
    parts = Parts.of(rule)
    again, groups = parts.header["recalibration"], range(len(parts.arrays["divisor"]))
    chances = {"label": _sql_chances(parts, parts.label, None)}
    for at, side in enumerate(parts.sides):
        chances |= {f"side{at}_{y}": _sql_chances(parts, side, y) for y in (0, 1)}
    standard = f"(ln(p / (1 - p)) - ({again['centre']!r})) / {again['scale']!r}"
    start, slope = np.array(again["coefficient"])
    tilted, names = {}, [f"q{g}_{y}" for g in groups for y in (0, 1)]
    for g in groups:
        for y in (0, 1):
            factors = ["label" if y else "(1 - label)"]
            for at, (a, b) in enumerate(parts.side_factors()):
                factors.append(f"({float(a[g])!r} + {float(b[g])!r} * side{at}_{y})")
            factors.append(f"exp({float(start[g, y])!r} + s * {float(slope[g, y])!r})")
            tilted[f"q{g}_{y}"] = " * ".join(factors)
    scale = (parts.header["outcome_scale"] / parts.arrays["divisor"]).ravel().tolist()
    points = {name: f"CAST({name} / total * {own!r} AS FLOAT)" for name, own in zip(names, scale, strict=True)}
    cells = ", ".join(
        f"({', '.join(map(repr, [*where, score]))})"
        for where, score in zip(parts.arrays["codewords"].tolist(), parts.arrays["scores"].tolist(), strict=True)
    )
    far = " + ".join(f"(CAST(points.{name} AS DOUBLE) - c.{name}) ** 2" for name in names)
    least = _LEAST_POSITIVE
    steps = {
        "people": f"SELECT *, row_number() OVER () AS row FROM {table}",
        "chances": f"SELECT row, {_named(chances)} FROM people",
        "odds": f"SELECT *, least(greatest(label, {least!r}), {1 - least!r}) AS p FROM chances",
        "standard": f"SELECT *, {standard} AS s FROM odds",
        "tilted": f"SELECT row, {_named(tilted)} FROM standard",
        "totals": f"SELECT *, {' + '.join(names)} AS total FROM tilted",
        "points": f"SELECT row, {_named(points)} FROM totals",
        f"cells({', '.join([*names, 'score'])})": f"VALUES {cells}",
    }
    stated = ",\n".join(f"{name} AS ({query})" for name, query in steps.items())
    nearest = f"SELECT arg_min(c.score, {far}) AS score FROM points, cells c"
    return f"WITH {stated}\n{nearest} GROUP BY points.row ORDER BY points.row"


def _named(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{text} AS {name}" for name, text in expressions.items())


def _sql_chances(parts: Parts, ensemble: Any, label: int | None) -> str:
    trees = ensemble.trees
    cases = [
        _sql_tree(parts, tree_of(trees, tree, 0, int(trees.leaves[tree])), label)
        for tree in range(len(ensemble.member))
    ]
    members = []
    for member, base in enumerate(ensemble.base.tolist()):
        own = [cases[tree] for tree in np.flatnonzero(ensemble.member == member)]
        members.append(f"1 / (1 + exp(-({' + '.join([repr(base), *own])})))")
    mean = f"({' + '.join(members)}) / {len(members)}"
    return f"least(greatest({mean}, {_LEAST!r}), {1 - _LEAST!r})"


def _sql_tree(parts: Parts, own: Any, label: int | None) -> str:
    if isinstance(own, float):
        return repr(own)
    feature, left, *below = own
    if feature == len(parts.features):
        # The label is given: only one way is open.
        assert label is not None
        return _sql_tree(parts, below[0 if left[label] else 1], label)
    name = '"' + parts.features[feature]["name"].replace('"', '""') + '"'
    if parts.is_number(feature):
        test = f"{name} <= {parts.cut(feature, left)!r}"
        test = f"({test} OR {name} IS NULL)" if left[-1] else test
    else:
        known, unknown, missing = parts.codes(feature)
        # Named are those that go another way than a value that is not known.
        named = [value.replace("'", "''") for value, code in known.items() if left[code] != left[unknown]]
        listed = ", ".join(f"'{value}'" for value in named) or "''"
        test = f"coalesce({name} {'NOT IN' if left[unknown] else 'IN'} ({listed}), {bool(left[missing])})"
    yes, no = (_sql_tree(parts, side, label) for side in below)
    return f"CASE WHEN {test} THEN {yes} ELSE {no} END"
