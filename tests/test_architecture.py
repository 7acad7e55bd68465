"""The rooms of the package import downhill only, and a few things are done in one place or nowhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairlimits

SOURCE = Path(fairlimits.__file__).parent

ROOMS = (
    "errors",
    "arrays",
    "progress",
    "cores",
    "cluster",
    "boosting",
    "look",
    "storage",
    "sampling",
    "data",
    "distribution",
    "merging",
    "criteria",
    "objective",
    "requirements",
    "judge",
    "parametric",
    "lp",
    "sifting",
    "_pairwise",
    "neighbours",
    "variables",
    "laplacian",
    "interior",
    "pairs",
    "program",
    "relaxation",
    "solve",
    "tracing",
    "frontier",
    "predictive",
    "ratios",
    "tension",
    "bands",
    "_nearest",
    "_rows",
    "_seeding",
    "quantize",
    "places",
    "counting",
    "generate",
    "outcome",
    "_smooth",
    "discretize",
    "likeness",
    "fidelity",
    "pointwise",
    "decorrelate",
    "evaluate",
    "challenge",
    "growth",
    "scenarios",
    "audit",
    "estimators",
    "report",
    # The package's own front door: who stands below it may use the public names only.
    "fairlimits",
    "explorer",
    "paper",
    "cli",
    "__main__",
)
"""Every room, and the only ones it may import from are those before it."""

FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [path.relative_to(SOURCE).as_posix() for path in FILES]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def room(path: Path) -> str:
    """Name of the room that a file belongs to: its package below fairlimits, or itself."""
    first = path.relative_to(SOURCE).parts[0]
    return "fairlimits" if first == "__init__.py" else first.removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in the file, with what it takes from it."""
    package = ["fairlimits", *path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_rooms(path: Path) -> Iterator[str]:
    for name in imports(path):
        first, _, rest = name.partition(".")
        if first == "fairlimits":
            inner = rest.partition(".")[0]
            # `import fairlimits` and names such as `fairlimits.solve_it` come through the front door.
            is_module = (SOURCE / inner).is_dir() or (SOURCE / f"{inner}.py").exists()
            yield inner if inner and is_module else "fairlimits"


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 20
    assert set(imported_rooms(SOURCE / "solve.py")) >= {"program", "criteria", "storage"}
    assert "highspy" in set(imports(SOURCE / "lp.py"))
    assert room(SOURCE / "data" / "load.py") == "data"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_go_downhill(path: Path) -> None:
    own = room(path)
    if path == SOURCE / "__init__.py":
        return
    assert own in ROOMS, f"{own} is a new room: give it a place in the order"
    above = ROOMS[: ROOMS.index(own)]
    wrong = {other for other in imported_rooms(path) if other != own and other not in above}
    assert not wrong, f"{own} may not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_only_one_file_talks_to_the_solver(path: Path) -> None:
    if path != SOURCE / "lp.py":
        assert not [name for name in imports(path) if name.partition(".")[0] == "highspy"]


UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "__import__"}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nothing_that_is_read_is_run(path: Path) -> None:
    assert not [name for name in imports(path) if name.partition(".")[0] in UNSAFE_MODULES]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS), node.lineno
            for keyword in node.keywords:
                refused = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                assert keyword.arg != "allow_pickle" or refused, node.lineno
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                assert "allow_pickle" in {keyword.arg for keyword in node.keywords}, node.lineno


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_file_says_what_it_is_for(path: Path) -> None:
    docstring = ast.get_docstring(tree(path))
    assert docstring
    assert docstring.splitlines()[0].rstrip().endswith((".", "?"))


def order(name: str) -> tuple[int, str]:
    """Constants, classes, functions; each in alphabetical order."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_public_names() -> None:
    names = fairlimits.__all__
    assert list(names) == sorted(set(names), key=order)
    assert [name for name in names if not hasattr(fairlimits, name)] == []
    bound = set()
    for node in tree(SOURCE / "__init__.py").body:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", None) != "__future__":
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert {name for name in bound if not name.startswith("_")} == set(names)


CONTRACT = {
    "CellDistribution",
    "Dataset",
    "Neighbourhood",
    "discretize",
    "frontier",
    "load_dataset",
    "solve",
    "tension",
}


def test_the_contract_is_kept() -> None:
    assert set(fairlimits.__all__) >= CONTRACT
    assert {name for name in fairlimits.__all__ if not (getattr(fairlimits, name).__doc__ or "").strip()} == set()


def test_every_error_belongs_to_the_tree() -> None:
    from fairlimits import errors

    found = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    assert len(found) > 5
    for error in found:
        assert issubclass(error, errors.FairlimitsError)
        assert error.__name__ in (errors.__doc__ or "")
        assert getattr(fairlimits, error.__name__) is error
