"""Estimators over the distinct predictions of a model, as trees make them."""
