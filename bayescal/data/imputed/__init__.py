"""Imputed scores: read, and stacked to one table."""
