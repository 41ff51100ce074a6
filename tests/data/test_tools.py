"""Checks and sums that stand once: integers, matrices, equal scores, effective sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.core.decision import net_benefit
from bayescal.core.errors import InputError, as_count
from bayescal.data.matrices import as_probability_matrix
from bayescal.data.rows import MANY_VALUES, add_up, levels_of
from bayescal.data.weights import effective_size, kish, quantile

SCORES = st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 1]), min_size=1, max_size=30).map(np.array)


@pytest.mark.parametrize("cases", [7, 3 * MANY_VALUES])
@pytest.mark.parametrize("kind", [np.int32, np.intp])
def test_sums_of_few_and_of_many_values_are_those_of_each_row(cases, kind):
    rng = np.random.default_rng(cases)
    row, values = rng.integers(0, 5, cases).astype(kind), rng.normal(size=cases)
    each = [values[row == k].sum() for k in range(6)]
    np.testing.assert_allclose(add_up(row, values, 6), each, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(add_up(row, values), each[: row.max() + 1], rtol=1e-12, atol=1e-12)
    ones = np.broadcast_to(1, cases)
    assert add_up(row, ones, 6).tolist() == [np.sum(row == k) for k in range(6)]


@pytest.mark.parametrize("value", [True, 2.0, "2", None, 1, np.float64(3)])
def test_what_is_no_whole_number_in_range_is_named(value):
    with pytest.raises(InputError, match="bins must be a whole number of at least 2, got"):
        as_count(value, "bins", 2)


def test_the_range_and_its_meaning_are_told():
    assert as_count(np.int32(40), "k", 1, 40) == 40
    with pytest.raises(InputError, match="k must be a whole number from 1 to 40, the number of"):
        as_count(41, "k", 1, 40, limit="the number of cases")


def test_class_probabilities():
    matrix = [[0.2, 0.8], [0.5, 0.5]]
    np.testing.assert_array_equal(as_probability_matrix(matrix), matrix)
    for wrong, message in (
        ([0.2, 0.8], "one column a class"),
        ([[1.0], [1.0]], "one column a class"),
        ([[0.2, 0.9], [0.5, 0.5]], r"y_prob\[0\] sums to 1.1"),
        ([[0.2, 0.8], [0.5, np.nan]], r"y_prob\[:, 1\]\[1\]"),
    ):
        with pytest.raises(InputError, match=message):
            as_probability_matrix(wrong)


@given(SCORES)
def test_levels_are_the_distinct_scores(scores):
    levels = levels_of(scores)
    np.testing.assert_array_equal(levels.score, np.unique(scores))
    np.testing.assert_array_equal(levels.score[levels.row], scores)
    np.testing.assert_array_equal(levels.trials, np.bincount(levels.row))
    values = np.arange(2.0 * scores.size).reshape(2, -1)
    expected = [np.bincount(levels.row, row) for row in values]
    np.testing.assert_array_equal(levels.totals(values), expected)


@given(SCORES, st.randoms(use_true_random=False))
def test_a_table_does_not_see_the_order_of_cases_nor_those_without_weight(scores, random):
    weights = np.array([random.randint(0, 3) for _ in scores], dtype=float)
    weights[0] = 1
    outcomes = np.array([[random.randint(0, 1) for _ in scores]])
    order = np.array(random.sample(range(scores.size), scores.size))
    table, other = levels_of(scores, weights), levels_of(scores[order], weights[order])
    np.testing.assert_array_equal(table.score, np.unique(scores[weights > 0]))
    np.testing.assert_array_equal(table.trials, other.trials)
    np.testing.assert_array_equal(table.hits(outcomes), other.hits(outcomes[:, order]))
    assert table.total == weights.sum()


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20).map(np.array), st.floats(0.1, 10))
def test_kish_lies_between_one_and_n_and_has_no_scale(weights, factor):
    size = effective_size(weights)
    assert 1 - 1e-9 <= size <= weights.size + 1e-9
    assert size == pytest.approx(effective_size(factor * weights))
    assert size == pytest.approx(kish(weights.sum(), weights @ weights))


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_a_weighted_quantile_is_that_of_the_repeated_cases(pairs, prob):
    values, trials = np.array(pairs).T
    repeated = np.repeat(values, trials.astype(int))
    assert quantile(values, trials, prob) == pytest.approx(np.quantile(repeated, prob), abs=1e-6)


@given(SCORES, st.floats(0, 0.99))
def test_net_benefit_of_all_cases_is_the_mean_of_each(scores, threshold):
    treated = scores >= threshold
    alone = np.where(treated, net_benefit(scores, 1.0, threshold), 0)
    together = net_benefit(scores @ treated, treated.sum(), threshold)
    assert together == pytest.approx(alone.sum(), abs=1e-9)


CASES = ([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.4, 0.6, 0.9, 0.1])
READ_WEIGHTS = {
    "table": lambda weights: bc.CalibrationData(*CASES, sample_weight=weights),
    "fit": lambda weights: bc.fit(*CASES, curve="beta", sample_weight=weights, draws=100),
    "ece": lambda weights: bc.estimators.ece(*CASES, sample_weight=weights),
    "sweep": lambda weights: bc.estimators.sweep_ece(*CASES, sample_weight=weights),
    "brier": lambda weights: bc.scores.brier_score(*CASES, sample_weight=weights),
    "isotonic": lambda weights: bc.recalibrate.IsotonicRecalibrator().fit(
        CASES[1], CASES[0], sample_weight=weights
    ),
}


@pytest.mark.parametrize("reader", READ_WEIGHTS.values(), ids=list(READ_WEIGHTS))
@pytest.mark.parametrize(
    "weights",
    [[1e308] * 6, [1, 1, 1e300, 1, 1, 1], [1e15] * 6, [5e8] * 6, [1e-300] * 6, [0, 5e-324] * 3],
)
def test_weights_beyond_the_limits_are_refused(reader, weights):
    with pytest.raises(InputError, match=r"sample_weight is out of range: the largest, .* the sum"):
        reader(weights)


@pytest.mark.parametrize("scale", [1e-50, 1e-6, 0.7, 1e8])
def test_sampling_weights_within_the_limits_have_no_scale(scale):
    weights = np.array([1, 2.5, 1, 1.25, 1, 3])
    for name in ("ece", "sweep", "brier"):
        assert READ_WEIGHTS[name](weights * scale) == pytest.approx(READ_WEIGHTS[name](weights))


@pytest.mark.parametrize("edge", ["x", [0.1, 0.2], np.nan, 0, 0.5, 1e9])
def test_an_edge_that_is_none_is_named(edge):
    data = bc.CalibrationData([0, 1, 1], [0, 1, 0.4])
    with pytest.raises(InputError, match="edge must lie strictly between 0 and"):
        data.edges(edge)


HUGE = 10**9
ABSURD = {
    "draws": lambda: bc.fit(*CASES, curve="beta", draws=HUGE),
    "n_bins": lambda: bc.recalibrate.HistogramRecalibrator(n_bins=HUGE).fit(CASES[1], CASES[0]),
    "n_knots": lambda: bc.recalibrate.SplineRecalibrator(n_knots=HUGE).fit(CASES[1], CASES[0]),
    "n_resamples": lambda: bc.estimators.estimator_interval("ece", *CASES, n_resamples=HUGE),
}


@pytest.mark.parametrize("name", ABSURD)
def test_an_option_of_absurd_size_names_its_limit(name):
    with pytest.raises(InputError, match=f"{name} must be a whole number from .* to 1,000"):
        ABSURD[name]()


def test_a_limit_that_is_no_number_has_no_probability():
    posterior = bc.fit(*CASES, curve="beta", draws=100)
    with pytest.raises(InputError, match="x must be a finite number, got nan"):
        posterior.prob_below(np.nan)
