"""Laws of outcomes: each is one function in all its forms."""

import numpy as np
import pytest
from scipy.special import expit

from bayescal.errors import InputError
from bayescal.model.law import BINOMIAL, TimeToEvent, late_of, log_without

LOG_ODDS = np.array([-6.0, -1.5, 0.2, 2.0, 5.0])
TRIALS, HITS = np.array([9.0, 4.0, 6.0, 3.0, 8.0]), np.array([1.0, 0.0, 4.0, 3.0, 7.0])
ROWS = BINOMIAL.log_density(LOG_ODDS[None].copy(), TRIALS, HITS)[0]


def test_pymc_has_the_same_log_density():
    expression = BINOMIAL.pymc_log_density(HITS, TRIALS, LOG_ODDS)
    np.testing.assert_allclose(expression.eval(), ROWS, rtol=1e-9)


def test_a_row_is_the_sum_of_its_cases():
    event, other = (BINOMIAL.log_case(which, LOG_ODDS[None])[0] for which in (True, False))
    np.testing.assert_allclose(HITS * event + (TRIALS - HITS) * other, ROWS, rtol=1e-12)
    np.testing.assert_allclose(np.exp(event), expit(LOG_ODDS))
    np.testing.assert_allclose(np.exp(event) + np.exp(other), 1)


def test_tables_of_future_cases_have_the_likelihood_of_their_rows():
    log_odds, hits = np.stack([LOG_ODDS, LOG_ODDS / 2]), np.stack([HITS, TRIALS - HITS, HITS])
    computed = BINOMIAL.of_tables(log_odds)(np.stack([TRIALS] * 3), hits)
    for table, events in enumerate(hits):
        for curve in range(2):
            rows = BINOMIAL.log_density(log_odds[[curve]].copy(), TRIALS, events)
            assert computed[table, curve] == pytest.approx(rows.sum())


def test_no_event_by_a_time_falls_as_its_derivatives_say():
    share, other, step = np.array([1.0, 0.4, 0.7, 0.9, 0.2]), np.linspace(0, 0.3, 5), 1e-4
    low, value, high = (
        log_without(expit(LOG_ODDS + by), share, other) for by in (-step, 0.0, step)
    )
    late, bend = late_of(expit(LOG_ODDS), share, other)
    np.testing.assert_allclose(-late, (high - low) / (2 * step), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(-bend, (high - 2 * value + low) / step**2, atol=2e-5, rtol=1e-4)


def test_the_law_of_times_is_read_back():
    law = TimeToEvent((0, 4, 9), -1.2, 0.8)
    assert TimeToEvent.from_dict(law.to_dict()) == law
    with pytest.raises(InputError, match="likelihood of the tree"):
        TimeToEvent.from_dict({"name": "poisson"})
