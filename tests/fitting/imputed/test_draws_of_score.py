"""Predictions that are draws of a posterior: both uncertainties add."""

from __future__ import annotations

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
def post() -> bc.CalibrationPosterior:
    return bc.fit(EVENT, draws_of_score=DRAWN, **CHEAP)


def test_the_variance_is_that_of_separate_fits_and_between_them(post) -> None:
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


def test_it_is_wider_than_the_fit_to_the_mean_of_the_draws(post) -> None:
    lower, upper = post.interval("signed_error")
    low, high = bc.fit(EVENT, DRAWN.mean(axis=0), **CHEAP).interval("signed_error")
    assert upper - lower > high - low


def test_it_enters_as_imputations_do(post) -> None:
    other = bc.fit(EVENT, imputations=DRAWN, **CHEAP)
    assert np.array_equal(post.functional("tce"), other.functional("tce"))
    assert isinstance(post, bc.CalibrationPosterior)


def test_of_many_draws_fifty_at_even_distances_are_fitted() -> None:
    many = np.linspace(0.2, 0.6, 99)[:, None] * np.ones(160)
    table = bc.fit(EVENT, draws_of_score=many, **CHEAP).data
    assert len(table.imputations) == 50
    ends = [float(table.imputations[k].score[0]) for k in (0, -1)]
    assert ends == pytest.approx([0.2, 0.6])


def test_the_other_doors_take_it() -> None:
    options = {"draws": 400, "random_state": 1}
    two = DRAWN[:2]
    cmp = bc.compare(EVENT, draws_of_score=two, **options)
    a = bc.assess(EVENT, draws_of_score=two, **options)
    assert cmp.prob_calibrated == a.prob_calibrated
    assert a.missing_information is not None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"y_prob": DRAWN[0], "draws_of_score": DRAWN}, "draws_of_score was given beside y_prob"),
        ({"imputations": DRAWN, "draws_of_score": DRAWN}, "beside draws_of_score"),
        ({"draws_of_score": DRAWN.T}, r"Transpose it: one row a draw, draws_of_score\.T"),
        ({"draws_of_score": DRAWN[:1]}, "draws_of_score must hold at least 2"),
        ({"draws_of_score": DRAWN * 2}, r"draws_of_score\[0\]\[\d+\] = .* outside"),
    ],
)
def test_what_cannot_be_read_is_refused(given, told) -> None:
    with pytest.raises(InputError, match=told):
        bc.fit(EVENT, **given)
