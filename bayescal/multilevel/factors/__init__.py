"""Subgroups by crossed factors: a curve for every combination of levels."""
