"""Forged files, systematically: every array and every number of every kind of file, each replaced by what cannot be.

A replaced value is sealed again, so that only checks of values stand between it and the user. Where a number could be
another one that means something too, such as another threshold of a tree, the file is loaded and works.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attack.area import Area, Case, number_of
from attack.people import Kind, save_one_of_each
from attack.use import tried, use
from fairlimits._util.archives import archive_kind, read_archive, seal, write_archive

_NUMBERS: tuple[float, ...] = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 5.0, 1e300, -1e-3)
_WHOLE: tuple[int, ...] = (-1, 0, 5, 255, 10**9, 2**40, -(2**63))
_PLAIN: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    5,
    0.5,
    10**400,
    1e308,
    float("nan"),
    -float("inf"),
    "",
    "x",
    [],
    {},
    [[]],
)

Array: TypeAlias = NDArray[Any]
Forgery: TypeAlias = tuple[str, Callable[[Path], None]]
"""What is changed, and what writes the file with it."""


@dataclass(frozen=True)
class Node:
    """Plain data at some place of a file, to be replaced."""

    path: tuple[Any, ...]

    def put(self, tree: Any, value: Any) -> Any:
        """Return the whole with something else in this place; what is not on the path to it is not copied."""
        if not self.path:
            return value
        changed = copy.copy(tree)
        changed[self.path[0]] = Node(self.path[1:]).put(tree[self.path[0]], value)
        return changed


def variants(array: Array) -> Iterator[tuple[str, Array]]:
    """Give an array with single values that cannot be, of other shapes and of other types."""
    strange: tuple[Any, ...] = _NUMBERS if array.dtype.kind == "f" else _WHOLE
    if array.dtype.kind in "fiu":
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        for at, value in itertools.product(
            sorted({0, array.size // 2, array.size - 1} & set(range(array.size))), strange
        ):
            changed = array.copy() if limits is None or limits.min <= value <= limits.max else array.astype(np.int64)
            changed.flat[at] = value
            yield f"[{at}] = {value:g}", changed
        yield "all alike", np.full_like(array, 1)
        yield "numbers that are not finite", np.full(array.shape, np.nan)
    yield "nothing", array[:0] if array.ndim else np.zeros(0, array.dtype)
    yield "one short", array[..., :-1] if array.ndim else np.zeros((1, 1), array.dtype)
    yield "one axis more", array[None]
    yield "no axes", np.zeros((), array.dtype)
    yield "turned", array.T[::-1] if array.ndim > 1 else np.repeat(array, 2)
    for kind in ("f4", "f8", "i1", "i8", "u8", "?", "U3"):
        if np.dtype(kind) != array.dtype:
            with np.errstate(all="ignore"):
                yield f"as {kind}", array.astype(kind)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[Node]:
    """Give every place in plain data."""
    for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield Node((*path, key))
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def of_archive(path: Path) -> Iterator[Forgery]:
    """All forgeries of an archive of numbers."""
    kind = archive_kind(path)
    header, arrays = read_archive(path, kind)

    def writer(header: Any, arrays: dict[str, Array]) -> Callable[[Path], None]:
        return partial(write_archive, kind=kind, header=header, arrays=arrays)

    for name, array in arrays.items():
        yield f"without {name}", writer(header, {key: own for key, own in arrays.items() if key != name})
        for what, changed in variants(array):
            yield f"{name} {what}", writer(header, arrays | {name: changed})
    for node, value in itertools.product(places(header), _PLAIN):
        yield f"{'/'.join(map(str, node.path))} = {value!r:.30}", writer(node.put(header, value), arrays)


def of_estimator(path: Path) -> Iterator[Forgery]:
    """All forgeries of what is ours in a file that skops wrote."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    tree = json.loads(members["schema.json"])

    def write(changed: Callable[[], Any], node: Node, more: dict[str, bytes], target: Path) -> None:
        whole = json.dumps(node.put(tree, changed())).encode()
        with zipfile.ZipFile(target, "w") as file:
            for name, content in (members | more | {"schema.json": whole}).items():
                file.writestr(name, content)
        seal(target, "estimator")

    for node, own in _ours(tree):
        where = "/".join(str(key) for key in node.path if key != "content")
        if own["__loader__"] == "JsonNode":
            for what, changed in _texts(own):
                yield f"{where}{what}", partial(write, changed, node, {})
            continue
        array = np.load(io.BytesIO(members[own["file"]]), allow_pickle=False)
        for what, strange in variants(array):
            content = io.BytesIO()
            np.save(content, strange, allow_pickle=False)
            more = {"forged.npy": content.getvalue()}
            yield f"{where} {what}", partial(write, partial(_renewed, own, file="forged.npy"), node, more)


def _renewed(own: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return a part of a file with something else, and another identity: what has the same is read once."""
    return own | changed | {"__id__": 1}


def _texts(own: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Give JSON with another value; a text that holds JSON itself, with another value somewhere in it."""
    found = json.loads(own["content"])
    inner = json.loads(found) if isinstance(found, str) and found.startswith("{") else {}
    for node, value in itertools.product(places(inner), _PLAIN):
        yield f"/{'/'.join(map(str, node.path))} = {value!r:.30}", partial(_within, own, inner, node, value)
    for value in _PLAIN:
        yield f" = {value!r:.30}", partial(_renewed, own, content=json.dumps(value))


def _within(own: dict[str, Any], inner: Any, node: Node, value: Any) -> dict[str, Any]:
    return _renewed(own, content=json.dumps(json.dumps(node.put(inner, value))))


def _ours(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Node, Any]]:
    """Places of numbers, words and arrays, but not those within objects of other libraries, which check their own."""
    if isinstance(tree, dict):
        loader, module = tree.get("__loader__"), str(tree.get("__module__", ""))
        if loader in ("JsonNode", "NdArrayNode") and (loader == "JsonNode" or tree.get("type") == "numpy"):
            yield Node(path), tree
            return
        if loader == "ObjectNode" and not module.startswith("fairlimits."):
            return
    for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(inner, dict | list) and key != "key_types":
            yield from _ours(inner, (*path, key))


@contextmanager
def _values(folder: Path) -> Iterator[Case]:
    forgeries: list[tuple[Kind, Forgery]] = []
    for kind in save_one_of_each(folder):
        use(kind.load(kind.path))
        of_kind = of_estimator if archive_kind(kind.path) == "estimator" else of_archive
        forgeries += [(kind, own) for own in of_kind(kind.path)]
    # Each once, in an order in which every part of them is a sample of all.
    order = np.random.default_rng(0).permutation(len(forgeries))

    def case(rng: np.random.Generator) -> str | None:
        kind, (what, write) = forgeries[order[number_of(rng) % len(order)]]
        write(folder / "forged")
        return tried(folder / "forged", kind.load, f"{kind.name}, {what}")

    yield case


AREAS = (
    Area(
        "every value",
        "each array and number of each kind of file, replaced: refused on load, or usable",
        16_000,
        _values,
    ),
)
