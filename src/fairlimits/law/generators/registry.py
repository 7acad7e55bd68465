"""Generators by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import Any

from fairlimits._util.suggestions import did_you_mean
from fairlimits.errors import InputError
from fairlimits.law.generators.bootstrap import BootstrapGenerator
from fairlimits.law.generators.cart import CartGenerator
from fairlimits.law.generators.ctgan import CtganGenerator
from fairlimits.law.generators.protocol import Generator

GENERATORS: Mapping[str, Callable[..., Generator]] = MappingProxyType(
    {
        "cart": CartGenerator,
        "bootstrap": BootstrapGenerator,
        "ctgan": partial(CtganGenerator, "ctgan"),
        "tvae": partial(CtganGenerator, "tvae"),
    }
)
"""Every generator that has a name. The last two need the extra ``fairlimits[ctgan]`` (licence BUSL-1.1)."""


def make_generator(generator: str | Generator, **settings: Any) -> Generator:
    """Make a generator by its name; one that is made already is returned as it is.

    Parameters
    ----------
    generator : str or Generator
        "cart", "bootstrap", "ctgan" or "tvae", or a generator of your own.
    **settings
        What the named generator takes, such as ``min_leaf`` for "cart" or ``epochs`` for "ctgan".

    Raises
    ------
    InputError
        If there is no generator of that name, or it does not take the settings.
    """
    if not isinstance(generator, str):
        if not isinstance(generator, Generator):
            raise InputError(
                f"The generator is {generator!r}; give one of {', '.join(map(repr, GENERATORS))}, "
                "or an object with name, fit and sample."
            )
        if settings:
            raise InputError(f"The generator {generator.name!r} is made already; settings are for one by name.")
        return generator
    if generator not in GENERATORS:
        raise InputError(
            f"There is no generator {generator!r}; the known ones are {', '.join(GENERATORS)}."
            f"{did_you_mean(generator, GENERATORS)}"
        )
    make = GENERATORS[generator]
    known = [name for name in signature(make).parameters if not name.startswith("_")]
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise InputError(
            f"The generator {generator!r} does not take {', '.join(unknown)}; "
            f"it takes {' and '.join(known) if known else 'no settings'}."
        )
    return make(**settings)
