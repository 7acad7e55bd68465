"""Damaged and forged files: one flipped bit, and content that was changed and sealed again."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.area import Area, Case
from attack.people import save_one_of_each
from attack.use import tried
from fairlimits._util.archives import archive_kind, read_archive, write_archive
from fairlimits.errors import FileError

_STRANGE: tuple[Any, ...] = (None, True, -1, 0, 5, 10**400, 1e308, float("nan"), float("inf"), "", "x", [], {}, [[]])


@contextmanager
def _flips(folder: Path) -> Iterator[Case]:
    kinds = save_one_of_each(folder)
    whole = [kind.path.read_bytes() for kind in kinds]

    def case(rng: np.random.Generator) -> str | None:
        at = int(rng.integers(len(kinds)))
        damaged = bytearray(whole[at])
        bit = int(rng.integers(8 * len(damaged)))
        damaged[bit // 8] ^= 1 << bit % 8
        return _refused(folder / "flipped", bytes(damaged), kinds[at].load, f"bit {bit} of {kinds[at].name}")

    yield case


def _refused(path: Path, content: bytes, load: Any, what: str) -> str | None:
    path.write_bytes(content)
    try:
        load(path)
    except FileError:
        return None
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"
    return f"{what}: loaded"


@contextmanager
def _forgeries(folder: Path) -> Iterator[Case]:
    kinds = [own for own in save_one_of_each(folder) if archive_kind(own.path) != "estimator"]
    parts = [(archive_kind(own.path), *read_archive(own.path, archive_kind(own.path))) for own in kinds]

    def case(rng: np.random.Generator) -> str | None:
        at = int(rng.integers(len(kinds)))
        kind, header, arrays = copy.deepcopy(parts[at])
        what = _change_array(rng, arrays) if rng.random() < 0.5 else _change_value(rng, header)
        write_archive(folder / "forged", kind, header, arrays)
        return tried(folder / "forged", kinds[at].load, f"{kinds[at].name}, {what}")

    yield case


def _change_array(rng: np.random.Generator, arrays: dict[str, Any]) -> str:
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name]
    way = rng.integers(5)
    if way == 0:
        del arrays[name]
    elif way == 1:
        arrays[name + "x"] = array
    elif way == 2 or not array.size:
        arrays[name] = array[..., :-1] if array.ndim and array.shape[-1] else np.zeros(3)
    elif array.dtype.kind == "f":
        array.flat[int(rng.integers(array.size))] = rng.choice([np.nan, np.inf, -1.0, 5.0, 1e300])
    else:
        arrays[name] = array.astype(np.int64)
        arrays[name].flat[int(rng.integers(array.size))] = rng.choice([-1, 2**40, 10**9])
    return f"array {name}, way {way}"


def _change_value(rng: np.random.Generator, header: dict[str, Any]) -> str:
    """Put something strange somewhere into plain data."""
    place: Any = header
    path = []
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[int(rng.integers(len(keys)))]
        path.append(str(key))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.9:
            place = inner
            continue
        place[key] = _STRANGE[int(rng.integers(len(_STRANGE)))]
        return f"{'/'.join(path)} = {place[key]!r:.30}"


AREAS = (
    Area("bit flips", "one flipped bit in a saved file of any kind is refused, by a FileError", 20_000, _flips),
    Area("forged files", "changed content, sealed again: refused on load, or usable", 4_000, _forgeries),
)
