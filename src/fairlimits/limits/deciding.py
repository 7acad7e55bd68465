"""Decisions on rows of any kind of table: they are looked up in the cells of a law, once for all rules on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairlimits._util.types import Floats, Ints
from fairlimits.data import Dataset, as_table, read_features, read_groups
from fairlimits.errors import InputError
from fairlimits.limits.policies import CellPolicy

if TYPE_CHECKING:
    from fairlimits.limits.rules import Rule


class Rows(NamedTuple):
    """People as a policy sees them: features coded as in `Dataset.columns`, and the group where it is looked at."""

    columns: Mapping[str, NDArray[Any]]
    n_rows: int
    group: Ints | None


def read_rows(policy: CellPolicy, rows: Any, aware: bool) -> Rows:
    """Read people as a policy sees them, from a data set or a table; labels are not used."""
    if policy.schema is None:
        raise InputError(
            "The cells are bare numbers, which no row can be looked up in; make them with discretize from a table."
        )
    if isinstance(rows, Dataset):
        rows.check_groups(policy.groups)
        if rows.schema.features != policy.schema.features:
            raise InputError(
                "The rows have other features, or other categories, than those the rule was made from; read them with "
                "Dataset.read_like and the schema of the first table."
            )
        return Rows(rows.columns, rows.n_rows, rows.group)
    table = as_table(rows)
    columns = read_features(policy.schema, table, unseen="missing")
    group = read_groups(policy.schema, table) if aware else None
    return Rows(columns, len(next(iter(columns.values()))), group)


def decide(rule: Rule, rows: Any) -> Any:
    """Return the probability of deciding 1 for each row; for a Dask frame a lazy Dask series."""
    if is_dask(rows):
        return rows.map_partitions(_decide_part, rule, meta=("score", "f8"))
    if isinstance(rows, pa.RecordBatchReader):
        parts = [np.zeros(0), *(decide(rule, batch) for batch in rows if batch.num_rows)]
        return np.concatenate(parts)
    return np.asarray(decide_all([rule], rows)[0])


def is_dask(rows: Any) -> bool:
    """Return whether rows are a Dask frame."""
    return type(rows).__module__.startswith("dask") and hasattr(rows, "map_partitions")


def _decide_part(part: Any, rule: Rule) -> Any:
    """Decide a partition of a Dask frame, a pandas frame, with its own index."""
    return part.assign(score=decide(rule, part) if len(part) else np.zeros(0))["score"]


def decide_all(rules: Sequence[Rule], rows: Any) -> Floats:
    """Return the probability of deciding 1, of shape (rules, n); rows are looked up once in each law.

    Parameters
    ----------
    rules : sequence of Rule
        Rules of the same features and groups.
    rows : Dataset, or a pandas, polars or Arrow table
        See `Rule.decide`.
    """
    return policies_on([rule.policy for rule in rules], rows)


def policies_on(policies: Sequence[CellPolicy], rows: Any) -> Floats:
    """Return the scores, of shape (policies, n), that policies give to rows (see `decide_all`)."""
    people = read_rows(policies[0], rows, any(policy.aware for policy in policies))
    located, at = _locate(policies, people)
    return np.stack([policy.scores_at(located[way], people.group) for policy, way in zip(policies, at, strict=True)])


def locate_rows(policies: Sequence[CellPolicy], rows: Any, group: Ints | None) -> tuple[list[Ints], list[int]]:
    """Return the cells of rows, once for each law and `aware`, and for each policy the position of its cells.

    Parameters
    ----------
    policies : sequence of CellPolicy
        Policies of the same features and groups.
    rows : Dataset, or a pandas, polars or Arrow table
        The people.
    group : ndarray of int of shape (n,), optional
        Their groups, which policies that see the group need.
    """
    return _locate(policies, read_rows(policies[0], rows, aware=False)._replace(group=group))


def _locate(policies: Sequence[CellPolicy], people: Rows) -> tuple[list[Ints], list[int]]:
    q: dict[int, Floats] = {}
    ways: dict[tuple[int, bool], int] = {}
    located: list[Ints] = []
    for policy in policies:
        key, places = (id(policy.law), policy.aware), policy.law.places
        if places is not None and id(places.model) not in q:
            q[id(places.model)] = places.q_of(people.columns, people.n_rows)
        if key not in ways:
            ways[key] = len(located)
            known = None if places is None else q[id(places.model)]
            located.append(policy.locate(people.columns, people.group, known))
    return located, [ways[id(policy.law), policy.aware] for policy in policies]
