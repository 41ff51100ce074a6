"""What holds for every estimator, test and score: batches, weights, order, refusals, limits."""

from itertools import product

import numpy as np
import pytest

from bayescal import estimators as e
from bayescal import scores as s
from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators.registry import ESTIMATORS

CLASSES = {"top_label_ece", "class_wise_ece"}
NOISY = CLASSES | {"auc_v"}  # by default it compares ten neighbours, however many cases there are
BINNED = [
    (e.ece, {"p": 1}),
    (e.ece, {"p": 2}),
    (e.ace, {}),
    (e.mce, {}),
    (e.debiased_ece, {"p": 1, "signed": True}),
    (e.debiased_ece, {"p": 2, "signed": True}),
    (e.debiased_ece, {"p": 2}),
]
CUTS = [("width", "together"), *product(["mass", "rank", "quantile"], ["together", "split"])]
SWEPT = [("rank", "together"), ("rank", "split"), ("width", "together")]
SMOOTHED = [(e.ici, {}), (e.e50, {}), (e.e90, {}), (e.emax, {}), (e.eci, {})]
SMOOTHED += [(e.eci, {"form": "relative"})]
SMOOTHERS = ["loess", "lowess", "rcs", "logistic", "beta", "isotonic"]
GAUSSIAN = {"kernel": "gaussian", "bandwidth": 0.3}

MANY = [
    *((one.function, {}) for name, one in ESTIMATORS.items() if name not in CLASSES),
    *(
        (function, own | {"binning": binning, "ties": ties, "n_bins": n_bins})
        for (function, own), (binning, ties), n_bins in product(BINNED, CUTS, (4, 15))
    ),
    *(
        (function, {"binning": binning, "ties": ties})
        for function, (binning, ties) in product((e.sweep_ece, e.sweep_bins), SWEPT)
    ),
    *((f, own | {"smoother": name}) for (f, own), name in product(SMOOTHED, SMOOTHERS)),
    *((e.flexible_curve, {"scores": [0.2, 0.5, 0.4], "smoother": name}) for name in SMOOTHERS),
    *((e.cox_test, {"kind": kind}) for kind in ("joint", "intercept", "slope")),
    *((e.cumulative_difference_test, {"part": part}) for part in ("mean", "bridge", "both")),
    *((function, {"bandwidth": 0.03}) for function in (e.smooth_ece, e.logit_smooth_ece)),
    (e.hosmer_lemeshow_test, {"n_groups": 5}),
    (e.giviti_test, {}),
    (e.giviti_test, {"devel": "internal", "threshold": 0.5}),
    (e.spiegelhalter_test, {}),
    (e.discrimination_index, {}),
    (e.quality_index, {}),
    (e.ks_test, {}),
    (e.kuiper_test, {}),
    (e.distance_bounds, {}),
    (e.mmce, {"bandwidth": 1e-3}),
    (e.kce, GAUSSIAN),
    (e.skce, GAUSSIAN),
    (e.skce, {"form": "biased", "bandwidth": 0.05}),
    (e.ls_ece, {"bandwidth": 0.5}),
    (e.kde_ece, {"bandwidth": 0.03, "p": 2}),
    (e.kde_ece, {"form": "triweight"}),
    (e.kde_ece, {"form": "triweight", "bandwidth": 0.03, "p": 2}),
    (e.pde, {"binning": "width", "p": 2}),
    (e.probabilistic_kendall_tau, {}),
    *((function, {}) for function in (s.brier_score, s.root_brier_score, s.scaled_brier_score)),
    *((function, {}) for function in (s.log_score, s.spherical_score)),
    *((function, {}) for function in (s.bernoulli_dawid_sebastiani_score, s.somers_dxy)),
    (s.c_statistic, {}),
    *(
        (function, {"score": score})
        for function in (s.corp_decomposition, s.murphy_decomposition)
        for score in ("brier", "log", "spherical")
    ),
    *(
        (function, {"thresholds": thresholds})
        for function in (s.net_benefit, s.standardised_net_benefit)
        for thresholds in (0.3, [0.5, 0.1, 0.0, 0.5, 0.93])
    ),
    (s.decision_curve, {"thresholds": [0.5, 0.1, 0.0, 0.5, 0.93]}),
]
BLOCKS = [(e.skce, {"form": "block"}), (e.skce, {"form": "block", "block_size": 7, **GAUSSIAN})]
"""Each takes the cases in their order, and no weights."""
BATCHED = [each for each in MANY if each[0] is not e.tce_bpm]
TAKES_RISKS = [e.probabilistic_kendall_tau]
INTERVALS = [
    e.observed_expected_interval,
    e.calibration_in_the_large_interval,
    e.calibration_intercept_interval,
    e.calibration_slope_interval,
]
EVERY = [*MANY, *((function, {}) for function in INTERVALS)]


def named(cases):
    ids = ["-".join([function.__name__, *map(str, own.values())]) for function, own in cases]
    return pytest.mark.parametrize(("function", "options"), cases, ids=ids)


def drawn(n, *shape):
    """Outcomes and scores with ties, 0 and 1 among them; and a source of weights."""
    rng = np.random.default_rng([n, *shape])
    scores = np.concatenate([[0.0, 1.0], rng.random(n - 2).round(1)])
    return rng.random((*shape, n)) < 0.1 + 0.8 * scores, scores, rng


def flat(result):
    """The numbers of a result; those of replicates by their last axis."""
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part, float) for part in parts if not isinstance(part, str)]


def same(actual, expected):
    for one, other in zip(flat(actual), flat(expected), strict=True):
        # A floored square root turns rounding of 1e-17 into 1e-8.
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)


@named([*BATCHED, *BLOCKS])
def test_a_batch_is_a_loop(function, options):
    outcomes, scores, _ = drawn(60, 2, 3)
    batch = flat(function(outcomes, scores, **options))
    for at in np.ndindex(2, 3):
        alone = function(outcomes[at], scores, **options)
        same(tuple(part[at] if part.shape[:2] == (2, 3) else part for part in batch), alone)
    none = flat(function(np.empty((0, 60)), scores, **options))
    assert any(part.shape[:1] == (0,) for part in none)
    same(
        function(outcomes[0, 0][:, None], scores, **options),
        function(outcomes[0, 0], scores, **options),
    )
    for kind in (np.uint8, np.float32, object):
        same(function(outcomes.astype(kind), scores, **options), tuple(batch))


@pytest.mark.parametrize("name", SMOOTHERS)
def test_blocks_of_replicates_change_nothing(name, monkeypatch):
    outcomes, scores, _ = drawn(120, 2, 3)
    for function, door in ((e.ici, "registry"), (e.flexible_curve, "smoothers")):
        of_numbers = function(outcomes, scores, smoother=name)
        monkeypatch.setattr(f"bayescal.estimators.{door}.DOOR_BLOCK", 250)
        same(function(outcomes.astype(np.uint8), scores, smoother=name), of_numbers)
        assert function(np.empty((0, 120)), scores, smoother=name).shape[0] == 0


@named(EVERY)
def test_whole_weights_are_repeats(function, options):
    outcomes, scores, rng = drawn(60)
    weight = rng.integers(0, 4, 60)
    repeated = function(np.repeat(outcomes, weight), np.repeat(scores, weight), **options)
    same(function(outcomes, scores, sample_weight=weight, **options), repeated)


@named(EVERY)
def test_neither_order_nor_the_scale_of_sampling_weights_matters(function, options):
    outcomes, scores, rng = drawn(100)
    order, weight = rng.permutation(100), rng.uniform(0.5, 2, 100)
    same(function(outcomes[order], scores[order], **options), function(outcomes, scores, **options))
    scaled = function(outcomes[order], scores[order], sample_weight=7.3 * weight[order], **options)
    same(scaled, function(outcomes, scores, sample_weight=weight, **options))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 0.4, 0.6]), "y_true has 2 observations but y_prob has 3"),
        (([0, 2], [0.2, 0.4]), "neither 0 nor 1"),
        (([0, 1], [0.2, 1.4]), "is outside"),
        (([0, 1], [0.2, np.nan]), "is missing"),
        (([], []), "is empty"),
        (([0, 1], None), "y_prob"),
        (([0, 1], [[0.2], [0.4, 0.6]]), "y_prob"),
        (([0, 1], [0.2, 0.4], [1, -1]), "sample_weight"),
        (([0, 1], [0.2, 0.4], [0, 0]), "zero everywhere"),
    ],
)
def test_what_are_not_outcomes_and_scores_is_refused(arguments, message):
    weight = arguments[2] if len(arguments) > 2 else None
    for function, options in [each for each in EVERY if each[0] not in TAKES_RISKS]:
        with pytest.raises(InputError, match=message):
            function(*arguments[:2], sample_weight=weight, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1], [1, 0]], [0.2, 0.4, 0.6]), "the last axis of y_true has 2"),
        (([[0, 1], [0, 2]], [0.2, 0.4]), r"y_true\[1, 1\] = 2 is neither 0 nor 1"),
        (([[0, 1], [0, np.nan]], [0.2, 0.4]), r"y_true\[1, 1\] = nan"),
        (([["a", "b"], ["a", "b"]], [0.2, 0.4]), "must be 0/1 or boolean"),
        (([[1j, 0], [0, 1]], [0.2, 0.4]), "must be 0/1 or boolean"),
    ],
)
def test_what_is_no_batch_is_refused(arguments, message):
    for function, options in [each for each in BATCHED if each[0] not in TAKES_RISKS]:
        with pytest.raises(InputError, match=message):
            function(*arguments, **options)


@named([(one.function, {}) for name, one in ESTIMATORS.items() if name not in NOISY])
def test_calibrated_scores_have_no_error_in_the_limit(function, options):
    y_true, y_prob = simulate.sample("calibrated", 50_000, random_state=6)
    perfect = ESTIMATORS[function.__name__].perfect
    assert function(y_true, y_prob, **options) == pytest.approx(perfect, abs=0.03)


OF_CLASSES = [
    *(
        (function, options)
        for function in (e.top_label_ece, e.class_wise_ece)
        for options in (
            {},
            {"n_bins": 7, "binning": "mass"},
            {"n_bins": 4, "binning": "rank", "ties": "split", "p": 2},
        )
    ),
    *((e.skce, {"form": form}) for form in ("unbiased", "biased")),
    *((function, {"kernel": "gaussian"}) for function in (e.skce, e.kce)),
    (e.kde_ece, {}),
    (e.kde_ece, {"bandwidth": 0.1}),
]


@named(OF_CLASSES)
def test_of_classes_too_and_their_names_do_not_matter(function, options):
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(4), 40).round(2) + 0.01
    prob /= prob.sum(axis=1, keepdims=True)
    labels, order, counts = (
        rng.integers(0, 4, (2, 3, 40)),
        rng.permutation(40),
        rng.integers(0, 4, 40),
    )
    batch, one = function(labels, prob, **options), labels[0, 0]
    for at in np.ndindex(2, 3):
        same(batch[at], function(labels[at], prob, **options))
    same(function(one[order], prob[order], **options), batch[0, 0])
    repeated = function(np.repeat(one, counts), np.repeat(prob, counts, axis=0), **options)
    same(function(one, prob, sample_weight=counts, **options), repeated)
    name, moved = np.array([2, 0, 3, 1]), np.empty_like(prob)
    moved[:, name] = prob
    same(function(name[one], moved, **options), batch[0, 0])
