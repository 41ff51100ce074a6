"""Recalibrators against other people's answers, brute force, and hostile data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize
from scipy.special import betaln, expit, log_expit, logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from bayescal import CalibrationData, recalibrate, simulate
from bayescal.errors import InputError, SeparationError
from bayescal.estimators import ks_error
from bayescal.estimators.bpm import fit_bpm_curve
from bayescal.recalibrate import (
    BayesianRecalibrator,
    BBQRecalibrator,
    BetaRecalibrator,
    DecisionTreeRecalibrator,
    DiagonalRecalibrator,
    EnsembleTemperatureRecalibrator,
    HistogramRecalibrator,
    InterceptRecalibrator,
    IsotonicRecalibrator,
    LogisticRecalibrator,
    MonotoneRecalibrator,
    ProbabilityCalibrationTreeRecalibrator,
    Recalibrator,
    SmoothRecalibrator,
    SplineRecalibrator,
    TemperatureRecalibrator,
    TPMRecalibrator,
    VectorScalingRecalibrator,
)
from clinical_sets import CLINICAL

BOUNDED = BetaRecalibrator()
EVERY = [
    InterceptRecalibrator(),
    LogisticRecalibrator(),
    TemperatureRecalibrator(),
    BOUNDED,
    BetaRecalibrator(constrained=False),
    IsotonicRecalibrator(),
    HistogramRecalibrator(),
    HistogramRecalibrator(30, "width", prior_weight=2, prior_centre="half"),
    BBQRecalibrator(),
    SplineRecalibrator(),
    TPMRecalibrator(),
    DecisionTreeRecalibrator(),
    ProbabilityCalibrationTreeRecalibrator(),
    MonotoneRecalibrator(),
    DiagonalRecalibrator(),
    EnsembleTemperatureRecalibrator(),
    VectorScalingRecalibrator(),
    BayesianRecalibrator(draws=500, random_state=0),
    SmoothRecalibrator(random_state=0),
]
MONOTONE = (
    InterceptRecalibrator,
    IsotonicRecalibrator,
    MonotoneRecalibrator,
    DiagonalRecalibrator,
)
LIKELIHOOD = (
    InterceptRecalibrator,
    LogisticRecalibrator,
    TemperatureRecalibrator,
    BetaRecalibrator,
    EnsembleTemperatureRecalibrator,
    VectorScalingRecalibrator,
)
TOGETHER = (
    TemperatureRecalibrator,
    MonotoneRecalibrator,
    DiagonalRecalibrator,
    EnsembleTemperatureRecalibrator,
    VectorScalingRecalibrator,
    BayesianRecalibrator,
)
GRID = np.concatenate([[0, 5e-324, 1e-13], np.linspace(0.001, 0.999, 400), [1 - 1e-13, 1]])

every = pytest.mark.parametrize("recalibrator", EVERY, ids=repr)


def data(name="clinical-middle-overconfident", n=300, seed=1):
    """Scores and outcomes, with some equal scores."""
    y_true, y_prob = simulate.sample(name, n, random_state=seed)
    return y_prob.round(2), y_true


# Other people's answers


LOGISTIC = "exact MLE logistic recalibration (intercept,slope), clip eps"
BETA = "exact MLE beta abm unconstrained (a,b,c), clip eps: logit g=a ln s - b ln(1-s)+c"
CORP = "CORP (sklearn isotonic): MCB,DSC,UNC"


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_maximum_likelihood_gives_the_exact_answers(known, name):
    outcomes, scores, answers = known(name)
    scores = np.clip(scores, 1e-12, 1 - 1e-12)  # as theirs read scores of exactly 0 and 1
    logistic = LogisticRecalibrator().fit(scores, outcomes)
    assert [logistic.intercept_, logistic.slope_] == pytest.approx(answers[LOGISTIC], rel=1e-6)
    for constrained in (False, True):
        beta = BetaRecalibrator(constrained).fit(scores, outcomes)
        assert [beta.a_, beta.b_, beta.c_] == pytest.approx(answers[BETA], rel=1e-6)


@pytest.mark.parametrize("name", ["A", "B"])
def test_beta_agrees_with_betacal_to_its_tolerance(known, name):
    outcomes, scores, answers = known(name)
    scores = np.clip(scores, 1e-12, 1 - 1e-12)
    beta = BetaRecalibrator().fit(scores, outcomes)
    a, b, m = answers["betacal.abm.map [a,b,m]"]
    assert [beta.a_, beta.b_] == pytest.approx([a, b], abs=1e-3)
    middle = brentq(lambda s: float(beta.transform([s])[0]) - 0.5, 0.01, 0.99)
    assert middle == pytest.approx(m, abs=1e-3)
    actual = beta.transform([0.1, 0.5, 0.9])
    assert actual == pytest.approx(answers["betacal.abm.predict([.1,.5,.9])"], abs=1e-3)
    both = LogisticRecalibrator().fit(scores, outcomes)
    actual = both.transform([0.1, 0.5, 0.9])
    assert actual == pytest.approx(answers["betacal.am.predict([.1,.5,.9])"], abs=1e-3)


CHOSEN = [name for name in CLINICAL if name not in {"precip_Logistic", "precip_EPC"}]


@pytest.mark.parametrize("name", CHOSEN)
def test_reproduces_r_on_clinical_data(clinical, name):
    outcomes, scores, known = clinical(name)
    intercept = InterceptRecalibrator().fit(scores, outcomes)
    assert intercept.shift_ == pytest.approx(known["citl"][0], rel=1e-6, abs=1e-7)
    logistic = LogisticRecalibrator().fit(scores, outcomes)
    expected = [known["int_slope"]["(Intercept)"], known["int_slope"]["lp"]]
    assert [logistic.intercept_, logistic.slope_] == pytest.approx(expected, rel=1e-6, abs=1e-7)
    beta = BetaRecalibrator(constrained=False).fit(scores, outcomes)
    expected = [known["beta_cal_abc"][name] for name in "abc"]
    assert [beta.a_, beta.b_, beta.c_] == pytest.approx(expected, rel=1e-5)
    bounded = BetaRecalibrator().fit(scores, outcomes)
    actual = [bounded.a_, bounded.b_, bounded.c_]
    assert actual == pytest.approx(bounded_beta(scores, outcomes), rel=1e-3, abs=1e-4)


def bounded_beta(scores, outcomes):
    """The constrained fit by a general optimiser."""
    basis = np.column_stack([np.log(scores), -np.log1p(-scores), np.ones_like(scores)])

    def loss(coef):
        eta = basis @ coef
        return -np.mean(log_expit(np.where(outcomes == 1, eta, -eta)))

    bounds = [(0, None), (0, None), (None, None)]
    return minimize(loss, [1, 1, 0], bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9}).x


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_isotonic_is_scikit_learns(known, name):
    outcomes, scores, answers = known(name)
    recalibrated = IsotonicRecalibrator().fit(scores, outcomes).transform(scores)
    plain = IsotonicRegression(out_of_bounds="clip").fit(scores, outcomes).predict(scores)
    np.testing.assert_allclose(recalibrated, plain, rtol=1e-14)
    miscalibration = np.mean((scores - outcomes) ** 2) - np.mean((recalibrated - outcomes) ** 2)
    assert miscalibration == pytest.approx(answers[CORP][0], rel=1e-6)
    assert np.abs(scores - recalibrated).mean() == pytest.approx(answers["CORP L1: mean|s-iso|"])


@pytest.mark.parametrize("name", ["D1", "D2", "D4"])
def test_a_step_has_one_value_and_no_error_on_its_own_cases(name):
    """Values that differ in the last digit would split a step, which KS and bins then show."""
    for seed in range(5):
        outcomes, scores = simulate.sample(name, 3000, random_state=seed)
        recalibrated = IsotonicRecalibrator().fit(scores, outcomes).transform(scores)
        assert np.diff(np.unique(recalibrated)).min() > 1e-6
        assert ks_error(outcomes, recalibrated) < 1e-12


# Brute force


@pytest.mark.parametrize("recalibrator", EVERY[:5], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_cases_get_their_own_maximum(recalibrator, weighted):
    """With more scores than the table has rows, the likelihood is still level at the answer."""
    y_true, y_prob = simulate.sample("D4", 60_000, random_state=2)
    weight = np.random.default_rng(3).integers(0, 3, y_true.size) if weighted else None
    fitted = recalibrator.fit(y_prob, y_true, weight)
    inside = np.clip(y_prob, 1e-12, 1 - 1e-12)
    columns = {
        InterceptRecalibrator: [np.ones_like(inside)],
        LogisticRecalibrator: [np.ones_like(inside), logit(inside)],
        TemperatureRecalibrator: [logit(inside)],
        BetaRecalibrator: [np.ones_like(inside), np.log(inside), np.log1p(-inside)],
    }[type(recalibrator)]
    miss = y_true - fitted.transform(y_prob)
    case = np.ones_like(inside) if weight is None else weight
    for column in columns:
        assert case @ (column * miss) == pytest.approx(0, abs=1e-8 * (case @ np.abs(column)))


@pytest.mark.parametrize("options", [{}, {"prior_weight": 2}, {"prior_centre": "half"}])
def test_histogram_bins_are_those_of_array_split(options):
    rng = np.random.default_rng(0)
    scores, outcomes = rng.random(100), rng.integers(0, 2, 100)
    fitted = HistogramRecalibrator(5, **options).fit(scores, outcomes)
    extra = options.get("prior_weight", 0)
    for part in np.array_split(np.argsort(scores), 5):
        expected = (outcomes[part].sum() + extra * scores[part].mean()) / (20 + extra)
        assert fitted.transform(scores[part]) == pytest.approx(np.full(20, expected))


def test_histogram_of_equal_widths():
    scores, outcomes = np.array([0, 0.1, 0.2, 0.21, 0.7, 1.0]), [0, 1, 1, 1, 0, 1]
    laplace = {"prior_weight": 2, "prior_centre": "half"}
    plain = HistogramRecalibrator(5, "width").fit(scores, outcomes)
    smooth = HistogramRecalibrator(5, "width", **laplace).fit(scores, outcomes)
    asked = [0, 0.2, 0.2001, 0.4, 0.5, 0.75, 0.9]
    np.testing.assert_allclose(plain.transform(asked), [2 / 3, 2 / 3, 1, 1, 0.5, 0, 1])
    expected = [3 / 5, 3 / 5, 2 / 3, 2 / 3, 0.5, 1 / 3, 2 / 3]
    np.testing.assert_allclose(smooth.transform(asked), expected)


def test_equal_scores_share_a_bin():
    scores, outcomes = [0.1, 0.2, 0.5, 0.5, 0.5, 0.9], [0, 0, 1, 0, 0, 1]
    fitted = HistogramRecalibrator(2).fit(scores, outcomes)
    np.testing.assert_allclose(fitted.transform(scores), [0.2] * 5 + [1])


@pytest.mark.parametrize("n", [1, 7, 60, 400])
def test_bbq_is_its_definition(n):
    rng = np.random.default_rng(n)
    scores, outcomes = rng.random(n).round(2), rng.integers(0, 2, n)
    fewest = max(1, int(np.floor(np.cbrt(n) / 10)))
    most = min(int(np.ceil(n / 5)), int(np.ceil(10 * np.cbrt(n))))
    evidence, estimates = [], []
    for bins in range(fewest, max(fewest, most) + 1):
        below = np.array([np.count_nonzero(scores < score) for score in scores])
        index = below * bins // n
        log_evidence, estimate = 0.0, np.zeros(n)
        for k in range(bins):
            inside = index == k
            if inside.any():
                centre = np.clip(scores[inside].mean(), 0.005, 0.995)
                hits, misses = outcomes[inside].sum(), (1 - outcomes[inside]).sum()
                a, b = 2 * centre, 2 * (1 - centre)
                log_evidence += betaln(hits + a, misses + b) - betaln(a, b)
                estimate[inside] = (hits + a) / (hits + misses + 2)
        evidence.append(log_evidence)
        estimates.append(estimate)
    weight = np.exp(np.array(evidence) - np.max(evidence))
    fitted = BBQRecalibrator().fit(scores, outcomes)
    np.testing.assert_allclose(fitted.probability_, weight / weight.sum(), rtol=1e-9)
    expected = weight @ np.array(estimates) / weight.sum()
    np.testing.assert_allclose(fitted.transform(scores), expected, rtol=1e-9)


def authors_spline(scores, outcomes, asked):
    """Gupta et al.'s procedure: least squares over the sorted cases."""
    order = np.argsort(scores)
    s, y = scores[order], outcomes[order]
    t, knots = np.linspace(0, 1, s.size), np.linspace(0, 1, 6)
    basis = CubicSpline(knots, np.eye(6), bc_type="natural")
    coef = np.linalg.lstsq(basis(t), np.cumsum(y - s) / s.size)[0]
    return np.clip(np.interp(asked, s, s + basis.derivative()(t) @ coef), 0, 1)


@pytest.mark.parametrize("n", [200, 2000, 20_000])
def test_spline_is_the_authors_to_order_one_over_n(n):
    outcomes, scores = simulate.sample("clinical-middle-asymmetric", n, random_state=3)
    asked = np.linspace(0.02, 0.98, 50)
    actual = SplineRecalibrator().fit(scores, outcomes).transform(asked)
    np.testing.assert_allclose(actual, authors_spline(scores, outcomes, asked), atol=10 / n)


def test_spline_is_the_least_squares_of_its_definition():
    scores, outcomes = data(n=40)
    t, knots = (np.arange(200_000) + 0.5) / 200_000, np.linspace(0, 1, 6)
    distinct = np.unique(scores)
    share = np.array([np.mean(scores <= s) for s in distinct])
    error = np.array([np.sum((outcomes - scores)[scores <= s]) / 40 for s in distinct])
    basis = CubicSpline(knots, np.eye(6), bc_type="natural")
    target = np.interp(t, np.append(0, share), np.append(0, error))
    coef = np.linalg.lstsq(basis(t), target)[0]
    middle = (share + np.append(0, share[:-1])) / 2
    expected = np.clip(distinct + basis.derivative()(middle) @ coef, 0, 1)
    actual = SplineRecalibrator().fit(scores, outcomes).transform(distinct)
    np.testing.assert_allclose(actual, expected, atol=1e-7)


def test_tpm_is_the_curve_of_algorithm_1():
    scores, outcomes = data("D5", 2000)
    curve = fit_bpm_curve(outcomes, scores)
    actual = TPMRecalibrator().fit(scores, outcomes).transform(GRID)
    np.testing.assert_array_equal(actual, curve.curve(GRID))


def penalised(fitted, coef, scores, outcomes):
    """What the monotone map maximises, integrated on a fine grid, at another shift and slopes."""
    knots, z = fitted.knots_, logit(scores)
    fine = np.linspace(min(z.min(), knots[0]) - 1e-9, max(z.max(), knots[-1]) + 1e-9, 40_001)
    slope = np.interp((fine[1:] + fine[:-1]) / 2, knots, coef[1:])
    curve = np.concatenate([[0], np.cumsum(slope * np.diff(fine))])
    rise = np.interp(z, fine, curve) - np.interp(fitted.centre_, fine, curve)
    eta = fitted.centre_ + coef[0] + rise
    rough = fitted.penalty * np.sum(np.diff(coef[1:]) ** 2)
    pull = 0.01 * (coef[0] ** 2 + np.mean((coef[1:] - 1) ** 2))
    return float(np.sum(log_expit(np.where(outcomes == 1, eta, -eta))) - (rough + pull) / 2)


@pytest.mark.parametrize("penalty", [0, 0.1, 10])
@pytest.mark.parametrize("name", ["D5", "clinical-middle-asymmetric"])
def test_monotone_is_the_maximum_of_its_definition(name, penalty):
    outcomes, scores = simulate.sample(name, 400, random_state=5)
    fitted = MonotoneRecalibrator(penalty=penalty).fit(scores, outcomes)
    best = np.concatenate([[fitted.shift_], fitted.slopes_])
    assert (fitted.slopes_ >= 0).all()
    highest = penalised(fitted, best, scores, outcomes)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            other = best + size * rng.normal(size=best.size)
            other[1:] = np.maximum(other[1:], 0)
            assert penalised(fitted, other, scores, outcomes) < highest + 1e-6
    eta = fitted.centre_ + fitted.shift_
    assert fitted.transform([expit(fitted.centre_)])[0] == pytest.approx(expit(eta))


# Trees


def test_calibration_tree_fits_each_group_its_own_line():
    rng = np.random.default_rng(6)
    scores, group = rng.uniform(0.05, 0.6, 4000), rng.integers(0, 2, 4000)
    outcomes = rng.random(4000) < np.where(group == 1, scores, scores / 4)
    X = np.column_stack([rng.normal(size=4000), group])
    tree = ProbabilityCalibrationTreeRecalibrator(max_leaves=2, shrinkage=0)
    tree.fit(scores, outcomes, features=X)
    assert tree.n_leaves_ == 2
    for value in (0, 1):
        own = group == value
        alone = LogisticRecalibrator().fit(scores[own], outcomes[own]).transform(scores[own])
        np.testing.assert_allclose(tree.transform(scores[own], X[own]), alone, rtol=1e-6)
    together = LogisticRecalibrator().fit(scores, outcomes).transform(scores)
    gain = np.mean((together - outcomes) ** 2) - np.mean(
        (tree.transform(scores, X) - outcomes) ** 2
    )
    assert gain > 0.005


# What holds for all


@every
def test_probabilities_and_labels(recalibrator):
    scores, outcomes = data("D1", 500)
    recalibrated = recalibrator.fit(scores, outcomes).transform(GRID)
    assert recalibrated.shape == GRID.shape
    assert np.isfinite(recalibrated).all()
    assert recalibrated.min() >= 0
    assert recalibrated.max() <= 1
    if isinstance(recalibrator, MONOTONE) or recalibrator is BOUNDED:
        assert (np.diff(recalibrated) >= 0).all()
    proba = recalibrator.predict_proba(GRID)
    np.testing.assert_array_equal(proba[:, 1], recalibrated)
    np.testing.assert_array_equal(proba[:, 0], 1 - recalibrated)
    np.testing.assert_array_equal(recalibrator.predict(GRID), recalibrated > 0.5)


@every
@pytest.mark.parametrize("n", [300, 4000])
def test_the_order_of_the_cases_does_not_matter(recalibrator, n):
    scores, outcomes = data(n=n)
    if n > 2048:
        scores = scores + np.random.default_rng(0).uniform(-1e-3, 1e-3, n).clip(-scores, 1 - scores)
    actual = recalibrator.fit(scores, outcomes).transform(GRID)
    order = np.random.default_rng(1).permutation(n)
    shuffled = recalibrator.fit(scores[order], outcomes[order]).transform(GRID)
    np.testing.assert_allclose(shuffled, actual, rtol=1e-7, atol=1e-10)


@every
def test_whole_weights_are_repeats(recalibrator):
    scores, outcomes = data()
    weight = np.random.default_rng(2).integers(0, 4, scores.size)
    weighted = recalibrator.fit(scores, outcomes, weight).transform(GRID)
    repeated = recalibrator.fit(np.repeat(scores, weight), np.repeat(outcomes, weight))
    np.testing.assert_allclose(weighted, repeated.transform(GRID), rtol=1e-7, atol=1e-10)


@every
def test_the_scale_of_sampling_weights_does_not_matter(recalibrator):
    scores, outcomes = data()
    weight = np.random.default_rng(3).uniform(0.5, 2, scores.size)
    actual = recalibrator.fit(scores, outcomes, weight).transform(GRID)
    scaled = recalibrator.fit(scores, outcomes, 7.3 * weight).transform(GRID)
    np.testing.assert_allclose(scaled, actual, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@every
def test_one_two_and_no_columns_are_the_same(recalibrator):
    scores, outcomes = data()
    actual = recalibrator.fit(scores, outcomes).transform(scores)
    for form in (scores[:, None], np.column_stack([1 - scores, scores])):
        np.testing.assert_array_equal(recalibrator.transform(form), actual)
        np.testing.assert_array_equal(recalibrator.fit(form, outcomes).transform(scores), actual)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["well", "died"], ["died", "well"]),
        ([False, True], [False, True]),
        ([-1, 1], [-1, 1]),
        ([1, 2], [1, 2]),
        ([0.0, 1.0], [0.0, 1.0]),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
    ],
)
def test_any_two_labels(labels, expected):
    scores, outcomes = data()
    fitted = LogisticRecalibrator().fit(scores, np.asarray(labels)[outcomes])
    assert fitted.classes_.tolist() == expected
    event = outcomes if expected[0] == np.asarray(labels)[0] else 1 - outcomes
    assert fitted.slope_ == pytest.approx(LogisticRecalibrator().fit(scores, event).slope_)
    assert set(fitted.predict(scores)) <= set(expected)


def test_classes_in_the_order_of_the_columns():
    scores, outcomes = data()
    labels = np.array(["well", "died"])[outcomes]
    fitted = LogisticRecalibrator().fit(scores, labels, classes=["well", "died"])
    assert fitted.classes_.tolist() == ["well", "died"]
    assert fitted.slope_ == LogisticRecalibrator().fit(scores, outcomes).slope_


# More than two classes


def three_classes(n=600):
    rng = np.random.default_rng(9)
    logits = rng.normal(size=(n, 3))
    proba = np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True)
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return proba, (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "recalibrator", [r for r in EVERY if not isinstance(r, TOGETHER)], ids=repr
)
def test_each_of_more_classes_against_the_rest(recalibrator):
    proba, labels = three_classes()
    names = np.array(["x", "y", "z"])
    fitted = recalibrator.fit(proba, names[labels], classes=names)
    assert fitted.classes_.tolist() == ["x", "y", "z"]
    actual = fitted.predict_proba(proba)
    each = [type(recalibrator)(**recalibrator.get_params()) for _ in names]
    alone = np.column_stack(
        [one.fit(proba[:, j], labels == j).transform(proba[:, j]) for j, one in enumerate(each)]
    )
    alone = np.maximum(alone, 0.5 / 601 if recalibrator.reaches_zero else 0)
    np.testing.assert_allclose(actual, alone / alone.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(fitted.transform(proba), actual)
    np.testing.assert_array_equal(fitted.predict(proba), names[actual.argmax(axis=1)])
    assert np.mean(np.log(actual[np.arange(600), labels] + 1e-9)) > np.mean(
        np.log(proba[np.arange(600), labels])
    )


def test_no_class_likely_is_all_alike():
    fitted = IsotonicRecalibrator().fit(np.eye(3).repeat(2, axis=0), [0, 0, 1, 1, 2, 2])
    third = np.full((1, 3), 1 / 3)
    fitted.recalibrators_ = [IsotonicRecalibrator().fit([0, 1], [0, 0]) for _ in range(3)]
    np.testing.assert_allclose(fitted.predict_proba(third), third)


def test_a_class_that_fails_is_named():
    proba, labels = three_classes(30)
    labels = np.where(labels == 2, 0, labels)
    with pytest.raises(SeparationError, match="Class 2 against the rest: y_true is perfectly"):
        LogisticRecalibrator().fit(proba, labels, classes=[0, 1, 2])
    assert HistogramRecalibrator().fit(proba, labels, classes=[0, 1, 2]).classes_.size == 3


# Tables


@pytest.mark.slow
@pytest.mark.parametrize("weight_type", [None, "counts", "sampling"])
@every
def test_a_table_is_its_arrays(recalibrator, weight_type):
    scores, outcomes = data()
    weight = None
    if weight_type is not None:
        scores = np.random.default_rng(1).permutation(300) / 301 + 1 / 602
        weight = np.random.default_rng(2).integers(1, 4, 300)
        weight = weight * (1.0 if weight_type == "counts" else 0.3)
    table = CalibrationData(outcomes, scores, weight, weight_type=weight_type)
    expected = clone(recalibrator).fit(scores, outcomes, weight).transform(GRID)
    fitted = clone(recalibrator).fit(table)
    np.testing.assert_allclose(fitted.transform(GRID), expected, rtol=1e-5, atol=1e-8)
    assert fitted.classes_.tolist() == [0, 1]


def test_sampling_weights_of_a_table_keep_their_effective_size():
    """Kish's size is that of the cases, also where equal scores share a row."""
    scores, outcomes = data()
    weight = np.random.default_rng(2).gamma(1, size=300)
    table = CalibrationData(outcomes, scores, weight)
    fitted = BayesianRecalibrator(draws=200, random_state=0).fit(table)
    assert fitted.posterior_.data.effective_size == pytest.approx(table.effective_size)
    assert fitted.posterior_.data.effective_size == pytest.approx(
        weight.sum() ** 2 / (weight @ weight)
    )


def test_a_table_on_the_grid_recalibrates_nearly_alike():
    outcomes, scores = simulate.sample("D5", 20_000, random_state=3)
    table = CalibrationData(outcomes, scores)
    assert table.is_compressed
    for recalibrator in (LogisticRecalibrator(), IsotonicRecalibrator(), SplineRecalibrator()):
        expected = clone(recalibrator).fit(scores, outcomes).transform(scores)
        actual = clone(recalibrator).fit(table).transform(scores)
        assert np.abs(actual - expected).mean() < 0.005


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "y was given beside a CalibrationData"),
        ({"sample_weight": [1, 1]}, "sample_weight was given beside"),
        ({"classes": ["a", "b"]}, "classes was given beside"),
        ({"features": [[1], [2]]}, "features was given beside a CalibrationData, which holds"),
    ],
)
def test_a_table_comes_alone(options, message):
    table = CalibrationData([0, 1], [0.2, 0.4])
    with pytest.raises(InputError, match=message):
        ProbabilityCalibrationTreeRecalibrator().fit(table, **options)


def test_a_table_says_what_it_cannot_be():
    table = CalibrationData([0, 1, 1, 0], [0.2, 0.4, 0.3, 0.5], site=["a", "a", "b", "b"])
    with pytest.raises(InputError, match="the table holds 2 groups"):
        IsotonicRecalibrator().fit(table)
    fitted = IsotonicRecalibrator().fit(table.pooled())
    with pytest.raises(InputError, match=r"Pass X\.score"):
        fitted.transform(table)
    with pytest.raises(InputError, match="the table holds weights of the type 'counts'"):
        BayesianRecalibrator(weight_type="sampling").fit(table.pooled())


# Awkward data


@pytest.mark.parametrize("recalibrator", [r for r in EVERY if isinstance(r, LIKELIHOOD)], ids=repr)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_maximum(recalibrator, label):
    with pytest.raises(SeparationError, match=r"A posterior does: use bayescal\.fit"):
        recalibrator.fit(np.linspace(0.6, 0.9, 20), np.full(20, label))


@pytest.mark.parametrize(
    "recalibrator", [r for r in EVERY if not isinstance(r, LIKELIHOOD)], ids=repr
)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_moves_the_rest_towards_it(recalibrator, label):
    scores = np.linspace(0.2, 0.8, 40)
    actual = recalibrator.fit(scores, np.full(40, label)).transform(scores)
    assert recalibrator.classes_.tolist() == [0, 1]
    if isinstance(recalibrator, DiagonalRecalibrator):  # each stays on its side of one half
        assert ((actual > 0.5) == (scores > 0.5)).all()
        return
    assert np.abs(actual - label).mean() < 0.3
    assert (recalibrator.predict(scores) == label).all()


@pytest.mark.parametrize(
    ("recalibrator", "outcomes"),
    [
        (LogisticRecalibrator(), np.arange(20) > 9),
        (LogisticRecalibrator(), np.arange(20) < 10),
        (TemperatureRecalibrator(), np.arange(20) > 9),
        (BetaRecalibrator(), np.arange(20) > 9),
        (BetaRecalibrator(constrained=False), np.arange(20) < 10),
    ],
)
def test_separation_is_named_not_estimated(recalibrator, outcomes):
    with pytest.raises(SeparationError, match="perfectly separated"):
        recalibrator.fit(np.linspace(0.05, 0.95, 20), outcomes)


def test_separation_is_found_among_many_scores():
    scores = np.random.default_rng(0).permutation(np.linspace(0.01, 0.99, 5001))
    for recalibrator in (LogisticRecalibrator(), BetaRecalibrator()):
        with pytest.raises(SeparationError):
            recalibrator.fit(scores, scores > 0.49998)


def test_a_falling_curve_is_level_at_best_under_the_constraint():
    scores = np.linspace(0.05, 0.95, 20)
    fitted = BetaRecalibrator().fit(scores, np.arange(20) < 5)
    assert (fitted.a_, fitted.b_) == (0, 0)
    np.testing.assert_allclose(fitted.transform(GRID), 0.25)


@every
@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_equal_scores_get_the_mean_outcome_or_an_error(recalibrator, score):
    scores, outcomes = np.full(40, score), np.arange(40) % 4 == 0
    if isinstance(
        recalibrator, LogisticRecalibrator | BetaRecalibrator | VectorScalingRecalibrator
    ):
        with pytest.raises(SeparationError, match="too few distinct scores"):
            recalibrator.fit(scores, outcomes)
    else:
        actual = recalibrator.fit(scores, outcomes).transform([score])[0]
        if isinstance(recalibrator, DiagonalRecalibrator) and score == 1:
            assert 0.5 < actual < 0.6
            return
        drawn_to_the_score = isinstance(recalibrator, BayesianRecalibrator)
        assert actual == pytest.approx(0.25, abs=0.1 if drawn_to_the_score else 0.06)


@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")  # families left out
@pytest.mark.slow
@every
@settings(max_examples=40)
@given(
    cases=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1e-300, 0.1, 0.3, np.nextafter(0.3, 1), 0.5, 0.9, 1.0]),
            st.integers(0, 1),
            st.sampled_from([0.25, 1.0, 2.0]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_anything_gives_probabilities_or_says_why_not(recalibrator, cases):
    scores, outcomes, weight = np.array(cases).T
    try:
        actual = recalibrator.fit(scores, outcomes, weight).transform(GRID)
    except SeparationError:
        assert isinstance(recalibrator, LIKELIHOOD)
        return
    assert np.isfinite(actual).all()
    assert actual.min() >= 0
    assert actual.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.2, 1.4], [0, 1]), r"X\[1\] = 1.4 is outside"),
        (([[0.2, 0.8], [0.2, 1.8]], [0, 1]), r"X\[:, 1\]\[1\] = 1.8"),
        (([[0.2, 0.8], [0.5, 0.2]], [0, 1]), r"X\[1\] sums to 0.7"),
        ((np.empty((2, 0)), [0, 1]), "a minimum of 1 is required"),
        (([0.2, 0.4], None), "y is missing"),
        (([0.2, 0.4], ["a", None]), r"y\[1\] is None, not a label"),
        (([0.2, 0.4], [0.0, np.nan]), r"y\[1\] is nan, not a label"),
        (([0.2, 0.4], np.array(["a", 1], dtype=object)), "mixes labels of types"),
        (([0.2, 0.4, 0.6], ["a", "b", "c"]), r"3 classes \('a', 'b', 'c'\) but .* for 2"),
        (([0.2, 0.4, 0.6], [0.1, 0.2, 0.35]), "Unknown label type"),
        (([0.2, 0.4], ["a", "a"]), r"1 class \('a'\) but .* for 2. Name them all"),
        (([[0.2, 0.3, 0.5]] * 2, [0, 1]), "2 classes .* for 3. Name them all"),
        (([0.2, 0.4], [0, 1], [0, 0]), "zero everywhere"),
    ],
)
def test_refuses_what_are_not_probabilities_and_labels(arguments, message):
    for recalibrator in (LogisticRecalibrator(), IsotonicRecalibrator()):
        with pytest.raises(InputError, match=message):
            recalibrator.fit(*arguments)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a"], "classes has 1"),
        (["a", "a"], "twice"),
        (["a", "c"], "y holds the class 'b', which classes does not list"),
    ],
)
def test_refuses_classes_that_do_not_fit(classes, message):
    with pytest.raises(InputError, match=message):
        IsotonicRecalibrator().fit([0.2, 0.4], ["a", "b"], classes=classes)


def test_refuses_other_columns_than_it_was_fitted_to():
    two = IsotonicRecalibrator().fit([0.2, 0.4], [0, 1])
    with pytest.raises(InputError, match="X has 3 columns, but 2 classes"):
        two.predict([[0.2, 0.3, 0.5]])
    three = IsotonicRecalibrator().fit(*three_classes(30))
    with pytest.raises(InputError, match="X has 1 column, but 3 classes"):
        three.transform([0.2, 0.4])


@pytest.mark.parametrize(
    ("recalibrator", "message"),
    [
        (HistogramRecalibrator(n_bins=0), "n_bins must be a whole number from 1 to"),
        (HistogramRecalibrator(n_bins=2.5), "n_bins"),
        (HistogramRecalibrator(binning="quantile"), "binning must be one of 'mass', 'width'"),
        (HistogramRecalibrator(prior_weight=-1), "prior_weight must be a finite number"),
        (HistogramRecalibrator(prior_weight=np.inf), "prior_weight"),
        (HistogramRecalibrator(prior_centre="mean"), "prior_centre must be one of"),
        (SplineRecalibrator(n_knots=2), "n_knots must be a whole number from 3 to"),
        (MonotoneRecalibrator(n_knots=True), "n_knots"),
        (MonotoneRecalibrator(penalty=np.nan), "penalty"),
        (DiagonalRecalibrator(n_knots=True), "n_knots"),
        (DiagonalRecalibrator(penalty=-1), "penalty"),
        (TemperatureRecalibrator(loss="mse"), "loss"),
        (EnsembleTemperatureRecalibrator(loss=None), "loss"),
        (TPMRecalibrator(objective="both"), "objective"),
        (DecisionTreeRecalibrator(max_leaves=0), "max_leaves"),
        (DecisionTreeRecalibrator(min_cases=0), "min_cases"),
        (DecisionTreeRecalibrator(n_folds=1), "n_folds must be a whole number of at least 2"),
        (ProbabilityCalibrationTreeRecalibrator(shrinkage=-1), "shrinkage"),
        (ProbabilityCalibrationTreeRecalibrator(n_folds=1), "n_folds"),
        (BayesianRecalibrator(curve="platt"), "curve must be one of 'average'"),
        (BayesianRecalibrator(mode="joint"), "mode must be one of 'class-wise', 'top-label'"),
        (BayesianRecalibrator(draws=10), "draws must be a whole number from 100 to"),
        (BayesianRecalibrator(prior="flat"), "prior"),
    ],
)
def test_refuses_options_out_of_range(recalibrator, message):
    with pytest.raises(InputError, match=message):
        recalibrator.fit([0.2, 0.4], [0, 1])


def test_the_table_holds_every_recalibrator():
    classes = {getattr(recalibrate, name) for name in recalibrate.__all__}
    written = {kind for kind in classes if issubclass(kind, Recalibrator)} - {Recalibrator}
    assert written == {type(recalibrator) for recalibrator in EVERY}


@pytest.mark.parametrize(
    "name",
    [
        "TemperatureRecalibrator",
        "LogisticRecalibrator",
        "BetaRecalibrator",
        "VectorScalingRecalibrator",
        "EnsembleTemperatureRecalibrator",
        "MonotoneRecalibrator",
        "DiagonalRecalibrator",
    ],
)
def test_two_contradicted_hard_scores_do_not_turn_the_map(name):
    rng = np.random.default_rng(0)
    scores = np.concatenate([0.1 + 0.8 * rng.random(58), [0.0, 1.0]])
    outcomes = (rng.random(60) < scores).astype(int)
    outcomes[-2:] = 1, 0
    mapped = getattr(recalibrate, name)().fit(scores, outcomes).transform([0, 0.1, 0.5, 0.9, 1])
    assert mapped[3] - mapped[1] > 0.3
    assert (np.diff(mapped) >= 0).all()
