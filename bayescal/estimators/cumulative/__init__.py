"""Estimators from sums of outcome less score in the order of the scores."""
