"""Predictions that were rounded, of cases in groups: one map before rounding is read as a map."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.data.doors import Given
from bayescal.gain.paired import as_paired

RNG = np.random.default_rng(3)
X = RNG.normal(-1, 1, 600)
Y = (RNG.random(600) < expit(X + 0.5)).astype(int)
SITE = np.repeat(["A", "B", "C"], 200)
BEFORE, AFTER = expit(X), expit(X + 0.5)


def gain(before, after, **options):
    return bc.recalibration_gain(
        Y, before, after, site=SITE, draws=16_000, random_state=1, **options
    )


def test_rounding_hardly_changes_the_gain():
    exact, rounded = gain(BEFORE, AFTER), gain(BEFORE.round(2), AFTER.round(2))
    assert not any("Rounding" in note for note in exact.notes)
    assert any("Rounding" in note for note in rounded.notes)
    for of in (lambda g: g, lambda g: g.at(site="A"), lambda g: g.average()):
        first, second = (of(each).summary().loc["brier"] for each in (exact, rounded))
        assert second["estimate"] == pytest.approx(first["estimate"], abs=0.0005)
        assert second["upper"] == pytest.approx(first["upper"], abs=0.0015)


def test_a_map_that_merges_scores_has_a_gain_of_every_group():
    """The rounded map gives some scores the same score after: errors are of fewer rows there."""
    merged = gain(BEFORE, lambda s: np.round(s, 1))
    assert np.isfinite(merged.table("tce").drop(columns="cases").to_numpy()).all()


@pytest.mark.parametrize(
    ("before", "after", "is_rounded"),
    [
        (BEFORE.round(2), AFTER.round(2), True),
        (BEFORE.round(3), (1 - AFTER).round(3), True),
        (BEFORE.round(2), AFTER, False),
        (BEFORE.round(1), AFTER.round(1), False),
        (BEFORE.round(2), expit(X + 0.5 + 0.3 * RNG.normal(size=600)).round(2), False),
        (BEFORE, AFTER, True),
    ],
    ids=["percent", "falling", "one side alone", "one decimal", "another score", "exact"],
)
def test_what_rounding_can_have_left(before, after, is_rounded):
    pairs = as_paired(Given(Y, before), after)
    assert pairs.is_rounded_map is is_rounded


def test_two_scores_that_are_no_map_stay_refused():
    other = np.clip(AFTER.round(2) + RNG.choice([-0.2, 0.2], 600), 0, 1)
    with pytest.raises(bc.errors.InputError, match="after is no map of before"):
        gain(BEFORE.round(2), other)
