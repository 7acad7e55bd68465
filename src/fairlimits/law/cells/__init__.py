"""The law on finitely many cells: how cells are made, counted, merged and compared."""
