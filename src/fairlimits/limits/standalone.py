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
from datetime import datetime, timezone
from typing import Any

import numpy as np

DATA = ""

_SEPARATOR = " / "
_MISSING = "(missing)"

# What fairlimits takes for a missing value in a .csv file.
_NULLS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?")

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
    coded = {feature["name"]: _coded(header, feature, columns) for feature in header["features"]}
    group = _groups(header, columns) if header["aware"] else None
    cell = _cells(header, arrays, coded, group)
    scores = arrays["scores"]
    return scores[cell] if group is None else scores[cell, group]


def _load(data: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes().decode()), arrays


def _column(header: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], name: str) -> Any:
    """The values of a column as an array: of numbers where it holds such; cut into ranges where the rule does that."""
    if name not in columns:
        raise KeyError(f"There is no column {name!r}; the rule needs it.")
    values: Any = columns[name]
    if not isinstance(values, np.ndarray):
        values = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)
    if name not in header["bins"]:
        return values
    cuts, ranges = header["bins"][name]
    if not cuts:
        return np.array([_tidied(own) for own in values.tolist()], dtype=object)
    if values.dtype == object and all(_is_missing(own) or own in ranges for own in values.tolist()):
        # Cut before.
        return values
    numbers = _numbers(name, values, date=False)
    places = np.where(np.isnan(numbers), len(ranges), np.searchsorted(cuts, numbers, side="right"))
    return np.array([*ranges, None], dtype=object)[places]


def _tidied(value: Any) -> Any:
    """Text in small letters, with one space between words and none around them."""
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:
        # pandas' own missing value is neither equal nor unequal to itself.
        return True


def _text(value: Any) -> str:
    if _is_missing(value):
        return _MISSING
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> Any:
    """A number, or a truth value as one, from what a file may have as text; None if it is none."""
    text = str(value).strip().lower()
    try:
        return float({"true": 1, "false": 0}.get(text, text))
    except ValueError:
        return None


def _plain(text: str) -> str:
    """How fairlimits writes the number or truth value that a text spells."""
    if text.lower() in ("true", "false"):
        return text.capitalize()
    number = _number(text)
    return text if number is None else _text(number)


def _numbers(name: str, values: Any, date: bool) -> Any:
    """Values as floats; dates as days since 1970-01-01."""
    if date and values.dtype.kind not in "iufb":
        if values.dtype.kind != "M":
            days = [np.datetime64("NaT") if _is_missing(own) else _moment(own) for own in values.tolist()]
            values = np.array(days, dtype="datetime64[us]")
        units = values.astype("datetime64[us]")
        return np.where(np.isnat(units), np.nan, units.astype(np.int64) / 86_400_000_000)
    if values.dtype.kind in "iufb":
        numbers = values.astype(np.float64)
    else:
        numbers = np.array([np.nan if _is_missing(own) else float(own) for own in values.tolist()], dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"The column {name!r} holds infinite values; replace them.")
    return numbers


def _moment(value: Any) -> Any:
    """A date, with or without a time, as numpy has it; one with a time zone in UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _coded(header: Mapping[str, Any], feature: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> Any:
    name, values = feature["name"], _column(header, columns, feature["name"])
    if feature["kind"] == "numeric":
        return _numbers(name, values, feature["date"])
    known = dict(zip(feature["values"], range(len(feature["values"])), strict=True))
    read, unknown, seen = _number if feature["numbers"] else _text, feature["unknown"], {}
    found = values.tolist()
    for own in found:
        if own not in seen:
            seen[own] = feature["missing"] if _is_missing(own) else known.get(read(own), unknown)
    return np.array([seen[own] for own in found], dtype=np.int64)


def _groups(header: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> Any:
    parts = [[_text(own) for own in _column(header, columns, name).tolist()] for name in header["sensitive"]]
    places = {}
    for own in set(zip(*parts, strict=True)):
        ways = (_SEPARATOR.join(own), _SEPARATOR.join(map(_plain, own)))
        places[own] = next((header["groups"][name] for name in ways if name in header["groups"]), None)
    strange = sorted(_SEPARATOR.join(own) for own, place in places.items() if place is None)
    if strange:
        raise ValueError(f"The groups {', '.join(strange)} are not known to the rule.")
    return np.array([places[own] for own in zip(*parts, strict=True)], dtype=np.int64)


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
    values = [[None if own in _NULLS else own for own in column] for column in zip(*lines, strict=True)]
    scores = decide(dict(zip(heads, values, strict=True))) if lines else np.zeros(0)
    sys.stdout.write("score\n" + "".join(f"{own:.17g}\n" for own in scores.tolist()))


_RULE: Any = _load(DATA) if DATA else None

if __name__ == "__main__":
    main(sys.argv[1])
