"""What scikit-learn's gradient boosting must know of mixed columns."""

from __future__ import annotations

from collections.abc import Iterable

# The booster has so many bins; more categories are taken as numbers.
_MOST_CATEGORIES = 255


def category_columns(sizes: Iterable[int]) -> list[int]:
    """Positions of the columns that boosting takes as categories.

    Parameters
    ----------
    sizes : iterable of int
        Number of categories of each column; 0 for numbers.
    """
    return [at for at, size in enumerate(sizes) if 0 < size <= _MOST_CATEGORIES]
