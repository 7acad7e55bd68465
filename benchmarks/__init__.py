"""Benchmarks: named cases, each a ratio against a named baseline in the same run."""
