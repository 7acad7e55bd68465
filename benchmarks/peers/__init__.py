"""Held-out comparison with published fairness tools; see docs/benchmark.md."""
