"""What must not change an answer: labels swapped, rows moved, tables merged, another seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import bayescal as bc
from bayescal.model.curves import CURVES
from bayescal.model.families import deviation_columns, spline_frame

DRAWS = 4000
SCORES = np.array([0.03, 0.2, 0.5, 0.8, 0.97])
POPULATIONS = ("clinical-low-asymmetric", "D1", "clinical-middle-calibrated")

FAMILIES = [name for name, curve in CURVES.items() if not curve.per_score]
"""Those that need no few scores."""


def cases(name="clinical-low-asymmetric", n=150):
    return bc.simulate.sample(name, n, random_state=11)


def answers(post, scores=SCORES):
    """Draws of the curve and of its distance from calibration, of shape (draws, quantities)."""
    curve = post.curve(scores).to_numpy().reshape(-1, scores.size)
    return np.column_stack([curve, post.tce().to_numpy().ravel()])


def assert_same_law(ours, theirs, size):
    """Means and spreads agree within five standard errors of `size` independent draws."""
    spread = np.maximum(ours.std(axis=0), theirs.std(axis=0))
    error = 5 * np.sqrt(2 / size) * spread + 1e-9
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < error).all()
    kurtosis = ((ours - ours.mean(axis=0)) ** 4).mean(axis=0) / np.maximum(spread, 1e-12) ** 4
    error *= np.sqrt(np.maximum(kurtosis - 1, 1)) / 2
    assert (np.abs(ours.std(axis=0) - theirs.std(axis=0)) < error).all()


def assert_same_fit(one, other):
    """Equal numbers, not only equal laws."""
    np.testing.assert_array_equal(answers(one), answers(other))
    assert one.tree["sample_stats"].equals(other.tree["sample_stats"])


# Relabelling


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("curve", FAMILIES)
def test_a_family_does_not_mind_which_outcome_is_called_the_event(curve, population):
    y, s = cases(population)
    ours = bc.fit(y, s, curve=curve, random_state=1)
    theirs = bc.fit(1 - y, 1 - s, curve=curve, random_state=2)
    facts, others = ours.diagnostics, theirs.diagnostics
    error = 5 * np.hypot(facts["log_evidence_error"], others["log_evidence_error"]) + 1e-7
    assert abs(facts["log_evidence"] - others["log_evidence"]) < error
    mirrored = answers(theirs, 1 - SCORES)
    mirrored[:, : SCORES.size] = 1 - mirrored[:, : SCORES.size]
    size = min(facts["ess"], others["ess"], DRAWS) / 2  # resampling costs some
    assert_same_law(answers(ours), mirrored, size)


log_odds = st.floats(-14, 14) | st.sampled_from([-1.0, 0.0, 1.0])


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(log_odds, st.integers(1, 9)), min_size=1, max_size=120, unique_by=lambda r: r[0]
    )
)
def test_the_prior_of_the_deviations_is_its_own_mirror_image(
    rows,
):
    x, trials = (np.array(column, dtype=float) for column in zip(*sorted(rows), strict=True))
    frame = spline_frame(expit(x), trials, 0.5)
    mirrored = spline_frame(expit(-x[::-1]), trials[::-1], 0.5)
    at = np.linspace(-9, 9, 37)
    sd, other = (
        np.sqrt((deviation_columns(expit(sign * at), constants) ** 2).sum(axis=1))
        for sign, constants in ((1, frame), (-1, mirrored))
    )
    np.testing.assert_allclose(sd, other, rtol=1e-5, atol=1e-5 * max(1.0, sd.max()))


# Rows, tables, weights and seeds


@pytest.mark.slow
@pytest.mark.parametrize("curve", FAMILIES)
def test_the_order_of_the_rows_changes_nothing(curve):
    y, s = cases()
    order = np.random.default_rng(0).permutation(y.size)
    assert_same_fit(
        bc.fit(y, s, curve=curve, random_state=1),
        bc.fit(y[order], s[order], curve=curve, random_state=1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("curve", FAMILIES)
def test_merged_tables_are_one_table(curve):
    y, s = cases()
    merged = bc.CalibrationData(y[:40], s[:40]) + bc.CalibrationData(y[40:], s[40:])
    assert_same_fit(
        bc.fit(y, s, curve=curve, random_state=1), bc.fit(merged, curve=curve, random_state=1)
    )


@pytest.mark.slow
@pytest.mark.parametrize("curve", FAMILIES)
def test_counts_are_repeated_cases(curve):
    y, s = cases()
    counts = np.random.default_rng(1).integers(1, 4, y.size)
    assert_same_fit(
        bc.fit(y, s, sample_weight=counts, curve=curve, random_state=1),
        bc.fit(np.repeat(y, counts), np.repeat(s, counts), curve=curve, random_state=1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("curve", FAMILIES)
def test_a_seed_repeats_a_fit_and_another_moves_it_by_its_monte_carlo_error(curve):
    y, s = cases()
    one, again, other = (bc.fit(y, s, curve=curve, random_state=seed) for seed in (1, 1, 2))
    assert_same_fit(one, again)
    size = min(one.diagnostics["ess"], other.diagnostics["ess"], DRAWS) / 2
    assert_same_law(answers(one), answers(other), size)
    if one.problem.curve.size:
        assert (answers(one) != answers(other)).any()


def test_the_average_of_one_table_is_one_average():
    y, s = cases()
    order = np.random.default_rng(0).permutation(y.size)
    merged = bc.CalibrationData(y[:40], s[:40]) + bc.CalibrationData(y[40:], s[40:])
    one = bc.compare(y, s, random_state=1)
    for other in (
        bc.compare(y[order], s[order], random_state=1),
        bc.compare(merged, random_state=1),
    ):
        assert other.log_evidence == one.log_evidence
        np.testing.assert_array_equal(answers(one.posterior), answers(other.posterior))


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
def test_the_comparison_does_not_mind_which_outcome_is_called_the_event(population):
    y, s = cases(population)
    ours = bc.compare(y, s, random_state=1)
    theirs = bc.compare(1 - y, 1 - s, random_state=2)
    assert ours.prob_calibrated == pytest.approx(theirs.prob_calibrated, abs=0.01)
    assert ours.posterior.prob_below(0.03) == pytest.approx(
        theirs.posterior.prob_below(0.03), abs=0.05
    )
    assert ours.posterior_prob == pytest.approx(theirs.posterior_prob, abs=0.02)
    mirrored = answers(theirs.posterior, 1 - SCORES)
    mirrored[:, : SCORES.size] = 1 - mirrored[:, : SCORES.size]
    assert_same_law(answers(ours.posterior), mirrored, DRAWS / 4)
