"""Fits of sites, ordered periods and factors together."""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import prepare_terms

SITES, PERIODS, EACH = 6, 4, 50
MONTHS = ("2024-01", "2024-02", "2024-04", "2024-05")
OPTIONS = {"curve": "logistic", "draws": 400, "random_state": 1}
BOTH = ["site", bc.walk("period")]


def cases(seed=3):
    """The curve moves up by .3 from month to month; sites and sexes differ, too."""
    rng = np.random.default_rng(seed)
    site, month = (each.ravel() for each in np.indices((SITES, PERIODS, EACH))[:2])
    sex = rng.integers(0, 2, site.size)
    x = rng.normal(-0.8, 1, site.size)
    shift = np.linspace(-0.6, 0.6, SITES)[site] + 0.3 * month + 0.3 * sex
    y = (rng.random(x.size) < expit(x + shift)).astype(int)
    return y, expit(x), np.array(list("ABCDEF"))[site], np.array(MONTHS)[month], sex


def table(which=slice(None), *, as_factor=False, **more):
    y, score, site, month, sex = (each[which] for each in cases())
    roles = {"subgroup": {"month": month}} if as_factor else {"period": month}
    if more.pop("sex", False):
        roles["subgroup"] = {"sex": sex}
    return bc.CalibrationData(y, score, site=site, **roles, **more)


@cache
def both():
    return bc.fit(table(), vary=BOTH, **OPTIONS)


def ratio(view):
    return float(view.functional("observed_expected").mean())


def test_sites_and_periods_have_a_curve_each():
    post = both()
    assert type(post) is MultilevelPosterior
    assert post.levels == {"site": tuple("ABCDEF"), "period": MONTHS}
    assert post.vary == (bc.by("site"), bc.walk("period"))
    assert "site (6), period (4): 24 cells" in str(post)
    assert "TCE of the new site" in str(post)
    by_site = post.summary(by="site", names=["observed_expected"])["estimate"]
    by_month = post.summary(by="period", names=["observed_expected"])["estimate"]
    assert by_site.iloc[-1] > by_site.iloc[0] + 0.2
    assert by_month.is_monotonic_increasing
    one = post.at(site="A", period="2024-04")
    assert one.data.n == EACH
    raw = one.data.events / (one.data.score @ one.data.trials)
    assert ratio(one) == pytest.approx(raw, abs=0.25)
    assert post.heterogeneity.index.get_level_values("term").unique().tolist() == ["site", "period"]
    assert post.diagnostics["verdict"] == "ok"


def test_now_is_the_last_period_of_all_sites():
    post = both()
    assert post.now()._title == "2024-05"
    assert post.now().data.n == SITES * EACH
    assert ratio(post.now()) > ratio(post.at(period="2024-01")) + 0.15


def test_the_average_and_a_new_site_are_those_of_now():
    post = both()
    assert post.average()._title == "The average of 6 sites, in 2024-05"
    average, new = post.average(), post.new("site")
    at = {name: float(view.curve([0.3]).mean()) for name, view in (("a", average), ("n", new))}
    last = float(post.now().curve([0.3]).mean())
    assert at["a"] == pytest.approx(last, abs=0.03)
    assert at["n"] == pytest.approx(last, abs=0.05)
    assert float(new.curve([0.3]).std()) > 1.3 * float(average.curve([0.3]).std())


def test_the_next_period_is_a_step_on():
    post = both()
    following = post.new("period")
    assert following._title == "The next period"
    assert following.data.n == SITES * EACH
    assert float(following.curve([0.3]).std()) > float(post.average().curve([0.3]).std())
    step = (post._drawn.following - post._drawn.average)[:, 0] / post._drawn.scales[1][:, 0]
    assert step.std() == pytest.approx(np.sqrt(np.median([1, 2, 1]) / 4), abs=0.05)


def test_a_factor_that_tells_the_time_is_a_walk_by_its_own_name():
    post = bc.fit(table(as_factor=True), vary=["site", bc.walk("month")], **OPTIONS)
    assert post.levels["month"] == MONTHS
    mine, other = (
        each.summary(by="site", names=["observed_expected"])["mean"] for each in (post, both())
    )
    np.testing.assert_allclose(mine, other, atol=0.02)
    assert post.problem.walk.elapsed == both().problem.walk.elapsed == (0.25, 0.5, 0.25)
    assert post.at(site="A", month="2024-04")._title == "A, month 2024-04"
    with pytest.raises(InputError, match="site holds 'A'"):
        bc.fit(table(), vary=bc.walk("site"), **OPTIONS)


def test_an_update_has_the_roles_of_its_table():
    y, score, _, month, _ = cases()
    with pytest.raises(InputError, match="and give site, as its table has them"):
        bc.update(both(), y, score, period=month)


def test_three_terms_and_sites_with_a_factor():
    data = table(sex=True)
    all_three = bc.fit(data, vary=["site", bc.by("sex"), bc.walk("period")], **OPTIONS)
    assert all_three.at(site="A", sex="1").data.n > 50
    two = bc.fit(data, vary=["site", bc.by("sex")], **OPTIONS)
    assert two.problem.kind == "subgroups"
    for post in (all_three, two):
        apart = ratio(post.at(sex="1")) - ratio(post.at(sex="0"))
        assert 0.02 < apart < 0.4
        assert float(post.new("site").curve([0.3]).std()) > float(post.average().curve([0.3]).std())


def test_sampling_weights_are_taken_beside_sites():
    weights = np.resize([0.5, 1.5, 1.0], SITES * PERIODS * EACH)
    data = table(sample_weight=weights, weight_type="sampling")
    post = bc.fit(data, vary=BOTH, **OPTIONS)
    mine, unweighted = (
        each.heterogeneity.loc[("site", "shift"), "median"] for each in (post, both())
    )
    assert mine == pytest.approx(unweighted, rel=0.4)
    assert float(post.average().curve([0.3]).std()) > 0


@pytest.mark.parametrize(
    ("vary", "options", "message"),
    [
        (["site", bc.by("period")], {}, r"periods have an order: name them as bc.walk"),
        ([bc.walk("period"), bc.walk("site")], {}, "cases have one order in time"),
        (BOTH, {"known": {"site": ["K"]}}, "known was given with several subgroups"),
    ],
)
def test_what_cannot_stand_together_is_refused(vary, options, message):
    with pytest.raises(InputError, match=message):
        bc.fit(table(), vary=vary, **OPTIONS, **options)


def test_without_periods_none_is_now():
    y, score, site, *_ = cases()
    post = bc.fit(y, score, site=site, **OPTIONS)
    with pytest.raises(InputError, match=r"now\(\) is the last period, .* of site alone"):
        post.now()


def test_patients_without_a_label_are_one_site_beside_known_ones():
    y, score = (each[:300] for each in cases()[:2])
    known = {"site": ["K", "L"], "observed": [30, 20], "expected": [22.0, 25.0], "n": [80, 90]}
    post = bc.fit(y, score, known=known, **OPTIONS)
    named = bc.fit(y, score, site=["this site"] * 300, known=known, **OPTIONS)
    assert post.labels == ("K", "L", "this site")
    np.testing.assert_array_equal(post.new().tce(), named.new().tce())
    first = bc.fit(y[:100], score[:100], known=known, **OPTIONS)
    np.testing.assert_array_equal(bc.update(first, y[100:], score[100:]).tce(), post.tce())


def test_more_groups_are_taken_than_sites_alone():
    site, month = (each.ravel() for each in np.indices((205, 10)))
    score = np.linspace(0.1, 0.9, site.size)
    data = bc.CalibrationData(site % 2, score, site=site, period=month)
    assert len(prepare_terms(data, BOTH, prior="neutral", curve="logistic").labels) == 2050
