"""Dask, if it is installed: its modules, and work done in parallel on its workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar

from fairlimits._util.progress import Progress, silent
from fairlimits.errors import InputError, MissingExtraError

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def dask_module(name: str = "dask") -> Any:
    """Import a module of Dask, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            "Work on a cluster needs the package dask, which is not installed; run: pip install "
            "'fairlimits[distributed]'"
        ) from error


def check_client(client: Any) -> None:
    """Refuse what is not a Dask client."""
    if client is not None and not isinstance(client, dask_module("distributed").Client):
        raise InputError(f"The client is a {type(client).__name__}; give a distributed.Client, or leave it out.")


def run_all(
    work: Callable[[Item], Answer], items: Sequence[Item], *, client: Any = None, tell: Progress = silent
) -> list[Answer]:
    """Do some work on every item, one after another in this process or in parallel on the workers of a cluster.

    Parameters
    ----------
    work : callable
        The work. Sent to each worker once.
    items : sequence
        What it is done on.
    client : distributed.Client, optional
        The cluster.
    tell : callable
        Called with the fraction done and a few words.

    Returns
    -------
    list
        The answers, in the order of the items.
    """
    check_client(client)
    answers: list[Answer] = []
    if client is None:
        for number, item in enumerate(items):
            tell(number / len(items), f"{number} of {len(items)}")
            answers.append(work(item))
        return answers
    dask = dask_module()
    shared = dask.delayed(work)
    futures = client.compute([dask.delayed(_call)(shared, item) for item in items])
    for number, future in enumerate(futures):
        tell(number / len(items), f"{number} of {len(items)}")
        answers.append(future.result())
    return answers


def _call(work: Callable[[Item], Answer], item: Item) -> Answer:
    return work(item)
