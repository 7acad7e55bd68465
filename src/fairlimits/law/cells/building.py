"""`discretize`: from a table of people to the joint law on cells, all steps in order."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from fairlimits._util.callers import outside
from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.suggestions import did_you_mean
from fairlimits._util.types import Ints
from fairlimits.data import Dataset, Encoding, Schema, Stream, check_seed, open_rows
from fairlimits.errors import DataError, InputError
from fairlimits.law.cells.counts import Counts, count_cells
from fairlimits.law.cells.cutting import cut_outcome
from fairlimits.law.cells.distributions import CellDistribution
from fairlimits.law.cells.origins import DEFAULT_GENERATOR, DEFAULT_SAMPLES, FEATURES, Origin, Partition
from fairlimits.law.cells.outcome_streaming import cut_streamed
from fairlimits.law.cells.quantizer.codebook import (
    DEFAULT_RELATIVE_ERROR,
    Codebook,
    assign,
    check_enough_rows,
    check_settings,
    fit_codebook,
)
from fairlimits.law.cells.sampling import samples_needed
from fairlimits.law.cells.streaming import count_stream, train_codebook
from fairlimits.law.generators import Generator, check_size, make_generator
from fairlimits.law.outcome import Outcome, StreamedOutcome, estimate_outcome

# The generator that `DEFAULT_GENERATOR` stands for.
_GENERATOR = "cart"
CELLS = 256
"""Default number of cells, except for outcome cells of more than two groups."""

# Outcome cells lie in 2 G dimensions: with eight groups, 256 of them lose 0.4 points of accuracy that 2,048 do not.
_CELLS_PER_SQUARED_GROUPS = 64
_MOST_CELLS = 2_048

# Rows per cell that are searched for distinct ones, and decimals in which rows must differ to be distinct.
_ROWS_LOOKED_AT = 16
_DIGITS = 5


class SamplingWarning(UserWarning):
    """Fewer rows were generated than the sampling bound asks for at the chosen number of cells."""


def discretize(
    data: Any,
    cells: int | None = None,
    *,
    partition: Partition = "outcome",
    generator: str | Generator | None = DEFAULT_GENERATOR,
    n_samples: int = DEFAULT_SAMPLES,
    outcome: Outcome | StreamedOutcome | None = None,
    relative_error: float | None = None,
    random_state: int = 0,
    like: CellDistribution | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> CellDistribution:
    """Estimate the joint law of cell, group and label from the rows of a table.

    By default q(x) = P(A, Y | x) is estimated, and people with alike q are put into one cell: q is all that accuracy
    and group notions depend on, so a few hundred cells lose nothing. Their masses are sums of q. With
    ``partition="blend"`` the cells cut q and the features together, so that near cells have similar people and still
    differ where q does: for individual fairness and maps.

    With ``partition="features"``, as in the paper, the features are encoded, cut into cells by Lloyd's algorithm, and
    the rows of each cell, group and label are counted. Such cells spend their resolution on differences that do not
    matter, and limits on them are too low: by four points of accuracy on Adult. With a generator, the rows that are cut
    and counted are `n_samples` new ones, drawn from what the generator learned of the table.

    A table that does not fit into memory, or is on a cluster, is given as a path, an Arrow dataset or a Dask DataFrame.
    Its q is learned on a sample (see `estimate_outcome`) and summed over all rows, part by part. Cells of its features
    are cut and counted part by part, its rows as they are, with the same result as in memory up to the rounding of
    sums; ``docs/sizing.md`` says how long that takes.

    Parameters
    ----------
    data : Dataset, or what `open_data` takes or returns with ``stream=True``
        The people.
    cells : int, optional
        Number of cells, N: by default 256; where they cut q alone and there are G > 2 groups, 64 G^2, at most 2,048.
        There are no more of them than distinct points where they cut q, or where no number is asked for.
    partition : {"outcome", "blend", "features"}, default="outcome"
        What the cells cut: an estimate of q; q and the features, with equal weight; or the features, as in the paper.
    generator : str, Generator or None, default="auto"
        "cart", "bootstrap", "ctgan", "tvae" or a generator of your own; None takes the rows as they are, which is
        faster, but a little farther from people not in the table, and more optimistic (``docs/fidelity.md``). "auto" is
        "cart" for cells of the features of a `Dataset`, and None elsewhere: for rows that are not in memory, cells that
        cut q, and with `like`, where a generator is refused.
    n_samples : int, default=1_000_000
        Rows to generate; without a generator it has no meaning.
    outcome : Outcome or StreamedOutcome, optional
        The estimate of q on these very rows, if it was made before; by default `estimate_outcome` makes it. It has no
        meaning for cells of the features.
    relative_error : float, optional
        Stop when a pass lowers the quantization error by less than this share: by default 0.001, and 0.01 where cells
        cut q alone, which loses nothing; the paper uses 0.01.
    random_state : int, default=0
        Seed; the same seed gives the same cells.
    like : CellDistribution, optional
        Count the rows, as they are, on the cells of this distribution, made before from other rows, instead of making
        new cells: see `merge`. Columns are then read by its schema, and what says how to make cells has no meaning.
    progress : callable, optional
        Called with the fraction done and a few words.
    **columns
        How to read `data` that is neither a Dataset nor a Stream: ``label``, ``sensitive``, ``positive`` and the other
        options of `open_data`.

    Returns
    -------
    CellDistribution
        Its ``counts`` are those of the real rows in the same cells, so that what few people stand behind is never
        taken for well known because many rows were generated.

    Warns
    -----
    SamplingWarning
        If `n_samples` is less than `samples_needed` for the number of cells.

    Examples
    --------
    >>> import fairlimits as fl
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> dist = fl.discretize(data, 32, partition="features", generator=None)
    >>> dist.n_cells, dist.groups
    (32, ('Female', 'Male'))
    >>> round(float(dist.mass.sum()), 6)
    1.0
    """
    check_partitions([partition])
    check_settings(CELLS if cells is None else cells, relative_error or 0.0)
    random_state = check_seed(random_state)
    tell = or_silent(progress)
    data = open_rows(data, **columns)
    if like is not None:
        _refuse_generator(generator, "on given cells rows are counted")
        return _counted_like(data, like, tell)
    if isinstance(data, Stream) and partition == FEATURES:
        _refuse_generator(generator, "rows that are not in memory are counted", ", or give a Dataset of a sample")
        return _streamed(
            data,
            CELLS if cells is None else cells,
            DEFAULT_RELATIVE_ERROR if relative_error is None else relative_error,
            random_state,
            tell,
        )
    if partition != FEATURES:
        _refuse_generator(generator, f"the partition {partition!r} takes the rows", ', or take partition="features"')
        if isinstance(data, Stream):
            return _cut_stream(data, cells, partition, outcome, relative_error, random_state, tell)
        cells = default_cells(data, partition) if cells is None else cells
        return cut_outcome(data, cells, partition, outcome, relative_error, random_state, tell)
    return _cut_features(data, cells, generator, n_samples, relative_error, random_state, tell)


def _cut_features(
    data: Dataset,
    cells: int | None,
    generator: str | Generator | None,
    n_samples: int,
    relative_error: float | None,
    random_state: int,
    tell: Progress,
) -> CellDistribution:
    """Cut the features of rows in memory, or of rows that a generator drew, into cells, and count the rows."""
    cells = default_cells(data, FEATURES) if cells is None else cells
    relative_error = DEFAULT_RELATIVE_ERROR if relative_error is None else relative_error
    encoding = Encoding.fit(data)
    counted, made_by, share = data, None, 0.0
    if generator is not None:
        share = 0.4
        counted, made_by = _drawn(data, generator, n_samples, cells, random_state, tell)
    rows = encoding.transform_dataset(counted)
    codebook = fit_codebook(
        rows,
        cells,
        weights=counted.weight,
        relative_error=relative_error,
        random_state=random_state,
        progress=lambda done, words: tell(share + (1 - share) * done, words),
    )
    counts = count_cells(assign(rows, codebook.centroids), counted, cells)
    real = counts
    if counted is not data:
        real = count_cells(assign(encoding.transform_dataset(data), codebook.centroids), data, cells)
    origin = _origin(data.n_rows, random_state, relative_error, codebook)
    if made_by is not None:
        origin = replace(origin, generator=made_by, n_samples=int(n_samples))
    return _distribution(counts, real.rows, data.schema, encoding, codebook.centroids, origin)


def _drawn(
    data: Dataset, generator: str | Generator, n_samples: int, cells: int, random_state: int, tell: Progress
) -> tuple[Dataset, str]:
    """Return rows drawn by a generator that learned the table, and its name."""
    recipe = make_generator(_GENERATOR if generator == DEFAULT_GENERATOR else generator)
    # Checked on the real rows: generating more adds no people.
    check_enough_rows(int(data.counts.sum()), cells)
    _check_samples(n_samples, cells, len(data.groups), len(data.columns))
    fitted = recipe.fit(data, random_state, lambda done, words: tell(0.2 * done, words))
    tell(0.2, f"drawing {n_samples:,} rows")
    return fitted.sample(n_samples, random_state), recipe.name


def default_cells(data: Dataset, partition: Partition) -> int:
    """Return the default number of cells: at most the number of rows that count, or of distinct ones."""
    counted = np.flatnonzero(data.shares > 0)
    if partition != FEATURES:
        return min(_outcome_cells(len(data.groups), partition), len(counted))
    # A few rows per cell are enough to find whether there are as many distinct ones as cells.
    some = data.take(counted[: _ROWS_LOOKED_AT * CELLS])
    return min(CELLS, len(np.unique(np.round(Encoding.fit(data).transform_dataset(some), _DIGITS), axis=0)))


def _outcome_cells(groups: int, partition: Partition) -> int:
    """Return the default number of cells that cut q."""
    return min(max(CELLS, _CELLS_PER_SQUARED_GROUPS * groups**2), _MOST_CELLS) if partition == "outcome" else CELLS


def _cut_stream(
    stream: Stream,
    cells: int | None,
    partition: Partition,
    outcome: Outcome | StreamedOutcome | None,
    relative_error: float | None,
    random_state: int,
    tell: Progress,
) -> CellDistribution:
    """Cut an estimate of q for rows that are not in memory; it is made first if there is none."""
    share = 0.7 if outcome is None else 0.0
    known = outcome
    if known is None:
        known = estimate_outcome(
            stream, random_state=random_state, progress=lambda done, words: tell(share * done, words)
        )
    if not isinstance(known, StreamedOutcome) or known.stream is not stream:
        raise InputError("The outcome was estimated on other rows; give the Stream that it was made from.")
    if cells is None:
        cells = min(_outcome_cells(len(known.groups), partition), known.learned.facts.counted)
    return cut_streamed(
        known,
        cells,
        partition,
        relative_error,
        random_state,
        lambda done, words: tell(share + (1 - share) * done, words),
    )


def _refuse_generator(generator: str | Generator | None, why: str, instead: str = "") -> None:
    """Refuse a named generator where rows are taken as they are."""
    if generator not in (None, DEFAULT_GENERATOR):
        name = generator if isinstance(generator, str) else getattr(generator, "name", type(generator).__name__)
        raise InputError(f"The generator is {name!r}, but {why} as they are; leave the generator out{instead}.")


def _streamed(stream: Stream, cells: int, relative_error: float, random_state: int, tell: Progress) -> CellDistribution:
    """Learn the columns, cut and count, in passes over rows that are not in memory."""
    learned = stream.learn(lambda done, words: tell(0.15 * done, words))
    codebook = train_codebook(
        stream,
        learned,
        cells,
        relative_error=relative_error,
        random_state=random_state,
        tell=lambda done, words: tell(0.15 + 0.7 * done, words),
    )
    counts, rows = count_stream(
        stream,
        learned.reader,
        learned.encoding,
        codebook.centroids,
        lambda done, words: tell(0.85 + 0.15 * done, words),
    )
    tell(1.0, "counted")
    origin = _origin(rows, random_state, relative_error, codebook)
    return _distribution(counts, counts.rows, learned.schema, learned.encoding, codebook.centroids, origin)


def _counted_like(data: Dataset | Stream, like: CellDistribution, tell: Progress) -> CellDistribution:
    """Count rows on the cells of a distribution that was made before."""
    if like.schema is None or like.encoding is None or like.centroids is None:
        raise InputError("The distribution to be like is made of bare numbers; give one that discretize made.")
    if not like.origin.by_features:
        raise InputError(
            "The distribution to be like has cells of an estimate of P(A, Y | x), on which rows are not counted; give "
            'one that was made with partition="features".',
            shell="The file of --like has cells of an estimate of P(A, Y | x), on which rows are not counted; make it "
            "again with --partition features.",
        )
    if isinstance(data, Stream):
        counts, rows = count_stream(data, data.like(like.schema), like.encoding, like.centroids, tell)
    elif data.schema != like.schema:
        raise InputError(
            "The rows are coded by another schema than the distribution to be like; read them with "
            "Dataset.read_like(distribution.schema, table)."
        )
    else:
        rows = data.n_rows
        counts = count_cells(like.cells_of(data), data, like.n_cells)
        if not counts.rows.any():
            raise DataError("No row counts: there are none, or all weights are 0; give some rows a weight above 0.")
    tell(1.0, "counted")
    return _distribution(counts, counts.rows, like.schema, like.encoding, like.centroids, Origin(rows=rows))


def check_partitions(partitions: Sequence[str]) -> None:
    """Refuse partitions that are not known."""
    for partition in partitions:
        if partition not in get_args(Partition):
            raise InputError(
                f"The partition is {partition!r}; the known ones are 'features', 'outcome' and 'blend'."
                f"{did_you_mean(partition, get_args(Partition))}"
            )


def _distribution(
    counts: Counts,
    real: Ints,
    schema: Schema,
    encoding: Encoding,
    centroids: NDArray[np.float32],
    origin: Origin,
) -> CellDistribution:
    """Divide counts by their sum, and keep the sum of weights, which `merge` needs to add up several sites."""
    total = float(counts.weight.sum())
    if origin.counted and schema.weight is not None:
        origin = replace(origin, total_weight=total)
    return CellDistribution(
        mass=counts.weight / total,
        groups=schema.groups,
        counts=real,
        centroids=centroids,
        encoding=encoding,
        schema=schema,
        origin=origin,
    )


def _origin(rows: int, random_state: int, relative_error: float, codebook: Codebook) -> Origin:
    return Origin(
        rows=rows,
        random_state=random_state,
        relative_error=float(relative_error),
        distortion=codebook.distortion,
        iterations=codebook.iterations,
    )


def _check_samples(n_samples: int, cells: int, groups: int, columns: int) -> None:
    check_size(n_samples, columns)
    needed = samples_needed(cells, groups=groups)
    if n_samples < needed:
        warnings.warn(
            f"{n_samples:,} rows are generated for {cells} cells, where the sampling bound asks for {needed:,} "
            "(error 0.05, confidence 0.95); raise n_samples or take fewer cells.",
            SamplingWarning,
            stacklevel=outside(),
        )
