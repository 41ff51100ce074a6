"""The gain of a recalibration by site: of each, of all, of the average and of the next one."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.gain.routes import Posterior, in_shares

SITES, EACH, CENTRE = 6, 250, -1.3
FIXED = {"draws": 2000, "random_state": 1}


def true_curve(score, shift):
    return expit(CENTRE + shift + 0.6 * (logit(score) - CENTRE))


def better(score):
    """The map that calibrates the average site."""
    return true_curve(score, 0.3)


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(4)
    site = np.repeat(np.array([f"H{k}" for k in range(SITES)]), EACH)
    score = expit(rng.normal(CENTRE, 1.2, site.size))
    shift = np.repeat(0.3 + np.linspace(-0.4, 0.4, SITES), EACH)
    y = (rng.random(site.size) < true_curve(score, shift)).astype(int)
    return y, score, site, shift


@pytest.fixture(scope="module")
def gains(cases):
    y, score, site, _ = cases
    return bc.recalibration_gain(y, score, better, site=site, thresholds=[0.2], **FIXED)


def test_gains_of_sites_are_those_of_their_true_curves(gains, cases):
    """Brier gain by the known risk of each patient, of the site and of all sites."""
    _, score, site, shift = cases
    risk = true_curve(score, shift)
    gain = (risk - score) ** 2 - (risk - better(score)) ** 2
    for label in gains.before.labels:
        lower, upper = gains.at(site=label).interval("brier", 0.99)
        assert lower < gain[site == label].mean() < upper
    lower, upper = gains.interval("brier", 0.99)
    assert lower < gain.mean() < upper
    assert 0 < gains.at(site="H0").interval()[1] - gains.at(site="H0").interval()[0] < 0.02


def test_the_table_has_populations_and_sites(gains):
    table = gains.table("net_benefit@0.2", ci_prob=0.9)
    populations = ["All cases", "The average of 6 sites", "A new site"]
    assert list(table.index) == [*populations, *gains.before.labels]
    assert table["cases"].isna().sum() == 2
    assert table["cases"]["H3"] == EACH
    assert table["estimate"]["H3"] == gains.at(site="H3").summary()["estimate"]["net_benefit@0.2"]
    assert table.attrs["ci_prob"] == 0.9
    length = table["upper"] - table["lower"]
    assert length["A new site"] > length["The average of 6 sites"] > length["All cases"]
    assert (table["lower"] < table["estimate"]).all()


def test_equal_predictions_gain_exactly_nothing(cases):
    y, score, site, _ = cases
    same = bc.recalibration_gain(y, score, score, site=site, thresholds=[0.2], **FIXED)
    for measure in ("tce", "brier", "log_score", "net_benefit@0.2"):
        table = same.table(measure)
        assert (table[["estimate", "lower", "upper", "prob_improved"]] == 0).all(axis=None)
    assert "Brier score, A new site: unchanged" in repr(same)


def test_a_map_of_each_site_gains_in_the_sites_and_in_all_patients(cases):
    y, score, site, shift = cases
    own = true_curve(score, shift)
    each = bc.recalibration_gain(y, score, own, site=site, **FIXED)
    assert list(each.table().index) == ["All cases", *each.before.labels]
    for measure in ("brier", "tce"):
        table = each.table(measure)
        assert table["estimate"]["All cases"] == pytest.approx(
            table["estimate"].iloc[1:].mean(), abs=1e-3
        )
    for ask in (each.average, each.new):
        with pytest.raises(InputError, match="another map of before in each group"):
            ask()


def test_periods_and_factors_have_gains_too(cases):
    y, score, *_ = cases
    some = slice(0, 600)
    month = np.repeat(["2024-01", "2024-02", "2024-03"], 200)
    data = bc.CalibrationData(y[some], score[some], period=month)
    by_month = bc.recalibration_gain(data, after=better, **FIXED)
    assert list(by_month.table().index)[:3] == ["All cases", "2024-03", "The next period"]
    last, following = by_month.at(period="2024-03"), by_month.new()
    assert following.n == last.n == 200
    brier = [gain.summary().loc["brier", "estimate"] for gain in (last, following)]
    assert brier[1] == pytest.approx(brier[0], abs=0.01)
    sex, age = np.arange(600) % 2, np.arange(600) // 2 % 2
    factors = {"sex": sex, "age": age}
    by_factor = bc.recalibration_gain(y[some], score[some], better, subgroup=factors, **FIXED)
    assert by_factor.at(sex="1", age="0").n == 150
    assert np.isfinite(by_factor.table()["estimate"]).all()


def test_whole_clusters_widen_the_gain(cases):
    y, score, site, _ = cases
    often = [np.repeat(values[:600], 4) for values in (y, score, site)]
    cluster = np.repeat(np.arange(600), 4)
    wide = bc.recalibration_gain(
        often[0], often[1], better, site=often[2], cluster=cluster, **FIXED
    )
    narrow = bc.recalibration_gain(often[0], often[1], better, site=often[2], **FIXED)
    length = [np.diff(gain.interval("brier"))[0] for gain in (wide, narrow)]
    assert length[0] > 1.4 * length[1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"after": np.random.default_rng(0).random(1500)}, "after is no map of before"),
        ({"route": "paired"}, "route='paired' weighs the cases of one group"),
        ({"site": None, "vary": "site"}, "vary was given without sites"),
        ({"site": ["A"]}, "site has 1"),
    ],
)
def test_what_cannot_be_is_refused(cases, change, match):
    y, score, site, _ = cases
    given = {"after": better, "site": site} | change
    with pytest.raises(InputError, match=match):
        bc.recalibration_gain(y, score, **given, **FIXED)


def test_imputations_and_a_second_source_of_groups_are_refused(cases):
    y, score, site, _ = cases
    with pytest.raises(InputError, match="imputations and groups"):
        bc.recalibration_gain(y, after=better, imputation=[score, score], site=site)
    data = bc.CalibrationData(y, score, site=site)
    with pytest.raises(InputError, match="site was given beside a CalibrationData"):
        bc.recalibration_gain(data, after=better, site=site)


def test_where_predictions_after_are_exact_the_curve_is_the_map():
    """A map by .1 everywhere then lowers the Brier score by .01, whoever the patients are."""
    rng = np.random.default_rng(1)
    score = np.tile(np.linspace(0.2, 0.7, 200), 4)
    y, site = (rng.random(800) < score + 0.1).astype(int), np.repeat(list("abcd"), 200)
    gains = bc.recalibration_gain(y, score, score + 0.1, site=site, **FIXED)
    for one in (gains.average(), gains.at(site="b"), gains.new("site")):
        drawn = one.draws["brier"].to_numpy()
        share = np.isclose(drawn, 0.01, rtol=0, atol=1e-9).mean()
        assert share > 0.02
        assert share == pytest.approx(one.prob_calibrated["after"], abs=0.01)


def test_groups_share_a_gain_by_their_cases():
    """The share of 90 of 120 cases has a beta law, of mean 3/4 and variance 3/16/121."""
    parts = [Posterior({"brier": np.full(20_000, gain)}) for gain in (0.0, 1.0)]
    drawn = in_shares(parts, np.array([30.0, 90.0]), np.random.default_rng(0)).draws["brier"]
    assert drawn.mean() == pytest.approx(0.75, abs=0.001)
    assert drawn.var() == pytest.approx(3 / 16 / 121, rel=0.05)


def test_a_table_of_sites_takes_one_prediction_for_each_of_its_rows():
    rng = np.random.default_rng(2)
    score = rng.choice([0.1, 0.2, 0.4, 0.7], 400)
    y, site = rng.random(400) < score, np.repeat(["A", "B"], [150, 250])
    table = bc.CalibrationData(y, score, site=site)
    options = {"draws": 400, "random_state": 1}
    rows = bc.recalibration_gain(table, after=0.05 + 0.8 * table.score, **options)
    cases = bc.recalibration_gain(y, score, 0.05 + 0.8 * score, site=site, **options)
    by_map = bc.recalibration_gain(table, after=lambda s: 0.05 + 0.8 * s, **options)
    for other in (cases, by_map):
        np.testing.assert_allclose(rows.table(), other.table(), rtol=1e-9)
