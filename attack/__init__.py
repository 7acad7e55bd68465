"""A systematic attack on fairlimits: seeded, resumable, counted (``make attack``)."""
