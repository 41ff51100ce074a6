"""Predictions that are draws of a posterior: both uncertainties add."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

RNG = np.random.default_rng(1)
TRUE = RNG.normal(0, 1.2, 160)
EVENT = (RNG.random(160) < 1 / (1 + np.exp(-TRUE))).astype(int)
DRAWN = 1 / (1 + np.exp(-(TRUE + RNG.normal(0, 0.4, (6, 1)) + RNG.normal(0, 0.3, (6, 160)))))
CHEAP = {"curve": "intercept", "draws": 400, "random_state": 1}


@pytest.fixture(scope="module")
def post():
    return bc.fit(EVENT, imputation=DRAWN, **CHEAP)


def test_the_variance_is_that_of_separate_fits_and_between_them(post):
    """W + (1 + 1 / m) B, of the draws of a fit to each row by itself."""
    drawn = [
        bc.fit(EVENT, row, **CHEAP | {"draws": each.curve([0.5]).size}).functional("signed_error")
        for row, each in zip(DRAWN, post.imputations, strict=True)
    ]
    within = np.mean([np.var(one) for one in drawn])
    between = np.var([np.mean(one) for one in drawn], ddof=1)
    mixed = post.functional("signed_error")
    assert float(np.var(mixed)) == pytest.approx(within + (1 + 1 / 6) * between, rel=1e-6)
    assert float(np.mean(mixed)) == pytest.approx(np.mean([np.mean(one) for one in drawn]))
    assert between > within  # so that the test sees the uncertainty of the model


def test_of_too_many_draws_it_says_how_to_thin_them():
    many = np.broadcast_to(EVENT * 0.2 + 0.3, (4000, 160))
    with pytest.raises(InputError, match=r"at most 1,000 are fitted\. .*imputation\[::80\]"):
        bc.fit(EVENT, imputation=many, **CHEAP)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"y_prob": DRAWN[0], "imputation": DRAWN}, "imputation was given beside y_prob"),
        ({"imputation": DRAWN.T}, r"Transpose it: one row an imputation, imputation\.T"),
        ({"imputation": DRAWN[:1]}, "imputation must hold at least 2"),
        ({"imputation": DRAWN * 2}, r"imputation\[0\]\[\d+\] = .* outside"),
    ],
)
def test_what_cannot_be_read_is_refused(given, told):
    with pytest.raises(InputError, match=told):
        bc.fit(EVENT, **given)
