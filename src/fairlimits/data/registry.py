"""What is known about each benchmark data set, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from fairlimits._util.suggestions import did_you_mean
from fairlimits.data.schema import Scalar
from fairlimits.errors import InputError

_SURVEY = "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data/"


@dataclass(frozen=True)
class Benchmark:
    """What is known about a benchmark data set.

    Parameters
    ----------
    name : str
        Its name here.
    rows : int
        Number of rows.
    label : str
        The label's column.
    positive : Scalar
        The label's value that counts as 1.
    sensitive : str
        The sensitive column.
    columns : tuple of str
        All columns.
    categorical : tuple of str
        Columns of numbers that are codes.
    drop : tuple of str
        Columns that are not features.
    source : str
        Who published it.
    licence : str
        On what terms.
    url : str or None
        Where the file is downloaded from; None for a bundled one.
    digest : str or None
        `fairlimits.data.benchmarks.content_digest` of the right table.
    """

    name: str
    rows: int
    label: str
    positive: Scalar
    sensitive: str
    columns: tuple[str, ...]
    categorical: tuple[str, ...]
    drop: tuple[str, ...]
    source: str
    licence: str
    url: str | None = None
    digest: str | None = None

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names under which the file is looked for: ours, and the one that its publisher uses."""
        ours = f"{self.name}.parquet"
        return (ours,) if self.url is None else (ours, self.url.rsplit("/", 1)[1])


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            name="adult",
            rows=48_842,
            label="income",
            positive=">50K",
            sensitive="sex",
            columns=(
                *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
                *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
                *("native-country", "income"),
            ),
            categorical=(),
            # A survey weight: it describes the sampling, not the person.
            drop=("fnlwgt",),
            source="Adult, UCI Machine Learning Repository, https://doi.org/10.24432/C5XW20",
            licence="CC BY 4.0",
        ),
        Benchmark(
            name="law",
            rows=20_798,
            label="pass_bar",
            positive=1.0,
            sensitive="race",
            columns=(
                *(
                    "decile1b",
                    "decile3",
                    "lsat",
                    "ugpa",
                    "zfygpa",
                    "zgpa",
                    "fulltime",
                    "fam_inc",
                    "male",
                    "tier",
                ),
                *("race", "pass_bar"),
            ),
            categorical=("fulltime", "male", "tier"),
            drop=(),
            source=(
                "LSAC National Longitudinal Bar Passage Study, cleaned by Le Quy et al. (2022), "
                "https://github.com/tailequy/fairness_dataset"
            ),
            licence="see the source; not redistributed with fairlimits",
            url=_SURVEY + "law_school_clean.csv",
            digest="7ae6e72c5d6a7980cc222ccc5a6407238f65533dd13dc0db4d9bf6dcc55dd78a",
        ),
        Benchmark(
            name="dutch",
            rows=60_420,
            label="occupation",
            positive=1,
            sensitive="sex",
            columns=(
                *(
                    "sex",
                    "age",
                    "household_position",
                    "household_size",
                    "prev_residence_place",
                    "citizenship",
                ),
                *("country_birth", "edu_level", "economic_status", "cur_eco_activity", "marital_status"),
                "occupation",
            ),
            categorical=(
                *("age", "household_position", "household_size", "prev_residence_place", "citizenship"),
                *("country_birth", "edu_level", "economic_status", "cur_eco_activity", "marital_status"),
                "occupation",
            ),
            drop=(),
            source=(
                "Dutch Virtual Census 2001, cleaned by Le Quy et al. (2022), "
                "https://github.com/tailequy/fairness_dataset"
            ),
            licence="see the source; not redistributed with fairlimits",
            url=_SURVEY + "dutch.csv",
            digest="713902f703ea047a79c4da49559099734c8c7fcf745eb4057908ca843332b6e8",
        ),
    )
}


def benchmark_names() -> tuple[str, ...]:
    """Return the names of the benchmark data sets."""
    return tuple(BENCHMARKS)


def get_benchmark(name: str) -> Benchmark:
    """Return what is known about the benchmark of a name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in BENCHMARKS:
        raise InputError(
            f"There is no data set {name!r}: use {', '.join(BENCHMARKS)}, or the path of a CSV or Parquet file."
            f"{did_you_mean(name, BENCHMARKS)}"
        )
    return BENCHMARKS[name]
