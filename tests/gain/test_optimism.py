"""What new patients will meet, from the data a model was developed on."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayescal as bc
from bayescal.gain.unseen import (
    MEASURES_RESAMPLED,
    in_folds,
    line_measures,
    out_of_sample,
    resample_model,
)

PLAIN = LogisticRegression(C=np.inf, max_iter=1000)
CALM = {"n_repeats": 1, "n_resamples": 0, "draws": 400, "random_state": 3}


def patients(n=150, features=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    return X, (rng.random(n) < expit(X[:, 0] - 0.5)).astype(int)


def test_out_of_fold_is_what_scikit_learn_gives_for_the_same_splits():
    X, y = patients()
    rng, outcome = np.random.default_rng(4), y.astype(float)
    ours = out_of_sample(PLAIN, X, outcome, in_folds(outcome, 5, 1, rng), rng, lambda done: None)
    seed = int(np.random.default_rng(4).integers(2**31))
    splits = StratifiedKFold(5, shuffle=True, random_state=seed)
    theirs = cross_val_predict(PLAIN, X, y, cv=splits, method="predict_proba")[:, 1]
    np.testing.assert_allclose(ours[0], theirs, rtol=1e-9)


def test_measures_of_a_line_are_those_of_scikit_learn_and_a_root():
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    y = (rng.random(400) < expit(0.3 + 0.6 * x)).astype(float)
    score = expit(x)
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y)
    intercept, slope = line.intercept_[0], line.coef_[0, 0]
    shift = brentq(lambda a: expit(x + a).mean() - y.mean(), -5, 5, xtol=1e-12)
    error = np.abs(expit(intercept + slope * x) - score).mean()
    expected = [error, y.mean() / score.mean(), shift, intercept, slope]
    np.testing.assert_allclose(line_measures(y, score), expected, rtol=1e-5)


def test_the_apparent_slope_of_maximum_likelihood_is_one_and_that_of_new_patients_smaller():
    X, y = patients()
    result = bc.optimism(PLAIN, X, y, **CALM | {"n_resamples": 30})
    assert result.resampled is not None
    apparent = dict(zip(MEASURES_RESAMPLED, result.resampled.apparent, strict=True))
    own = result.resampled.own[:, MEASURES_RESAMPLED.index("calibration_slope")]
    assert apparent["calibration_slope"] == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(own, 1, atol=0.05)
    slope = result.summary().loc["calibration_slope"]
    assert slope["estimate"] < 0.9
    assert slope["bootstrap"] < 0.9
    assert slope["lower"] < slope["bootstrap"] < slope["upper"]


def test_a_model_without_features_has_no_optimism():
    X, y = patients(seed=1)
    outcome = y.astype(float)
    score = np.full(y.size, y.mean())
    resampled = resample_model(
        DummyClassifier(), X, outcome, score, 50, np.random.default_rng(0), lambda done: None
    )
    column = MEASURES_RESAMPLED.index("observed_expected")
    np.testing.assert_allclose(resampled.own[:, column], 1, rtol=1e-12)
    assert resampled.corrected[column] == pytest.approx(1, abs=0.1)


def test_every_step_of_a_pipeline_is_fitted_again_and_data_frames_are_taken():
    X, y = patients()
    pipeline = make_pipeline(StandardScaler(), PLAIN)
    arrays = bc.optimism(pipeline, X, y, **CALM)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    frames = bc.optimism(pipeline, frame, pd.Series(y), **CALM)
    np.testing.assert_allclose(arrays.predictions, frames.predictions, rtol=1e-9)
    assert not hasattr(pipeline[-1], "coef_")


def test_repeats_are_mixed_and_a_seed_repeats_the_result():
    X, y = patients()
    first, second = (bc.optimism(PLAIN, X, y, **CALM | {"n_repeats": 3}) for _ in range(2))
    pd.testing.assert_frame_equal(first.summary(), second.summary())
    alone = [bc.compare(y, row, draws=400, random_state=0).posterior for row in first.predictions]
    estimates = [post.estimate("calibration_slope") for post in alone]
    mixed = first.posterior.estimate("calibration_slope")
    assert min(estimates) - 0.05 < mixed < max(estimates) + 0.05


def test_labels_progress_and_text():
    X, y = patients()
    heard = []
    labels = np.where(y == 1, "sick", "well")
    result = bc.optimism(
        PLAIN,
        X,
        labels,
        pos_label="sick",
        progress=lambda done, of: heard.append((done, of)),
        **CALM | {"n_resamples": 5},
    )
    assert heard == [(done, 15) for done in range(1, 16)]
    assert result.apparent.data.events == y.sum()
    assert "Calibration slope" in repr(result)
    assert "Optimism" in result._repr_html_()
    assert result.summary()["bootstrap"].notna().all()
    assert bc.optimism(PLAIN, X, y, **CALM).summary()["bootstrap"].isna().all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"estimator": LogisticRegression}, "estimator must be a classifier"),
        ({"estimator": StandardScaler()}, "estimator must be a classifier"),
        ({"X": np.full((150, 2), np.nan)}, "estimator could not be fitted to X and y"),
        ({"X": np.zeros((3, 2))}, "X has"),
        ({"X": 3}, "X must have one row a case"),
        ({"y": np.full(150, 2)}, r"y\[0\] = 2"),
        ({"n_folds": 100}, "n_folds is 100"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"progress": 3}, "progress"),
    ],
)
def test_errors_name_the_argument(changed, message):
    X, y = patients()
    given = {"estimator": PLAIN, "X": X, "y": y} | CALM | changed
    with pytest.raises(ValueError, match=message):
        bc.optimism(**given)
