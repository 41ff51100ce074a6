"""A component of an average whose draws are worth far too few is left out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.inference.averaging import Mixture
from bayescal.inference.candidates import prior_probabilities
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import average_of
from bayescal.model.problem import prepare

NAMES = ("identity", "logistic", "beta", "spline")


def mixture(effective):
    """An average of families, of which the draws of some are worth so many."""
    y, p = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    problem = prepare(y, p, curve=average_of((*NAMES, "pieces")), random_state=1)
    samples = FamilySamples(problem, list(NAMES), 400)
    for name, ess in effective.items():
        for relative in (samples, samples.at(replace_scale(samples))):
            relative._drawn[name] = replace(relative[name], ess=ess)
    return Mixture(samples, prior_probabilities(NAMES))


def replace_scale(samples):
    """The component at the modest scale, whose samples are others."""
    every = Mixture(samples, prior_probabilities(NAMES)).components
    return next(each for each in every if each.scale == "modest")


def test_its_weight_goes_to_the_others():
    before, left = mixture({}), mixture({"spline": 3.0})
    at = [each.family == "spline" for each in left.components]
    with pytest.warns(bc.errors.DiagnosticWarning, match=r"spline .*, 3 of 400"):
        shares = left.shares
    for each, full in zip(shares, before.shares, strict=True):
        assert each.sum() == pytest.approx(1)
        assert not each[at].any()
        assert full[at].all()
    others = np.logical_not(at) & ~np.array([each.is_exact for each in left.components])
    ratio = shares.curves[others] / before.shares.curves[others]
    np.testing.assert_allclose(ratio, ratio[0])
    posterior = left.posterior()
    drawn = np.unique(posterior.curve([0.3]).to_numpy()).size
    assert drawn > 100
    assert left.probability_of("spline") == 0
    assert np.isfinite(left.evidence_of("beta").log)


def test_an_average_of_nothing_else_keeps_it():
    every = mixture(dict.fromkeys(NAMES[1:], 3.0))
    assert every.shares.curves.sum() == pytest.approx(1)
    assert np.isfinite(every.shares.curves).all()
