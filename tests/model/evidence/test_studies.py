"""Priors from published studies: the meta-analysis, its scales, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.priors import next_study

SLOPES = [(0.9, 0.8, 1.0), (1.1, 0.9, 1.3), (0.8, 0.7, 0.9), (1.0, 0.8, 1.2)]


def test_the_regions_of_isaric_predict_what_was_published(shared_data):
    table = np.genfromtxt(
        shared_data / "oracles" / "published" / "isaric_regions.csv",
        delimiter=",", names=True, dtype=None, encoding="utf-8",
    )  # fmt: skip

    def intervals(column):
        return [
            (middle, lower, 2 * middle - lower)
            for middle, lower in zip(table[column], table[f"{column}_l"], strict=True)
        ]

    prior = bc.priors.from_studies(
        calibration_in_the_large=intervals("cal_mean"), calibration_slope=intervals("cal_slope")
    )
    assert (prior.shift.mu, prior.shift.sigma) == pytest.approx((-0.0093, 0.1246), abs=1e-4)
    slope = np.exp(prior.log_slope.mu)
    assert (slope, slope * prior.log_slope.sigma) == pytest.approx((0.9950, 0.0237), abs=1e-4)
    assert prior.centre == "mean"


def test_equal_studies_do_not_differ():
    result = next_study(np.full(5, 0.3), np.full(5, 0.1))
    assert result.between == 0
    assert (result.mean, result.sd) == pytest.approx((0.3, 0.1 / np.sqrt(5)))


def test_exact_studies_have_the_variance_of_a_sample():
    estimate = np.array([0.1, -0.4, 0.5, 0.2, -0.1])
    result = next_study(estimate, np.full(5, 1e-6))
    assert result.mean == pytest.approx(estimate.mean())
    assert result.between == pytest.approx(estimate.std(ddof=1), rel=1e-4)
    assert result.sd == pytest.approx(estimate.std(ddof=1) * np.sqrt(1 + 1 / 5), rel=1e-4)


@given(shift=st.floats(-3, 3), scale=st.floats(0.2, 5), seed=st.integers(0, 50))
def test_the_meta_analysis_moves_and_stretches_with_its_studies(shift, scale, seed):
    rng = np.random.default_rng(seed)
    estimate, error = rng.normal(0, 0.3, 6), rng.uniform(0.05, 0.3, 6)
    before, after = next_study(estimate, error), next_study(shift + scale * estimate, scale * error)
    assert after.mean == pytest.approx(shift + scale * before.mean, abs=1e-3 * scale)
    assert after.sd == pytest.approx(scale * before.sd, rel=1e-2)


def test_ratios_are_shifts_where_events_are_rare_and_larger_ones_where_they_are_not():
    ratios = [(1.1, 0.9, 1.3), (0.8, 0.7, 0.95), (1.3, 1.1, 1.6), (1.0, 0.8, 1.25)]
    rare = bc.priors.from_studies(observed_expected=ratios)
    common = bc.priors.from_studies(observed_expected=ratios, prevalence=0.5)
    assert common.shift.mu == pytest.approx(2 * rare.shift.mu)
    assert common.shift.sigma == pytest.approx(2 * rare.shift.sigma)
    assert rare.log_slope == bc.priors.PRESETS["clinical"].log_slope


def test_tails_of_t_have_two_degrees_of_freedom_less_than_studies():
    prior = bc.priors.from_studies(calibration_slope=SLOPES)
    assert isinstance(prior.log_slope, bc.priors.StudentT)
    assert prior.log_slope.nu == 2
    normal = bc.priors.from_studies(calibration_slope=SLOPES, tails="normal").log_slope
    assert isinstance(normal, bc.priors.Normal)
    assert (normal.mu, normal.sigma) == (prior.log_slope.mu, prior.log_slope.sigma)


@pytest.mark.slow
@pytest.mark.parametrize("studies", [4, 8])
def test_the_next_hospital_is_where_the_default_says(studies):
    """In 95 of 100 next hospitals; a normal law, which takes its scale as known, holds fewer."""
    rng, contained = np.random.default_rng(studies), {"t": 0, "normal": 0}
    for _ in range(300):
        error = rng.uniform(0.04, 0.08, studies)
        slope = 0.9 + rng.normal(0, 0.12, studies) + error * rng.standard_normal(studies)
        rows = np.column_stack([slope, slope - 1.96 * error, slope + 1.96 * error])
        truth = np.log(0.9 + rng.normal(0, 0.12))
        law = bc.priors.from_studies(calibration_slope=rows).log_slope
        z = abs(truth - law.mu) / law.sigma
        contained["t"] += z < student.ppf(0.975, law.nu)
        contained["normal"] += z < norm.ppf(0.975)
    assert contained["t"] / 300 > 0.95 - 3 * 0.0126
    assert contained["normal"] / 300 < 0.95 - 3 * 0.0126


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no studies"),
        ({"calibration_slope": SLOPES[:2]}, "calibration_slope has 2 studies"),
        ({"calibration_slope": [*SLOPES, (1.0, 1.1, 1.2)]}, r"calibration_slope\[4\]"),
        ({"calibration_slope": [*SLOPES, 0.9]}, r"calibration_slope\[4\]"),
        ({"observed_expected": [*SLOPES, (0.1, -0.2, 0.4)]}, r"observed_expected\[4\]"),
        ({"observed_expected": SLOPES, "calibration_in_the_large": SLOPES}, "pass one"),
        ({"calibration_slope": SLOPES, "prevalence": 0.3}, "prevalence"),
        ({"calibration_slope": SLOPES, "tails": "fat"}, "tails"),
        ({"calibration_slope": [(-x, -u, -lo) for x, lo, u in SLOPES]}, "calibration_slope"),
    ],
)
def test_what_is_no_evidence_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        bc.priors.from_studies(**arguments)


def test_the_prior_is_drawn_beside_its_posterior():
    prior = bc.priors.from_studies(calibration_slope=SLOPES, tails="t")
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    post = bc.fit(y_true, y_prob, curve="beta", prior=prior, random_state=1)
    panels = bc.plots.prior_posterior(post)
    assert len(panels) == 4
    wide = bc.fit(y_true, y_prob, curve="beta", random_state=1)
    assert post.interval("calibration_slope")[0] > wide.interval("calibration_slope")[0]
