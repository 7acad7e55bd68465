"""Generators: they learn the law of a table of people and draw as many new rows from it as are wanted."""

from __future__ import annotations

from fairlimits.generate.bootstrap import BootstrapGenerator
from fairlimits.generate.cart import CartGenerator
from fairlimits.generate.ctgan import PAPER_EPOCHS, CtganGenerator
from fairlimits.generate.protocol import Generator, check_size
from fairlimits.generate.registry import GENERATORS, make_generator

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
