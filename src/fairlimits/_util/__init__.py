"""Types, progress, threads, storage and plotting: no fairness, no data."""
