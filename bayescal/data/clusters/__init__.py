"""Cases that depend on each other: which cluster each is of."""
