"""Proper scores, decompositions, net benefit and discrimination, against others and brute force."""

import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error, roc_auc_score
from sklearn.preprocessing import label_binarize

from bayescal import CalibrationData, scores
from bayescal.core.arrays import blocks
from bayescal.errors import InputError
from clinical_sets import CLINICAL, read

PROPER = [
    scores.brier_score,
    scores.log_score,
    scores.spherical_score,
    scores.bernoulli_dawid_sebastiani_score,
]
DECOMPOSITIONS = [scores.corp_decomposition, scores.murphy_decomposition]
SCORES = {
    "brier": scores.brier_score,
    "log": scores.log_score,
    "spherical": scores.spherical_score,
}
THRESHOLDS = [0.5, 0.1, 0.0, 0.5, 0.93]
DEFINED_FOR_ONE_CLASS = [
    *PROPER,
    scores.root_brier_score,
    *(partial(f, score=score) for f in DECOMPOSITIONS for score in SCORES),
    partial(scores.net_benefit, thresholds=0.3),
    partial(scores.net_benefit, thresholds=THRESHOLDS),
    partial(scores.decision_curve, thresholds=THRESHOLDS),
]
NEED_BOTH = [
    scores.scaled_brier_score,
    scores.c_statistic,
    scores.somers_dxy,
    partial(scores.standardised_net_benefit, thresholds=0.3),
    partial(scores.standardised_net_benefit, thresholds=THRESHOLDS),
]


def cases(n=60, seed=0):
    """Outcomes and scores with ties."""
    rng = np.random.default_rng(seed)
    y_prob = rng.beta(2, 3, n).round(1)
    return (rng.random(n) < y_prob**1.3).astype(int), y_prob


def classes(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)


def flat(values):
    """What a function returned, named tuples included, as one row of numbers."""
    return np.concatenate(
        [np.ravel(part) for part in (values if isinstance(values, tuple) else [values])]
    )


# Other packages


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_gives_the_exact_answers(known, name):
    y_true, y_prob, answers = known(name)
    pair = np.column_stack([1 - y_prob, y_prob])
    unscaled = {"scale_by_half": False}
    for actual, key in [
        (scores.brier_score(y_true, y_prob), "Brier mean (s-h)^2"),
        (scores.brier_score(y_true, pair, scale_by_half=True), "Brier mean (s-h)^2"),
        (scores.brier_score(y_true, pair), "BS 2-class = 2*mean((s-h)^2)"),
        (scores.brier_score(y_true, y_prob, **unscaled), "BS 2-class = 2*mean((s-h)^2)"),
        (scores.root_brier_score(y_true, y_prob, **unscaled), "RBS = sqrt(BS 2-class)"),
        (scores.root_brier_score(y_true, pair), "RBS = sqrt(BS 2-class)"),
        (scores.root_brier_score(y_true, y_prob), "RBS 1-dim = sqrt(mean((s-h)^2))"),
    ]:
        assert actual == pytest.approx(answers[key], rel=1e-12)
    parts = scores.corp_decomposition(y_true, y_prob)[1:]
    assert parts == pytest.approx(answers["CORP (sklearn isotonic): MCB,DSC,UNC"], rel=1e-9)


@pytest.mark.parametrize("name", CLINICAL)
def test_gives_what_r_gives(clinical, name):
    *data, known = clinical(name)
    parts = scores.corp_decomposition(*data)
    corp = [known["CORP"][key] for key in ("S", "MCB", "DSC", "UNC")]
    assert parts == pytest.approx(corp, abs=1e-11)
    for actual, key in [
        (scores.c_statistic(*data), "C"),
        (scores.brier_score(*data), "Brier"),
        (scores.scaled_brier_score(*data), "Brier_scaled"),
        (scores.log_score(*data), "logloss"),
    ]:
        assert actual == pytest.approx(known[key], rel=1e-8)


def test_gives_what_others_print(shared_data):
    """To half a unit of the last printed digit."""
    known = json.loads((shared_data / "oracles" / "clinical.json").read_text())["published"]
    emos = known["reliabilitydiag README"]["EMOS"]
    actual = scores.corp_decomposition(*read(shared_data, "precip_EMOS"))
    for part, key in zip(actual, ("mean_score", "MCB", "DSC", "UNC"), strict=True):
        assert part == pytest.approx(emos[key], abs=0.0005 if part > 0.1 else 0.00005)
    readme = known["pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"]
    data, rms = read(shared_data, "pmcalibration_readme_sim2345"), readme["rms_val.prob"]
    assert scores.somers_dxy(*data) == pytest.approx(rms["Dxy"], abs=0.0005)
    assert scores.c_statistic(*data) == pytest.approx(rms["C"], abs=0.0005)
    assert scores.brier_score(*data) == pytest.approx(rms["Brier"], abs=0.0005)
    curves = known["dcurves tests (test-dca.R)"]["NB@0.25"]
    curve = scores.decision_curve(*read(shared_data, "dcurves_df_binary"), 0.25)
    assert curve.model == pytest.approx([curves["model"]], abs=5e-8)
    assert curve.treat_all == pytest.approx([curves["treat_all"]], abs=5e-8)
    assert curve.treat_none == curves["none"]


def test_the_paper_s_code_gives_two_classes_one_outcome(known):
    """Its outcomes are one column for two classes, taken from both columns of probabilities."""
    y_true, y_prob, _ = known("A")
    pair = np.column_stack([1 - y_prob, y_prob])
    released = ((pair - y_true[:, None]) ** 2).sum(axis=1).mean()
    assert released == pytest.approx(0.641, abs=0.0005)
    assert scores.brier_score(y_true, pair) == pytest.approx(0.464, abs=0.0005)


@pytest.mark.parametrize("weighted", [False, True])
def test_gives_what_scikit_learn_gives(weighted):
    y_true, y_prob = cases(200)
    weight = np.random.default_rng(1).uniform(0, 2, 200) if weighted else None
    inside = np.clip(y_prob, 0.01, 0.99)
    for ours, theirs in [
        (scores.brier_score, brier_score_loss),
        (scores.log_score, log_loss),
        (scores.c_statistic, roc_auc_score),
    ]:
        actual = ours(y_true, inside, sample_weight=weight)
        assert actual == pytest.approx(theirs(y_true, inside, sample_weight=weight), rel=1e-12)
    labels, matrix = classes(200)
    actual = scores.log_score(labels, matrix, sample_weight=weight)
    assert actual == pytest.approx(log_loss(labels, matrix, sample_weight=weight), rel=1e-12)
    columns = label_binarize(labels, classes=np.arange(matrix.shape[1]))
    squared = mean_squared_error(columns, matrix, sample_weight=weight) * matrix.shape[1]
    actual = scores.brier_score(labels, matrix, sample_weight=weight)
    assert actual == pytest.approx(squared, rel=1e-12)


# Proper scores


def test_spherical_and_dawid_sebastiani_by_definition():
    labels, matrix = classes(50, 4)
    given = matrix[np.arange(50), labels]
    cosine = given / np.linalg.norm(matrix, axis=1)
    assert scores.spherical_score(labels, matrix) == pytest.approx(np.mean(1 - cosine))
    moments = []
    for label, p in zip(labels, matrix[:, :-1], strict=True):
        covariance, gap = np.diag(p) - np.outer(p, p), (np.arange(3) == label) - p
        square = gap @ np.linalg.solve(covariance, gap)
        moments.append(np.linalg.slogdet(covariance)[1] + square)
    assert scores.bernoulli_dawid_sebastiani_score(labels, matrix) == pytest.approx(
        np.mean(moments)
    )
    s, v = 0.3, 0.21
    assert scores.bernoulli_dawid_sebastiani_score([1], [s]) == pytest.approx(
        math.log(v) + 0.49 / v
    )


def test_the_bernoulli_score_is_that_of_the_mean_and_variance_of_a_probability():
    y_true, y_prob = cases()
    y_prob = np.clip(y_prob, 0.01, 0.99)
    moments = scores.dawid_sebastiani_score(y_true, y_prob, y_prob * (1 - y_prob))
    assert scores.bernoulli_dawid_sebastiani_score(y_true, y_prob) == pytest.approx(moments)


@pytest.mark.parametrize("score", PROPER)
def test_an_event_is_two_classes(score):
    y_true, y_prob = cases()
    y_prob = np.clip(y_prob, 0.01, 0.99)
    pair = np.column_stack([1 - y_prob, y_prob])
    factor = 2 if score is scores.brier_score else 1
    assert score(y_true, pair) == pytest.approx(factor * score(y_true, y_prob))
    assert score(1 - y_true, 1 - y_prob) == pytest.approx(score(y_true, y_prob))
    assert score(y_true, y_prob[:, None]) == score(y_true, y_prob)


@pytest.mark.parametrize(
    ("score", "right", "wrong"),
    [
        (scores.brier_score, 0, 1),
        (scores.root_brier_score, 0, 1),
        (scores.log_score, 0, np.inf),
        (scores.spherical_score, 0, 1),
        (scores.bernoulli_dawid_sebastiani_score, -np.inf, np.inf),
    ],
)
def test_scores_of_0_and_1(score, right, wrong):
    assert score([0, 1], [0, 1]) == right
    assert score([1, 0], [0, 1]) == wrong
    corners = np.eye(3)
    factor = {scores.brier_score: 2, scores.root_brier_score: 2**0.5}.get(score, 1)
    assert score([0, 1, 2], corners) == right
    assert score([1, 2, 0], corners) == pytest.approx(factor * wrong)
    assert not np.signbit(scores.corp_decomposition([0], [0], score="log")).any()


def test_one_contradiction_outweighs_every_certainty_that_proved_right():
    y_true, y_prob = [0, 1, 1, 0], [0.0, 1.0, 0.0, 0.5]
    assert scores.bernoulli_dawid_sebastiani_score(y_true, y_prob) == np.inf
    assert scores.log_score(y_true, y_prob) == np.inf
    batch = [[0, 1, 1, 0], [0, 1, 0, 0]]
    assert scores.bernoulli_dawid_sebastiani_score(batch, y_prob).tolist() == [np.inf, -np.inf]
    assert scores.bernoulli_dawid_sebastiani_score([1], [5e-324]) == np.inf
    assert np.isfinite(scores.log_score(y_true, y_prob, sample_weight=[1, 1, 0, 1]))


# Decompositions

some_cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.9, 1.0]), st.integers(0, 1)),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("decompose", DECOMPOSITIONS)
@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=30)
@given(data=some_cases)
def test_parts_add_up(decompose, score, data):
    y_prob, y_true = np.array(data).T
    actual = decompose(y_true, y_prob, score=score)
    base = np.full(y_prob.size, y_true.mean())
    assert actual.score == SCORES[score](y_true, y_prob)
    assert actual.uncertainty == pytest.approx(SCORES[score](y_true, base), abs=1e-12)
    rest = actual.uncertainty - actual.discrimination
    assert actual.miscalibration + rest == pytest.approx(actual.score, abs=1e-12)
    assert min(actual) >= 0


@pytest.mark.parametrize("score", SCORES)
def test_corp_recalibrates_better_than_any_monotone_map(score):
    y_true, y_prob = cases(80, seed=3)
    y_prob = np.clip(y_prob, 0.01, 0.99)
    actual = scores.corp_decomposition(y_true, y_prob, score=score)
    best = actual.score - actual.miscalibration
    fit = IsotonicRegression().fit(y_prob, y_true).predict(y_prob)
    assert SCORES[score](y_true, fit) == pytest.approx(best, rel=1e-9)
    rng = np.random.default_rng(4)
    level, row = np.unique(y_prob, return_inverse=True)
    for _ in range(200):
        monotone = np.sort(rng.beta(1, 1, level.size))
        assert SCORES[score](y_true, monotone[row]) > best


def test_murphy_is_the_textbook_s_sum():
    y_true, y_prob = cases(300, seed=6)
    actual = scores.murphy_decomposition(y_true, y_prob)
    reliability = resolution = 0.0
    for level in np.unique(y_prob):
        here = y_true[y_prob == level]
        reliability += here.size * (level - here.mean()) ** 2 / 300
        resolution += here.size * (here.mean() - y_true.mean()) ** 2 / 300
    variance = y_true.mean() * (1 - y_true.mean())
    expected = (scores.brier_score(y_true, y_prob), reliability, resolution, variance)
    assert actual == pytest.approx(expected, rel=1e-9)


# Net benefit and discrimination


def test_net_benefit_counts_cases_that_reach_the_threshold():
    y_true, y_prob = cases(100, seed=8)
    weight = np.random.default_rng(9).uniform(0, 2, 100)
    thresholds = [0.3, 0.0, 0.15, 0.6, 0.3, 0.99]
    actual = scores.net_benefit(y_true, y_prob, thresholds, sample_weight=weight)
    for t, benefit in zip(thresholds, actual, strict=True):
        events = weight[(y_prob >= t) & (y_true == 1)].sum()
        others = weight[(y_prob >= t) & (y_true == 0)].sum()
        assert benefit == pytest.approx((events - others * t / (1 - t)) / weight.sum())
        alone = scores.net_benefit(y_true, y_prob, t, sample_weight=weight)
        assert isinstance(alone, float)
        assert alone == pytest.approx(benefit, rel=1e-12)


def test_decision_curve_holds_its_three_strategies():
    y_true, y_prob = cases(100, seed=10)
    rate = y_true.mean()
    curve = scores.decision_curve(y_true, y_prob)
    t = curve.threshold
    assert t.tolist() == [i / 100 for i in range(1, 100)]
    np.testing.assert_allclose(curve.treat_all, rate - (1 - rate) * t / (1 - t), atol=1e-12)
    np.testing.assert_array_equal(curve.model, scores.net_benefit(y_true, y_prob, t))
    assert not curve.treat_none.any()
    scaled = scores.decision_curve(y_true, y_prob, standardised=True)
    np.testing.assert_allclose(scaled.model, curve.model / rate)
    np.testing.assert_allclose(scaled.treat_all, curve.treat_all / rate)
    np.testing.assert_allclose(
        scores.standardised_net_benefit(y_true, y_prob, t), scaled.model, rtol=1e-12
    )
    assert scores.standardised_net_benefit(y_true, y_true, [0.2, 0.7]).tolist() == [1, 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_c_statistic_counts_pairs(weighted):
    y_true, y_prob = cases(60, seed=11)
    weight = np.random.default_rng(12).uniform(0.1, 2, 60) if weighted else np.ones(60)
    events, others = y_true == 1, y_true == 0
    gap = y_prob[events][:, None] - y_prob[others]
    pairs = np.outer(weight[events], weight[others])
    expected = (pairs * ((gap > 0) + (gap == 0) / 2)).sum() / pairs.sum()
    actual = scores.c_statistic(y_true, y_prob, sample_weight=weight)
    assert actual == pytest.approx(expected, rel=1e-12)
    dxy = scores.somers_dxy(y_true, y_prob, sample_weight=weight)
    assert dxy == pytest.approx(2 * expected - 1, rel=1e-12)
    if not weighted:
        u = mannwhitneyu(y_prob[events], y_prob[others]).statistic
        assert actual == pytest.approx(u / (events.sum() * others.sum()), rel=1e-12)


# Batches, weights, order


@pytest.mark.parametrize("score", PROPER)
def test_whole_weights_are_repeats_for_classes(score):
    labels, matrix = classes()
    weight = np.random.default_rng(15).integers(0, 4, 40)
    repeated = score(np.repeat(labels, weight), np.repeat(matrix, weight, axis=0))
    assert score(labels, matrix, sample_weight=weight) == pytest.approx(repeated)


@pytest.mark.parametrize("score", PROPER)
def test_blocks_do_not_show(score, monkeypatch):
    y_true, y_prob = cases(100)
    y_prob = np.clip(y_prob, 0.05, 0.95)
    unscaled = score([y_true, 1 - y_true], y_prob)
    monkeypatch.setattr("bayescal.scores.proper.blocks", partial(blocks, room=7))
    np.testing.assert_allclose(score([y_true, 1 - y_true], y_prob), unscaled, rtol=1e-12)


# What is not defined, and hostile input


@pytest.mark.parametrize("function", NEED_BOTH)
def test_what_needs_events_says_so(function):
    with pytest.raises(InputError, match=r"y_true holds (one class only|no events)"):
        function([0, 0], [0.2, 0.4])
    actual = function([[0, 0], [0, 1]], [0.2, 0.4])
    assert np.isnan(actual[0]).all()
    assert not np.isnan(actual[1]).any()


@pytest.mark.parametrize("function", DEFINED_FOR_ONE_CLASS)
def test_one_class_is_enough_for_the_rest(function):
    for outcome in (0, 1):
        assert np.isfinite(flat(function([outcome] * 3, [0.2, 0.4, 0.4]))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 3], [[0.2, 0.8], [0.5, 0.5]]), r"y_true\[1\] = 3 is not one of the 2 classes"),
        (([0.5, 1], [[0.2, 0.8], [0.5, 0.5]]), r"y_true\[0\] = 0.5 is not one of"),
        (([0, 1], [[0.2, 0.7], [0.5, 0.5]]), r"y_prob\[0\] sums to 0.9, not 1"),
        (([[0, 1], [0, 1]], [[0.2, 0.8], [0.5, 0.5]]), "y_true must be one-dimensional"),
    ],
)
@pytest.mark.parametrize("score", PROPER)
def test_refuses_what_are_not_labels_and_classes(score, arguments, message):
    with pytest.raises(InputError, match=message):
        score(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(scores.brier_score, scale_by_half="yes"), "scale_by_half must be True, False"),
        (partial(scores.corp_decomposition, score="crps"), "score must be one of 'brier', 'log'"),
        (partial(scores.net_benefit, thresholds=[0.5, 1]), r"thresholds\[1\] is 1"),
        (partial(scores.net_benefit, thresholds=[50]), "divide by 100"),
        (partial(scores.net_benefit, thresholds=[]), "thresholds is empty"),
        (partial(scores.net_benefit, thresholds="half"), "thresholds"),
    ],
)
def test_refuses_options_out_of_range(call, message):
    with pytest.raises(InputError, match=message):
        call([0, 1], [0.2, 0.4])


# A table in the place of arrays


EVENT_SCORES = [
    scores.brier_score,
    scores.root_brier_score,
    scores.log_score,
    scores.spherical_score,
    scores.bernoulli_dawid_sebastiani_score,
    scores.scaled_brier_score,
    scores.c_statistic,
    scores.somers_dxy,
    scores.corp_decomposition,
    scores.murphy_decomposition,
    partial(scores.net_benefit, thresholds=[0.2, 0.5]),
    partial(scores.standardised_net_benefit, thresholds=0.3),
    scores.decision_curve,
]


@pytest.mark.parametrize("function", EVENT_SCORES)
def test_a_table_scores_as_its_arrays(function):
    y_true, y_prob = cases(200)
    y_prob = np.clip(np.round(y_prob, 1), 0.1, 0.9)
    weights = np.arange(200) % 4
    table = CalibrationData(y_true, y_prob, weights, weight_type="counts")
    expected = flat(function(y_true, y_prob, sample_weight=weights))
    np.testing.assert_allclose(flat(function(table)), expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(InputError, match="was given beside a CalibrationData"):
        function(table, y_prob)


def large():
    """Cases with more distinct scores than a table has rows."""
    rng = np.random.default_rng(3)
    y_prob = rng.random(4000)
    return (rng.random(4000) < y_prob).astype(float), y_prob


@pytest.mark.parametrize("function", [*EVENT_SCORES[:6], scores.corp_decomposition])
def test_on_the_grid_mean_scores_are_near(function):
    expected = flat(function(*large()))
    np.testing.assert_allclose(flat(function(CalibrationData(*large()))), expected, atol=1e-3)


@pytest.mark.parametrize("function", [*EVENT_SCORES[6:8], *EVENT_SCORES[9:]])
def test_on_the_grid_ranks_and_thresholds_are_lost(function):
    with pytest.raises(InputError, match="compressed to a grid of 2048 cells"):
        function(CalibrationData(*large()))


@pytest.mark.parametrize("function", EVENT_SCORES)
def test_groups_are_refused(function):
    table = CalibrationData([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], site=list("aabb"))
    with pytest.raises(InputError, match="holds 2 groups"):
        function(table)
