"""Hierarchical fits: against published numbers, and what must not change them."""

import csv

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.priors import Normal, Prior
from bayescal.multilevel.problem import prepare_terms
from free import given_free

VAGUE = Prior(shift=Normal(0, 3), log_slope=Normal(0, 1.5))
SCALES = {"shift": 0.5, "log_slope": 0.5, "correlation": 1.0}
"""The prior of the independent sampler whose medians and intervals are the reference."""


def simulated(sites=6, n=120, sd=0.3, seed=1, mean=-1.0):
    rng = np.random.default_rng(seed)
    label = np.repeat([f"site {k}" for k in range(sites)], n)
    x = rng.normal(mean, 1.2, label.size)
    shift = np.repeat(sd * rng.standard_normal(sites), n)
    y = (rng.random(label.size) < expit(x + shift)).astype(int)
    return y, expit(x), label


@pytest.fixture(scope="module")
def impact(shared_data):
    with (shared_data / "data/clinical/impact_tbi_iecv.csv").open() as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row["outcome"]) for row in rows])
    s = np.array([float(row["score"]) for row in rows])
    return y, s, np.array([row["study"] for row in rows])


@pytest.fixture(scope="module")
def studies(impact):
    y, s, study = impact
    return bc.fit(
        bc.CalibrationData(y, s, site=study),
        vary=bc.by("site", robust=False, prior=SCALES),  # as the independent sampler
        curve="logistic",
        prior=VAGUE,
        draws=16_000,
        random_state=3,
    )


def quantiles(values):
    return np.quantile(values, [0.5, 0.025, 0.975])


def test_fifteen_studies_agree_with_an_independent_sampler(studies):
    """Medians and 95 % intervals of the studies of traumatic brain injury."""
    studies = given_free(studies)
    table = studies.heterogeneity
    for name, expected in {
        "shift": (0.317, 0.209, 0.512),
        "log_slope": (0.167, 0.095, 0.289),
        "correlation": (0.41, -0.22, 0.84),
    }.items():
        got = table.loc[name, ["median", "lower", "upper"]]
        np.testing.assert_allclose(got, expected, atol=0.025, err_msg=name)
    posterior = studies.tree["posterior"].to_dataset()
    assert logit(studies.problem.pooled.frame.centre) == pytest.approx(-1.3603, abs=1e-4)
    got = quantiles(posterior["shift"])
    np.testing.assert_allclose(got, (0.012, -0.171, 0.195), atol=0.015)
    got = quantiles(np.exp(posterior["log_slope"]))
    np.testing.assert_allclose(got, (0.971, 0.876, 1.079), atol=0.015)


def test_a_sixteenth_study_agrees_with_an_independent_sampler(studies):
    studies = given_free(studies)
    new = studies.new()
    got = quantiles(new.tce(population="sample"))
    np.testing.assert_allclose(got, (0.041, 0.007, 0.126), atol=0.006)
    assert new.prob_below(0.05, population="sample") == pytest.approx(0.62, abs=0.02)
    assert new.estimate("tce") == pytest.approx(0.046, abs=0.003)  # the mean of the draws
    got = quantiles(new.functional("observed_expected", population="sample"))
    np.testing.assert_allclose(got, (1.005, 0.628, 1.441), atol=0.04)
    got = quantiles(new.functional("calibration_slope", population="sample"))
    np.testing.assert_allclose(got, (0.966, 0.671, 1.414), atol=0.04)
    np.testing.assert_allclose(quantiles(new.curve([0.5]))[1:], (0.293, 0.740), atol=0.03)
    average = studies.average()
    np.testing.assert_allclose(quantiles(average.curve([0.5]))[1:], (0.434, 0.560), atol=0.01)
    score, cases = studies.data.score, studies.data.trials
    drawn = np.asarray(average.curve(score)).reshape(-1, score.size)
    of_curves = np.abs(drawn - score) @ cases / cases.sum()  # exact calibration left out
    np.testing.assert_allclose(quantiles(of_curves), (0.011, 0.002, 0.034), atol=0.003)


def test_it_is_near_a_mixed_model(studies, shared_data):
    """Intercepts and slopes of lme4, whose variances are fixed at their estimates."""
    with (shared_data / "oracles/sites/impact_glmm_sites.csv").open() as file:
        rows = {row["site"]: row for row in csv.DictReader(file)}
    posterior = studies.tree["posterior"].to_dataset().mean(("chain", "draw"))
    for label, row in rows.items():
        site = posterior.sel(site=label)
        assert np.exp(float(site["site_log_slope"])) == pytest.approx(float(row["lc"]), abs=0.25)


def test_equal_seeds_give_equal_draws_whatever_the_order_of_cases():
    y, s, site = simulated()
    order = np.random.default_rng(2).permutation(y.size)
    one = bc.fit(y, s, site=site, random_state=5).tree["posterior"]
    other = bc.fit(y[order], s[order], site=site[order], random_state=5).tree["posterior"]
    for name in one.data_vars:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-12)


def test_weights_are_repeats():
    y, s, site = simulated(n=40)
    counts = np.random.default_rng(3).integers(1, 4, y.size)
    one = bc.fit(y, s, site=site, sample_weight=counts, weight_type="counts", random_state=5)
    repeated = [np.repeat(each, counts) for each in (y, s, site)]
    other = bc.fit(*repeated[:2], site=repeated[2], random_state=5)
    np.testing.assert_allclose(one.tce(), other.tce(), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_other_labels_turn_shifts_round():
    """Relabelling (1 - y, 1 - s) mirrors the curves, up to Monte Carlo error."""
    y, s, site = simulated(sd=0.5)
    one = bc.fit(y, s, site=site, curve="logistic", draws=16_000, random_state=1)
    other = bc.fit(1 - y, 1 - s, site=site, curve="logistic", draws=16_000, random_state=2)
    a = one.tree["posterior"]["site_shift"].mean(("chain", "draw")).to_numpy()
    b = other.tree["posterior"]["site_shift"].mean(("chain", "draw")).to_numpy()
    np.testing.assert_allclose(a, -b, atol=0.02)
    spread, mirrored = one.heterogeneity, other.heterogeneity
    for name in ("shift", "log_slope"):
        np.testing.assert_allclose(spread.loc[name], mirrored.loc[name], atol=0.03)
    assert spread.loc["correlation", "mean"] == pytest.approx(
        -mirrored.loc["correlation", "mean"], abs=0.03
    )


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_hard_sites_have_an_answer(curve):
    """One patient, no event, events alone, one score."""
    y, s, site = simulated(sites=4, n=50)
    y = np.concatenate([y, [1], np.zeros(8, int), np.ones(3, int), [0, 1, 0]])
    s = np.concatenate([s, [0.4], np.linspace(0.05, 0.6, 8), [0.2, 0.3, 0.9], [0.3, 0.3, 0.3]])
    more = np.repeat(["single", "no event", "events", "one score"], [1, 8, 3, 3])
    post = bc.fit(y, s, site=np.concatenate([site, more]), curve=curve, random_state=1)
    assert post.diagnostics["verdict"] == "ok"
    table = post.table()
    assert table.loc["single", "cases"] == 1
    assert np.isnan(table.loc["no event", "calibration_slope_raw"])
    assert table[["tce", "tce_lower", "tce_upper", "prob_differs"]].notna().all(axis=None)
    assert ((table["tce_lower"] <= table["tce"]) & (table["tce"] <= table["tce_upper"])).all()


def test_one_site_is_fitted_and_its_spread_is_the_prior():
    y, s, site = simulated(sites=1, n=300)
    post = bc.fit(y, s, site=site, curve="logistic", random_state=1)
    alone = bc.fit(y, s, curve="logistic", prior="clinical", random_state=1)
    median = post.heterogeneity.loc["shift", "median"]
    assert median == pytest.approx(0.765 * 0.18, abs=0.03)  # of a half-t law with 3 degrees
    assert post.at(site="site 0").estimate("tce") == pytest.approx(alone.estimate("tce"), abs=0.015)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "spline"}, "cannot be fitted to several sites"),
        ({"site": ["a", None] * 360}, "site"),
    ],
)
def test_errors_teach(options, message):
    y, s, site = simulated()
    with pytest.raises(InputError, match=message):
        bc.fit(y, s, **{"site": site, **options})


@pytest.mark.parametrize("term", [bc.by, bc.walk])
@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (3, "prior of a term must be"),
        ({"scale": 1}, "the keys of prior must be one of"),
        ({"shift": -1}, "shift of the heterogeneity prior"),
    ],
)
def test_a_spread_that_is_none_is_refused(term, prior, message):
    with pytest.raises(InputError, match=message):
        term("site", prior=prior)


def test_a_spread_without_sites_is_refused():
    y, s, _ = simulated()
    with pytest.raises(InputError, match="no site, period or subgroup"):
        bc.fit(y, s, vary=bc.by("site", prior={"shift": 1}))
    with pytest.raises(InputError, match="no site, period or subgroup"):
        prepare_terms(bc.CalibrationData(y, s), prior="neutral")


def test_the_model_for_pymc_has_the_same_variables():
    y, s, site = simulated(sites=3, n=20)
    model = bc.build_model(y, s, site=site, curve="beta")
    assert model.coords["site"] == ("site 0", "site 1", "site 2")
    names = {variable.name for variable in model.free_RVs}
    assert {"shift", "log_slope", "asymmetry", "sd_shift", "sd_log_slope"} <= names


def test_sites_known_by_their_counts_alone(shared_data):
    """Published validations of EuroSCORE II: O/E 1.108, tau .444, and its two intervals (REML)."""
    with (shared_data / "oracles/published/euroscore2_validations.csv").open() as file:
        rows = list(csv.DictReader(file))
    n = np.array([int(row["n"]) for row in rows])
    events = [int(row["n.events"]) for row in rows]
    expected = np.array([float(row["e.events"]) for row in rows])
    labels = [f"{index} {row['Study']}" for index, row in enumerate(rows)]
    data = bc.CalibrationData.from_counts(expected / n, n, events, site=labels)
    post = bc.fit(
        data,
        vary=bc.by("site", robust=False, prior={"shift": 0.5}),  # as a random-effects meta-analysis
        curve="intercept",
        random_state=1,
    )
    assert post.heterogeneity.loc["shift", "median"] == pytest.approx(0.444, abs=0.04)
    average, new = (
        quantiles(view.functional("observed_expected"))
        for view in (given_free(post).average(), given_free(post).new())
    )
    np.testing.assert_allclose(average, (1.108, 0.900, 1.363), rtol=0.05)
    np.testing.assert_allclose(new, (1.108, 0.430, 2.856), rtol=0.12)


def test_counts_by_group_are_cases_by_group():
    y, s, site = simulated(sites=3, n=30)
    s = s.round(1)
    data = bc.CalibrationData(y, s, site=site)
    counts = bc.CalibrationData.from_counts(s, np.ones(y.size), y, site=site)
    assert counts == data
    with pytest.raises(InputError, match="site"):
        bc.CalibrationData.from_counts(s, np.ones(y.size), y, site=site[:5])
    with pytest.raises(InputError, match=r"hits\[2\]"):
        bc.CalibrationData.from_counts([0.1, 0.2, 0.3], [1, 1, 1], [0, 0, 2], site=["a", "b", "b"])


def test_more_cases_and_sites_are_added():
    y, s, site = simulated(sites=4, n=60)
    first = site != "site 3"
    post = bc.fit(y[first], s[first], site=site[first], curve="logistic", random_state=1)
    both = bc.update(post, y[~first], s[~first], site=site[~first])
    again = bc.fit(y, s, site=site, curve="logistic", random_state=1)
    assert both.labels == again.labels
    np.testing.assert_array_equal(both.tce(), again.tce())
    with pytest.raises(InputError, match="site"):
        bc.update(post, y[~first], s[~first])
