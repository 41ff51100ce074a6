"""Indices of the difference between a smoothed curve and the diagonal."""
