"""Sites, factors and periods of several imputations against fits of each, joined by hand."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.compared import _scales

M, N = 3, 240
SITE = np.resize(["A", "B", "C"], N)
FACTORS = {"sex": np.resize(["F", "M"], N), "age": np.arange(N) // 120}
MONTH = np.repeat([1, 2, 3], 80)
KNOWN = {"site": ["D"], "observed": [30], "expected": [32.0], "n": [100]}
OPTIONS = {"curve": "logistic", "draws": 400, "random_state": 1}

KINDS = {
    "sites": ({"site": SITE}, "sites"),
    "known sites": ({"site": SITE, "known": KNOWN}, "sites"),
    "factors": ({"subgroup": FACTORS}, "subgroups"),
    "periods": ({"period": MONTH}, "periods"),
}
AXIS = {"sites": "site", "known sites": "site", "factors": "sex", "periods": "period"}


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=3)
    noise = np.random.default_rng(3).normal(0, 0.5, (M, N)) * (np.arange(N) % 3 == 0)
    return y, expit(logit(s) + noise)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def post(kind, cases):
    y, scores = cases
    return bc.fit(y, imputation=scores, **KINDS[kind][0], **OPTIONS)


@pytest.fixture(scope="module")
def each(kind, cases):
    """The fit of every imputation by itself."""
    y, scores = cases
    return [bc.fit(y, score, **KINDS[kind][0], **OPTIONS) for score in scores]


VIEWS = {
    "first level": lambda post: post.at(post.parts()[0].levels),
    "average": lambda post: post.average(),
    "new": lambda post: post.new(next(iter(post.levels))),
    "all": lambda post: post.at(),
}


@pytest.mark.parametrize("title", VIEWS)
def test_means_and_variances_are_rubins(title, post, each):
    view, alone = VIEWS[title](post), [VIEWS[title](one) for one in each]
    for name in ("observed_expected", "signed_error", "calibration_slope"):
        draws = np.stack([one.functional(name).to_numpy().ravel() for one in alone])
        within, between = draws.var(axis=1).mean(), draws.mean(axis=1).var(ddof=1)
        total = within + (1 + 1 / M) * between
        pooled = view.functional(name)
        assert float(pooled.mean()) == pytest.approx(draws.mean(), abs=1e-9)
        assert float(pooled.var()) == pytest.approx(total, rel=1e-6)
        row = view.missing_information.loc[name]
        assert row["sd_between"] == pytest.approx(np.sqrt(between))
        assert row["missing_information"] == pytest.approx((1 + 1 / M) * between / total)
        by_hand = np.quantile(draws, [0.025, 0.975])
        np.testing.assert_allclose(view.interval(name), by_hand, atol=0.3 * np.sqrt(total))


def test_equal_imputations_are_one_fit(kind, cases):
    y, scores = cases
    how = KINDS[kind][0] | OPTIONS
    one, three = bc.fit(y, scores[0], **how), bc.fit(y, imputation=[scores[0]] * M, **how)
    shown = one.summary()
    np.testing.assert_allclose(three.summary(), shown, atol=0.02)
    np.testing.assert_allclose(three.summary()["mean"], shown["mean"], atol=1e-9)
    assert three.missing_information["missing_information"].max() < 1e-9
    np.testing.assert_allclose(three.heterogeneity["mean"], one.heterogeneity["mean"], rtol=1e-6)
    axis = AXIS[kind]
    np.testing.assert_allclose(three.prob_worst(axis), one.prob_worst(axis))
    assert three.prob_any_above(0.05) == one.prob_any_above(0.05)
    assert three.prob_differs(axis) == one.prob_differs(axis)
    assert three.prob_calibrated == pytest.approx(one.prob_calibrated, rel=1e-12)
    worth = [each.new(axis).value_of_information([0.2, 0.5]) for each in (three, one)]
    np.testing.assert_allclose(worth[0]["evpi"], worth[1]["evpi"], atol=1e-12)
    benefits = [each.net_benefit([0.2, 0.5], by=axis)["prob_best"] for each in (three, one)]
    np.testing.assert_allclose(*benefits)
    apart = [each.differences(axis)["mean"] for each in (three, one)]
    np.testing.assert_allclose(*apart, atol=1e-9)
    curves = [each.curve([0.2, 0.6], by=axis).mean(["chain", "draw"]) for each in (three, one)]
    np.testing.assert_allclose(*curves, atol=1e-9)
    assert (three.data.n, three.data.events) == (one.data.n, one.data.events)


def test_it_is_the_posterior_of_what_was_fitted(kind, post, each):
    assert post.problem.kind == KINDS[kind][1]
    assert len(post.imputations) == M
    assert post.levels == each[0].levels
    assert post.vary == each[0].vary
    assert post.draws == sum(one.draws for one in each)
    assert f"{M} imputations of" in repr(post)
    assert "missing information: tce" in repr(post)
    assert post._repr_html_()
    assert post.diagnostics["verdict"] == "ok"
    assert set(post.imputations[0].diagnostics) == set(post.diagnostics)


def test_combining_by_hand_is_the_same(post, each):
    assert bc.combine_imputations(each).summary().equals(post.summary())


@pytest.mark.slow
def test_it_is_stored(post, tmp_path):
    post.to_netcdf(tmp_path / "post.nc")
    again = bc.load(tmp_path / "post.nc")
    assert type(again) is type(post)
    assert again.summary().equals(post.summary())
    assert again.heterogeneity.equals(post.heterogeneity)
    assert again.data == post.data
    assert type(post)(again.tree).summary().equals(post.summary())


STORED = {"sites": "new", "known sites": "average", "factors": "all", "periods": "new"}


@pytest.mark.slow
def test_views_are_stored_and_drawn(kind, post, tmp_path):
    view = VIEWS[STORED[kind]](post)
    view.to_netcdf(tmp_path / "view.nc")
    again = bc.load(tmp_path / "view.nc")
    assert (type(again), again._title, again._one_of.is_new) == (
        type(view),
        view._title,
        view._one_of.is_new,
    )
    assert again.summary().equals(view.summary())
    assert again.prob_calibrated == view.prob_calibrated
    assert repr(again) == repr(view)
    assert bc.plots.reliability(view).get_xlabel()


def test_its_data_give_the_same_posterior(kind, post):
    if kind == "known sites":
        again = bc.fit(post.data, known=KNOWN, **OPTIONS)
    else:
        again = bc.fit(post.data, **OPTIONS)
    assert again.summary().equals(post.summary())


def test_scales_are_widened_to_rubins_variance(kind, post, each):
    if kind == "periods":
        pytest.skip("periods have no scales")
    logs = np.log(np.stack([one._free.scales[0, :, 0] for one in each]))
    total = logs.var(axis=1).mean() + (1 + 1 / M) * logs.mean(axis=1).var(ddof=1)
    assert np.log(_scales([fit.free for fit in post._fits])[:, 0, 0]).var() == pytest.approx(total)


@pytest.mark.slow
def test_a_next_site_with_scores_of_its_own(cases, tmp_path):
    y, scores = cases
    post = bc.fit(y, imputation=scores, site=SITE, **OPTIONS)
    view = post.new("site", [0.2, 0.4, 0.6])
    each = [one.new("site", [0.2, 0.4, 0.6]) for one in post.imputations]
    means = [float(one.functional("signed_error").mean()) for one in each]
    assert float(view.functional("signed_error").mean()) == pytest.approx(np.mean(means))
    assert not view.has_outcomes
    view.to_netcdf(tmp_path / "view.nc")
    assert bc.load(tmp_path / "view.nc").summary().equals(view.summary())


def test_explanations_of_periods_are_means(cases):
    y, scores = cases
    post = bc.fit(y, imputation=scores, period=MONTH, **OPTIONS)
    mean = sum(one.explanations for one in post.imputations) / M
    np.testing.assert_allclose(post.explanations, mean, rtol=1e-9)
    assert post.when_changed()["prob"].sum() <= 1
    gains = post.gain_of_updating()
    means = sum(one.gain_of_updating()["mean"] for one in post.imputations) / M
    np.testing.assert_allclose(gains["mean"], means)
    assert post.now()._title == post.at(period=3)._title == "3"
    below = [one.now().prob_below(0.03) for one in post.imputations]
    assert post.now().prob_below(0.03) == pytest.approx(np.mean(below), abs=0.03)
    assert 0.9 < (post.now().values_of("tce") > 0).mean() < 1  # exact calibration is among them


@pytest.mark.slow
def test_tables_of_sites_and_of_subgroups(cases):
    y, scores = cases
    sites = bc.fit(y, imputation=scores, site=SITE, **OPTIONS)
    each = [one.table() for one in sites.imputations]
    for column in ("observed_expected_raw", "calibration_slope_raw", "prob_differs", "cases"):
        mean = np.mean([one[column] for one in each], axis=0)
        np.testing.assert_allclose(sites.table()[column], mean)
    subgroups = bc.fit(y, imputation=scores, subgroup=FACTORS, **OPTIONS)
    raw = [one.table()["tce_raw"] for one in subgroups.imputations]
    np.testing.assert_allclose(subgroups.table()["tce_raw"], np.mean(raw, axis=0))


def test_new_cases_with_imputations_need_a_posterior_that_has_them(cases):
    y, scores = cases
    post = bc.fit(y, scores[0], **OPTIONS)
    with pytest.raises(InputError, match=r"post is of no imputations and the new cases have 3"):
        bc.update(post, y, imputation=scores)


def test_posteriors_of_several_curves_that_differ_are_refused(cases):
    y, scores = cases
    first = bc.fit(y, scores[0], site=SITE, **OPTIONS)
    others = {
        "levels": bc.fit(y, scores[1], site=np.resize(["A", "B", "X"], N), **OPTIONS),
        "the prior of scales": bc.fit(
            y, scores[1], site=SITE, vary=bc.by("site", prior={"shift": 0.5}), **OPTIONS
        ),
        "the family": bc.fit(y, scores[1], site=SITE, **OPTIONS | {"curve": "beta"}),
        r"\(chains, draws\)": bc.fit(y, scores[1], site=SITE, **OPTIONS | {"draws": 800}),
    }
    for word, other in others.items():
        with pytest.raises(InputError, match=rf"posts\[0\] has {word}.*posts\[1\]"):
            bc.combine_imputations([first, other])
    with pytest.raises(InputError, match="the curve"):
        bc.combine_imputations([first.at(site="A"), first.at(site="B")])
    both = bc.combine_imputations([first, first])
    with pytest.raises(InputError, match="cannot be combined again"):
        bc.combine_imputations([first, both])
