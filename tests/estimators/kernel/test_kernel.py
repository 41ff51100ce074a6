"""Kernel calibration errors against other code, sums over all pairs, and hostile data."""

import numpy as np
import pytest

from bayescal.errors import InputError
from bayescal.estimators import kce, mmce, skce, skce_test

GAUSSIAN = {"kernel": "gaussian", "bandwidth": 0.3}
KERNELS = {
    "laplace": lambda distance, width: np.exp(-distance / width),
    "gaussian": lambda distance, width: np.exp(-(distance**2) / (2 * width**2)),
}


def data(n=60, decimals=1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, n), rng.random(n).round(decimals)


def all_pairs(outcomes, scores, kernel, width):
    """Of the definition: over both classes, residual times residual times kernel."""
    one_hot = np.stack([1 - np.asarray(outcomes), outcomes], axis=1)
    gap = one_hot - np.stack([1 - np.asarray(scores), scores], axis=1)
    return gap @ gap.T * KERNELS[kernel](np.abs(np.subtract.outer(scores, scores)), width)


# Other code, and the definition


@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.oracle("mmce", "kce", "skce")
def test_gives_the_known_answer(known, name):
    outcomes, scores, answers = known(name)
    laplace = answers["MMCE_laplace2.5 (event-score residuals; sqrt(r^T K r)/n)"]
    assert mmce(outcomes, scores) == pytest.approx(laplace, rel=1e-12)
    for kernel, label in (
        ("laplace", "ExponentialKernel: exp(-|p-q|)"),
        ("gaussian", "SqExponential: exp(-|p-q|^2/2)"),
    ):
        for form, written in (("unbiased",) * 2, ("biased",) * 2, ("block", "block2 unbiased")):
            exact = answers[f"SKCE transcription, {written}, {label} (x) White"]
            assert skce(outcomes, scores, form=form, kernel=kernel) == pytest.approx(exact, 1e-12)
            if form == "biased":
                root = kce(outcomes, scores, kernel=kernel)
                assert root == pytest.approx(np.sqrt(exact), rel=1e-12)


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_the_reference_takes_something_else_for_the_outcome(known, name):
    """Of one column of scores netcal compares (score > 0.5) == outcome with the score."""
    outcomes, scores, answers = known(name)
    printed = answers["netcal.MMCE(binary 1-D; note: label=s>0.5 matched to y)"]
    assert mmce((scores > 0.5) == outcomes, scores) == pytest.approx(printed, rel=1e-10)
    assert mmce(outcomes, scores) != pytest.approx(printed, rel=0.01)


@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("width", [1e-3, 0.02, 0.4, 1, 30, 1e8])
def test_sums_are_over_all_pairs(kernel, width, decimals):
    outcomes, scores = data(decimals=decimals)
    n = scores.size
    pairs = all_pairs(outcomes, scores, kernel, width)
    options = {"kernel": kernel, "bandwidth": width}
    close = {"rel": 1e-10, "abs": 1e-15}
    assert skce(outcomes, scores, form="biased", **options) == pytest.approx(pairs.mean(), **close)
    different = pairs.sum() - np.trace(pairs)
    unbiased = skce(outcomes, scores, **options)
    assert unbiased == pytest.approx(different / (n * (n - 1)), **close)
    assert kce(outcomes, scores, **options) == pytest.approx(np.sqrt(pairs.mean()), **close)
    if kernel == "laplace":
        both = np.sqrt(pairs.mean() / 2)
        assert mmce(outcomes, scores, bandwidth=width) == pytest.approx(both, **close)
    size = 7
    blocks = [pairs[at : at + size, at : at + size] for at in range(0, n - size + 1, size)]
    means = [(block.sum() - np.trace(block)) / (size * (size - 1)) for block in blocks]
    actual = skce(outcomes, scores, form="block", block_size=size, **options)
    assert actual == pytest.approx(np.mean(means), **close)


def test_of_one_score():
    """One score, so that every kernel is 1: the gap, its square, and its unbiased square."""
    outcomes, scores = [1, 1, 1, 0], [0.5] * 4
    assert mmce(outcomes, scores) == pytest.approx(0.25)
    assert kce(outcomes, scores) == pytest.approx(0.25 * np.sqrt(2))
    assert skce(outcomes, scores, form="biased") == pytest.approx(2 * 0.25**2)
    assert skce(outcomes, scores) == pytest.approx(2 * (1 - 4 * 0.25) / 12)
    assert mmce([1, 0], [0.0, 1.0], bandwidth=1e9) == pytest.approx(0, abs=1e-4)
    assert mmce([1, 0], [0.0, 1.0], bandwidth=1e-9) == pytest.approx(np.sqrt(0.5))
    assert kce([1, 1], [0.0, 0.0]) == pytest.approx(np.sqrt(2))
    assert mmce([1, 0, 1], [1.0, 0.0, 1.0]) == 0


# The law under calibration


@pytest.mark.parametrize("method", ["resampling", "moments"])
@pytest.mark.parametrize("options", [{}, GAUSSIAN])
def test_level_is_right_and_errors_are_found(method, options):
    rng = np.random.default_rng(3)
    scores = rng.random(80)
    calibrated = skce_test(
        rng.random((4000, 80)) < scores, scores, method=method, random_state=1, **options
    )
    for level in (0.05, 0.2, 0.5):
        spread = 4 * np.sqrt(level * (1 - level) * (1 / 4000 + 1 / 999))
        assert np.mean(calibrated.pvalue <= level) == pytest.approx(level, abs=spread)
    wrong = skce_test(
        rng.random((100, 80)) < scores**3, scores, method=method, random_state=1, **options
    )
    assert np.mean(wrong.pvalue <= 0.05) > 0.9


def test_resampling_counts_the_data_among_the_draws():
    """Four cases of one score: p-values are tails of a binomial, by (1 + k) / (1 + draws)."""
    test = skce_test([1, 1, 1, 1], [0.5] * 4, n_resamples=20_000, random_state=1)
    assert test.statistic == pytest.approx(0.5)
    assert test.pvalue == pytest.approx(2 / 16, abs=0.01)
    assert (test.pvalue * 20_001) % 1 == pytest.approx(0, abs=1e-6)
    assert np.isnan(test.df)
    certain = skce_test([1, 1, 0, 0], [0.5] * 4, n_resamples=19, random_state=1)
    assert certain.pvalue == 1


@pytest.mark.parametrize("method", ["resampling", "moments"])
def test_tests_of_weights_orders_and_batches(method):
    outcomes, scores = data(50, seed=4)
    weight = np.random.default_rng(4).integers(0, 4, 50)
    options = {"method": method, "random_state": 7, "bandwidth": 0.3}
    weighted = skce_test(outcomes, scores, sample_weight=weight, **options)
    repeated = skce_test(np.repeat(outcomes, weight), np.repeat(scores, weight), **options)
    assert weighted[:2] == pytest.approx(repeated[:2])
    order = np.random.default_rng(5).permutation(50)
    first = skce_test(outcomes, scores, **options)
    assert skce_test(outcomes[order], scores[order], **options)[:2] == pytest.approx(first[:2])
    batch = skce_test(np.stack([[outcomes, 1 - outcomes]]), scores, **options)
    assert batch.pvalue.shape == batch.statistic.shape == (1, 2)
    assert batch.pvalue[0, 0] == pytest.approx(first.pvalue)
    assert isinstance(first.pvalue, float)


# Hostile input


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (skce, ([1], [0.2]), "y_prob has 1 cases, and a pair takes two"),
        (skce, ([1, 1], [0.2, 0.3], [1, 0]), "a pair takes two"),
        (skce_test, ([0, 1, 1], [0.0, 0.4, 1.0]), "0 or 1 for every case but one"),
    ],
)
def test_refuses(function, arguments, message):
    weight = arguments[2] if len(arguments) > 2 else None
    with pytest.raises(InputError, match=message):
        function(*arguments[:2], sample_weight=weight)
