"""Priors from what earlier studies and earlier posteriors say."""
