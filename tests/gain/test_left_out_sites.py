"""Optimism with groups: each site is predicted by a model that saw none of its patients."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

import bayescal as bc
from bayescal.errors import InputError

MODEL = LogisticRegression(C=np.inf, max_iter=1000)
CALM = {"n_resamples": 0, "draws": 400, "random_state": 3}


@pytest.fixture(scope="module")
def patients():
    """The model misses what makes sites differ; the last site has twice the odds."""
    rng = np.random.default_rng(2)
    site = np.repeat([f"H{k}" for k in range(6)], 120)
    X = rng.normal(size=(site.size, 3))
    shift = np.repeat([-0.2, 0.2, -0.1, 0.1, 0.0, 0.7], 120)
    y = (rng.random(site.size) < expit(X[:, 0] - 1 + shift)).astype(int)
    return X, y, site


@pytest.fixture(scope="module")
def left_out(patients):
    X, y, site = patients
    return bc.optimism(MODEL, X, y, site=site, **CALM)


def test_predictions_are_those_of_scikit_learn_without_each_site(patients, left_out):
    X, y, site = patients
    theirs = cross_val_predict(
        MODEL, X, y, groups=site, cv=LeaveOneGroupOut(), method="predict_proba"
    )[:, 1]
    assert left_out.predictions.shape == (1, y.size)
    np.testing.assert_allclose(left_out.predictions[0], theirs, rtol=1e-9)


def test_the_posterior_is_of_a_site_that_has_not_been_seen(patients, left_out):
    _, y, site = patients
    by_group = bc.fit(y, left_out.predictions[0], site=site, draws=400, random_state=7)
    assert left_out.by_group.labels == by_group.labels
    assert left_out.posterior._one_of.is_new
    ours, theirs = (
        post.new().summary(names=["observed_expected"]).loc["observed_expected"]
        for post in (left_out.by_group, by_group)
    )
    assert ours["estimate"] == pytest.approx(theirs["estimate"], abs=0.1)
    row = left_out.summary().loc["observed_expected"]
    assert row["estimate"] == pytest.approx(ours["estimate"])
    within = bc.optimism(MODEL, patients[0], y, n_repeats=1, **CALM).summary()
    length = [table["upper"] - table["lower"] for table in (left_out.summary(), within)]
    assert length[0]["observed_expected"] > 1.3 * length[1]["observed_expected"]
    assert left_out.by_group.at(site="H5").functional("observed_expected").mean() > 1.1
    assert "each of 6 groups left out in turn" in repr(left_out)
    assert "new group" in repr(left_out)


def test_whole_sites_are_resampled(patients):
    X, y, site = patients
    some = bc.optimism(MODEL, X, y, site=site, **CALM | {"n_resamples": 12})
    alone = bc.optimism(MODEL, X, y, n_folds=2, n_repeats=1, **CALM | {"n_resamples": 12})
    row = list(some.summary().index).index("observed_expected")
    spread = [np.std(each.resampled.all_cases[:, row]) for each in (some, alone)]
    assert spread[0] > 1.5 * spread[1]
    counted = []
    bc.optimism(
        MODEL, X, y, site=site, **CALM | {"n_resamples": 2},
        progress=lambda *told: counted.append(told),
    )  # fmt: skip
    assert counted == [(k + 1, 8) for k in range(8)]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_folds": 5}, "n_folds was given with site"),
        ({"n_repeats": 1}, "n_repeats was given with site"),
        ({"site": ["A"] * 720}, "one site"),
        ({"site": ["A", "B"]}, "site has 2"),
        ({"site": {"a": np.arange(720), "b": np.arange(720)}}, "table of columns"),
    ],
)
def test_what_cannot_be_is_refused(patients, change, match):
    X, y, site = patients
    with pytest.raises(InputError, match=match):
        bc.optimism(MODEL, X, y, **{"site": site, **CALM, **change})


def test_a_site_with_all_events_is_refused(patients):
    X, y, site = patients
    with pytest.raises(InputError, match="without the cases of 'H5' all outcomes are 0"):
        bc.optimism(MODEL, X, y * (site == "H5"), site=site, **CALM)
