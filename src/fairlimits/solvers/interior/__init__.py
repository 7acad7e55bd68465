"""A point near the optimum of a program with very many pair constraints, by an interior-point method."""
