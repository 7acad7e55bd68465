"""Options that belong together: declared once as a frozen dataclass, taken by commands as one object.

Typer reads a command's signature, one parameter per option. `expand_groups` puts the fields of each group into the
signature that Typer sees, in the place of the parameter that asks for the group, and gives the command the object::

    @dataclass(frozen=True, kw_only=True)
    class Colours(OptionGroup):
        line: Annotated[str, typer.Option(help="Colour of lines.")] = "black"

    @expand_groups
    def draw(colours: Colours, *, size: int = 3) -> None: ...  # fairlimits draw --line red --size 4
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    import typer

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class OptionGroup:
    """Base of all groups: each field is an option or argument, its annotation what Typer reads, its default too."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """List the fields as parameters of a command."""
        hints = get_type_hints(cls, include_extras=True)
        signature = inspect.signature(cls)
        return [signature.parameters[own.name].replace(annotation=hints[own.name]) for own in fields(cls)]


def expand_groups(command: Callable[..., Found]) -> Callable[..., Found]:
    """Give a command that takes groups the signature that Typer needs: one parameter for each of their fields."""
    signature = inspect.signature(command, eval_str=True)
    expanded: list[inspect.Parameter] = []
    groups: dict[str, type[OptionGroup]] = {}
    for parameter in signature.parameters.values():
        kind = parameter.annotation
        if inspect.isclass(kind) and issubclass(kind, OptionGroup):
            groups[parameter.name] = kind
            expanded += kind.parameters()
        else:
            # Required ones may now come after others, which is in order for keywords.
            expanded.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> Found:
        made = {
            name: group(**{own.name: given.pop(own.name) for own in fields(group)}) for name, group in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = inspect.Signature(expanded, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {own.name: own.annotation for own in expanded}
    return run


def options_given(context: typer.Context) -> list[str]:
    """Names of the parameters that were given on the command line, whatever their values."""
    return [
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    ]


def option_flags(context: typer.Context) -> dict[str, str]:
    """What a person writes for each parameter of the command, such as ``--bin`` for ``bins``."""
    return {own.name: own.opts[0] for own in context.command.params if own.name is not None}


def command_line(context: typer.Context, *always: str) -> str:
    """Write the command as it was given, arguments first, so that it can be run again.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    *always : str
        Parameters to write even where they are at their defaults.
    """
    shown = {*options_given(context), *always}
    words = list(_words(context, shown))
    return shlex.join(["fairlimits", context.info_name or "", *words])


def _words(context: typer.Context, shown: set[str]) -> Iterator[str]:
    known = [own for own in context.command.params if own.name in shown]
    for own in sorted(known, key=lambda each: each.param_type_name != "argument"):
        value = context.params[own.name or ""]
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, bool):
                yield (own.opts if each else own.secondary_opts)[0]
            elif own.param_type_name == "argument":
                yield str(each)
            else:
                yield from (own.opts[0], str(each))
