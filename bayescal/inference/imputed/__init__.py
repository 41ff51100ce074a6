"""Fits and comparisons of several imputations."""
