"""Generators: they learn the law of a table of people and draw as many new rows from it as are wanted."""

from __future__ import annotations

from fairlimits.law.generators.bootstrap import BootstrapGenerator
from fairlimits.law.generators.cart import CartGenerator
from fairlimits.law.generators.ctgan import PAPER_EPOCHS, CtganGenerator
from fairlimits.law.generators.protocol import Generator, check_size
from fairlimits.law.generators.registry import GENERATORS, make_generator

__all__ = [
    "GENERATORS",
    "PAPER_EPOCHS",
    "BootstrapGenerator",
    "CartGenerator",
    "CtganGenerator",
    "Generator",
    "check_size",
    "make_generator",
]
