"""cross_fit(): what it fits, and that a seed repeats it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayescal as bc
from bayescal import recalibrate
from bayescal.errors import InputError


@pytest.fixture(scope="module")
def patients():
    return bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)


@pytest.mark.parametrize(
    "recalibrator",
    [
        recalibrate.BayesianRecalibrator(draws=200),
        make_pipeline(recalibrate.BayesianRecalibrator(draws=200)),
    ],
)
def test_a_seed_repeats_a_recalibrator_that_draws(patients, recalibrator):
    options = {"n_folds": 3, "n_repeats": 2}
    first, again, other = (
        bc.cross_fit(*patients, recalibrator, random_state=seed, **options) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    final = recalibrator[-1] if hasattr(recalibrator, "steps") else recalibrator
    assert final.random_state is None


def test_a_model_of_features_is_refused(patients):
    y, _ = patients
    X = np.random.default_rng(0).normal(size=(y.size, 3))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    for fitted in (model, model[-1], recalibrate.RecalibratedClassifier(model)):
        with pytest.raises(InputError, match=r"patients' features.*cross_val_predict"):
            bc.cross_fit(*patients, fitted)


def test_a_classifier_that_must_be_fitted_first_says_so(patients):
    y, s = patients
    with pytest.raises(Exception, match="Unlike CalibratedClassifierCV"):
        recalibrate.RecalibratedClassifier(LogisticRegression()).fit(s[:, None], y)
    with pytest.raises(InputError, match=r"IsotonicRecalibrator\(\)"):
        recalibrate.RecalibratedClassifier(LogisticRegression().fit(s[:, None], y), "isotonic").fit(
            s[:, None], y
        )


def test_progress_hears_of_each_fit(patients):
    heard = []
    bc.cross_fit(
        *patients,
        recalibrate.LogisticRecalibrator(),
        n_folds=3,
        n_repeats=2,
        progress=lambda *counts: heard.append(counts),
    )
    assert heard == [(done, 6) for done in range(1, 7)]
