"""The value of information: closed forms, bounds, symmetries and published numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

import bayescal as bc

AT = [0.1, 0.2, 0.3, 0.45]
SIZES = [1, 50, 400, 3000, 200_000]


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 150, random_state=1)


@pytest.fixture(scope="module", params=["sample", "bootstrap"])
def population(request):
    return request.param


@pytest.fixture(scope="module", params=["beta", "average", "many scores", "new site"])
def post(request, cases):
    y_true, y_prob = cases
    options = {"draws": 1000, "random_state": 1}
    if request.param == "beta":
        return bc.fit(y_true, np.round(y_prob, 1), curve="beta", **options)
    if request.param == "many scores":
        return bc.fit(y_true, y_prob, curve="spline", **options)
    if request.param == "average":
        return bc.compare(y_true, y_prob, **options).posterior
    sites = bc.fit(y_true, y_prob, site=np.arange(y_true.size) % 3, **options)
    return sites.new()


def test_bounds_and_growth(post, population):
    worth = post.value_of_information(AT, SIZES, population=population)
    assert (worth["evpi"] >= 0).all()
    assert (worth["evpi"] <= worth["evpi_of_recalibrating"]).all()
    for name in ("evsi", "evsi_of_recalibrating"):
        assert (worth[name] >= 0).all()
        assert (worth[name] <= worth[name.replace("evsi", "evpi")] + 1e-15).all()
        steps = worth[name].diff("n_more")
        assert (steps >= -4 * worth["evsi_error"].max() - 1e-9).all()
    assert (worth["evsi"] <= worth["evsi_of_recalibrating"] + 1e-15).all()
    np.testing.assert_allclose(worth["prob_best"].sum("strategy"), 1, rtol=1e-12)
    last = worth.isel(n_more=-1)
    for name in ("evsi", "evsi_of_recalibrating"):
        known = last[name.replace("evsi", "evpi")]
        np.testing.assert_allclose(last[name], known, atol=2e-3, rtol=0.1)


def test_net_benefit_is_that_of_the_posterior(post, population):
    worth = post.value_of_information(AT, population=population)
    benefit = post.net_benefit(AT, population)
    for name, strategy in (("model", "model"), ("treat_all", "treat_all")):
        expected = benefit[name].mean(("chain", "draw"))
        np.testing.assert_allclose(worth["net_benefit"].sel(strategy=strategy), expected, rtol=1e-9)
    best = worth["net_benefit"].max("strategy")
    assert (worth["net_benefit"].sel(strategy="updated_model") >= best - 5e-4).all()


def test_nothing_to_learn_of_a_known_curve(cases):
    worth = bc.fit(*cases, curve="identity", draws=400, random_state=0).value_of_information(
        AT, 100
    )
    for name in ("evpi", "evpi_of_recalibrating", "evsi", "evsi_of_recalibrating"):
        np.testing.assert_allclose(worth[name], 0, atol=1e-12)
    assert (worth["prob_best"].sel(strategy="updated_model") == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.25, 0.3, 0.36])
def test_one_score_is_a_line_integral(threshold):
    """With a single score the posterior is of one number, and sums are exact."""
    hits, n, more = 9, 30, 60
    y_true = np.repeat([1, 0], [hits, n - hits])
    prior, score = {"shift": 1, "log_slope": 0.5}, np.full(n, 0.4)
    post = bc.fit(y_true, score, curve="intercept", prior=prior, draws=12_000, random_state=3)
    worth = post.value_of_information([threshold], more)
    shift = np.linspace(-6, 6, 20_001)
    g = expit(np.log(0.4 / 0.6) + shift)
    weight = np.exp(stats.norm.logpdf(shift) + hits * np.log(g) + (n - hits) * np.log1p(-g))
    weight /= weight.sum()
    gain = (g - threshold) / (1 - threshold)
    now = max(weight @ gain, 0)
    evpi = weight @ np.maximum(gain, 0) - now
    chance = stats.binom.pmf(np.arange(more + 1)[:, None], more, g) * weight
    evsi = np.maximum(chance @ gain, 0).sum() - now
    for name in ("evpi", "evpi_of_recalibrating"):
        assert float(worth[name][0]) == pytest.approx(evpi, rel=0.05)
    error = float(worth["evsi_error"][0])
    for name in ("evsi", "evsi_of_recalibrating"):
        assert float(worth[name][0]) == pytest.approx(evsi, abs=4 * error + 0.02 * evpi)


@pytest.mark.parametrize("threshold", [0.25, 0.3, 0.36])
def test_cells_of_one_group_have_a_closed_form(threshold):
    hits, n, more = 9, 30, 60
    y_true = np.repeat([1, 0], [hits, n - hits])
    post = bc.fit(y_true, np.full(n, 0.4), curve="beta", draws=100, random_state=3)
    worth = post.value_of_information([threshold], more, method="cells")
    now = max(hits / n - threshold, 0)
    above = hits / n * stats.beta.sf(threshold, hits + 1, n - hits)
    above -= threshold * stats.beta.sf(threshold, hits, n - hits)
    events = np.arange(more + 1)
    then = np.maximum((hits + events) / (n + more) - threshold, 0)
    sampled = stats.betabinom.pmf(events, more, hits, n - hits) @ then
    for name, expected in (("evpi", above - now), ("evsi", sampled - now)):
        error = float(worth[f"{name}_error"][0])
        assert float(worth[name][0]) == pytest.approx(expected / (1 - threshold), abs=4 * error)
    assert worth["strategy"].to_numpy().tolist() == ["treat_none", "treat_all", "model"]
    assert "evpi_of_recalibrating" not in worth


@pytest.mark.parametrize("method", ["curve", "cells"])
def test_relabelled_outcomes_have_the_same_losses(cases, method):
    """Whoever treats the others pays the same: (1 - t) EVPI stays when outcomes are relabelled."""
    y_true, y_prob = cases
    post = bc.fit(y_true, y_prob, curve="beta", draws=8000, random_state=1)
    other = bc.fit(1 - y_true, 1 - y_prob, curve="beta", draws=8000, random_state=1)
    at = np.array(AT)
    own = post.value_of_information(at, method=method)
    mirrored = other.value_of_information(1 - at, method=method)
    for name in {"evpi", "evpi_of_recalibrating"} & set(own):
        np.testing.assert_allclose((1 - at) * own[name], at * mirrored[name], atol=2e-4, rtol=0.06)


@pytest.mark.parametrize(
    ("file", "threshold", "evpi", "prob_best"),
    [
        ("predtools_val_data", 0.2, 0.00443, 0.623),
        ("predtools_val_data", 0.3, 0.00099, 0.901),
        ("pmcalibration_readme_sim2345", 0.1, 0.00123, 0.639),
    ],
)
def test_published_by_cells(shared_data, file, threshold, evpi, prob_best):
    cases = pd.read_csv(shared_data / "data" / "clinical" / f"{file}.csv")
    post = bc.fit(cases["outcome"], cases["score"], curve="beta", draws=100, random_state=1)
    worth = post.value_of_information([threshold], method="cells")
    assert float(worth["evpi"][0]) == pytest.approx(evpi, abs=8e-5)
    model = worth["prob_best"].sel(strategy="model")
    assert float(model[0]) == pytest.approx(prob_best, abs=0.012)


def test_weights_count_as_cases(cases):
    y_true, y_prob = cases
    weight = 1 + np.arange(y_true.size) % 3
    options = {"curve": "beta", "draws": 400, "random_state": 2}
    weighted = bc.fit(y_true, y_prob, sample_weight=weight, weight_type="counts", **options)
    repeated = bc.fit(np.repeat(y_true, weight), np.repeat(y_prob, weight), **options)
    for method in ("curve", "cells"):
        own = weighted.value_of_information(AT, 50, method)
        assert own.identical(repeated.value_of_information(AT, 50, method))


@pytest.mark.slow
def test_the_same_when_asked_twice_and_after_loading(cases, tmp_path):
    post = bc.compare(*cases, draws=400, random_state=1).posterior
    first = post.value_of_information(AT, 100)
    post.to_netcdf(tmp_path / "post.nc")
    assert first.identical(post.value_of_information(AT, 100))
    np.testing.assert_allclose(
        bc.load(tmp_path / "post.nc").value_of_information(AT, 100)["evsi"],
        first["evsi"],
        rtol=1e-9,
    )


def test_sites(cases):
    y_true, y_prob = cases
    sites = bc.fit(y_true, y_prob, site=np.arange(y_true.size) % 3, draws=400, random_state=0)
    own = sites.at(site="1").value_of_information(AT, 100)
    assert own.sizes == {"threshold": 4, "strategy": 4}
    with pytest.raises(ValueError, match="these are scores alone"):
        sites.new().value_of_information(AT, method="cells")


@pytest.mark.parametrize("n_more", [0, -1, 2.5, "many", [10, 0], [], 10**10, True])
def test_numbers_of_patients_are_checked(cases, n_more):
    post = bc.fit(*cases, curve="beta", draws=100, random_state=0)
    with pytest.raises(ValueError, match="n_more"):
        post.value_of_information([0.2], n_more)


def test_no_warnings_at_extremes():
    post = bc.fit([0, 1, 0, 1], [0.0, 1.0, 1e-9, 0.7], curve="beta", draws=400, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("curve", "cells"):
            worth = post.value_of_information([1e-9, 0.5, 1 - 1e-9], [1, 10**9], method)
            assert np.isfinite(worth["evsi"]).all()


def test_clusters_have_no_further_patients(cases):
    y_true, y_prob = cases
    post = bc.fit(
        y_true, y_prob, curve="beta", cluster=np.arange(y_true.size) // 3, draws=400, random_state=0
    )
    worth = post.value_of_information(AT)
    assert (worth["evpi"] <= worth["evpi_of_recalibrating"]).all()
    for options in ({"n_more": 50}, {"method": "cells"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))}.*come in clusters"):
            post.value_of_information(AT, **options)
