"""What the package `fairlimits.data` exports."""

from __future__ import annotations

import fairlimits.data


def test_exports_exist_and_once() -> None:
    names = fairlimits.data.__all__
    assert all(hasattr(fairlimits.data, name) for name in names)
    assert len(set(names)) == len(names)
