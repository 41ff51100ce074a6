"""Recalibrators as scikit-learn estimators: its own checks, pipelines, copies, wrapped models."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
import sklearn.utils
from scipy.special import softmax
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

from bayescal import recalibrate
from bayescal.errors import InputError
from bayescal.recalibrate import (
    BayesianRecalibrator,
    BetaRecalibrator,
    DecisionTreeRecalibrator,
    HistogramRecalibrator,
    IsotonicRecalibrator,
    LogisticRecalibrator,
    MonotoneRecalibrator,
    ProbabilityCalibrationTreeRecalibrator,
    RecalibratedClassifier,
    Recalibrator,
    SmoothRecalibrator,
)

KINDS = sorted(
    (
        kind
        for name in recalibrate.__all__
        if issubclass(kind := getattr(recalibrate, name), Recalibrator) and kind is not Recalibrator
    ),
    key=lambda kind: kind.__name__,
)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, n)
    return scores, (rng.random(n) < scores**1.5).astype(int)


def seeded(kind):
    """One that gives the same answer at every fit."""
    return kind(random_state=0) if kind in (BayesianRecalibrator, SmoothRecalibrator) else kind()


# The checks of scikit-learn


def squashed(X, number):
    """Probabilities of so many classes out of any features, in part informative."""
    columns = np.arange(number) + 1
    signal = X @ np.cos(np.outer(np.arange(X.shape[1]) + 1, 2 * columns))
    noise = 3 * np.sin(1e3 * np.outer(X.sum(axis=1), columns))
    proba = softmax(np.round(signal + noise, 6), axis=1)
    return proba[:, 1] if number == 2 else proba


class Squashing:
    """A recalibrator that takes any features: what scikit-learn's checks feed to estimators."""

    def fit(self, X, y, sample_weight=None):
        X = self._read(X, reset=True)
        labels = np.unique(np.asarray(y)) if y is not None else np.zeros(2)
        number = max(2, labels.size) if labels.size < 9 else 2
        return super().fit(squashed(X, number), y, sample_weight)

    def _recalibrated(self, X):
        check_is_fitted(self)
        proba = squashed(self._read(X, reset=False), self.classes_.size)
        return super()._recalibrated(proba)

    def _read(self, X, reset):
        from sklearn.utils.validation import validate_data

        return validate_data(self, X, dtype=np.float64, reset=reset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False
        return tags


def squashing(kind):
    """The recalibrator behind features, under its own name and importable for pickling."""

    def _fit_classes(self, proba, code, weights):
        self.recalibrators_ = [
            kind(**self.get_params()).fit(proba[:, j], code == j, weights)
            for j in range(proba.shape[1])
        ]

    body = {"__module__": __name__, "__init__": kind.__init__}
    if kind._fit_classes in (Recalibrator._fit_classes, BayesianRecalibrator._fit_classes):
        body["_fit_classes"] = _fit_classes
    return type(f"Squashing{kind.__name__}", (Squashing, kind), body)


PROBES = {kind: squashing(kind) for kind in KINDS}
globals().update({probe.__name__: probe for probe in PROBES.values()})
QUICK = {
    BayesianRecalibrator: {"draws": 100},
    DecisionTreeRecalibrator: {"n_folds": 2, "max_leaves": 4},
    ProbabilityCalibrationTreeRecalibrator: {"n_folds": 2, "max_leaves": 4},
}

EXCLUDED = {
    "check_classifiers_train": "wants 83 % right, from features; ours are as good as the scores",
    "check_classifiers_classes": "words beside a plain matrix are refused without classes=",
    "check_supervised_y_2d": "a column of labels is read as a vector, without a warning",
}
NEEDS_A_SWITCH = "check_array_api_input"  # skips unless SciPy is told to take other arrays
ONE_LABEL = "check_classifiers_one_label"
EXCLUDED_FOR = {
    ("TemperatureRecalibrator", ONE_LABEL): "scores below 1/2 stay below it",
    ("DiagonalRecalibrator", ONE_LABEL): "scores below 1/2 stay below it",
    ("EnsembleTemperatureRecalibrator", ONE_LABEL): "scores below 1/2 stay below it",
    ("BayesianRecalibrator", ONE_LABEL): "ten cases do not turn a score near 0 into one above 1/2",
}


def checks():
    if not hasattr(estimator_checks, "estimator_checks_generator"):
        return
    for kind, probe in PROBES.items():
        estimator = probe(**QUICK.get(kind, {}))
        for _, check in estimator_checks.estimator_checks_generator(estimator):
            name = check.func.__name__
            if name == NEEDS_A_SWITCH:
                continue
            fails = name in EXCLUDED or (kind.__name__, name) in EXCLUDED_FOR
            yield pytest.param(estimator, check, fails, id=f"{kind.__name__}-{name}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check", "fails"), list(checks()))
def test_check_of_scikit_learn(estimator, check, fails):
    """Those left out must fail. Without xfail: writing a failure up takes longer than the check."""
    with pytest.raises((AssertionError, InputError)) if fails else nullcontext():
        check(estimator)


UNSQUASHED = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@each_kind
def test_checks_that_need_no_features(kind):
    for name in UNSQUASHED:
        check = getattr(estimator_checks, name, None)  # some came later than 1.5
        if check is not None:
            check(kind.__name__, kind())


def test_tags_say_that_a_vector_will_do():
    assert is_classifier(LogisticRecalibrator())
    get_tags = getattr(sklearn.utils, "get_tags", None)
    if get_tags is None:
        pytest.skip("tags came with scikit-learn 1.6")
    tags = get_tags(LogisticRecalibrator())
    assert tags.input_tags.one_d_array
    assert tags.input_tags.two_d_array
    assert tags.transformer_tags == get_tags(IsotonicRegression()).transformer_tags
    assert tags.estimator_type == "classifier"


# Copies


@each_kind
def test_copies_and_pickles(kind):
    scores, y = data()
    fitted = seeded(kind).fit(scores, y)
    actual = fitted.predict_proba(scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(scores), actual)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(scores)
    np.testing.assert_array_equal(copy.fit(scores, y).predict_proba(scores), actual)


# Pipelines


def only_positive(proba):
    return proba[:, 1]


@each_kind
def test_fit_transform_is_fit_and_transform(kind):
    scores, y = data()
    expected = seeded(kind).fit(scores, y).transform(scores)
    np.testing.assert_array_equal(seeded(kind).fit_transform(scores, y), expected)
    np.testing.assert_array_equal(
        seeded(kind).fit(X=scores[:, None], y=y).transform(X=scores), expected
    )


def test_in_pipelines():
    scores, y = data()
    last = make_pipeline(FunctionTransformer(only_positive), BetaRecalibrator())
    both = np.column_stack([1 - scores, scores])
    alone = BetaRecalibrator().fit(scores, y)
    np.testing.assert_allclose(
        last.fit(both, y).predict_proba(both), alone.predict_proba(scores), rtol=1e-12
    )
    middle = make_pipeline(IsotonicRecalibrator(), LogisticRecalibrator())
    actual = middle.fit(scores, (np.arange(300) % 3 == 0).astype(int)).transform(scores)
    assert ((actual > 0) & (actual < 1)).all()


def test_arguments_that_are_not_x_and_y_are_metadata():
    requests = LogisticRecalibrator().get_metadata_routing()
    assert set(requests.fit.requests) == {"sample_weight", "classes"}
    assert not requests.predict_proba.requests
    assert not requests.transform.requests
    tree = ProbabilityCalibrationTreeRecalibrator().get_metadata_routing()
    assert set(tree.fit.requests) == {"sample_weight", "classes", "features"}
    assert set(tree.predict_proba.requests) == {"features"}


def test_features_are_routed_through_a_pipeline():
    rng = np.random.default_rng(0)
    scores, features = rng.uniform(0.1, 0.6, 2000), rng.integers(0, 2, (2000, 1))
    y = rng.random(2000) < np.where(features[:, 0] == 1, scores, scores / 3)
    with sklearn.config_context(enable_metadata_routing=True):
        tree = ProbabilityCalibrationTreeRecalibrator()
        tree = tree.set_fit_request(features=True).set_predict_proba_request(features=True)
        chained = make_pipeline(FunctionTransformer(), tree)
        chained.fit(scores[:, None], y, features=features)
        proba = chained.predict_proba(scores[:, None], features=features)
    alone = ProbabilityCalibrationTreeRecalibrator().fit(scores, y, features=features)
    np.testing.assert_array_equal(proba, alone.predict_proba(scores, features))
    assert alone.n_split_features_ == 1


def test_weights_are_routed_by_a_grid_search():
    scores, y = data()
    weight = np.random.default_rng(0).integers(1, 3, y.size)
    with sklearn.config_context(enable_metadata_routing=True):
        recalibrator = HistogramRecalibrator().set_fit_request(sample_weight=True)
        recalibrator = recalibrator.set_score_request(sample_weight=True)
        search = GridSearchCV(recalibrator, {"n_bins": [4]})
        search.fit(scores[:, None], y, sample_weight=weight)
    alone = HistogramRecalibrator(4).fit(scores, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.levels_, alone.levels_)


def test_frozen_in_scikit_learns_own_calibrator():
    """A recalibrator is a classifier of probabilities, so that CalibratedClassifierCV takes it."""
    frozen = pytest.importorskip("sklearn.frozen")
    from sklearn.calibration import CalibratedClassifierCV

    scores, y = data()
    fitted = IsotonicRecalibrator().fit(scores[:, None], y)
    twice = CalibratedClassifierCV(frozen.FrozenEstimator(fitted), method="sigmoid")
    assert twice.fit(scores[:, None], y).predict_proba(scores[:, None]).shape == (300, 2)


# Wrapped classifiers


def model(classes=2):
    X, y = make_classification(
        900, 8, n_informative=5, n_classes=classes, flip_y=0.2, random_state=1
    )
    return GaussianNB().fit(X[:300], y[:300]), X[300:], y[300:]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@each_kind
def test_wraps_a_fitted_classifier(kind, classes):
    fitted, X, y = model(classes)
    wrapped = RecalibratedClassifier(fitted, seeded(kind)).fit(X[:300], y[:300])
    proba = wrapped.predict_proba(X[300:])
    assert proba.shape == (300, classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(wrapped.predict(X), wrapped.predict_proba(X).argmax(axis=1))
    given = fitted.predict_proba(X[:300])
    features = {"features": X[:300]} if kind.uses_features else {}
    alone = seeded(kind).fit(given, y[:300], **features)
    assert wrapped.classes_.tolist() == list(range(classes))
    np.testing.assert_array_equal(
        wrapped.predict_proba(X[:300]), alone.predict_proba(given, **features)
    )


def test_the_classifier_is_not_fitted_again():
    fitted, X, y = model()
    before = fitted.predict_proba(X)
    wrapped = RecalibratedClassifier(fitted)
    assert clone(wrapped).estimator is fitted
    scores = cross_val_score(wrapped, X, y, cv=3, scoring="neg_log_loss")
    raw = cross_val_score(RecalibratedClassifier(fitted, BetaRecalibrator()), X, y, cv=3)
    assert scores.shape == raw.shape == (3,)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    again = pickle.loads(pickle.dumps(wrapped.fit(X, y)))
    np.testing.assert_array_equal(again.predict_proba(X), wrapped.predict_proba(X))
    assert wrapped.set_params(recalibrator=MonotoneRecalibrator()).fit(X, y).predict(X).size == 600


def test_agrees_with_scikit_learns_own_wrapper():
    """Isotonic calibration of a frozen classifier, refitted on the same cases."""
    frozen = pytest.importorskip("sklearn.frozen")
    from sklearn.calibration import CalibratedClassifierCV

    fitted, X, y = model()
    theirs = CalibratedClassifierCV(
        frozen.FrozenEstimator(fitted), method="isotonic", ensemble=False
    )
    ours = RecalibratedClassifier(frozen.FrozenEstimator(fitted), IsotonicRecalibrator())
    expected = theirs.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), expected, atol=1e-12)


def test_classes_of_the_classifier_that_new_cases_lack():
    fitted, X, y = model(3)
    two = y < 2
    wrapped = RecalibratedClassifier(fitted, HistogramRecalibrator()).fit(X[two], y[two])
    assert wrapped.classes_.tolist() == [0, 1, 2]
    assert wrapped.predict_proba(X).shape == (600, 3)
    assert set(wrapped.predict(X)) <= {0, 1}


def test_weights_reach_the_recalibrator():
    fitted, X, y = model()
    weight = np.random.default_rng(0).integers(0, 3, y.size)
    weighted = RecalibratedClassifier(fitted).fit(X, y, sample_weight=weight)
    repeated = RecalibratedClassifier(fitted).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_refuses_what_it_cannot_wrap():
    _, X, y = model()
    with pytest.raises(NotFittedError):
        RecalibratedClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(InputError, match="LinearSVC, which has no predict_proba"):
        RecalibratedClassifier(LinearSVC().fit(X, y)).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    assert RecalibratedClassifier(pipeline).fit(X, y).predict(X).shape == y.shape


def test_data_frames_and_other_arrays():
    pandas = pytest.importorskip("pandas")
    scores, y = data()
    actual = LogisticRecalibrator().fit(pandas.Series(scores), pandas.Series(y)).transform(scores)
    np.testing.assert_array_equal(actual, LogisticRecalibrator().fit(scores, y).transform(scores))
    frame = pandas.DataFrame({"no": 1 - scores, "yes": scores})
    labels = pandas.Series(np.where(y == 1, "yes", "no"), dtype="category")
    np.testing.assert_array_equal(
        LogisticRecalibrator().fit(frame, labels).transform(frame), actual
    )
    with pytest.raises(InputError, match="same index labels in different orders"):
        LogisticRecalibrator().fit(pandas.Series(scores), pandas.Series(y).iloc[::-1])


# Data frames


@pytest.fixture
def frame():
    """Probabilities of three classes in columns named after them, in no order; labels."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    proba = rng.dirichlet([1, 1, 1], 200)
    names = np.array(["c", "a", "b"])
    labels = names[[rng.choice(3, p=row) for row in proba]]
    return pd.DataFrame(proba, columns=names), labels


def test_columns_of_a_frame_are_matched_by_name(frame):
    table, labels = frame
    ordered = table[["a", "b", "c"]]
    expected = LogisticRecalibrator().fit(ordered.to_numpy(), labels, classes=["a", "b", "c"])
    fitted = LogisticRecalibrator().fit(table, labels)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(
        fitted.predict_proba(table), expected.predict_proba(ordered.to_numpy())
    )
    np.testing.assert_array_equal(fitted.predict_proba(table), fitted.predict_proba(ordered))


def test_a_frame_of_two_classes_is_read_by_name(frame):
    table, labels = frame
    two = (labels == "a") | (labels == "c")
    part = table.loc[two, ["c", "a"]].div(table.loc[two, ["c", "a"]].sum(axis=1), axis=0)
    fitted = LogisticRecalibrator().fit(part, labels[two])
    event = LogisticRecalibrator().fit(part["c"], labels[two])
    np.testing.assert_allclose(fitted.transform(part), event.transform(part["c"]), rtol=1e-12)


def test_numbered_columns_are_no_names():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    proba = rng.dirichlet([1, 1, 1], 90)
    labels = np.arange(90) % 3 + 1
    fitted = LogisticRecalibrator().fit(pd.DataFrame(proba), labels)
    assert fitted.classes_.tolist() == [1, 2, 3]


@each_kind
def test_output_as_a_frame(kind, frame):
    scores, y = data(100)
    recalibrator = seeded(kind).set_output(transform="pandas").fit(scores, y)
    given = recalibrator.transform(scores)
    assert given.columns.tolist() == ["probability"]
    np.testing.assert_array_equal(given["probability"], recalibrator.predict_proba(scores)[:, 1])
    table, labels = frame
    classes = seeded(kind).set_output(transform="pandas").fit(table, labels)
    assert classes.transform(table).columns.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(classes.transform(table), classes.predict_proba(table))


@each_kind
def test_no_class_has_probability_zero(kind):
    """The log score of several classes stays finite on new cases."""
    rng = np.random.default_rng(5)
    proba = rng.dirichlet([0.2, 0.2, 0.2], 400)
    labels = np.array([rng.choice(3, p=row) for row in proba])
    fitted = seeded(kind).fit(proba[:200], labels[:200])
    assert fitted.predict_proba(proba[200:]).min() > 0
