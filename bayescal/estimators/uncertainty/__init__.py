"""Intervals of estimators, by resampling and in closed form."""
