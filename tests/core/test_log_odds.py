"""Log-odds with clipped ends."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from bayescal.core.optimise import EDGE, clipped, log_odds_of, logarithms

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array)


@given(PROBABILITIES)
def test_log_odds_are_those_of_clipped_probabilities(p):
    inside = clipped(p)
    assert inside.min() >= EDGE
    assert inside.max() <= 1 - EDGE
    np.testing.assert_allclose(log_odds_of(p), logit(inside), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(
        inside[(p >= EDGE) & (p <= 1 - EDGE)], p[(p >= EDGE) & (p <= 1 - EDGE)]
    )


@given(PROBABILITIES)
def test_both_logarithms_are_finite(p):
    log_p, log_q = logarithms(p)
    for logarithm in (log_p, log_q):
        assert np.isfinite(logarithm).all()
        assert (logarithm <= 0).all()
