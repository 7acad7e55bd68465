"""Proven optima of linear programs; nothing here knows of fairness."""
