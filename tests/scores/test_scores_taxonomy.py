"""The order of calibration errors, as facts about random classifiers whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal import estimators, scores
from bayescal.errors import InputError

ERRORS = {
    "canonical": scores.canonical_calibration_error,
    "class-wise": scores.class_wise_calibration_error,
    "top-label": scores.top_label_calibration_error,
}
SCORES = {
    "brier": scores.brier_score,
    "log": scores.log_score,
    "spherical": scores.spherical_score,
}
TINY = 1e-9
UNITS = 6


@st.composite
def compositions(draw, k, least=0):
    """Probabilities of k classes in sixths, so that groups often look alike."""
    left, parts = UNITS - k * least, []
    for _ in range(k - 1):
        parts.append(draw(st.integers(0, left)))
        left -= parts[-1]
    return [(part + least) / UNITS for part in draw(st.permutations([*parts, left]))]


@st.composite
def classifiers(draw, classes=(2, 4), least=0):
    """True probabilities, predictions and sizes of up to seven groups."""
    k, groups = draw(st.integers(*classes)), draw(st.integers(1, 7))
    rows = st.lists(compositions(k), min_size=groups, max_size=groups)
    predictions = st.lists(compositions(k, least), min_size=groups, max_size=groups)
    size = draw(st.lists(st.integers(1, 5), min_size=groups, max_size=groups))
    return np.array(draw(rows)), np.array(draw(predictions)), np.array(size, dtype=float)


def population(truth, prob, size):
    """Every label at every group, with its share as a weight."""
    k = truth.shape[1]
    labels = np.tile(np.arange(k), truth.shape[0])
    return labels, np.repeat(prob, k, axis=0), (truth * size[:, None]).ravel()


def of_score(score, data):
    labels, prob, weight = population(*data)
    return float(SCORES[score](labels, prob, sample_weight=weight))


def error(kind, data, p):
    truth, prob, size = data
    return ERRORS[kind](truth, prob, p=p, sample_weight=size)


# Theorem 3.1

orders = st.floats(1, 5)


@given(data=classifiers(), p=orders)
def test_the_whole_prediction_errs_most(data, p):
    full = error("canonical", data, p)
    assert error("class-wise", data, p) <= full + TINY
    assert error("top-label", data, p) <= full + TINY


@given(data=classifiers(classes=(2, 2)), p=orders)
def test_of_two_classes_one_says_it_all(data, p):
    full = error("canonical", data, p)
    assert error("class-wise", data, p) == pytest.approx(full, abs=TINY)


@given(data=classifiers(classes=(2, 2)))
def test_estimators_of_an_event_are_below_its_error(data):
    """In the population, where nothing is added by chance; both columns err by as much."""
    labels, prob, weight = population(*data)
    known = error("canonical", data, 1) / 2
    binary = labels, prob[:, 1]
    assert estimators.ks_error(*binary, sample_weight=weight) <= known + TINY
    for n_bins in (1, 2, 3, 10):
        assert estimators.ece(*binary, n_bins=n_bins, sample_weight=weight) <= known + TINY
    fine = estimators.ece(*binary, n_bins=100, sample_weight=weight)
    assert fine == pytest.approx(known, abs=TINY)


def test_class_wise_and_top_label_do_not_bound_each_other():
    shift = 0.2
    truth = [[0.4 + shift, 0.6 - shift, 0], [0.4 - shift, 0.3, 0.3 + shift], [0.1, 0.8, 0.1]]
    predicted = [[0.4, 0.6, 0], [0.4, 0.3, 0.3], [0.1, 0.6, 0.3]]
    data = np.array(truth), np.array(predicted), np.ones(3)
    assert error("class-wise", data, 1) == pytest.approx(0, abs=TINY)
    assert error("top-label", data, 1) == pytest.approx(shift / 3)
    assert error("canonical", data, 1) == pytest.approx(2 * shift)
    data = np.array([[0.5, 0.2, 0.3]]), np.array([[0.5, 0.3, 0.2]]), np.ones(1)
    assert error("top-label", data, 1) == 0
    assert error("class-wise", data, 1) == pytest.approx(0.2)


# Proper calibration errors


@pytest.mark.parametrize("score", SCORES)
@given(data=classifiers())
def test_a_score_is_its_calibration_error_and_what_stays_uncertain(score, data):
    truth, prob, size = data
    actual = scores.proper_calibration_error(truth, prob, score=score, sample_weight=size)
    level, group = np.unique(prob, axis=0, return_inverse=True)
    mass = np.bincount(group.ravel(), size)
    pooled = np.zeros_like(level)
    np.add.at(pooled, group.ravel(), truth * size[:, None])
    uncertain = of_score(score, (pooled / mass[:, None], pooled / mass[:, None], mass))
    assert actual + uncertain == pytest.approx(of_score(score, data), abs=TINY)
    assert 0 <= actual <= of_score(score, data) + TINY
    assert (actual < TINY) == (error("canonical", data, 1) < TINY)


@given(data=classifiers())
def test_proper_errors_by_their_names(data):
    truth, prob, size = data
    square = scores.proper_calibration_error(truth, prob, sample_weight=size)
    assert square == pytest.approx(error("canonical", data, 2) ** 2, abs=TINY)
    divergence = scores.proper_calibration_error(truth, prob, score="log", sample_weight=size)
    assert error("canonical", data, 1) ** 2 <= 2 * divergence + TINY


# Groups


@pytest.mark.parametrize("kind", ERRORS)
def test_groups_with_one_prediction_are_taken_together(kind):
    truth, predicted = [[0.9, 0.1, 0], [0.1, 0.5, 0.4]], [[0.5, 0.3, 0.2]] * 2
    assert ERRORS[kind](truth, predicted) == pytest.approx(0, abs=TINY)
    apart = [[0.5, 0.3, 0.2], [0.51, 0.29, 0.2]]
    assert ERRORS[kind](truth, apart) > 0.2


@pytest.mark.parametrize("kind", ERRORS)
def test_sizes_are_repeats(kind):
    rng = np.random.default_rng(0)
    truth, predicted = rng.dirichlet(np.ones(3), (2, 8))
    size = rng.integers(0, 4, 8)
    repeated = ERRORS[kind](np.repeat(truth, size, axis=0), np.repeat(predicted, size, axis=0), p=2)
    assert ERRORS[kind](truth, predicted, p=2, sample_weight=size) == pytest.approx(repeated)
    scaled = ERRORS[kind](truth, predicted, p=2, sample_weight=2.5 * size)
    assert scaled == pytest.approx(repeated)


def test_what_was_ruled_out_and_can_happen_costs_without_limit():
    truth, predicted = [[0.5, 0.5]], [[1.0, 0.0]]
    assert scores.proper_calibration_error(truth, predicted, score="log") == np.inf
    assert scores.proper_calibration_error(predicted, predicted, score="log") == 0
    assert scores.proper_calibration_error(truth, predicted) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.2], [0.3]), {}, "truth must have one row a case and one column a class"),
        (([[0.2, 0.8]], [0.3]), {}, "y_prob must have one row a case"),
        (([[0.2, 0.8]], [[0.2, 0.3, 0.5]]), {}, "truth has shape"),
        (([[0.2, 0.7]], [[0.2, 0.8]]), {}, r"truth\[0\] sums to 0.9"),
        (([[0.2, 0.8]], [[0.2, 0.8]]), {"sample_weight": [1, 2]}, "sample_weight has 2"),
    ],
)
def test_refuses_what_are_not_groups(arguments, options, message):
    for function in (*ERRORS.values(), scores.proper_calibration_error):
        with pytest.raises(InputError, match=message):
            function(*arguments, **options)


def test_refuses_options_out_of_range():
    group = [[0.2, 0.8]]
    for function in ERRORS.values():
        with pytest.raises(InputError, match="p must be a finite number"):
            function(group, group, p=0.5)
    with pytest.raises(InputError, match="score must be one of"):
        scores.proper_calibration_error(group, group, score="dss")
