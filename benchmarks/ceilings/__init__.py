"""The limit from above, where the truth is known and where it is not."""
