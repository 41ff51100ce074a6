"""A family of an average whose draws are worth far too few is left out of it."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.inference.averaging import FamilySamples, Mixture, prior_probabilities
from bayescal.model.curves import average_of
from bayescal.model.problem import prepare

NAMES = ("identity", "logistic", "beta", "spline")


def mixture(effective):
    """An average of families, of which the draws of some are worth so many."""
    y, p = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    problem = prepare(y, p, curve=average_of((*NAMES, "pieces")), random_state=1)
    samples = FamilySamples(problem, list(NAMES))
    for name, ess in effective.items():
        samples._drawn[name] = replace(samples[name], ess=ess)
    return Mixture(samples, prior_probabilities(NAMES, are_named=True), 400)


def test_its_weight_goes_to_the_others():
    before, left = mixture({}), mixture({"spline": 3.0})
    at = [name == "spline" for name in left.weights]
    with pytest.warns(bc.errors.DiagnosticWarning, match="spline, 3 of 2048"):
        shares = left.shares
    for each, full in zip(shares, before.shares, strict=True):
        assert each.sum() == pytest.approx(1)
        assert not each[at].any()
        assert full[at].all()
    others = np.logical_not(at) & ~np.array([name == "identity" for name in left.weights])
    ratio = shares.curves[others] / before.shares.curves[others]
    np.testing.assert_allclose(ratio, ratio[0])
    posterior = left.posterior()
    drawn = np.unique(posterior.curve([0.3]).to_numpy()).size
    assert drawn > 100
    assert left.probability_of("spline") == 0
    assert np.isfinite(left.samples["beta"].log_evidence)


def test_an_average_of_nothing_else_keeps_it():
    every = mixture(dict.fromkeys(NAMES[1:], 3.0))
    assert every.shares.curves.sum() == pytest.approx(1)
    assert np.isfinite(every.shares.curves).all()
