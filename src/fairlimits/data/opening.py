"""How a table too large for memory is opened: files, Arrow datasets and Dask frames become a `Stream`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlimits.data import roles as special
from fairlimits.data.bins import Bins
from fairlimits.data.column_roles import Names, Roles, names_of, roles_needed
from fairlimits.data.columns import names_only
from fairlimits.data.dask_parts import DaskParts, is_dask_frame
from fairlimits.data.dataset import Dataset
from fairlimits.data.parts import Parts, arrow_parts
from fairlimits.data.reading import Unseen
from fairlimits.data.roles import MissingSensitive
from fairlimits.data.schema import Scalar
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups, check_small_groups
from fairlimits.data.stream import Stream
from fairlimits.errors import InputError


def open_stream(
    source: Any,
    *,
    label: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    positive: Scalar = None,
    weight: str | None = None,
    numeric: Names = None,
    categorical: Names = None,
    drop: Names = None,
    features: Names = None,
    bins: Bins = None,
    tidy: Names = None,
    missing_sensitive: MissingSensitive = "refuse",
    small_groups: SmallGroups = SET_ASIDE,
    unseen: Unseen = "refuse",
    id: Names = None,
    client: Any = None,
) -> Stream:
    """Open a table that need not fit into memory.

    Parameters
    ----------
    source : path, list of paths, pyarrow.dataset.Dataset or dask.dataframe.DataFrame
        The rows. A path may be a Parquet or CSV file, a pattern such as ``big/*.parquet``, or a directory, whose files
        are read as one table; ``key=value`` in the path of a file is a column.
    label, sensitive, positive, weight, numeric, categorical, drop, features, bins, tidy, missing_sensitive
        As in `Dataset.from_frame`. Label and sensitive columns may be left out only for rows that are counted on the
        cells of other rows.
    small_groups : {"set aside", "join", "refuse"}
        As in `Dataset.from_frame`. Rows cannot be dropped: which groups are small is known only after a first pass.
    unseen : {"refuse", "missing"}
        What to do, on the cells of other rows, with a category that those did not have: see `read_features`.
    id : str or sequence of str, optional
        Columns that say who a row is about, which are not features: by a hash of them people are held out, all rows of
        one together. By default rows are held out by a hash of where they stand; those of a Dask DataFrame, which have
        no stable order, by a hash of their features.
    client : distributed.Client, optional
        The Dask cluster on which to read the files, which its workers must be able to see, or to work on the Dask
        DataFrame; by default files are read by this process, and a Dask DataFrame by Dask's current scheduler.

    Returns
    -------
    Stream
        Nothing is read yet.

    Raises
    ------
    InputError
        If the source cannot be read in parts, or a column that was named is not there.
    """
    if unseen not in ("refuse", "missing"):
        raise InputError(f"unseen is {unseen!r}: use 'refuse' or 'missing'.")
    if is_dask_frame(source):
        parts: Parts = DaskParts(source, client)
    elif client is not None:
        parts = DaskParts.read(source, client)
    else:
        parts = arrow_parts(source)
    special.check_missing_sensitive(missing_sensitive)
    choice = check_small_groups(small_groups)
    if choice == "drop rows":
        raise InputError(
            "small_groups is 'drop rows', but these rows are read in parts, and which groups are small is known only "
            "at the end: choose 'join', or leave the rows of small groups out of the files."
        )
    table, known_by = names_only(parts.names), names_of(id)
    table.require(known_by, "id")
    drop = (*names_of(drop), *(name for name in known_by if name not in names_of(drop))) or None
    if label is None or not sensitive:
        if (label, positive, weight, numeric, categorical, drop, features, bins, tidy) != (None,) * 9 or sensitive:
            raise roles_needed("The rows need")
        if choice != SET_ASIDE:
            raise InputError(
                f"small_groups is {choice!r}, but rows without a label of their own are counted on the cells of other "
                "rows, whose groups are settled: leave it out."
            )
        return Stream(parts, None, missing_sensitive, unseen)
    roles = Roles.read(
        label=label,
        sensitive=sensitive,
        positive=positive,
        weight=weight,
        numeric=numeric,
        categorical=categorical,
        drop=drop,
        features=features,
        bins=bins,
        tidy=tidy,
        missing_sensitive=missing_sensitive,
        small_groups=choice,
    )
    roles.check(table)
    return Stream(parts, roles, missing_sensitive, unseen, known_by)


def open_rows(data: Any, **columns: Any) -> Dataset | Stream:
    """Return a `Dataset` or a `Stream` as it is; open anything else by `open_stream`."""
    if not isinstance(data, Dataset | Stream):
        return open_stream(data, **columns)
    if columns:
        raise InputError(f"The rows are explained already; leave {', '.join(columns)} out.")
    return data
