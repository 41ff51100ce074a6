"""Comparisons of families of curves: on one table, and on several imputations."""
