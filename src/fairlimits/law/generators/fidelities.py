r"""`fidelity`: how near generated rows are to real ones, by the paper's measure and on rows held out.

For each group g and label y, the joint masses of the cells, :math:`p_i = P(X \in i, A = g, Y = y)` from real rows and
:math:`q_i` from generated ones, are compared by Pearson's correlation and by the distance
:math:`\frac12 \sum_i |p_i - q_i|` (Table 1 of the paper). Cells are cut from the real rows alone.

Compared with the rows that it learned, a generator that copies them is perfect. So `fidelity_report` lets the
generator learn one half of the rows and compares with the other half, beside what the first half itself gives.
"""

from __future__ import annotations

import time

from fairlimits._util.progress import Progress, or_silent
from fairlimits._util.types import Floats
from fairlimits.data import Dataset, Encoding, check_seed
from fairlimits.errors import InputError
from fairlimits.law.cells.counts import count_cells
from fairlimits.law.cells.quantizer.codebook import assign, fit_codebook
from fairlimits.law.cells.sampling import cells_supported
from fairlimits.law.generators import Generator, make_generator
from fairlimits.law.generators.fidelity_results import Fidelity, FidelityReport
from fairlimits.law.generators.two_sample import copied_share, label_accuracy, two_sample_auc

# Fewer cells than this say little, whatever the sampling bound allows: the correlation over two cells means nothing.
_FEWEST_CELLS = 8


def fidelity(real: Dataset, generated: Dataset, cells: int, *, random_state: int = 0) -> Fidelity:
    """Compare generated rows with real ones, cell by cell.

    Parameters
    ----------
    real : Dataset
        Real rows; the cells are cut from them.
    generated : Dataset
        Rows of the same schema.
    cells : int
        Number of cells, N. The paper takes what the sampling bound allows for the real rows
        (`fairlimits.law.cells_supported`).
    random_state : int, default=0
        Seed of the cells.

    Returns
    -------
    Fidelity

    Examples
    --------
    >>> import fairlimits as fl
    >>> data = fl.load_dataset("adult").take(range(3_000))
    >>> generated = fl.law.CartGenerator().fit(data).sample(3_000)
    >>> near = fl.law.fidelity(data, generated, 32)
    >>> round(near.total_distance, 3)
    0.081
    """
    _check_schema(real, generated)
    random_state = check_seed(random_state)
    encoding = Encoding.fit(real)
    codebook = fit_codebook(encoding.transform_dataset(real), cells, weights=real.weight, random_state=random_state)
    masses: list[Floats] = []
    for rows in (real, generated):
        weight = count_cells(assign(encoding.transform_dataset(rows), codebook.centroids), rows, cells).weight
        masses.append(weight / weight.sum())
    return Fidelity(real.groups, masses[0], masses[1], real.frame_kind)


def fidelity_report(
    dataset: Dataset,
    generator: str | Generator = "cart",
    *,
    cells: int | None = None,
    n_samples: int = 1_000_000,
    random_state: int = 0,
    progress: Progress | None = None,
) -> FidelityReport:
    """Judge a generator: by the paper's protocol, and on rows that it did not learn.

    Parameters
    ----------
    dataset : Dataset
        Real rows.
    generator : str or Generator, default="cart"
        Which generator.
    cells : int, optional
        Number of cells, at most half the number of rows; by default what the sampling bound allows for the real
        rows, as in the paper, but no fewer than 8.
    n_samples : int, default=1_000_000
        Rows to generate.
    random_state : int, default=0
        Seed of everything: halves, cells, generator and classifiers.
    progress : callable, optional
        Called with the fraction done and a few words.

    Returns
    -------
    FidelityReport
    """
    recipe = make_generator(generator)
    most = dataset.n_rows // 2
    if cells is None:
        supported = cells_supported(dataset.n_rows, groups=len(dataset.groups))
        cells = min(max(supported, _FEWEST_CELLS), max(most, 1))
    elif cells > most:
        raise InputError(
            f"{cells} cells were asked for, but the half of the rows that is held out has {most}: "
            f"ask for at most {most} cells."
        )
    tell = or_silent(progress)

    tell(0.0, "learning all rows")
    start = time.perf_counter()
    fitted = recipe.fit(dataset, random_state, _part(tell, 0.0, 0.3))
    middle = time.perf_counter()
    rows = fitted.sample(n_samples, random_state)
    end = time.perf_counter()
    tell(0.3, "comparing with all rows")
    all_rows = fidelity(dataset, rows, cells, random_state=random_state)
    del rows  # a million rows, not needed any more

    learned, other = dataset.split(0.5, random_state)
    tell(0.4, "learning one half")
    half = recipe.fit(learned, random_state, _part(tell, 0.4, 0.6))
    tell(0.6, "comparing with the other half")
    held_out = fidelity(other, half.sample(n_samples, random_state), cells, random_state=random_state)
    noise_floor = fidelity(other, learned, cells, random_state=random_state)

    # As many rows as were learned, so that both tables of every comparison below have the same size.
    tell(0.7, "training classifiers")
    drawn = half.sample(learned.n_rows, random_state + 1)
    report = FidelityReport(
        generator=recipe.name,
        n_samples=n_samples,
        fitted=all_rows,
        held_out=held_out,
        noise_floor=noise_floor,
        auc=two_sample_auc(other, drawn, random_state),
        auc_floor=two_sample_auc(other, learned, random_state),
        accuracy=label_accuracy(drawn, other, random_state),
        accuracy_real=label_accuracy(learned, other, random_state),
        copies=copied_share(drawn, learned),
        copies_natural=copied_share(other, learned),
        fit_seconds=middle - start,
        sample_seconds=end - middle,
    )
    tell(1.0, "done")
    return report


def _check_schema(real: Dataset, generated: Dataset) -> None:
    if real.schema != generated.schema:
        raise InputError(
            "The generated rows have another schema than the real ones; "
            "read them with Dataset.read_like(real.schema, table)."
        )


def _part(tell: Progress, start: float, stop: float) -> Progress:
    return lambda fraction, words: tell(start + fraction * (stop - start), words)
