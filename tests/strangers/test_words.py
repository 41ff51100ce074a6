"""Sentences that people act on."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc

CHEAP = {"draws": 1000, "random_state": 0}


def cases(seed, n, slope):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1, n)
    return (rng.random(n) < expit(0.15 * (slope == 0.85) + slope * log_odds)).astype(int), expit(
        log_odds
    )


@pytest.mark.slow
def test_few_patients_do_not_show_that_the_spread_fits():
    told = [bc.assess(*cases(seed, 250, 0.75), **CHEAP).headline() for seed in range(4)]
    assert not [text for text in told if "spread of its risks fits" in text]


SEED_AT_A_CUT = 3
"""Two updates that gain about as much."""
REVERSED = cases(0, 300, -1.3)


@pytest.mark.parametrize(
    "door",
    [
        lambda y, p: bc.assess(y, p, **CHEAP).headline(),
        lambda y, p: str(bc.recommend(y, p, **CHEAP)),
        lambda y, p: repr(bc.fit(y, p, **CHEAP)),
        lambda y, p: repr(bc.compare(y, p, **CHEAP)),
    ],
    ids=["assess", "recommend", "fit", "compare"],
)
def test_reversed_scores_have_one_answer_at_every_door(door):
    told = " ".join(door(*REVERSED).split())
    assert "run the wrong way" in told
    assert "Recommended: recalibrate" not in told


@pytest.mark.slow
def test_the_recommended_update_does_not_change_with_the_seed():
    y, score = cases(SEED_AT_A_CUT, 300, 0.85)
    told = {str(bc.recommend(y, score, random_state=seed)).partition(".")[0] for seed in range(4)}
    assert len(told) == 1


def ward():
    """3000 calibrated patients, of whom 80 of one ward have 1.6 times their events."""
    rng = np.random.default_rng(6)
    risk = expit(rng.normal(-1, 0.8, 3000))
    name = np.array([f"W{k}" for k in rng.integers(0, 8, 3000)], dtype=object)
    name[:80] = "Q17"
    odds = np.where(name == "Q17", np.minimum(1.6 * risk, 0.99), risk)
    return (rng.random(3000) < odds).astype(int), risk, name


@pytest.mark.slow
def test_an_odd_subgroup_is_named_as_a_hospital_is():
    y, risk, name = ward()
    data = bc.CalibrationData(y, risk, subgroup={"ward": name})
    told = bc.assess(data, **CHEAP)
    assert "Q17" in " ".join(f"{told} {told.headline()}".split())
