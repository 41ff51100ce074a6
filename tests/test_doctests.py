"""Every example in a docstring runs, and says what it says it prints."""

import doctest
import importlib
import pkgutil

import pytest

import bayescal

MODULES = [
    module.name
    for module in pkgutil.walk_packages(bayescal.__path__, "bayescal.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


PUBLIC = [
    "fit",
    "load",
    "build_model",
    "CalibrationData",
    "CalibrationPosterior",
    "estimators.tce_bpm",
    "estimators.fit_bpm_curve",
    "simulate.sample",
    "simulate.truth",
    "plots.reliability",
    "functionals.tce",
    "compare",
    "check_consistency",
    "estimators.ece",
    "estimators.debiased_ece",
]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings_have_their_sections(name):
    thing = bayescal
    for part in name.split("."):
        thing = getattr(thing, part)
    docstring = thing.__doc__ or ""
    for section in ("Parameters", "Raises"):
        assert f"{section}\n" in docstring, f"{name} lacks {section}"
    if name[0].islower():
        assert "Returns\n" in docstring
