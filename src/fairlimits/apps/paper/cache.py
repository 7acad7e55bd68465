"""Results kept on disk, one file per unit of work, each with the settings that it was made with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fairlimits as fl
from fairlimits._util.storage import write_text, write_whole
from fairlimits.apps.paper.settings import Settings

_ROWS = "rows"


class Kept:
    """Kept results of one choice of settings.

    Parameters
    ----------
    output : Path
        The folder of the reproduction; results lie in ``kept/`` below it.
    settings : Settings
        What they are made with.
    """

    def __init__(self, output: Path, settings: Settings) -> None:
        self.folder = output / "kept" / settings.name
        self.settings = settings.to_dict()

    def read(self, unit: str, dataset: str) -> dict[str, Any] | None:
        """Return a kept result, or None if there is none of these settings and this version."""
        try:
            content = json.loads(self._path(unit, dataset, "json").read_text(encoding="utf-8"))
            result = content["result"]
            fits = content["made with"] == self.settings and content["data"] == dataset and isinstance(result, dict)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return result if fits else None

    def write(self, unit: str, dataset: str, result: Mapping[str, Any]) -> None:
        """Keep a result, whole or not at all."""
        content = {"made with": self.settings, "data": dataset, "result": plain(result)}
        make_folder(self.folder)
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        write_text(self._path(unit, dataset, "json"), text + "\n")

    def read_cells(self, unit: str, dataset: str) -> fl.CellDistribution | None:
        """Return kept cells, or None."""
        if self.read(unit, dataset) is None:
            return None
        try:
            return fl.CellDistribution.load(self._path(unit, dataset, "npz"))
        except fl.errors.FileError:
            return None

    def write_cells(self, unit: str, dataset: str, dist: fl.CellDistribution, facts: Mapping[str, Any]) -> None:
        """Keep cells, and facts on how they were made."""
        make_folder(self.folder)
        dist.save(self._path(unit, dataset, "npz"))
        # Written last: cells without facts beside them do not count as kept.
        self.write(unit, dataset, facts)

    def read_rows(self, dataset: str, like: fl.Dataset) -> tuple[fl.Dataset, dict[str, Any]] | None:
        """Return kept rows of a generator and the facts kept with them, or None."""
        facts = self.read(_ROWS, dataset)
        if facts is None:
            return None
        try:
            table = pq.read_table(self._path(_ROWS, dataset, "parquet"))
            return fl.Dataset.read_like(like.schema, table), facts
        except (OSError, pa.ArrowException, fl.errors.DataError):
            return None

    def write_rows(self, dataset: str, rows: fl.Dataset, facts: Mapping[str, Any]) -> None:
        """Keep rows of a generator, and facts on how they were made."""
        make_folder(self.folder)
        with write_whole(self._path(_ROWS, dataset, "parquet")) as temporary:
            pq.write_table(rows.to_frame(), temporary)
        self.write(_ROWS, dataset, facts)

    def read_picture(self, target: str, units: Sequence[str], suffix: str) -> bytes | None:
        """Return a kept picture, or None if there is none that is newer than the results it is drawn from."""
        try:
            picture = self.folder / f"{target}.{suffix}"
            drawn = picture.stat().st_mtime_ns
            results = [path for unit in units for path in self.folder.glob(f"{unit}-*.json")]
            if any(path.stat().st_mtime_ns > drawn for path in results):
                return None
            return picture.read_bytes()
        except OSError:
            return None

    def has_picture(self, target: str) -> bool:
        """Whether a figure was drawn before."""
        return (self.folder / f"{target}.png").exists()

    def write_picture(self, target: str, suffix: str, content: bytes) -> None:
        """Keep a picture, whole or not at all."""
        make_folder(self.folder)
        with write_whole(self.folder / f"{target}.{suffix}") as temporary:
            temporary.write_bytes(content)

    def forget(self) -> None:
        """Remove what is kept of these settings."""
        for path in (
            own for suffix in ("json", "npz", "parquet", "png", "pdf") for own in self.folder.glob(f"*.{suffix}")
        ):
            path.unlink()

    def _path(self, unit: str, dataset: str, suffix: str) -> Path:
        return self.folder / f"{unit}-{dataset}.{suffix}"


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fl.errors.FileError(
            f"The folder {folder} cannot be made ({error.strerror}); choose another place."
        ) from error


def plain(value: Any) -> Any:
    """Turn arrays and their numbers into what JSON holds; NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
