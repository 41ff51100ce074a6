"""Statements of Błasiok & Nakkiran (2024) that this package meets, and misprints that it shows."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split

from bayescal import estimators

ROUNDING = 0.0005 + 1e-9
FILES = {
    "4": ("solar_C1_DAFFS.csv", 0.067, 0.075, 15),
    "5": ("rain_finland_p24.csv", None, 0.134, 10),
}


def figure_1():
    x, y = make_classification(n_samples=700, random_state=0)
    x_fit, x_test, y_fit, y_test = train_test_split(x, y, test_size=400, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = LogisticRegressionCV(scoring="accuracy").fit(x_fit, y_fit)
    return y_test, model.predict_proba(x_test)[:, 1]


def figure_6():
    draws = np.random.RandomState(0).uniform(size=2000)
    s = draws[::2]
    return (draws[1::2] > 1 - s - 0.1 * np.sin(4 * np.pi * (2 * s - 1))).astype(float), s


@pytest.mark.parametrize(
    ("cases", "smooth", "ece", "bins"),
    [(figure_1, 0.134, 0.161, 15), (figure_6, 0.045, 0.085, 19)],
)
def test_numbers_in_figures_1_and_6(cases, smooth, ece, bins):
    y, s = cases()
    assert float(estimators.smooth_ece(y, s)) == pytest.approx(smooth, abs=ROUNDING)
    assert float(estimators.ece(y, s, n_bins=bins)) == pytest.approx(ece, abs=ROUNDING)


@pytest.mark.parametrize("figure", FILES)
def test_numbers_in_figures_4_and_5(figure, shared_data):
    name, smooth, ece, bins = FILES[figure]
    s, y = np.loadtxt(shared_data / "data" / name, delimiter=",", skiprows=1, unpack=True)
    assert float(estimators.ece(y, s, n_bins=bins)) == pytest.approx(ece, abs=ROUNDING)
    if smooth is None:  # the figure loses half of the mass at 0 and 1, and has .132
        assert 0.1325 < float(estimators.smooth_ece(y, s)) < 0.135
    else:
        assert float(estimators.smooth_ece(y, s)) == pytest.approx(smooth, abs=ROUNDING)


def distance_by_programme(y, s, weight, cost=np.inf, points=401):
    """Distance to calibration as a linear programme over couplings, written from Definition 6."""
    new = np.union1d(np.linspace(0, 1, points), s)
    costs, mass, balance = [], [], []
    for outcome in (0.0, 1.0):
        for i in range(s.size):
            changes = y[i] != outcome
            if changes and np.isinf(cost):
                continue
            costs.append(np.abs(s[i] - new) + (cost if changes else 0))
            mass.append(np.outer(np.arange(s.size) == i, np.ones(new.size)))
            balance.append(np.diag(outcome - new))
    kept = np.vstack([np.hstack(mass), np.hstack(balance)])
    sides = np.concatenate([weight, np.zeros(new.size)])
    return float(linprog(np.concatenate(costs), A_eq=kept, b_eq=sides).fun)


def weak_by_programme(y, s, weight):
    """Weak calibration error as a linear programme over Lipschitz functions (Definition 21)."""
    scores, index = np.unique(s, return_inverse=True)
    residual, step = np.bincount(index, weight * (s - y)), np.diff(np.eye(scores.size), axis=0)
    limits = np.tile(np.diff(scores), 2)
    made = linprog(-residual, A_ub=np.vstack([step, -step]), b_ub=limits, bounds=(-1, 1))
    return float(-made.fun)


@pytest.mark.parametrize("gap", [0.01, 0.05, 0.2])
def test_weak_calibration_is_half_the_distance_for_two_cases(gap):
    """By the package, by linear programmes and by hand: the left constant of Theorem 22 is 1/2."""
    y, s, weight = np.array([0.0, 1.0]), np.array([0.5 - gap, 0.5 + gap]), np.array([0.5, 0.5])
    by_hand = gap * (1 - 2 * gap)
    for cost in (np.inf, 1.0):
        ours = estimators.lower_distance_to_calibration(y, s, outcome_cost=cost)
        assert float(ours) == pytest.approx(by_hand, abs=1e-6)
        assert distance_by_programme(y, s, weight, cost) == pytest.approx(by_hand, abs=1e-6)
    for weak in (estimators.weak_calibration_error(y, s), weak_by_programme(y, s, weight)):
        assert float(weak) == pytest.approx(by_hand / 2, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_random_laws_keep_to_the_theorems(seed):
    """Theorem 7, Lemma 9 at its fixed point, Theorem 22 with 1/2, and both programmes."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    scores, events = rng.uniform(size=(2, size))
    share = rng.dirichlet(np.ones(size))
    y, s = np.repeat([1.0, 0.0], size), np.tile(scores, 2)
    weight = np.concatenate([share * events, share * (1 - events)])
    d = float(estimators.lower_distance_to_calibration(y, s, sample_weight=weight))
    e = float(estimators.smooth_ece(y, s, sample_weight=weight))
    w = float(estimators.weak_calibration_error(y, s, sample_weight=weight))
    assert d / 2 <= e <= (d + np.sqrt(d**2 + 4 * d)) / 2 <= 2 * np.sqrt(d)
    assert d / 2 - 1e-6 <= w <= 2 * d
    assert w == pytest.approx(weak_by_programme(y, s, weight), abs=1e-6)
    assert d == pytest.approx(distance_by_programme(y, s, weight), abs=1e-4)


def test_smooth_ece_falls_as_the_root_of_the_distance_for_pairs():
    values = []
    for gap in (1e-4, 1e-3):
        y, s = np.array([0, 1]), np.array([0.5 - gap, 0.5 + gap])
        d = estimators.lower_distance_to_calibration(y, s)
        values.append((float(d), float(estimators.smooth_ece(y, s))))
    slope = np.diff(np.log(values), axis=0)[0]
    assert slope[1] / slope[0] == pytest.approx(0.5, abs=0.01)


def test_misprints():
    """Claim 12 has 2 σ for 2 σ²; section 5.3 leaves the absolute value out."""
    kernel = quad(lambda d: np.exp(-(d**2) / 0.5) / np.sqrt(2 * np.pi / 16), -9, 9)[0]
    assert kernel == pytest.approx(2)
    y, s = np.array([0, 1, 0, 1]), np.array([0.2, 0.2, 0.8, 0.8])
    assert np.mean(s - y) == pytest.approx(0)
    assert float(estimators.smooth_ece(y, s)) == pytest.approx(0.2372, abs=1e-4)


def test_the_second_expression_of_equation_2_counts_the_ends_twice():
    def reflected(x, y, sigma):
        images = {round(2 * k + side * y, 12) for k in range(-6, 7) for side in (1, -1)}
        both = (norm.pdf(2 * k + side * y, x, sigma) for k in range(-6, 7) for side in (1, -1))
        return float(sum(norm.pdf(image, x, sigma) for image in images)), float(sum(both))

    inside, end = reflected(0.3, 0.4, 0.2), reflected(0.3, 0.0, 0.2)
    assert inside[0] == pytest.approx(inside[1], rel=1e-12)
    assert end[1] == pytest.approx(2 * end[0], rel=1e-12)
    assert f"{end[0]:.4f}" == "0.6476"


def test_corollary_18_has_the_derivative_of_the_logit_the_wrong_way_round():
    """It is at least 4; printed is at most 4."""
    t = np.linspace(0.01, 0.99, 99)
    assert (1 / (t * (1 - t))).min() == pytest.approx(4)
    assert abs(np.log(0.3 / 0.7)) == pytest.approx(0.8473, abs=1e-4)
    assert abs(np.log(0.3 / 0.5)) == pytest.approx(0.5108, abs=1e-4)
