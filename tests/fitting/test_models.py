"""Models compared on the same patients of several sites."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.fitting import ModelComparison
from free import given_free

FIXED = {"draws": 400, "random_state": 1}
SITES, EACH = 6, 200
SHIFT = 0.4 + np.linspace(-0.4, 0.4, SITES)


def scores_of(x, rng):
    """The old model knows the risk but for its level; the new one has noise, and is right on it."""
    noisy = x + 0.5 * rng.standard_normal(x.size)
    return expit(x), expit(0.35 + 0.85 * noisy)


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(6)
    site = np.repeat([f"H{k}" for k in range(SITES)], EACH)
    x = rng.normal(-0.8, 1.1, site.size)
    y = (rng.random(site.size) < expit(x + np.repeat(SHIFT, EACH))).astype(int)
    return y, *scores_of(x, rng), site


@pytest.fixture(scope="module")
def comparison(cases):
    y, old, new, site = cases
    return bc.compare_models(y, {"old": old, "new": new}, site=site, **FIXED)


def test_a_model_differs_from_itself_by_exactly_nothing(cases):
    y, old, _, site = cases
    same = bc.compare_models(y, {"old": old, "again": old}, site=site, **FIXED)
    for of in (same.at(), same.at("H2"), same.average(), same.new()):
        table = of.summary(measures=["tce", "observed_expected", "c_statistic"])
        assert (table[["difference", "lower", "upper", "prob_better"]] == 0).all(axis=None)


def test_each_model_keeps_its_own_posterior(comparison, cases):
    """Its distances are those of the fit, anything else is given that nothing is exact."""
    y, old, new, site = cases
    for name, score in {"old": old, "new": new}.items():
        alone = bc.fit(y, score, site=site, **FIXED)
        for measure, post in {"tce": alone, "observed_expected": given_free(alone)}.items():
            pairs = {
                post.at(): comparison.at(),
                post.at(site="H1"): comparison.at("H1"),
                post.average(): comparison.average(),
                post.new(): comparison.new(),
            }
            for view, of in pairs.items():
                ours = np.sort(of.draws(measure)[name])
                np.testing.assert_allclose(ours, np.sort(view.values_of(measure)), rtol=1e-12)


def test_true_differences_are_inside(comparison):
    """Over 40 000 patients whose risk is known, at every site and for all of them."""
    rng = np.random.default_rng(8)
    x = rng.normal(-0.8, 1.1, 40_000)
    old, new = scores_of(x, rng)

    def true(measure, shift):
        risk = expit(x + shift)
        if measure == "observed_expected":
            return risk.mean() / new.mean() - risk.mean() / old.mean()
        return np.mean((risk - new) ** 2 - (risk - old) ** 2)

    for measure in ("observed_expected", "brier"):
        table = comparison.table(measure, ci_prob=0.99)
        sites = [true(measure, shift) for shift in SHIFT]
        inside = table["lower"].iloc[3:].to_numpy() <= sites
        inside &= sites <= table["upper"].iloc[3:].to_numpy()
        assert inside.sum() >= SITES - 1
        row = table.loc["All cases"]
        assert row["lower"] < np.mean(sites) < row["upper"]
    assert comparison.average().summary().loc[("observed_expected", "new"), "prob_better"] > 0.8


def test_at_one_site_it_is_the_paired_bootstrap(cases):
    """Of one site with many patients, the standard deviations of both differences are alike."""
    y, old, new, _ = cases
    both, alone = {"old": old, "new": new}, ["A"] * y.size
    pair = bc.compare_models(y, both, site=alone, draws=2000, random_state=1)
    gain = bc.recalibration_gain(y, old, new, route="paired", draws=2000, random_state=2)
    for measure in ("brier", "log_score"):
        drawn = pair.at().draws(measure)
        difference = drawn["new"] - drawn["old"]
        theirs = -gain.draws[measure].to_numpy().ravel()
        assert difference.mean() == pytest.approx(theirs.mean(), abs=0.4 * theirs.std())
        assert difference.std() == pytest.approx(theirs.std(), rel=0.3)
        independent = np.hypot(drawn["new"].std(), drawn["old"].std())
        assert difference.std() < 0.5 * independent


def test_populations_and_sites_have_rows(comparison):
    assert type(comparison) is ModelComparison
    table = comparison.table("tce")
    populations = ["All cases", "The average of 6 sites", "A new site"]
    assert list(table.index) == [*populations, *(f"H{k}" for k in range(SITES))]
    drawn = comparison.new().draws("tce")
    lower, upper = np.quantile(drawn["new"] - drawn["old"], [0.025, 0.975])
    row = table.loc["A new site"]
    np.testing.assert_allclose(row[["lower", "upper"]].astype(float), [lower, upper])
    assert row["prob_better"] == np.mean(drawn["new"] < drawn["old"])
    summary = comparison.new().summary()
    assert ("c_statistic", "new") in summary.index
    worse = summary.loc[("c_statistic", "new")]
    assert (worse["difference"] < 0) == (worse["prob_better"] < 0.5)
    assert "A new site, new " in repr(comparison)
    assert "c_statistic, new " in repr(comparison.at("H3"))


def test_three_models_are_compared_with_the_first(cases):
    y, old, new, site = cases
    some = slice(0, 600)
    models = {"old": old[some], "new": new[some], "mean": (old[some] + new[some]) / 2}
    three = bc.compare_models(y[some], models, site=site[some], **FIXED)
    table = three.table("brier")
    assert list(table.loc["H0"].index) == ["new", "mean"]
    assert table.index.names == ["population", "model"]
    assert "A new site" not in table.index.get_level_values(0)


def test_counts_within_clusters_are_repeated_rows():
    rng = np.random.default_rng(1)
    score, patient = rng.uniform(0.2, 0.7, 300), np.arange(300) // 3
    y, other = (rng.random(300) < score + 0.1).astype(int), score**1.2
    count = 1 + patient % 3
    row = np.repeat(np.arange(300), count)
    told = bc.compare_models(
        y, {"a": score, "b": other}, cluster=patient, sample_weight=count, **FIXED
    )
    often = bc.compare_models(
        y[row], {"a": score[row], "b": other[row]}, cluster=patient[row], **FIXED
    )
    for name in ("tce", "observed_expected"):
        for model in "ab":
            one, other = (pair.draws(name)[model] for pair in (told, often))
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.slow
def test_cases_told_several_times_differ_as_they_do_once(cases):
    y, old, new, site = cases
    some = slice(0, 600)
    often = [np.repeat(values[some], 4) for values in (y, old, new, site)]
    patient = np.repeat(np.arange(600), 4)
    lengths = []
    for values, more in ((often, {"cluster": patient}), ([v[some] for v in cases], {})):
        pair = bc.compare_models(
            values[0], {"old": values[1], "new": values[2]}, site=values[3], **more, **FIXED
        )
        drawn = pair.at().draws("brier")
        lengths.append(np.std(drawn["new"] - drawn["old"]))
    assert lengths[0] == pytest.approx(lengths[1], rel=0.3)
    counted = bc.compare_models(
        y[some],
        {"old": old[some], "new": new[some]},
        site=site[some],
        sample_weight=np.full(600, 4.0),
        weight_type="counts",
        **FIXED,
    )
    drawn = counted.at().draws("brier")
    assert np.std(drawn["new"] - drawn["old"]) < 0.7 * lengths[1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"models": {"old": [0.5] * 1200}}, "predictions of 1 model"),
        ({"models": [0.5] * 1200}, "models must be the predictions of each model by its name"),
        ({"models": {1: [0.5] * 1200, 2: [0.5] * 1200}}, "by its name"),
        ({"site": {"a": [0] * 1200, "b": [1] * 1200}}, "site is a table of columns"),
        ({"site": ["A", "B"]}, "site has 2"),
        ({"sample_weight": [0.5] * 1200}, "sampling weights, and compare_models"),
        ({"sample_weight": [2] * 1200, "weight_type": "sampling"}, "it takes counts"),
        ({"horizon": [1, 2], "models": {"a": [[0.5] * 2] * 1200}}, "horizon is 2 times here"),
        ({"period": [1] * 1200}, "period cannot be given .* takes site, cluster, horizon, and"),
        ({"cluster": ["A", "B"]}, "cluster has 2"),
        ({"models": {"old": [0.5] * 1200, "new": [0.5]}}, r"models\['new'\] has 1"),
        ({"models": {"old": [0.5] * 1200, "new": [1.5] * 1200}}, r"models\['new'\]"),
    ],
)
def test_what_cannot_be_is_refused(cases, change, match):
    y, old, new, site = cases
    given = {"models": {"old": old, "new": new}, "site": site} | change
    with pytest.raises(InputError, match=match):
        bc.compare_models(y, **given, **FIXED)


def test_a_measure_or_site_that_is_not_there_is_refused(comparison):
    with pytest.raises(InputError, match="measure"):
        comparison.table("ece")
    with pytest.raises(InputError, match="site"):
        comparison.at("nowhere")


def test_labels_of_cases_that_differ_are_refused(cases):
    y, old, new, site = cases
    outcome = pd.Series(y, index=[f"case {k}" for k in range(y.size)])
    models = {"old": old, "new": pd.Series(new, index=outcome.index[::-1])}
    with pytest.raises(InputError, match="models"):
        bc.compare_models(outcome, models, site=site, **FIXED)


@pytest.mark.parametrize("sites", [False, True])
def test_models_that_put_the_cases_in_one_order_have_one_c_statistic(sites):
    y, a = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=4)
    options = {"site": np.arange(200) % 2} if sites else {}
    models = {"a": a, "half": a / 2, "other": np.roll(a, 1)}
    cmp = bc.compare_models(y, models, draws=200, random_state=1, **options)
    rows = (cmp.at() if sites else cmp).summary().loc["c_statistic"]
    assert rows.loc["half", ["difference", "lower", "upper"]].tolist() == [0, 0, 0]
    assert rows.loc["half", "prob_better"] == 0
    assert rows.loc["other", "difference"] < -0.05


def test_two_patients_of_twelve_do_not_tell_models_apart():
    outcome, old = np.repeat([0, 1], 6), np.full(12, 0.5)
    new = old.copy()
    new[[0, 11]] = 0.1, 0.9
    compared = bc.compare_models(outcome, {"old": old, "new": new}, draws=1000, random_state=0)
    better = compared.summary(measures=["brier", "log_score", "c_statistic"])["prob_better"]
    assert (better < 0.97).all()
    assert (better > 0.8).all()
