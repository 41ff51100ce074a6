"""The upper bound of a calibration error by a proper score, and Lemma 4.1 of the paper."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal import CalibrationData, scores
from bayescal.errors import InputError

RULES = {
    "brier": lambda p, k: np.sum((p - np.eye(p.size)[k]) ** 2),
    "log": lambda p, k: -np.log(p[k]),
    "spherical": lambda p, k: 1 - p[k] / np.sqrt(p @ p),
}
AVERAGE = {
    "brier": scores.brier_score,
    "log": scores.log_score,
    "spherical": scores.spherical_score,
}


def expected(rule, prediction, truth):
    """S(Q, P), class by class."""
    return sum(true * rule(prediction, k) for k, true in enumerate(truth) if true > 0)


def population(seed, groups=6, classes=3):
    """Truth, predictions with ties, and sizes."""
    rng = np.random.default_rng(seed)
    predicted = rng.dirichlet(np.ones(classes), groups)
    predicted[-1] = predicted[0]
    return rng.dirichlet(np.ones(classes), groups), predicted, rng.random(groups)


def lemma(rule, truth, predicted, size):
    """Each term of Lemma 4.1 by loops over groups."""
    share = size / size.sum()
    given = []
    for row in predicted:
        same = (predicted == row).all(axis=1)
        given.append(share[same] @ truth[same] / share[same].sum())
    overall = share @ truth
    mean = sum(s * expected(rule, q, t) for s, q, t in zip(share, predicted, truth, strict=True))
    entropy = expected(rule, overall, overall)
    calibration = sum(
        s * (expected(rule, q, g) - expected(rule, g, g))
        for s, q, g in zip(share, predicted, given, strict=True)
    )
    sharpness = sum(
        s * (expected(rule, overall, g) - expected(rule, g, g))
        for s, g in zip(share, given, strict=True)
    )
    return mean, calibration, sharpness, entropy


# Lemma 4.1


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(sorted(RULES)))
def test_terms_are_those_of_the_lemma_and_add_up(seed, classes, score):
    truth, predicted, size = population(seed, classes=classes)
    parts = scores.proper_decomposition(truth, predicted, score=score, sample_weight=size)
    np.testing.assert_allclose(parts, lemma(RULES[score], truth, predicted, size), atol=1e-12)
    total = parts.uncertainty + parts.miscalibration - parts.discrimination
    assert parts.score == pytest.approx(total, abs=1e-12)
    error = scores.proper_calibration_error(truth, predicted, score=score, sample_weight=size)
    assert parts.miscalibration == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("score", RULES)
def test_from_labels_it_is_murphy_s(score):
    rng = np.random.default_rng(3)
    cells = rng.dirichlet(np.ones(3), 4)
    member, labels = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    parts = scores.murphy_decomposition(labels, cells[member], score=score)
    frequency = np.array([np.bincount(labels[member == c], minlength=3) for c in range(4)])
    size = frequency.sum(axis=1)
    known = scores.proper_decomposition(
        frequency / size[:, None], cells, score=score, sample_weight=size
    )
    np.testing.assert_allclose(parts, known, atol=1e-12)
    assert parts.score == pytest.approx(AVERAGE[score](labels, cells[member]))


@pytest.mark.parametrize("score", RULES)
def test_of_two_columns_it_is_that_of_the_event(score):
    rng = np.random.default_rng(4)
    s, y = rng.integers(1, 5, 50) / 5, rng.integers(0, 2, 50)
    both = scores.murphy_decomposition(y, np.column_stack([1 - s, s]), score=score)
    event = scores.murphy_decomposition(y, s, score=score)
    np.testing.assert_allclose(both, np.array(event) * (2 if score == "brier" else 1))


def test_what_was_ruled_out_and_happens():
    parts = scores.proper_decomposition([[0.5, 0.5, 0]], [[1, 0, 0]], score="log")
    assert parts.score == parts.miscalibration == np.inf
    assert parts.uncertainty == pytest.approx(np.log(2))
    assert parts.discrimination == 0
    labels = [0, 1, 0]
    assert scores.murphy_decomposition(labels, np.eye(3)[[0, 0, 0]], score="log").score == np.inf


# The upper bound


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from(sorted(RULES)))
def test_bounds_the_error_of_the_population(seed, classes, score):
    """The mean of the bound over labels, each with its probability, is at least the error."""
    truth, predicted, size = population(seed, classes=classes)
    pairs = list(product(range(len(truth)), range(classes)))
    group, labels = np.array(pairs).T
    weight = (size[:, None] * truth).ravel()
    losses = [RULES[score](predicted[g], k) for g, k in pairs]
    known = np.average(losses, weights=weight)
    bound = scores.calibration_upper_bound(
        labels, predicted[group], score=score, sample_weight=weight
    )
    assert bound == pytest.approx(known, rel=1e-9)
    error = scores.proper_calibration_error(truth, predicted, score=score, sample_weight=size)
    assert bound >= error - 1e-12


def test_of_brier_it_is_the_score_and_its_root_is_rbs():
    rng = np.random.default_rng(1)
    labels, prob = rng.integers(0, 4, 30), rng.dirichlet(np.ones(4), 30)
    bound = scores.calibration_upper_bound
    assert bound(labels, prob) == scores.brier_score(labels, prob)
    assert bound(labels, prob, root=True) == scores.root_brier_score(labels, prob)
    y, s = rng.integers(0, 2, 30), rng.random(30)
    assert bound(y, s, root=True) == scores.root_brier_score(y, s, scale_by_half=False)
    assert bound(CalibrationData(y, s)) == pytest.approx(bound(y, s))
    several = bound(np.stack([y, 1 - y]), s)
    assert several.shape == (2,)
    assert several[0] == pytest.approx(bound(y, s))


def test_a_function_is_the_score_less_its_least_entropy():
    """The score of a predicted normal law with a variance of at least 1: entropy from 1 on."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=20)
    law = np.column_stack([np.zeros(20), 1 + rng.random(20)])

    def dawid_sebastiani(outcome, law):
        mean, variance = law.T
        return (outcome - mean) ** 2 / variance + np.log(variance)

    weight = rng.integers(1, 4, 20)
    known = np.average(dawid_sebastiani(y, law), weights=weight) - 1
    actual = scores.calibration_upper_bound(
        y, law, score=dawid_sebastiani, least=1, sample_weight=weight
    )
    assert actual == pytest.approx(known)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "cubic"}, "score"),
        ({"least": 0}, "Leave it out"),
        ({"score": lambda y, p: p}, "least must be the infimum"),
        ({"score": lambda y, p: 0.0, "least": 0}, "one number for each case"),
        ({"score": lambda y: y, "least": 0}, "does not take"),
        ({"score": lambda y, p: -np.ones(2), "least": 0, "root": True}, "has no root"),
        ({"root": "yes"}, "root must be"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        scores.calibration_upper_bound([0, 1], [0.2, 0.7], **options)
