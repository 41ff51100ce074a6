"""TCE_BPM against the released code, its own objective, and hostile data."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import differential_evolution, minimize
from scipy.special import beta, expit, softmax
from scipy.stats import binom

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import bpm
from bayescal.estimators.bpm import fit_bpm_curve, tce_bpm

RELEASED = "tcebpm.transcription(step=max(1,step))"
REFERENCE = "tcebpm.reference (sorted stable asc)"
EQUATION_9 = (
    "own: paper Eq.9 objective (min sum_B sum_b |b|/N exp(+(g-r)^2), all bins, same schemes)"
)


def read(shared_data, name):
    """Outcomes, scores and known answers of one oracle data set."""
    folder = shared_data / "oracles"
    scores, outcomes = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1).T
    answers = json.loads((folder / "estimators.json").read_text())[name]
    return outcomes, scores, answers


def equation_9(coefficients, bins):
    g = bpm.probability_of(np.asarray(coefficients), bpm.basis_of(bins.s, bins.q))
    return float(np.sum(bins.weight * np.exp((g - bins.hit_rate) ** 2)))


def oracle_bins(outcomes, scores):
    """The bins of the equation 9 oracle: N // B rows each, the remainder left out."""
    order = np.argsort(scores, kind="stable")
    parts = []
    for bins in bpm.schemes(scores.size):
        rows = scores.size // bins
        s, y = (
            a[order][: bins * rows].reshape(bins, rows).mean(axis=1) for a in (scores, outcomes)
        )
        parts.append([s, 1 - s, y, np.full(bins, 1 / bins), np.full(bins, rows)])
    return bpm.Bins(*np.concatenate(parts, axis=1))


def coefficients(fitted):
    return [fitted.a, fitted.b, fitted.c]


@pytest.fixture(scope="module")
def example():
    """A data set with many ties."""
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 600, random_state=2)
    return y_true, y_prob.round(2)


# The released code


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_released_objective_reproduces_the_released_code(shared_data, name):
    outcomes, scores, answers = read(shared_data, name)
    fitted = fit_bpm_curve(outcomes, scores, objective="released")
    assert coefficients(fitted) == pytest.approx(answers[RELEASED]["a,b,c"], rel=1e-4)
    assert fitted.loss == pytest.approx(answers[RELEASED]["objective"], abs=1e-8)
    exact = answers[RELEASED]["TCE exact integral of |g-s| under Beta(moments), unclipped"]
    assert tce_bpm(outcomes, scores, objective="released") == pytest.approx(exact, abs=1e-5)
    empirical = answers[RELEASED]["empirical mean|g(s_i)-s_i|"]
    result = tce_bpm(outcomes, scores, objective="released", density="empirical")
    assert result == pytest.approx(empirical, abs=1e-6)


@pytest.mark.parametrize("name", ["B", "C"])
def test_released_objective_against_what_the_code_printed(shared_data, name):
    outcomes, scores, answers = read(shared_data, name)
    printed = answers[REFERENCE]
    fitted = fit_bpm_curve(outcomes, scores, objective="released")
    assert coefficients(fitted) == pytest.approx(printed["a,b,c"], rel=1e-4)
    curve = printed["g([.1,.3,.5,.7,.9])"]
    assert fitted.curve([0.1, 0.3, 0.5, 0.7, 0.9]) == pytest.approx(curve, abs=1e-5)
    # It prints five digits of an integral of a clipped density: 3e-6 below the exact one on B.
    result = tce_bpm(outcomes, scores, objective="released")
    assert result == pytest.approx(printed["TCE_BPM"], abs=1e-5)


@pytest.mark.oracle("tce_bpm")
@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_moments_give_the_beta_density(known, name):
    _, scores, answers = known(name)
    shapes = bpm._beta_shapes(scores, np.ones_like(scores))
    assert shapes == pytest.approx(answers[RELEASED]["beta_moments"], rel=1e-9)


# The paper's objective


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_the_oracle_minimum_is_reached_on_its_own_bins(known, name):
    outcomes, scores, answers = known(name)
    oracle = answers[EQUATION_9]
    bins = oracle_bins(outcomes, scores)
    assert equation_9(oracle["a,b,c"], bins) == pytest.approx(oracle["objective"], abs=1e-10)
    fitted = bpm.fit_squares(bins, constrained=False)
    assert fitted.loss <= oracle["objective"] * (1 + 1e-14)  # up to rounding
    assert coefficients(fitted) == pytest.approx(oracle["a,b,c"], rel=2e-4)


@pytest.mark.parametrize("name", ["D1", "D2", "D4", "D5", "clinical-low-underconfident"])
def test_the_constrained_minimum_against_a_general_optimiser(name):
    y_true, y_prob = simulate.sample(name, 500, random_state=5)
    bins = bpm.shared_bins(y_true.astype(float), y_prob, None)
    best = min(
        minimize(equation_9, start, args=(bins,), bounds=[(0, 100), (0, 100), (None, None)]).fun
        for start in ([1, 1, 0], [0.1, 2, 0], [2, 0.1, 0], [5, 5, -7])
    )
    assert fit_bpm_curve(y_true, y_prob).loss == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("objective", ["paper", "likelihood"])
def test_the_curve_never_falls(objective):
    """Equations 11 and 12: alpha and beta are at least 0, also where the data say otherwise."""
    y_true, y_prob = simulate.sample("calibrated", 2000, random_state=3)
    fitted = fit_bpm_curve(1 - y_true, y_prob, objective=objective)
    assert [fitted.a, fitted.b] == pytest.approx([0, 0], abs=1e-6)
    if objective == "paper":
        assert fitted.curve([0.1, 0.9]) == pytest.approx(np.full(2, 1 - y_true.mean()), abs=0.02)
    free = fit_bpm_curve(1 - y_true, y_prob, objective="unconstrained")
    assert free.a < -0.5
    assert free.b < -0.5


def test_the_constraint_on_the_cifar_classifier(shared_data):
    """The free fit falls at low confidence; the paper's does not, and serves new cases better."""
    kept = np.load(shared_data / "data" / "cifar10_resnet110_logits.npz")

    def top_label(part):
        probability = softmax(kept[f"{part}_logits"].astype(float), axis=1)
        hit = probability.argmax(axis=1) == kept[f"{part}_y"].ravel()
        return hit.astype(int), probability.max(axis=1)

    (y_val, s_val), (y_test, s_test) = top_label("val"), top_label("test")
    fitted, free = (fit_bpm_curve(y_val, s_val, objective=o) for o in ("paper", "unconstrained"))
    assert free.a == pytest.approx(-0.79, abs=0.01)
    assert fitted.a == pytest.approx(0, abs=1e-6)
    assert tce_bpm(y_test, free.curve(s_test)) == pytest.approx(0.0070, abs=5e-5)
    assert tce_bpm(y_test, fitted.curve(s_test)) == pytest.approx(0.0052, abs=5e-5)


# The likelihood of the bins


def equation_8(coefficients, scores, outcomes):
    """Mean over schemes and bins of the binomial probability of a bin, by SciPy's distribution."""
    a, b, c = coefficients
    total, order = 0.0, np.argsort(scores)
    for bins in range(2, 7):
        for rows in np.split(order, bins):
            s = scores[rows].mean()
            g = expit(a * np.log(s) - b * np.log(1 - s) + c)
            total += rows.size / scores.size * binom.pmf(outcomes[rows].sum(), rows.size, g)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", ["D4", "D5", "clinical-middle-shifted"])
def test_the_likelihood_of_bins_is_the_largest_that_a_search_finds(name):
    """The schemes of 120 cases have 2 to 6 bins, of equal numbers of whole cases."""
    y_true, y_prob = simulate.sample(name, 120, random_state=4)
    fitted = fit_bpm_curve(y_true, y_prob, objective="likelihood")
    value = equation_8(coefficients(fitted), y_prob, y_true)
    assert fitted.loss == pytest.approx(-value, rel=1e-9)
    search = differential_evolution(
        lambda tried: -equation_8(tried, y_prob, y_true),
        [(0, 20), (0, 20), (-20, 20)],
        maxiter=40,
        popsize=10,
        seed=1,
    )
    assert fitted.loss <= search.fun + 1e-7


def test_events_of_bins_that_share_cases_are_counted_by_gamma_functions():
    bins = bpm.Bins(
        s=np.array([0.3]),
        q=np.array([0.7]),
        hit_rate=np.array([0.45]),
        weight=np.array([1.0]),
        trials=np.array([2.5]),
    )
    rate, trials = 0.45, 2.5
    events = rate * trials
    probability = (
        rate**events
        * (1 - rate) ** (trials - events)
        / ((trials + 1) * beta(events + 1, trials - events + 1))
    )
    assert bpm.fit_likelihood(bins).loss == pytest.approx(-probability, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 7, 200, 731])
def test_bins_have_equal_mass_and_keep_every_observation(size):
    y_true, y_prob = simulate.sample("D4", size, random_state=1)
    bins = bpm.shared_bins(y_true.astype(float), y_prob, None)
    schemes = len(bpm.schemes(size))
    assert np.sum(bins.weight) == pytest.approx(schemes)
    assert np.sum(bins.weight * bins.hit_rate) == pytest.approx(schemes * y_true.mean())
    assert np.sum(bins.weight * bins.s) == pytest.approx(schemes * y_prob.mean())
    assert bins.s + bins.q == pytest.approx(np.ones_like(bins.s))


def test_bins_keep_the_digits_of_scores_near_one():
    rest = np.repeat([1e-12, 2e-13, 0.4], [50, 30, 20])
    y_true = np.ones(100)
    bins = bpm.shared_bins(y_true, 1 - rest, None)
    top = bins.q[bins.s > 0.999]
    assert top.min() == pytest.approx(1 - (1 - 2e-13), rel=1e-9)


def test_a_billion_cases_do_not_make_a_million_bins():
    counts = np.array([4, 1, 2, 5])
    outcomes, scores = [0, 1, 0, 1], [0.1, 0.2, 0.6, 0.9]
    many, more = (
        fit_bpm_curve(outcomes, scores, sample_weight=counts * size) for size in (1e5, 8e7)
    )
    assert coefficients(more) == pytest.approx(coefficients(many), rel=1e-6)


def test_swapping_the_classes_swaps_the_coefficients():
    y_true, y_prob = simulate.sample("clinical-middle-asymmetric", 3000, random_state=8)
    fitted, swapped = fit_bpm_curve(y_true, y_prob), fit_bpm_curve(1 - y_true, 1 - y_prob)
    assert coefficients(swapped) == pytest.approx([fitted.b, fitted.a, -fitted.c], rel=1e-3)
    assert tce_bpm(1 - y_true, 1 - y_prob) == pytest.approx(tce_bpm(y_true, y_prob), abs=1e-5)


# The number


@pytest.mark.parametrize("objective", ["paper", "released"])
@pytest.mark.parametrize("name", ["D1", "D1-code", "D4", "D5", "calibrated"])
def test_tce_is_recovered_from_many_observations(name, objective):
    y_true, y_prob = simulate.sample(name, 10_000, random_state=6)
    exact = simulate.truth(name).tce()
    assert tce_bpm(y_true, y_prob, objective=objective) == pytest.approx(exact, abs=0.012)


def test_higher_orders_are_larger(example):
    for density in ("beta", "empirical"):
        values = [tce_bpm(*example, p=p, density=density) for p in (1, 2, 4, 100)]
        assert values == sorted(values)


def test_mean_zero_one_and_constant_scores_fall_back_to_the_sample():
    y_true = np.array([0, 1, 1, 1, 0, 1, 1, 0, 1, 1])
    for y_prob in (np.full(10, 0.3), y_true.astype(float), np.full(10, 0.3) + 1e-9 * y_true):
        values = [tce_bpm(y_true, y_prob, density=density) for density in ("beta", "empirical")]
        assert values[0] == values[1]
    assert tce_bpm(y_true, np.full(10, 0.3)) == pytest.approx(0.4, abs=1e-5)


# Hostile data


def few_scores():
    awkward = st.sampled_from([0.0, 1.0, 5e-324, 1e-300, 1e-12, 0.5, 1 - 1e-12, 1 - 2**-53])
    return st.lists(awkward | st.floats(0, 1), min_size=1, max_size=60)


@pytest.mark.slow
@given(y_prob=few_scores(), data=st.data(), p=st.sampled_from([1, 2, 50.0]))
@pytest.mark.parametrize("density", ["beta", "empirical"])
@pytest.mark.parametrize("objective", ["paper", "likelihood", "unconstrained", "released"])
def test_any_data_give_a_number_from_zero_to_one(y_prob, data, p, objective, density):
    size = len(y_prob)
    y_true = data.draw(st.lists(st.sampled_from([0, 1]), min_size=size, max_size=size))
    result = tce_bpm(y_true, y_prob, p=p, objective=objective, density=density)
    assert isinstance(result, float)
    assert 0 <= result <= 1


@given(y_prob=few_scores(), data=st.data())
def test_any_weights_give_a_bounded_curve(y_prob, data):
    size = len(y_prob)
    y_true = data.draw(st.lists(st.sampled_from([0, 1]), min_size=size, max_size=size))
    weights = data.draw(st.lists(st.floats(0, 100), min_size=size, max_size=size))
    weights[0] += 1e-3
    fitted = fit_bpm_curve(y_true, y_prob, sample_weight=weights)
    assert abs(fitted.a) <= 100
    assert abs(fitted.b) <= 100
    assert np.isfinite(fitted.c)
    curve = fitted.curve([0, 0.3, 1])
    assert np.all((curve >= 0) & (curve <= 1))


@pytest.mark.parametrize("objective", ["paper", "likelihood", "unconstrained", "released"])
@pytest.mark.parametrize("size", [20, 99, 100, 239, 240])
def test_separated_and_one_class_data(size, objective):
    y_prob = np.linspace(0, 1, size)
    for y_true in (np.zeros(size), np.ones(size), (y_prob > 0.6).astype(int)):
        fitted = fit_bpm_curve(y_true, y_prob, objective=objective)
        assert np.isfinite([*coefficients(fitted), fitted.loss]).all()
        gap = fitted.curve(y_prob) - y_true
        assert np.abs(gap).mean() < 0.2


# The door


def test_bad_scores_are_named():
    with pytest.raises(InputError, match="y_prob"):
        fit_bpm_curve([0, 1], [0.2, 1.7])
    with pytest.raises(InputError, match="scores"):
        fit_bpm_curve([0, 1], [0.2, 0.7]).curve([2])
