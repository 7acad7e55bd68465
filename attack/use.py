"""What people do with what they loaded: whatever a file holds, it is refused on load, or all of this works."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import fairlimits as fl
from attack.people import data, table
from fairlimits.decorrelation import DecorrelationFrontier
from fairlimits.errors import FileError, InputError
from fairlimits.law.generators import CartGenerator

_ROWS = 40


def tried(path: Path, load: Callable[[Path], Any], what: str) -> str | None:
    """Load a file and use what it holds; what went wrong, or None if it was refused or all of it works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = load(path)
        except FileError:
            return None
        except Exception as error:
            return f"{what}: on load {type(error).__name__}: {error}"
        try:
            use(found)
        except InputError as error:
            # A file about other rows, such as of dates where these have numbers, is a good file.
            if "read_like" not in str(error):
                return f"{what}: loaded, and on use InputError: {error}"
        except Exception as error:
            return f"{what}: loaded, and on use {type(error).__name__}: {error}"
    return None


@singledispatch
def use(thing: Any) -> None:
    """Do what people do with a result."""
    raise TypeError(f"nobody knows what to do with a {type(thing).__name__}")


def _people() -> fl.Dataset:
    return data(np.random.default_rng(1), _ROWS)


def _between(values: Any, least: float = 0.0, most: float = 1.0) -> None:
    """Refuse figures that cannot be; NaN stands for one that is not estimable where a gap is meant."""
    found = np.asarray(values, dtype=np.float64)
    if not ((found >= least - 1e-6) & (found <= most + 1e-6)).all():
        raise ValueError(f"figures that cannot be, from {found.min()} to {found.max()}")


def _gaps(gaps: Any) -> None:
    _between([gap for gap in gaps.values() if not np.isnan(gap)])


def _shown(thing: Any) -> None:
    repr(thing)
    thing.summary()
    thing.to_frame()


@use.register
def _(thing: fl.CellDistribution) -> None:
    _shown(thing)
    if thing.counts is not None:
        # A law without counts is a kind of its own.
        thing.share_errors()
    thing.centres()
    _between(fl.solve(thing, {"DP": 0.1}).accuracy)
    if thing.schema is not None:
        thing.cells_of(_people())


@use.register
def _(thing: fl.Outcome) -> None:
    _shown(thing)
    _between(thing.model.predict(_people()))
    _between(thing.calibration_error())
    thing.group_loss()
    _between(fl.discretize(thing.data, 4, outcome=thing).mass)


@use.register
def _(thing: fl.Rule) -> None:
    _shown(thing)
    _between([thing.accuracy, thing.bayes_accuracy])
    _gaps(thing.gaps)
    dict(thing.shadow_prices)
    thing.card()
    if thing.distribution.schema is not None:
        _between(thing.decide(_people()))
        thing.explain().summary()


@use.register
def _(thing: fl.Frontier) -> None:
    _shown(thing)
    _between(thing.accuracy)
    _between(thing.plug_in)
    for rule in thing.rules[:2]:
        _gaps(rule.gaps)
    if thing.distribution.schema is not None:
        _between(thing.rules[-1].decide(_people()))


@use.register
def _(thing: fl.Decorrelation) -> None:
    _shown(thing)
    thing.figures()
    _between(thing.accuracy)
    thing.apply(_people(), random_state=0)


@use.register
def _(thing: DecorrelationFrontier) -> None:
    _shown(thing)


@use.register
def _(thing: CartGenerator) -> None:
    repr(thing)
    thing.sample(20)


@use.register
def _(thing: BaseEstimator) -> None:
    repr(thing)
    rows = table(np.random.default_rng(1), _ROWS)
    X = rows[["skill", "job"]]
    if isinstance(thing, fl.Decorrelator):
        thing.transform(X, sensitive_features=rows["sex"])
        use(thing.plan_)
        return
    _between(thing.predict_proba(X, sensitive_features=rows["sex"]))
    thing.predict(X, sensitive_features=rows["sex"])
    use(thing.rule_)
    thing.frontier_.summary()
