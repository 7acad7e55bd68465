"""What cells may cut."""

from __future__ import annotations

from typing import Any

from fairlimits.errors import InputError
from fairlimits.law import FEATURES, check_partitions


def check_partition(partition: str, estimator: Any) -> None:
    """Refuse a partition that is not known, and an estimator that the partition leaves without use."""
    check_partitions([partition])
    if estimator is not None and partition == FEATURES:
        raise InputError("Cells of the features learn nothing; leave out the estimator, or the partition.")
