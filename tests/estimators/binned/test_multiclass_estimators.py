"""Top-label and class-wise errors: published, by loops, and on two classes."""

import numpy as np
import pytest
from scipy.special import softmax

from bayescal.errors import InputError
from bayescal.estimators import class_wise_ece, ece, top_label_ece

BOTH = [top_label_ece, class_wise_ece]
OPTIONS = [
    {},
    {"n_bins": 7, "binning": "mass"},
    {"n_bins": 4, "binning": "rank", "ties": "split", "p": 2},
]


def drawn(n=80, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, classes, n), rng.dirichlet(np.ones(classes), n)


@pytest.mark.oracle("top_label_ece")
@pytest.mark.parametrize("binning", ["mass", "width"])
def test_gives_the_published_value(shared_data, binning):
    """ResNet110 on CIFAR-10, uncalibrated, in Table 1 of Dong et al.: .0475."""
    with np.load(shared_data / "data" / "cifar10_resnet110_logits.npz") as data:
        proba, labels = softmax(data["test_logits"], axis=1), data["test_y"]
    assert (proba.argmax(axis=1) == labels).mean() == pytest.approx(0.9356)
    assert round(float(top_label_ece(labels, proba, binning=binning)), 4) == 0.0475


@pytest.mark.parametrize("options", OPTIONS)
def test_top_label_is_the_ece_of_the_largest(options):
    labels, proba = drawn()
    right = [int(np.argmax(row)) == label for row, label in zip(proba, labels, strict=True)]
    expected = ece(right, [max(row) for row in proba], **options)
    assert top_label_ece(labels, proba, **options) == pytest.approx(expected)


@pytest.mark.oracle("class_wise_ece")
@pytest.mark.parametrize("p", [1, 2])
def test_class_wise_is_its_definition(p):
    labels, proba = drawn()
    total = 0.0
    for k in range(4):
        for low in np.arange(5) / 5:
            inside = (proba[:, k] > low) & (proba[:, k] <= low + 0.2)
            if inside.any():
                gap = (labels[inside] == k).mean() - proba[inside, k].mean()
                total += inside.mean() * abs(gap) ** p / 4
    assert class_wise_ece(labels, proba, n_bins=5, p=p) == pytest.approx(total ** (1 / p))


@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_the_sum_over_classes_is_that_of_gruber_and_buettner(p):
    """Definition C.1: no 1/K under the root."""
    labels, proba = drawn()
    each = [ece(labels == k, proba[:, k], p=p) for k in range(4)]
    expected = sum(error**p for error in each) ** (1 / p)
    summed = class_wise_ece(labels, proba, p=p, average=False)
    assert summed == pytest.approx(expected)
    assert summed == pytest.approx(4 ** (1 / p) * class_wise_ece(labels, proba, p=p))


def test_the_sum_over_classes_is_at_most_two_to_the_one_over_p():
    certain_and_wrong = np.eye(2)[[0, 1, 1]]
    for p in (1, 2, 5):
        error = class_wise_ece([1, 0, 0], certain_and_wrong, p=p, average=False)
        assert error == pytest.approx(2 ** (1 / p))
    with pytest.raises(InputError, match="average must be True or False"):
        class_wise_ece([1, 0, 0], certain_and_wrong, average="sum")


def test_two_classes():
    rng = np.random.default_rng(1)
    scores = rng.random(100)
    outcomes = rng.integers(0, 2, 100)
    table = np.column_stack([1 - scores, scores])
    sure = np.maximum(scores, 1 - scores)
    for proba in (scores, scores[:, None], table):
        assert class_wise_ece(outcomes, proba) == pytest.approx(ece(outcomes, scores))
        actual = top_label_ece(outcomes, proba)
        assert actual == pytest.approx(ece(outcomes == (scores > 0.5), sure))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, float, bool])
def test_labels_of_any_numeric_type(dtype):
    labels, proba = np.array([0, 1, 1]), np.array([[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    for function in BOTH:
        assert function(labels.astype(dtype), proba) == function(labels, proba)
        assert function(labels[:, None], proba.astype(np.float32)) == pytest.approx(
            function(labels, proba)
        )


def test_data_frames_in_different_orders_are_refused():
    pandas = pytest.importorskip("pandas")
    labels, proba = drawn(10)
    frame, series = pandas.DataFrame(proba), pandas.Series(labels)
    for function in BOTH:
        assert function(series, frame) == pytest.approx(function(labels, proba))
        with pytest.raises(InputError, match="same index labels in different orders"):
            function(series[::-1], frame)


THREE = [[0.7, 0.2, 0.1]] * 3


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize(
    ("labels", "proba", "message"),
    [
        ([0, 1, 3], THREE, r"y_true\[2\] = 3 is no column of y_proba, which are 0 to 2"),
        ([0, np.nan, 2], THREE, r"y_true\[1\] = nan is no column"),
        ([[0, 1, 2], [0, 7, 1]], THREE, r"y_true\[1, 1\] = 7 is no column"),
        (["a", "b", "c"], THREE, "Turn names of classes into positions"),
        ([0, 1, 2], [[0.7, 0.3, np.nan]] * 3, r"y_proba\[:, 2\]\[0\] = nan is missing"),
        ([0, 1], [[0.7, 0.3], [1.0]], "y_proba is not an array"),
        ([0], None, "y_proba is missing"),
        ([], [], "y_proba is empty"),
    ],
)
def test_refuses(function, labels, proba, message):
    with pytest.raises(InputError, match=message):
        function(labels, proba)


@pytest.mark.parametrize("function", BOTH)
def test_refuses_options_out_of_range(function):
    for options in ({"n_bins": 0}, {"p": 0.5}, {"binning": "equal"}, {"sample_weight": [1]}):
        with pytest.raises(InputError):
            function([0, 1, 2], THREE, **options)
