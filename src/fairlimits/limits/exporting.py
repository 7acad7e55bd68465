"""Export of a rule as one Python file that needs numpy only: the code of `standalone` with the rule's numbers."""

from __future__ import annotations

import base64
import io
import json
import os
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.storage import write_text
from fairlimits.data import Feature, bin_names, value_text
from fairlimits.errors import InputError

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule

# Where the numbers are put in the code.
_PLACE = 'DATA = ""'


def export(rule: Rule, path: str | os.PathLike[str]) -> None:
    """Write a rule as a Python file (see `Rule.export`)."""
    header, arrays = _tables(rule)
    packed = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez_compressed(packed, header=text, **arrays)  # type: ignore[arg-type]
    code = files("fairlimits.limits").joinpath("standalone.py").read_text(encoding="utf-8")
    data = base64.b64encode(packed.getvalue()).decode()
    write_text(path, code.replace(_PLACE, f'DATA = "{data}"', 1))


def _tables(rule: Rule) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return all that a rule decides by: a header that JSON can hold, and named arrays."""
    law = rule.distribution
    schema = law.schema
    if schema is None or law.encoding is None or law.centroids is None:
        raise InputError("The rule's cells are bare numbers, without columns to look people up by; use discretize.")
    header: dict[str, Any] = {
        "aware": rule.aware,
        "features": [_feature(own) for own in schema.features],
        "sensitive": list(schema.sensitive),
        "groups": schema.group_places(),
        "bins": {name: (cuts, bin_names(cuts) if cuts else ()) for name, cuts in schema.bins},
        "by_outcome": law.places is not None,
    }
    arrays: dict[str, NDArray[Any]] = {"scores": rule.scores}
    if law.places is None:
        # This refuses cells of an estimate whose learners were not kept.
        law.cells_of({own.name: np.zeros(0) for own in schema.features})
        return header | {"encoding": law.encoding.to_dict()["features"]}, arrays | {"codewords": law.centroids}
    more, tables = law.places.tables(law.mass)
    return header | more, arrays | tables


def _feature(feature: Feature) -> dict[str, Any]:
    """Return how a feature's values become codes; unknown and missing values have codes of their own."""
    known = [own for own in feature.categories if own is not None]
    # Numbers and truth values, which a .csv file may write differently; a missing value is always the last.
    numbers = bool(known) and not any(isinstance(own, str) for own in known)
    missing = len(known) if len(known) < len(feature.categories) else None
    other = None if feature.other is None else known.index(feature.other)
    fallback = next((own for own in (missing, other) if own is not None), -1)
    return {
        "name": feature.name,
        "kind": feature.kind,
        "date": feature.date,
        "numbers": numbers,
        "values": [float(own) if numbers else value_text(own) for own in known],
        "missing": fallback,
        "unknown": fallback if other is None else other,
    }
