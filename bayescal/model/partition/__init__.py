"""Sums over all ways to cut the scores into stretches, on the diagonal or off it. Arrays only."""
