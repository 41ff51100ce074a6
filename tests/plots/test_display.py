"""The display takes what scikit-learn's takes, and draws the posterior in place of bins."""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayescal as bc

Display = bc.plots.BayesianCalibrationDisplay
QUICK = {"curve": "logistic", "draws": 400, "random_state": 0}


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)


@pytest.fixture(scope="module")
def classified():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:100], y[:100]), X, y


@pytest.mark.parametrize("name", ["from_predictions", "from_estimator", "plot"])
def test_every_argument_of_scikit_learn_is_taken(name):
    theirs = inspect.signature(getattr(CalibrationDisplay, name)).parameters
    ours = inspect.signature(getattr(Display, name)).parameters
    for key, parameter in theirs.items():
        assert ours[key].kind == parameter.kind
    assert list(ours)[: 3 if name != "plot" else 1] == list(theirs)[: 3 if name != "plot" else 1]


@pytest.mark.parametrize("make", [CalibrationDisplay, Display])
def test_a_call_for_the_one_works_for_the_other(make, cases):
    y_true, y_prob = cases
    ax = plt.figure().subplots()
    more = QUICK if make is Display else {}
    display = make.from_predictions(
        y_true, y_prob, n_bins=4, strategy="quantile", pos_label=1, name="Risk", ax=ax,
        ref_line=True, color="green", **more,
    )  # fmt: skip
    assert isinstance(display, make)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.line_.get_label() == "Risk"
    assert display.line_.get_color() == "green"
    assert (display.estimator_name, display.pos_label) == ("Risk", 1)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.prob_true)
    np.testing.assert_array_equal(display.line_.get_xdata(), display.prob_pred)
    np.testing.assert_array_equal(display.y_prob, y_prob)
    assert "Perfectly calibrated" in ax.get_legend_handles_labels()[1]
    assert "Positive class: 1" in ax.get_xlabel()
    assert display.plot(ax=plt.figure().subplots(), name="again", ref_line=False) is display
    assert display.line_.get_label() == "again"
    assert "Perfectly calibrated" not in display.ax_.get_legend_handles_labels()[1]


def test_the_band_is_that_of_the_posterior(cases):
    display = Display.from_predictions(*cases, ci_prob=0.8, **QUICK)
    draws = bc.fit(*cases, **QUICK).curve(display.prob_pred)
    np.testing.assert_allclose(display.prob_true, draws.mean(("chain", "draw")))
    ends = draws.quantile([0.1, 0.9], ("chain", "draw"))
    np.testing.assert_allclose([display.prob_lower, display.prob_upper], ends)
    low, high = display.band_.get_paths()[0].get_extents().get_points()[:, 1]
    assert (low, high) == pytest.approx((display.prob_lower.min(), display.prob_upper.max()))
    assert display.points_ is None


def test_bins_are_those_of_scikit_learn(cases):
    theirs = CalibrationDisplay.from_predictions(*cases, n_bins=6)
    display = Display.from_predictions(*cases, n_bins=6, **QUICK)
    np.testing.assert_allclose(display.points_.get_xdata(), theirs.prob_pred)
    np.testing.assert_allclose(display.points_.get_ydata(), theirs.prob_true)


def test_the_average_is_the_default(cases):
    display = Display.from_predictions(*cases, draws=400, random_state=0)
    average = bc.compare(*cases, draws=400, random_state=0).posterior
    expected = average.curve(display.prob_pred).mean(("chain", "draw"))
    assert display.smoothed
    np.testing.assert_allclose(display.prob_true, expected, atol=0.03)
    assert "95 % band, smoothed" in display.ax_.get_legend_handles_labels()[1]


def test_estimators(classified):
    model, X, y = classified
    display = Display.from_estimator(model, X[100:], y[100:], **QUICK)
    probability = model.predict_proba(X[100:])
    same = Display.from_predictions(y[100:], probability[:, 1], **QUICK)
    np.testing.assert_array_equal(display.prob_true, same.prob_true)
    assert display.line_.get_label() == "Pipeline"
    other = Display.from_estimator(model, X[100:], y[100:], pos_label=0, **QUICK)
    np.testing.assert_array_equal(other.y_prob, probability[:, 0])
    assert other.pos_label == 0
    names = np.array(["no", "yes"])
    named = LogisticRegression().fit(X[:100], names[y[:100]])
    spoken = Display.from_estimator(named, X[100:], names[y[100:]], **QUICK)
    assert "Positive class: yes" in spoken.ax_.get_ylabel()


def test_several_displays_share_axes(cases):
    ax = plt.figure().subplots()
    y_true, y_prob = cases
    first = Display.from_predictions(y_true, y_prob, name="A $x", ax=ax, **QUICK)
    second = Display.from_predictions(y_true, np.sqrt(y_prob), name="B", ax=ax, **QUICK)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["Perfectly calibrated", r"A \$x", "95 % band", "B"]
    assert first.line_.get_color() != second.line_.get_color()
    ax.figure.canvas.draw()


def test_labels_of_minus_one_and_one(cases):
    y_true, y_prob = cases
    signed = Display.from_predictions(2 * y_true - 1, y_prob, **QUICK)
    np.testing.assert_array_equal(
        signed.prob_true, Display.from_predictions(y_true, y_prob, **QUICK).prob_true
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pos_label": "event"}, "pos_label"),
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": 5, "strategy": "even"}, "strategy"),
        ({"ax": 3}, "ax"),
        ({"ref_line": 1}, "ref_line"),
        ({"ci_prob": 95}, "ci_prob"),
        ({"curve": "bins"}, "curve"),
        ({"draws": 2}, "draws"),
    ],
)
def test_wrong_options_are_named(cases, options, message):
    with pytest.raises(ValueError, match=message):
        Display.from_predictions(*cases, **QUICK | options)


def test_wrong_estimators_are_named(classified):
    model, X, y = classified
    for wrong, message in (
        (LogisticRegression, "estimator must be a fitted classifier"),
        (3, "estimator must be a fitted classifier"),
        (RidgeClassifier().fit(X, y), "no predict_proba"),
        (LogisticRegression().fit(X, np.arange(300) % 3), "3 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            Display.from_estimator(wrong, X, y)
    with pytest.raises(NotFittedError):
        Display.from_estimator(LogisticRegression(), X, y)
    for label in (2, "x", [0, 1]):
        with pytest.raises(ValueError, match="pos_label must be"):
            Display.from_estimator(model, X, y, pos_label=label)
