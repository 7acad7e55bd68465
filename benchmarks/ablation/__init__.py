"""Every hand-written solver against the best that others do with the same programs, to the same proof."""
