"""Subgroups by crossed factors: what is fitted to them, and the mixtures that they are."""
