"""One word for each parameter: what a user learns in one room holds in every other."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import bayescal

SYNONYMS = {
    "draws": ("n_draws", "n_samples", "num_draws", "posterior_draws"),
    "n_resamples": ("resamples", "replicates", "n_replicates", "n_boot", "n_bootstrap", "boot"),
    "n_simulations": ("simulations", "n_sims", "sims", "runs", "n_runs", "iterations", "n_iter"),
    "site": ("sites", "groups"),
    "period": ("periods",),
    "subgroup": ("subgroups", "factor", "factors"),
    "cluster": ("clusters",),
    "stratum": ("strata",),
    "imputation": ("imputations", "draws_of_score"),
    "n_repeats": ("repeats", "n_repetitions", "repetitions"),
    "n_folds": ("folds", "cv", "k_folds", "n_splits"),
    "n_bins": ("bins", "num_bins", "nbins"),
    "bandwidth": ("bw", "width", "sigma", "h"),
    "method": ("approach", "algorithm", "how"),
    "ci_prob": ("level", "alpha", "confidence", "conf_level", "ci_level", "ci", "credibility"),
    "cells": ("cell", "cell_index", "cell_labels"),
    "random_state": ("seed", "random_seed", "rng", "state"),
    "sample_weight": ("weight", "weights", "sample_weights", "case_weight", "case_weights"),
    "thresholds": ("cutoffs", "cut_offs"),
    "pos_label": ("event", "positive", "positive_label"),
}
WORD_FOR = {synonym: word for word, synonyms in SYNONYMS.items() for synonym in synonyms}
COLUMNS = {"outcome", "prob", "time", "event", "entry"}
"""Names of columns, which are called as on the command line."""
MEANT = {"bayescal.plan": {"width"}, "bayescal.words": {"event"}}
"""Words that are no synonyms here: the width of an interval, and what a report calls the event."""
DOORS = (
    bayescal,
    bayescal.estimators,
    bayescal.functionals,
    bayescal.plots,
    bayescal.recalibrate,
    bayescal.scores,
    bayescal.simulate,
    bayescal.validation,
)


def offered(module):
    """Public functions, methods, and constructors of what a user makes."""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value
        if inspect.isclass(value):
            made = issubclass(value, BaseEstimator) or value is bayescal.CalibrationData
            for method, member in inspect.getmembers(value, callable):
                if inspect.isclass(member) or not hasattr(member, "__qualname__"):
                    continue
                if not method.startswith("_") or (made and method == "__init__"):
                    yield f"{module.__name__}.{name}.{method}", member


OFFERED = {name: value for module in DOORS for name, value in offered(module)}


def parameters(name):
    try:
        return set(inspect.signature(OFFERED[name]).parameters)
    except ValueError:  # a method of a tuple
        return set()


def test_the_walk_sees_functions_methods_and_constructors():
    assert "draws" in parameters("bayescal.fit")
    assert "ci_prob" in parameters("bayescal.CalibrationPosterior.interval")
    assert "draws" in parameters("bayescal.recalibrate.BayesianRecalibrator.__init__")
    assert "sample_weight" in parameters("bayescal.CalibrationData.__init__")
    assert {"n_folds", "n_repeats"} <= parameters("bayescal.cross_fit")
    assert "n_simulations" in parameters("bayescal.plan")


@pytest.mark.parametrize("name", sorted(OFFERED))
def test_parameters_are_words_of_the_list(name):
    words = parameters(name)
    if words >= {"outcome", "prob"}:
        words = words - COLUMNS
    words = words - MEANT.get(name, set())
    wrong = {word: WORD_FOR[word] for word in words & WORD_FOR.keys()}
    assert not wrong, f"{name} has a parameter by another name than elsewhere: {wrong}"
