"""How fast rules decide, beside LightGBM's own predict in the same run, and which export to offer; run by hand.

    python -m benchmarks.deciding

LightGBM, onnx, onnxruntime and DuckDB must be installed. All times are processor time of one thread. The exports that
were not chosen are measured where they look best: on the trees of P(Y = 1 | x) alone, codes given, without reading
people, without the trees of the groups, and without cells.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import argparse
import runpy
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import fairlimits as fl
from benchmarks.peers.splits import peer

_REPEATS = 5


def cpu(work: Callable[[], Any]) -> float:
    """Least processor seconds of some runs."""
    found = []
    for _ in range(_REPEATS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def many(data: fl.Dataset, rows: int) -> Any:
    """People like those of a table, no two alike, as a pandas frame."""
    rng = np.random.default_rng(0)
    frame = data.to_frame().to_pandas().sample(rows, replace=True, random_state=0).reset_index(drop=True)
    frame["age"] = frame["age"] + rng.normal(0, 1e-3, rows)
    return frame


def lightgbm(data: fl.Dataset) -> Any:
    """LightGBM as scikit-learn users take it, on the same rows."""
    frame = data.to_frame().to_pandas()[[own.name for own in data.schema.features]]
    model = peer("lightgbm").LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=1, verbose=-1)
    return model.fit(frame, data.label)


def onnx_trees(tables: dict[str, Any]) -> Any:
    """The label's trees by bit masks as an ONNX graph over codes; returns a function of codes."""
    helper, session = peer("onnx").helper, peer("onnxruntime")
    proto, numpy_helper = peer("onnx").TensorProto, peer("onnx").numpy_helper
    nodes, kept = [], []

    def constant(name: str, value: Any) -> str:
        kept.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    masks = constant("masks", tables["masks"].astype(np.uint32))
    last = ""
    for feature in tables["used"].tolist():
        at, row, own, both = (f"{what}{feature}" for what in ("at", "row", "own", "both"))
        start = constant(f"start{feature}", np.array(tables["starts"][feature], dtype=np.int64))
        nodes.append(helper.make_node("Gather", ["codes", constant(f"f{feature}", np.array(feature))], [at], axis=1))
        nodes.append(helper.make_node("Add", [at, start], [row]))
        nodes.append(helper.make_node("Gather", [masks, row], [own], axis=0))
        nodes.append(helper.make_node("BitwiseAnd", [last or own, own], [both]))
        last = both
    for kind, given, made, options in (
        ("Cast", [last], "float", {"to": proto.FLOAT}),
        ("Log", ["float"], "log", {}),
        ("Div", ["log", constant("two", np.array(np.log(2.0), dtype=np.float32))], "bits", {}),
        ("Round", ["bits"], "whole", {}),
        ("Cast", ["whole"], "leaf", {"to": proto.INT64}),
        ("Add", ["leaf", constant("first", (tables["first"] + 127).astype(np.int64))], "place", {}),
        ("Gather", [constant("values", tables["values"]), "place"], "value", {}),
        ("MatMul", ["value", constant("membership", tables["membership"])], "sum", {}),
        ("Add", ["sum", constant("base", tables["base"].astype(np.float32))], "score", {}),
        ("Sigmoid", ["score"], "chances", {}),
        (
            "MatMul",
            ["chances", constant("mean", np.full(len(tables["base"]), 1 / len(tables["base"]), np.float32))],
            "chance",
            {},
        ),
    ):
        nodes.append(helper.make_node(kind, given, [made], **options))
    codes = helper.make_tensor_value_info("codes", proto.INT64, [None, None])
    chance = helper.make_tensor_value_info("chance", proto.FLOAT, [None])
    graph = helper.make_graph(nodes, "trees", [codes], [chance], kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = session.SessionOptions()
    options.intra_op_num_threads = 1
    made = session.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda codes: made.run(None, {"codes": codes.astype(np.int64)})[0]


def sql_tree(trees: Any, tree: int, low: int, high: int, names: list[str]) -> str:
    """A tree as nested CASE expressions over columns of codes."""
    start = int(trees.leaves[:tree].sum(dtype=np.int64))
    if high - low == 1:
        return repr(float(trees.values[start + low]))
    own = np.flatnonzero((trees.tree_of_node == tree) & (trees.lower == low) & (trees.upper == high))[0]
    feature, middle = int(trees.feature[own]), int(trees.middle[own])
    left = np.flatnonzero(np.unpackbits(trees.goes_left[own], bitorder="little")[: trees.sizes[feature] + 1])
    inside = ",".join(map(str, left.tolist())) or "-1"
    yes, no = (sql_tree(trees, tree, *ends, names) for ends in ((low, middle), (middle, high)))
    return f"CASE WHEN {names[feature]} IN ({inside}) THEN {yes} ELSE {no} END"


def measure(rows: int, learned: int) -> None:
    """Print all figures."""
    whole = fl.load_dataset("adult")
    data = whole.take(np.arange(learned))
    rule = fl.solve(fl.estimate_outcome(data), {"DP": 0.05})
    frame, model = many(whole, rows), lightgbm(data)
    given = frame[[own.name for own in data.schema.features]]
    ours, theirs = cpu(lambda: rule.decide(frame)), cpu(lambda: model.predict_proba(given))
    print(f"{rows:,} rows, learned from {learned:,}: ours {rows / ours:,.0f} rows/s, LightGBM {rows / theirs:,.0f};")
    print(f"  ours is {theirs / ours:.2f} times as fast")
    kinds = {"pandas": frame[:1], "polars": peer("polars").from_pandas(frame[:1]), "Arrow": pa.table(frame[:1])}
    for kind, one in kinds.items():
        print(f"  one row, {kind}: {1e3 * cpu(partial(rule.decide, one)):.2f} ms")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rule.py"
        rule.export(path)
        size, decide = path.stat().st_size, runpy.run_path(str(path))["decide"]
        columns = {name: frame[name].to_numpy() for name in frame}
        spent = cpu(lambda: decide(columns))
        print(f"Python file: {size / 1e3:.0f} kB, the whole rule {rows / spent:,.0f} rows/s")
    places = rule.distribution.places
    assert places is not None
    law: Any = places.model.law
    coded = fl.Dataset.read_like(whole.schema, frame)
    codes = law.codes.transform(coded.columns, rows)
    by_masks = cpu(lambda: law.label.chances(codes, None)) if not len(law.label.linear) else float("nan")
    print(f"trees of P(Y = 1 | x) alone ({len(law.label.trees)}): numpy {rows / by_masks:,.0f} rows/s")
    run = onnx_trees(law.label.tables())
    off = np.abs(run(codes[:1_000]) - law.label.chances(codes[:1_000], None)[:, 0]).max()
    print(f"  ONNX {rows / cpu(lambda: run(codes)):,.0f} rows/s, off by {off:.1e}")
    names = [f"c{at}" for at in range(codes.shape[1])]
    trees = law.label.trees
    query = " + ".join(sql_tree(trees, at, 0, int(trees.leaves[at]), names) for at in range(len(trees)))
    duckdb = peer("duckdb").connect()
    duckdb.execute("SET threads = 1; SET max_expression_depth TO 100000")
    duckdb.register("codes", pa.table({name: codes[:5_000, at].astype(np.int32) for at, name in enumerate(names)}))
    start = time.process_time()
    duckdb.execute(f"SELECT sum({query}) FROM codes").fetchall()
    print(f"  DuckDB {5_000 / (time.process_time() - start):,.0f} rows/s, {len(query) / 1e3:.0f} kB of SQL")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--learned", type=int, default=34_189)
    asked = parser.parse_args()
    measure(asked.rows, asked.learned)


if __name__ == "__main__":
    main()
