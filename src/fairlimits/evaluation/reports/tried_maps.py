"""A map tried on held-out rows: on all of them, or, where they are not in memory, on a sample of them."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Draw, Part, Reader, Stream
from fairlimits.decorrelation import Certificate, Decorrelation
from fairlimits.errors import DataError
from fairlimits.evaluation.reports.surveys import SCREENED, joined

_Pieces = tuple[tuple[Dataset, Floats], ...]


def certificate_on(plan: Decorrelation, test: Dataset | Stream, random_state: int) -> Certificate:
    """Try a map on rows that took no part in it; adversaries learn from rows, so that those of a stream are sampled."""
    if isinstance(test, Dataset):
        return plan.certificate(test, random_state=random_state)
    learned, draw = test.learn(), test.draw(random_state)
    certificate: Certificate | None = test.parts.fold(
        partial(_drawn, learned.reader, draw, min(1.0, SCREENED / learned.facts.rows)),
        operator.add,
        partial(_tried, plan, random_state),
        columns=tuple(dict.fromkeys((*learned.reader.columns, *draw.names))),
    )
    if certificate is None:
        raise DataError("There are no rows to judge on: give some.")
    return certificate


def _drawn(reader: Reader, draw: Draw, share: float, part: Part, frame: Any) -> _Pieces | None:
    found = reader.drawn(part, frame, draw, "adversaries")
    if found is None:
        return None
    rows, (drawn,) = found
    chosen = np.flatnonzero(drawn < share)
    return ((rows.take(chosen), drawn[chosen]),) if len(chosen) else None


def _tried(plan: Decorrelation, random_state: int, pieces: _Pieces) -> Certificate:
    return plan.certificate(joined(pieces), random_state=random_state)
