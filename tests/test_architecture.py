"""What import-linter cannot say of the architecture; the order of the rooms is in ``pyproject.toml``."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import fairlimits

SOURCE = Path(fairlimits.__file__).parent

ROOMS = (
    "_util",
    "data",
    "notions",
    "solvers",
    "law",
    "limits",
    "decorrelation",
    "evaluation",
    "estimators",
    "apps",
)
DOORS = ("__init__", "__main__", "errors")

FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [path.relative_to(SOURCE).as_posix() for path in FILES]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


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


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_the_plan_can_be_seen() -> None:
    entries = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name != "__pycache__"}
    assert entries == {*ROOMS, *DOORS, "__init__.pyi", "py.typed"}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_only_one_file_talks_to_the_solver(path: Path) -> None:
    if path != SOURCE / "solvers" / "lp.py":
        assert not [name for name in imports(path) if name.partition(".")[0] == "highspy"]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_only_one_file_draws_by_pyplot(path: Path) -> None:
    if path != SOURCE / "_util" / "plotting.py":
        assert not [name for name in imports(path) if name.startswith("matplotlib.pyplot")]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_rooms_are_entered_through_their_fronts(path: Path) -> None:
    """``_util`` has no front: it holds nothing of fairness, and its files are what they are called."""
    fronts = {name: set(import_module(f"fairlimits.{name}").__all__) for name in ROOMS[1:-1]}
    for name in imports(path):
        _, _, inner = name.partition("fairlimits.")
        other, _, taken = inner.partition(".")
        if other in fronts and other != room(path):
            assert taken in fronts[other], f"{name} is not at the front of {other}"


def test_fronts_are_in_order_and_shadow_no_file() -> None:
    for name in ROOMS[1:-1]:
        front = import_module(f"fairlimits.{name}")
        assert list(front.__all__) == sorted(set(front.__all__), key=order), name
        files = {path.stem for path in (SOURCE / name).iterdir()}
        assert not files & set(front.__all__), name


HEAVY = ("numpy", "pyarrow", "pandas", "scipy", "sklearn", "matplotlib", "dash", "dask", "torch")


@pytest.mark.parametrize(
    "code",
    [
        "import fairlimits",
        "from fairlimits.apps.cli import run; run(['--version'])",
        "from fairlimits.apps.cli import run; run(['--help'])",
        "from fairlimits.apps.cli import run; run(['frontier', '--help'])",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    code += f"; import sys; print(*(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_cells_and_limits_do_without_learners_and_pictures() -> None:
    code = "import sys, fairlimits.limits, fairlimits.law.cells.building; "
    code += "print(*(set(sys.modules) & {'sklearn', 'pyarrow.dataset', 'matplotlib', 'dash', 'dask', 'torch'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "__import__"}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nothing_that_is_read_is_run(path: Path) -> None:
    # Processes of joblib read what this one sends them, and nothing else.
    known = {"joblib.externals.loky"} if path == SOURCE / "_util" / "workers.py" else set()
    taken = [name for name in imports(path) if name.partition(".")[0] in UNSAFE_MODULES]
    assert not [name for name in taken if name.rpartition(".")[0] not in known]
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


LONGEST_BODY = 60


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_function_is_longer_than_a_screen(path: Path) -> None:
    """Its signature and docstring aside."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[min(ast.get_docstring(node) is not None, len(node.body) - 1)]
            lines = (node.end_lineno or 0) - first.lineno + 1
            assert lines <= LONGEST_BODY, f"{node.name} has a body of {lines} lines"


def order(name: str) -> tuple[int, str]:
    """Constants, classes, functions; each in alphabetical order."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_public_names() -> None:
    names = fairlimits.__all__
    assert list(names) == sorted(set(names), key=order)
    assert [name for name in names if not hasattr(fairlimits, name)] == []
    assert dir(fairlimits) == names
    with pytest.raises(AttributeError, match="'fairlimits' has no attribute 'nothing'"):
        _ = fairlimits.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.pyi")), ids=lambda path: path.parent.name)
def test_stubs_say_what_there_is(path: Path) -> None:
    front = import_module(".".join(("fairlimits", *path.relative_to(SOURCE).parent.parts)))
    nodes = [node for node in tree(path).body if isinstance(node, ast.ImportFrom)]
    assert {alias.asname for node in nodes for alias in node.names} == set(front.__all__)
    for node in nodes:
        for alias in node.names:
            assert getattr(front, alias.name) is getattr(import_module(node.module or ""), alias.name)


def test_no_module_is_shadowed_by_a_public_name() -> None:
    for name in fairlimits.__all__:
        assert not (SOURCE / name).exists(), name
        assert not (SOURCE / f"{name}.py").exists(), name
    for name in (*ROOMS, "errors"):
        import_module(f"fairlimits.{name}")
        assert inspect.ismodule(getattr(fairlimits, name)), name


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

    things = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    found = [thing for thing in things if not issubclass(thing, Warning)]
    assert len(found) > 5
    for error in found:
        assert issubclass(error, errors.FairlimitsError)
        assert error.__name__ in (errors.__doc__ or "")
