"""Estimators from kernels between pairs of predictions."""
