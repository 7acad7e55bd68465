"""Tables in, checked: `Dataset`, its schema, splits, encoding, and the benchmark data sets."""

from __future__ import annotations

from fairlimits.data.benchmarks import (
    BenchmarkStatus,
    benchmark_file,
    benchmark_status,
    load_dataset,
    load_table,
)
from fairlimits.data.bins import Bins, bin_names, parse_bins
from fairlimits.data.buckets import Buckets, Entries
from fairlimits.data.columns import Table, as_table, holds_dates, read_numbers, read_values
from fairlimits.data.dataset import Dataset
from fairlimits.data.doubts import column_doubts
from fairlimits.data.draws import DrawBy, array_keys, check_draw_by, check_seed, content_keys, key_draws, row_draws
from fairlimits.data.encoding import EncodedFeature, Encoding
from fairlimits.data.features import read_all_columns
from fairlimits.data.loading import open_data
from fairlimits.data.opening import open_rows, open_stream
from fairlimits.data.parts import Part, find_files, is_pattern
from fairlimits.data.reading import Watched, read_features, read_groups, read_watched
from fairlimits.data.registry import benchmark_names
from fairlimits.data.roles import find_groups
from fairlimits.data.schema import MISSING, Feature, Scalar, Schema, category_columns, value_text
from fairlimits.data.screening import Concern, concerns
from fairlimits.data.sensitive import Sensitive, arrow_column, is_frame
from fairlimits.data.sides import Draw
from fairlimits.data.small_groups import SET_ASIDE, SmallGroups, check_small_groups, set_aside_note, small_groups_note
from fairlimits.data.stream import Learned, Reader, Stream
from fairlimits.data.tables import read_table

__all__ = [
    "MISSING",
    "SET_ASIDE",
    "BenchmarkStatus",
    "Bins",
    "Buckets",
    "Concern",
    "Dataset",
    "Draw",
    "DrawBy",
    "EncodedFeature",
    "Encoding",
    "Entries",
    "Feature",
    "Learned",
    "Part",
    "Reader",
    "Scalar",
    "Schema",
    "Sensitive",
    "SmallGroups",
    "Stream",
    "Table",
    "Watched",
    "array_keys",
    "arrow_column",
    "as_table",
    "benchmark_file",
    "benchmark_names",
    "benchmark_status",
    "bin_names",
    "category_columns",
    "check_draw_by",
    "check_seed",
    "check_small_groups",
    "column_doubts",
    "concerns",
    "content_keys",
    "find_files",
    "find_groups",
    "holds_dates",
    "is_frame",
    "is_pattern",
    "key_draws",
    "load_dataset",
    "load_table",
    "open_data",
    "open_rows",
    "open_stream",
    "parse_bins",
    "read_all_columns",
    "read_features",
    "read_groups",
    "read_numbers",
    "read_table",
    "read_values",
    "read_watched",
    "row_draws",
    "set_aside_note",
    "small_groups_note",
    "value_text",
]
