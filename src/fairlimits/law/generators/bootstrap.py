"""`BootstrapGenerator`: rows drawn with replacement, the baseline that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fairlimits._util.progress import Progress
from fairlimits.data import Dataset, check_seed
from fairlimits.law.generators.protocol import check_size, check_weights, fitted


@dataclass(frozen=True)
class BootstrapGenerator:
    """Rows of the table itself, drawn with replacement in proportion to their weights.

    Every generated row is that of a real person. There is nothing to save: keep the table.
    """

    _rows: Dataset | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """How the generator is called in tables and files."""
        return "bootstrap"

    def fit(self, dataset: Dataset, random_state: int = 0, progress: Progress | None = None) -> BootstrapGenerator:
        """Keep the rows; neither seed nor progress matters."""
        check_weights(dataset)
        return replace(self, _rows=dataset)

    def sample(self, n: int, random_state: int = 0) -> Dataset:
        """Draw `n` of the rows."""
        rows = fitted(self._rows)
        check_size(n, len(rows.schema.features))
        rng = np.random.default_rng(check_seed(random_state))
        chance = None if rows.weight is None else rows.weight / rows.weight.sum()
        drawn = rows.take(rng.choice(rows.n_rows, size=n, p=chance))
        return Dataset(drawn.schema, drawn.columns, drawn.group, drawn.label)
