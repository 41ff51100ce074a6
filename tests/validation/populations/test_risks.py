"""Scores of a setting: their prevalence and c-statistic, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.errors import InputError


@given(prevalence=st.floats(0.001, 0.999), c=st.floats(0.51, 0.98))
def test_the_law_has_the_prevalence_and_c_statistic_asked_for(prevalence, c):
    law = bc.simulate.scores(prevalence=prevalence, c_statistic=c)
    even = (np.arange(100_000) + 0.5) / 100_000
    risk, _ = law.quantiles(even, 1 - even)
    events, others = risk / risk.sum(), (1 - risk) / (1 - risk).sum()
    assert risk.mean() == pytest.approx(prevalence, rel=2e-3)
    below = np.cumsum(others) - others / 2
    assert events @ below == pytest.approx(c, abs=2e-3)


@given(prevalence=st.floats(0.01, 0.99), c=st.floats(0.55, 0.95))
def test_relabelling_the_outcome_mirrors_the_law(prevalence, c):
    law = bc.simulate.scores(prevalence=prevalence, c_statistic=c).law
    mirrored = bc.simulate.scores(prevalence=1 - prevalence, c_statistic=c).law
    assert mirrored.mean == pytest.approx(-law.mean, abs=1e-6)
    assert mirrored.sd == pytest.approx(law.sd, rel=1e-6)


def test_settings_vary_as_stated():
    law = bc.simulate.scores(prevalence=(0.4, 0.03), c_statistic=(0.76, 0.01))
    assert law.is_uncertain
    mean, sd = law.settings(3000, np.random.default_rng(0))
    z = np.random.default_rng(1).standard_normal(4000)
    prevalence = (1 / (1 + np.exp(-(mean[:, None] + sd[:, None] * z)))).mean(axis=1)
    assert (prevalence.mean(), prevalence.std()) == pytest.approx((0.4, 0.03), rel=0.05)


def test_it_is_a_law_of_scores_of_a_truth():
    law = bc.simulate.scores(prevalence=0.1, c_statistic=0.8)
    truth = bc.simulate.Truth("exact", "g = s", law, lambda log_s, log_q: log_s - log_q)
    assert truth.prevalence() == pytest.approx(0.1, abs=1e-4)
    assert truth.tce() == pytest.approx(0, abs=1e-12)
    y_true, y_prob = truth.sample(50_000, random_state=1)
    assert bc.scores.c_statistic(y_true, y_prob) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prevalence": 0}, "prevalence must be from"),
        ({"prevalence": 1}, "prevalence must be from"),
        ({"prevalence": "low"}, "prevalence"),
        ({"prevalence": (0.2, 0.5)}, "no Beta law"),
        ({"prevalence": (0.2,)}, "pair"),
        ({"c_statistic": 1}, "c_statistic must be from"),
        ({"c_statistic": 0.5}, "c_statistic must be from"),
        ({"c_statistic": (0.7, 0)}, "c_statistic"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        bc.simulate.scores(**{"prevalence": 0.2, "c_statistic": 0.75} | change)
