"""Fits of subgroups by crossed factors."""
