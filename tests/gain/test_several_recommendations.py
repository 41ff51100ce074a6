"""Which update to make by site: for all cases, for the average site, and for the next one."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.gain import SeveralRecommendations

FIXED = {"draws": 400, "random_state": 1}
SITES, EACH = 6, 250


@pytest.fixture(scope="module")
def cases():
    """Five sites have more events than predicted, and the last has fewer."""
    rng = np.random.default_rng(4)
    site = np.repeat([f"H{k}" for k in range(SITES)], EACH)
    x = rng.normal(-1, 1.2, site.size)
    shift = np.repeat([0.7, 0.8, 0.9, 0.7, 0.8, -0.7], EACH)
    return (rng.random(site.size) < expit(x + shift)).astype(int), expit(x), site


@pytest.fixture(scope="module")
def advice(cases):
    y, score, site = cases
    return bc.recommend(y, score, site=site, **FIXED)


def test_an_update_that_helps_most_sites_harms_one(advice):
    table = advice.by_curve()
    populations = ["All cases", "The average of 6 sites", "A new site"]
    assert list(table.index) == [*populations, *(f"H{k}" for k in range(SITES))]
    assert type(advice) is SeveralRecommendations
    assert advice.choice not in (None, "identity")
    assert advice.at(site="H5").choice == "identity"
    assert table["prob_better"]["H5"] < 0.05 < 0.95 < table["prob_better"]["H1"]
    assert table["gain"]["H5"] < 0 < table["gain"]["H1"]
    assert table["prob_better"]["A new site"] < table["prob_better"]["All cases"]
    length = table["upper"] - table["lower"]
    assert length["A new site"] > length["The average of 6 sites"] > length["All cases"]


def test_each_row_is_the_recommendation_of_that_curve(advice):
    table = advice.by_curve()
    for title, one in {
        "All cases": advice.at(),
        "The average of 6 sites": advice.average(),
        "A new site": advice.new(),
        "H2": advice.at(site="H2"),
    }.items():
        assert table["choice"][title] == one.choice
        assert table["prob_better"][title] == one.table["prob_better"][advice.choice]
        assert table["gain"][title] == one.table["brier_gain"][advice.choice]
    helps = f"{advice.new().table['prob_better'][advice.choice]:.2f} in a new site."
    assert str(advice).endswith(helps)
    assert repr(advice).startswith("SeveralRecommendations(")


def test_it_is_that_of_an_assessment(advice, cases):
    y, score, site = cases
    a = bc.assess(y, score, site=site, estimators=(), **FIXED)
    theirs = a.recommendation.table
    assert list(advice.table.index) == ["identity", "intercept", "logistic", "beta"]
    assert list(theirs.index) == ["identity", "intercept", "logistic"]  # its curves are logistic
    own = advice.table["brier_gain"].loc[theirs.index]
    np.testing.assert_allclose(own, theirs["brier_gain"], atol=1e-3)
    assert a.facts.prob_better_next == pytest.approx(
        advice.new().table["prob_better"]["intercept"], abs=0.08
    )


def test_thresholds_decide_and_a_table_is_taken(cases):
    y, score, site = cases
    data = bc.CalibrationData(y, score, site=site)
    advice = bc.recommend(data, thresholds=[0.3], **FIXED)
    row = advice.at(site="H5").table.loc[advice.asked]
    assert advice.by_curve()["gain"]["H5"] == row["net_benefit_gain"]
    assert "It raises the net benefit at 0.3" in str(advice)


def test_calibrated_sites_need_no_update():
    rng = np.random.default_rng(2)
    score = expit(rng.normal(-1, 1, 900))
    y = (rng.random(900) < score).astype(int)
    advice = bc.recommend(y, score, site=np.arange(900) % 5, **FIXED)
    assert advice.choice == "identity"
    assert (advice.by_curve()["choice"] == "identity").all()
    assert advice.by_curve().attrs["update"] == advice.asked != "identity"
    assert "in a new site" not in str(advice)


def test_what_cannot_be_is_refused(cases):
    y, score, site = cases
    with pytest.raises(InputError, match="vary was given without sites"):
        bc.recommend(y, score, vary="site", **FIXED)
    month = np.repeat(["2024-01", "2024-02"], y.size // 2)
    data = bc.CalibrationData(y, score, site=site, period=month)
    with pytest.raises(InputError, match="the table has site and period"):
        bc.recommend(data, **FIXED)
