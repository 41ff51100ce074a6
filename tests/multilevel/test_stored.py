"""Posteriors of several curves are written, read back and pickled."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError

N = 300
RNG = np.random.default_rng(5)
X = RNG.normal(-0.6, 1.1, N)
HAD = RNG.random(N) < expit(X + 0.5 * (np.arange(N) % 3))
TIMES = bc.Survival(np.minimum(np.where(HAD, 5 * RNG.random(N), 9.0), 7.0), HAD)
SITE = {"site": np.array(list("ABC"))[np.arange(N) % 3]}
MONTH = {"period": np.array(["2024-01", "2024-02", "2024-04"])[np.arange(N) * 3 // N]}
FACTORS = {"subgroup": {"sex": np.arange(N) % 2, "age": np.arange(N) // 2 % 2}}
CLUSTER = {"cluster": np.arange(N) // 3}
KNOWN = {"site": ["K", "<b>"], "observed": [30, 8], "expected": [22.0, 9.5], "n": [80, 60]}
WALK = ["site", bc.walk("period")]
NORMAL = bc.by("site", robust=False)
CELLS = ["sex", "age", bc.by("sex", "age", robust=True)]

KINDS = {
    "sites": (SITE, {}),
    "sites that are normal": (SITE, {"vary": NORMAL}),
    "known sites": (SITE, {"known": KNOWN}),
    "factors": (FACTORS, {}),
    "robust cells": (FACTORS, {"vary": CELLS}),
    "periods": (MONTH, {}),
    "sites and periods": (SITE | MONTH, {"vary": WALK}),
    "clusters in sites": (SITE | CLUSTER, {}),
    "sites of times": (SITE | {"horizon": 5}, {}),
    "clusters of factors of times": (FACTORS | CLUSTER | {"horizon": 5}, {}),
}
EARLY = np.arange(N) % 3 != 1
OF_PERIODS = np.arange(N) < 2 * N // 3


def table(kind, some):
    def of(values):
        if isinstance(values, dict):
            return {name: each[some] for name, each in values.items()}
        return values[some] if isinstance(values, np.ndarray) else values

    roles = {name: of(values) for name, values in KINDS[kind][0].items()}
    outcome = bc.Survival(TIMES.time[some], TIMES.event[some]) if "horizon" in roles else HAD[some]
    return bc.CalibrationData(outcome, expit(X[some]), **roles)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def options(kind):
    return {"curve": "logistic", "draws": 400, "random_state": 1} | KINDS[kind][1]


@pytest.fixture(scope="module")
def post(kind, options):
    return bc.fit(table(kind, slice(None)), **options)


@pytest.fixture(scope="module")
def stored(post, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "post.nc"
    post.to_netcdf(path)
    return path


def test_it_is_read_back(kind, post, stored, tmp_path):
    again = bc.load(stored)
    assert (repr(again), again.levels) == (repr(post), post.levels)
    assert (again.vary, again.problem.kind) == (post.vary, post.problem.kind)
    assert (again.diagnostics, again.prob_calibrated) == (post.diagnostics, post.prob_calibrated)
    assert again.heterogeneity.equals(post.heterogeneity)
    assert again.table().equals(post.table())
    if kind in ("sites", "robust cells"):
        assert again.prob_unlike().equals(post.prob_unlike())
    if kind == "periods":
        assert again.when_changed().equals(post.when_changed())
        assert again.gain_of_updating().equals(post.gain_of_updating())
    axis = next(iter(post.levels))
    for view_of in (lambda each: each.new(axis), lambda each: each.average()):
        view, same = view_of(post), view_of(again)
        np.testing.assert_array_equal(same.tce(), view.tce())
        prior = [each.functional("tce", group="prior") for each in (view, same)]
        np.testing.assert_array_equal(*prior)
        view.to_netcdf(tmp_path / "view.nc")
        np.testing.assert_array_equal(bc.load(tmp_path / "view.nc").tce(), view.tce())


def test_an_edited_tree_is_refused(stored):
    tree = bc.load(stored).tree
    names = [str(name) for name in tree["posterior"].data_vars if "_shift" in str(name)]
    tree["posterior"][names[0]][(0,) * tree["posterior"][names[0]].ndim] = np.nan
    with pytest.raises(InputError, match="not finite"):
        bc.MultilevelPosterior(tree)
    del tree["posterior"][names[0]]
    with pytest.raises(InputError, match="edited or damaged"):
        bc.MultilevelPosterior(tree)


def test_an_update_is_one_fit_of_all(kind, options, post):
    first = OF_PERIODS if "period" in KINDS[kind][0] else EARLY
    grown = bc.update(bc.fit(table(kind, first), **options), table(kind, ~first))
    assert grown.vary == post.vary
    axis = next(iter(post.levels))
    np.testing.assert_allclose(grown.new(axis).tce(), post.new(axis).tce(), rtol=1e-6)
    np.testing.assert_allclose(grown.table(), post.table(), rtol=1e-6, equal_nan=True)


Y, P = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=3)
GROUP = np.arange(150) % 3
FITS = {
    "sites": {"site": GROUP},
    "periods": {"period": GROUP},
    "factors": {"subgroup": {"a": GROUP, "b": np.arange(150) % 2}},
    "sites of imputations": {"site": GROUP, "imputation": np.array([P, P**1.1])},
}
VIEWS = {
    "sites": lambda post: post.average(),
    "periods": lambda post: post.now(),
    "factors": lambda post: post.at({"a": 1}),
    "sites of imputations": lambda post: post.new(),
}


@pytest.mark.parametrize("kind", FITS)
def test_posteriors_and_their_views_can_be_pickled_after_use(kind):
    scores = () if "imputation" in FITS[kind] else (P,)
    post = bc.fit(Y, *scores, curve="logistic", draws=100, random_state=1, **FITS[kind])
    view = VIEWS[kind](post)
    told, of_view = post.summary(), view.summary()
    again, view_again = pickle.loads(pickle.dumps(post)), pickle.loads(pickle.dumps(view))
    pd.testing.assert_frame_equal(again.summary(), told)
    pd.testing.assert_frame_equal(VIEWS[kind](again).summary(), of_view)
    pd.testing.assert_frame_equal(view_again.summary(), of_view)
    assert view_again.prob_calibrated == view.prob_calibrated
    assert view_again.tree.groups == view.tree.groups


@pytest.mark.slow
def test_answers_that_hold_such_posteriors_can_be_pickled():
    models = bc.compare_models(Y, {"a": P, "b": P**1.1}, draws=100, random_state=1)
    told = models.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(models)).summary(), told)
    of_sites = bc.compare_models(Y, {"a": P, "b": P**1.1}, site=GROUP, draws=100, random_state=1)
    told = of_sites.table("tce")
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(of_sites)).table("tce"), told)
    average = of_sites.average()
    told = average.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(average)).summary(), told)
    gain = bc.recalibration_gain(Y, P, P**1.1, site=GROUP, draws=100, random_state=1)
    told = gain.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(gain)).summary(), told)
    a = bc.assess(Y, P, site=GROUP, draws=100, random_state=1)
    headline = a.headline()
    assert pickle.loads(pickle.dumps(a)).headline() == headline
