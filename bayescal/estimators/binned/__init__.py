"""Estimators that count events in bins."""
