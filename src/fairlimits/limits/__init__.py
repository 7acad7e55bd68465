"""The best rule under notions and requirements, and how it changes with what is asked."""
