"""The benchmark of the main job runs what it says, here the shortest jobs."""

from __future__ import annotations

import pytest

from benchmarks import main_job


def test_jobs_are_timed_profiled_and_reported() -> None:
    jobs = {name: main_job.JOBS[name] for name in ("import fairlimits", "fairlimits --version")}
    results = main_job.run(jobs, repeats=1)
    assert [row["job"] for row in results] == list(jobs)
    assert all(row["wall"] > 0 and row["cpu"] > 0 for row in results)
    assert "loading packages" in results[1]["rooms"]
    slow = {"job": "fairlimits frontier adult", "wall": 9.0, "cpu": 15.0, "rooms": {"sklearn": 7.0, "law.outcome": 1.0}}
    text = main_job.markdown([*results, slow])
    assert "| `fairlimits frontier adult` | 10 | 9.00 | 15.00 |" in text
    assert "| fairlimits frontier adult | sklearn 7.0, law.outcome 1.0 |" in text


def test_a_job_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="no such"):
        main_job.run({"broken": ("-c", "raise SystemExit('no such job')")}, repeats=1)
