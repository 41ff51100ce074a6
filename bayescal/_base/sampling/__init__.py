"""Weighted draws of any density: points, importance sampling, Pareto smoothing."""
