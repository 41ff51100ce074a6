"""The binned reliability diagram, and the number of bins that cross-validation takes."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut

from bayescal import CalibrationData, simulate
from bayescal.errors import InputError
from bayescal.estimators import binned_reliability, ece


def sampled(n=80):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=3)
    return y_true, y_prob.round(2)


def left_out(y, s, bins):
    """Squared error of each case by the mean of the others in its bin, case by case."""
    total = 0.0
    index = np.ceil(s * bins - 1e-9)
    index[index == 0] = 1
    for others, (case,) in LeaveOneOut().split(s):
        near = others[index[others] == index[case]]
        rate = y[near].mean() if near.size else y[others].mean()
        total += (y[case] - rate) ** 2
    return total / y.size


def test_error_is_that_of_cases_left_out():
    y, s = sampled()
    shown = binned_reliability(y, s, most_bins=12, n_folds=80, random_state=1)
    known = [left_out(y, s, bins) for bins in range(1, 13)]
    np.testing.assert_allclose(shown.error, known, rtol=1e-12)
    assert shown.n_bins == 1 + int(np.argmin(known))


def test_steps_are_recognised():
    """Four equal steps, with many cases: four bins predict best."""
    rng = np.random.default_rng(1)
    s = rng.random(20_000)
    y = rng.random(20_000) < np.array([0.1, 0.8, 0.3, 0.6])[(s * 4).astype(int)]
    shown = binned_reliability(y, s, random_state=1)
    assert shown.n_bins % 4 == 0
    assert shown.n_bins == 4


def test_bars_are_means_and_their_error_is_ece():
    y, s = sampled()
    shown = binned_reliability(y, s, n_bins=7)
    assert shown.ece == pytest.approx(ece(y, s, n_bins=7), rel=1e-12)
    assert shown.candidates.size == shown.error.size == 0
    for low, high, score, outcome, trials in zip(
        shown.edges[:-1], shown.edges[1:], shown.score, shown.outcome, shown.trials, strict=True
    ):
        within = (low < s) & (s <= high)
        assert trials == within.sum()
        if trials:
            assert score == pytest.approx(s[within].mean())
            assert outcome == pytest.approx(y[within].mean())
    filled = shown.trials > 0
    assert (shown.lower[filled] <= shown.outcome[filled]).all()
    assert (shown.outcome[filled] <= shown.upper[filled]).all()


def test_counts_are_cases_and_tables_hold_them():
    y, s = sampled()
    counts = np.random.default_rng(2).integers(0, 30, y.size)
    one = binned_reliability(y, s, n_folds=2, most_bins=5, sample_weight=counts, random_state=1)
    table = CalibrationData(np.repeat(y, counts), np.repeat(s, counts))
    other = binned_reliability(table, n_folds=2, most_bins=5, random_state=2)
    np.testing.assert_allclose(one.error, other.error, rtol=0.01)
    np.testing.assert_allclose(
        binned_reliability(table, n_bins=5).outcome,
        binned_reliability(y, s, n_bins=5, sample_weight=counts).outcome,
    )


def test_every_case_of_a_count_can_be_left_out_alone():
    y, s = sampled(30)
    counts = np.random.default_rng(2).integers(0, 4, y.size)
    n = int(counts.sum())
    weighted = binned_reliability(
        y, s, n_folds=n, most_bins=6, sample_weight=counts, random_state=1
    )
    repeated = binned_reliability(
        np.repeat(y, counts), np.repeat(s, counts), n_folds=n, most_bins=6, random_state=2
    )
    np.testing.assert_allclose(weighted.error, repeated.error, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": "many"}, "cross-validated"),
        ({"n_bins": 0}, "n_bins"),
        ({"n_folds": 1}, "n_folds"),
        ({"n_folds": 81}, "the number of cases"),
        ({"most_bins": 0}, "most_bins"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        binned_reliability(*sampled(), **options)


def test_of_equal_errors_the_fewest_bins_are_taken():
    """With one score all numbers of bins are alike but for rounding, and more would be empty."""
    for seed in range(20):
        y = np.random.default_rng(seed).integers(0, 2, 40)
        diagram = binned_reliability(y, np.ones(40), random_state=seed)
        assert diagram.n_bins == 1
        assert not np.isnan(diagram.score).any()
