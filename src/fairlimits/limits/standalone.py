"""A decision rule made by fairlimits, in one file that needs numpy and nothing else.

    from rule import decide
    decide({"age": [41, 23], "job": ["nurse", None]})  # the probability of deciding 1, for each person

    python rule.py people.csv > scores.csv

Columns are named as in the table that the rule was made from; a rule that sees the group needs the sensitive columns
too. Missing values are None, NaN or empty text, and a category that the rule does not know counts as missing.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

DATA = ""

_SEPARATOR = " / "
_MISSING = "(missing)"

# As many rows at a time as fairlimits takes, for the same sums.
_MASKS, _ROWS = 60_000, 4_096


def decide(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Probability of deciding 1 for each person, an array.

    Parameters
    ----------
    columns : mapping of str to sequence
        The people's values, by column; others than the rule looks at are ignored.
    """
    header, arrays = _RULE
    coded = {feature["name"]: _coded(feature, columns) for feature in header["features"]}
    group = _groups(header, columns) if header["aware"] else None
    cell = _cells(header, arrays, coded, group)
    scores = arrays["scores"]
    return scores[cell] if group is None else scores[cell, group]


def _load(data: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes().decode()), arrays


def _column(columns: Mapping[str, Sequence[Any]], name: str) -> Sequence[Any]:
    if name not in columns:
        raise KeyError(f"There is no column {name!r}; the rule needs it.")
    return columns[name]


def _text(value: Any) -> str:
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return _MISSING
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _coded(feature: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> Any:
    values = _column(columns, feature["name"])
    if feature["kind"] == "numeric":
        if feature["date"] and len(values) and isinstance(values[0], str):
            return np.asarray(values, dtype="datetime64[us]").astype(np.int64) / 86_400_000_000
        if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            return values.astype(np.float64)
        return np.array([np.nan if _text(own) == _MISSING else float(own) for own in values])
    known = dict(zip(feature["texts"], range(len(feature["texts"])), strict=True))
    known[_MISSING] = feature["missing"]
    unknown, seen = feature["unknown"], {}
    for own in values.tolist() if isinstance(values, np.ndarray) else values:
        if own not in seen:
            seen[own] = known.get(_text(own), unknown)
    return np.array([seen[own] for own in values], dtype=np.int64)


def _groups(header: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> Any:
    parts = [[_text(own) for own in _column(columns, name)] for name in header["sensitive"]]
    names = [_SEPARATOR.join(own) for own in zip(*parts, strict=True)]
    strange = sorted(set(names) - set(header["groups"]))
    if strange:
        raise ValueError(f"The groups {', '.join(strange)} are not known to the rule.")
    return np.array([header["groups"][own] for own in names], dtype=np.int64)


def _cells(header: Mapping[str, Any], arrays: Mapping[str, Any], coded: Mapping[str, Any], group: Any) -> Any:
    rows = len(next(iter(coded.values())))
    if not header["by_outcome"]:
        return _nearest(_encoded(header["encoding"], coded, rows), arrays["codewords"])
    q = _outcome(header, arrays, coded, rows)
    if group is not None and "cuts/0" in arrays:
        cell = np.empty(rows, dtype=np.int64)
        for g in np.unique(group).tolist():
            own = np.flatnonzero(group == g)
            chance = q[own, g, 1] / q[own, g].sum(axis=1)
            cell[own] = arrays[f"order/{g}"][np.searchsorted(arrays[f"cuts/{g}"], chance)]
        return cell
    parts = [((q / arrays["divisor"]) * header["outcome_scale"]).reshape(rows, -1).astype(np.float32)]
    if header["feature_scale"] > 0:
        parts.append(_encoded(header["encoding"], coded, rows) * np.float32(header["feature_scale"]))
    return _nearest(np.hstack(parts), arrays["codewords"])


def _nearest(points: Any, codewords: Any) -> Any:
    """Position of the nearest codeword, the first of equals."""
    codewords = codewords.astype(np.float64)
    found = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), _ROWS):
        own = points[start : start + _ROWS].astype(np.float64)
        distance = np.zeros((len(own), len(codewords)))
        for column in range(own.shape[1]):
            distance += (own[:, column, None] - codewords[:, column]) ** 2
        found[start : start + _ROWS] = distance.argmin(axis=1)
    return found


def _outcome(header: Mapping[str, Any], arrays: Mapping[str, Any], coded: Mapping[str, Any], rows: int) -> Any:
    """P(A, Y | x) of each row."""
    codes = np.empty((rows, len(header["features"])), dtype=np.uint8)
    for at, feature in enumerate(header["features"]):
        table, size, values = arrays[f"law/codes/{at}"], int(arrays["law/sizes"][at]), coded[feature["name"]]
        if feature["kind"] == "numeric":
            codes[:, at] = np.where(np.isnan(values), size, np.searchsorted(table, values))
        else:
            codes[:, at] = np.append(table, np.uint8(size))[values]
    splits = header["splits"]
    names = ["law/label", *(f"law/side {at}" for at in range(len(splits)))]
    linear = any(len(arrays[f"{name}/linear"]) for name in names)
    encoded = _encoded(header["encoding"], coded, rows) if linear else None
    label = _chances(arrays, names[0], codes, encoded, None)[:, 0]
    q = np.empty((rows, len(arrays["divisor"]), 2))
    q[:, :, 0], q[:, :, 1] = (1 - label)[:, None], label[:, None]
    for name, (first, second) in zip(names[1:], splits, strict=True):
        side = _chances(arrays, name, codes, encoded, 2)
        q[:, first] *= (1 - side)[:, None]
        q[:, second] *= side[:, None]
    again = header["recalibration"]
    positive = np.clip(q[:, :, 1].sum(axis=1), 1e-6, 1 - 1e-6)
    standard = (np.log(positive / (1 - positive)) - again["centre"]) / again["scale"]
    coefficient = np.array(again["coefficient"])
    tilted = q * np.exp(coefficient[0] + standard[:, None, None] * coefficient[1])
    return tilted / tilted.sum(axis=(1, 2), keepdims=True)


def _chances(arrays: Mapping[str, Any], name: str, codes: Any, encoded: Any, values: int | None) -> Any:
    """Mean chance of the members of an ensemble, for each value of what is given beside the features."""
    own = {key.removeprefix(f"{name}/"): array for key, array in arrays.items() if key.startswith(f"{name}/")}
    trees = len(own["everything"])
    out = np.empty((len(codes), values or 1))
    block = max(_MASKS // max(trees, 1), 16)
    for start in range(0, len(codes), block):
        rows = slice(start, start + block)
        score = np.repeat(own["base"][None], len(codes[rows]), axis=0)
        if len(own["linear"]):
            score[:, own["linear"]] += encoded[rows] @ own["coefficients"][:, : encoded.shape[1]].T
        masks = np.broadcast_to(own["everything"], (len(codes[rows]), trees))
        for feature in own["used"].tolist():
            if feature < codes.shape[1]:
                masks = masks & own["masks"][codes[rows, feature].astype(np.intp) + own["starts"][feature]]
        for value in range(values or 1):
            total, reachable = score, masks
            if values is not None:
                total = score.copy()
                reachable = masks & own["masks"][own["starts"][codes.shape[1]] + value]
                total[:, own["linear"]] += own["coefficients"][:, -1] * value
            if trees:
                # The exponent of a power of two says which leaf is left.
                leaf = (reachable.astype(np.float32).view(np.uint32) >> 23).astype(np.uint8)
                total += own["values"][leaf + own["first"]] @ own["membership"]
            out[rows, value] = _logistic(total).mean(axis=1)
    return np.clip(out, 1e-7, 1 - 1e-7)


def _logistic(score: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-score))


def _encoded(features: Sequence[Mapping[str, Any]], coded: Mapping[str, Any], rows: int) -> Any:
    """Mixed features as columns: numbers scaled, categories one-hot, missing numbers flagged."""
    out = np.zeros((rows, features[-1]["stop"]), dtype=np.float32)
    for feature in features:
        values, start = coded[feature["name"]], feature["start"]
        if feature["kind"] == "categorical":
            known = np.flatnonzero(values >= 0)
            out[known, start + values[known]] = np.sqrt(0.5)
        elif feature["kind"] == "missing":
            out[:, start] = np.isnan(values)
        elif feature["scale"] > 0:
            filled = np.where(np.isnan(values), feature["fill"], values)
            out[:, start] = np.clip((filled - feature["center"]) / feature["scale"], -1e15, 1e15)
    return out


def main(path: str) -> None:
    """Read a .csv file of people, and write their scores."""
    with open(path, encoding="utf-8", newline="") as file:
        heads, *lines = csv.reader(file)
    scores = decide(dict(zip(heads, zip(*lines, strict=True), strict=True)))
    sys.stdout.write("score\n" + "".join(f"{own:.17g}\n" for own in scores.tolist()))


_RULE: Any = _load(DATA) if DATA else None

if __name__ == "__main__":
    main(sys.argv[1])
