"""Where predictions are off: stretches and the sentence that tells them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment.stretches import stretches_of
from bayescal.assessment.words import where


def averaged(log_odds, n=4000, seed=0, mean=-0.5, sd=1.3):
    rng = np.random.default_rng(seed)
    x = rng.normal(mean, sd, n)
    y = rng.random(n) < expit(log_odds(x))
    return bc.compare(y, expit(x), draws=1000, random_state=1).posterior


def test_a_shift_is_too_low_throughout() -> None:
    post = averaged(lambda x: x + 0.5)
    assert where(stretches_of(post)).startswith("By range, predicted risks are too low ")
    parts = stretches_of(post)
    assert sum(part.cases for part in parts) == pytest.approx(1, abs=0.1)
    assert max(parts, key=lambda part: part.cases).state == "low"


def test_a_wrong_tail_is_told_and_the_calibrated_bulk_is_not_called_wrong() -> None:
    post = averaged(lambda x: np.where(x > 1.2, x - 1.2, x), n=6000, seed=5)
    assert "too high above 0.7" in where(stretches_of(post))
    assert "too low" not in where(stretches_of(post))


def test_of_a_calibrated_model_nothing_is_called_wrong() -> None:
    sentences = [where(stretches_of(averaged(lambda x: x, n=800, seed=seed))) for seed in range(4)]
    assert (
        sentences == ["There is no range in which predictions are clearly too high or too low."] * 4
    )


def test_the_share_of_the_cases_is_that_of_the_cases() -> None:
    rng = np.random.default_rng(1)
    score = rng.choice([0.05, 0.1, 0.2, 0.4, 0.8], 4000, p=[0.9, 0.025, 0.025, 0.025, 0.025])
    post = bc.compare(rng.random(4000) < score, score, draws=1000, random_state=1).posterior
    for part in stretches_of(post):
        inside = (score >= part.start) & (score <= part.stop)
        assert part.cases == pytest.approx(inside.mean())


def test_it_mirrors_when_labels_are_swapped() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1.2, 3000)
    y = rng.random(3000) < expit(x + 0.6)
    ours = stretches_of(bc.compare(y, expit(x), draws=1000, random_state=1).posterior)
    theirs = stretches_of(bc.compare(~y, expit(-x), draws=1000, random_state=1).posterior)
    swapped = {"low": "high", "high": "low"}
    main, other = (max(parts, key=lambda part: part.cases) for parts in (ours, theirs))
    assert swapped[main.state] == other.state
