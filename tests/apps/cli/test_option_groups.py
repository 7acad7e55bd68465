"""Options declared as a dataclass reach a command as one object, and can be written down again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from fairlimits.apps.cli.option_groups import OptionGroup, command_line, expand_groups, option_flags, options_given


@dataclass(frozen=True, kw_only=True)
class Colours(OptionGroup):
    source: Annotated[str, typer.Argument(help="What to draw.")]
    lines: Annotated[list[str] | None, typer.Option("--line", "-l", help="Colour of a line.")] = None
    dark: Annotated[bool, typer.Option("--dark/--light", help="Of the paper.")] = False


@dataclass(frozen=True, kw_only=True)
class DarkColours(Colours):
    dark: Annotated[bool, typer.Option("--dark/--light", help="Of the paper.")] = True


@pytest.fixture
def seen() -> list[Any]:
    return []


@pytest.fixture
def app(seen: list[Any]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @expand_groups
    def draw(context: typer.Context, colours: Colours, *, size: int = 3, output: Path = Path("a b.png")) -> None:
        """Draw."""
        seen.extend([colours, size, options_given(context), command_line(context, "output"), option_flags(context)])

    @app.command()
    @expand_groups
    def night(colours: DarkColours) -> None:
        seen.append(colours)

    return app


def test_a_command_gets_the_group_as_one_object(app: typer.Typer, seen: list[Any]) -> None:
    words = ["draw", "it", "--line", "red", "-l", "blue", "--size", "4", "--dark"]
    assert CliRunner().invoke(app, words).exit_code == 0
    colours, size, given, command, flags = seen
    assert colours == Colours(source="it", lines=["red", "blue"], dark=True)
    assert size == 4
    assert set(given) == {"source", "lines", "dark", "size"}
    assert command == "fairlimits draw it --line red --line blue --dark --size 4 --output 'a b.png'"
    assert flags["lines"] == "--line"
    # What was written down gives the same again.
    seen.clear()
    assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    assert seen[:2] == [colours, size]


def test_defaults_are_those_of_the_dataclass(app: typer.Typer, seen: list[Any]) -> None:
    assert CliRunner().invoke(app, ["draw", "it"]).exit_code == 0
    assert seen[:2] == [Colours(source="it"), 3]
    seen.clear()
    assert CliRunner().invoke(app, ["night", "it"]).exit_code == 0
    assert seen == [DarkColours(source="it", dark=True)]
    seen.clear()
    assert CliRunner().invoke(app, ["night", "it", "--light"]).exit_code == 0
    assert seen == [DarkColours(source="it", dark=False)]


def test_what_is_missing_is_said_by_name(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["draw"])
    assert done.exit_code == 2
    assert "source" in done.output.lower()
    for words in ("What to draw.", "Colour of a line.", "--light", "Draw."):
        assert words in CliRunner().invoke(app, ["draw", "--help"]).output
