"""Patients of several groups, each with the curve of their own group."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError

SITES, EACH = 6, 150
RNG = np.random.default_rng(3)
X = RNG.normal(-1.2, 1.1, SITES * EACH)
SITE = np.repeat(np.arange(SITES), EACH)
RISK = expit(X + 0.6 * np.where(SITE % 2, 1, -1))
Y = (RNG.random(X.size) < RISK).astype(int)
OPTIONS = {"vary": "site", "curve": "logistic", "draws": 1000, "random_state": 1}
LINEAR = ("signed_error", "observed_expected", "calibration_in_the_large", "calibration_slope")


def fitted(**roles):
    return bc.fit(bc.CalibrationData(Y, expit(X), site=SITE, **roles), **OPTIONS)


@pytest.fixture(scope="module")
def post():
    return fitted()


def ends(view, name):
    return np.array([view.estimate(name), *view.interval(name)])


def test_its_distances_are_of_patients_and_those_of_the_pooled_curve_are_less(post):
    own, pooled = post.own(), post.at()
    true = np.abs(RISK - expit(X)).mean()
    lower, upper = own.interval("tce")
    assert lower < true < upper
    assert pooled.interval("tce")[1] < lower
    assert own.estimate("e50") < own.estimate("tce") < own.estimate("e90")


@pytest.mark.parametrize("name", LINEAR)
def test_what_is_linear_in_the_risk_is_that_of_the_pooled_curve(post, name):
    np.testing.assert_allclose(ends(post.own(), name), ends(post.at(), name), atol=0.02)


def test_no_draw_contradicts_itself(post):
    own = post.own()
    assert (np.abs(own.values_of("signed_error")) <= own.values_of("tce") + 1e-12).all()


def test_over_the_sample_it_is_the_mean_of_the_sites(post):
    each = [post.at(site=label).values_of("tce", "sample") for label in post.labels]
    np.testing.assert_allclose(post.own().values_of("tce", "sample"), np.mean(each, axis=0))


def test_sampling_weights_say_how_much_a_site_counts():
    weight = np.where(SITE == 0, 5.0, 1.0)
    post = fitted(sample_weight=weight, weight_type="sampling")
    each = np.stack([post.at(site=label).values_of("tce", "sample") for label in post.labels])
    share = np.bincount(SITE, weight) / weight.sum()
    np.testing.assert_allclose(post.own().values_of("tce", "sample"), share @ each)
    np.testing.assert_allclose(
        ends(post.own(), "observed_expected"), ends(post.at(), "observed_expected"), atol=0.02
    )


def test_clusters_are_drawn_whole():
    twice = np.arange(X.size) // 2
    post, single = fitted(cluster=twice), fitted(cluster=np.arange(X.size))
    rows = post.own().tables[0].problem
    law = rows.weights(post.problem.data)
    weight = law.weights(slice(0, 4000), np.random.default_rng(1))
    np.testing.assert_allclose(weight.sum(axis=1), 1)
    np.testing.assert_allclose(weight.mean(axis=0), rows.trials / rows.n, atol=2e-4)
    np.testing.assert_array_equal(single.own().values_of("tce"), fitted().own().values_of("tce"))


def test_cells_and_periods_have_it_and_files_keep_it(tmp_path):
    factors = {"sex": SITE % 2, "age": SITE // 2}
    vary = {"vary": ["sex", "age", bc.by("sex", "age")]}
    cells = bc.fit(bc.CalibrationData(Y, expit(X), subgroup=factors), **OPTIONS | vary)
    months = bc.fit(Y, expit(X), period=SITE, curve="logistic", draws=1000, random_state=1)
    for several in (cells, months):
        assert several.own().estimate("tce") > several.at().estimate("tce") + 0.02
    own = cells.own()
    own.to_netcdf(tmp_path / "own.nc")
    np.testing.assert_array_equal(
        bc.load(tmp_path / "own.nc").values_of("tce"), own.values_of("tce")
    )


def test_their_performance_is_that_of_their_own_groups(post):
    own = post.own().performance([0.2], population="sample")
    each = [post.at(site=label).performance([0.2], population="sample") for label in post.labels]
    for name in ("events", "brier", "log_score", "accuracy", "net_benefit"):
        mean = np.mean([one[name].to_numpy() for one in each], axis=0)
        np.testing.assert_allclose(own[name].to_numpy(), mean, atol=1e-12)


def test_equal_scores_of_several_groups_are_ties():
    data = bc.CalibrationData(Y, expit(X).round(1), site=SITE)
    own = bc.fit(data, **OPTIONS).own()
    rows, risk = own.tables[0].problem, own.tables[0].observed[0]
    event, other = rows.trials * risk, rows.trials * (1 - risk)
    above = np.sign(rows.score[:, None] - rows.score) / 2 + 0.5
    expected = event @ above @ other / (event.sum() * other.sum())
    told = own.performance(population="sample")["c_statistic"].to_numpy().ravel()[0]
    assert np.unique(rows.score).size < rows.score.size
    assert told == pytest.approx(expected)


def test_more_patients_are_worth_up_to_what_perfect_information_is(post):
    worth = post.own().value_of_information([0.2], n_more=[100, 100_000])
    few, many = worth["evsi"].to_numpy()[0]
    assert 0 <= few < many <= worth["evpi"].item()
    few, many = worth["evsi_of_recalibrating"].to_numpy()[0]
    assert 0 < few < many <= worth["evpi_of_recalibrating"].item()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda own: own.on([0.1, 0.2]), "these patients have one for each group"),
        (lambda own: own.tce(population="beta"), "these patients have one for each group"),
        (lambda own: own.values_of("emax"), "grows with their number"),
        (lambda own: own.values_of("cutoff_error"), "patients of one score"),
    ],
)
def test_what_needs_one_curve_is_refused(post, ask, message):
    with pytest.raises(InputError, match=message):
        ask(post.own())


def test_sites_known_by_summaries_alone_have_no_patients():
    known = {"site": list("KLM"), "observed": [9, 8, 7], "expected": [9.0] * 3, "n": [50] * 3}
    post = bc.fit(None, [0.1, 0.2, 0.3], known=known, curve="intercept", random_state=1)
    with pytest.raises(InputError, match=r"own\(\) is of patients"):
        post.own()


def test_patients_of_one_hospital_have_the_curve_of_their_own_month(tmp_path):
    month, data = np.arange(SITE.size) % 2, {"site": SITE // 3, "period": np.arange(SITE.size) % 2}
    cases = bc.CalibrationData(Y, expit(X), **data)
    post = bc.fit(cases, **OPTIONS | {"vary": ["site", bc.walk("period")]})
    share = np.array([np.sum((SITE // 3 == 0) & (month == each)) for each in (0, 1)]) / 450
    cells = [post.at(site=0, period=each).values_of("tce", "sample") for each in (0, 1)]
    own = post.own(site=0)
    np.testing.assert_allclose(own.values_of("tce", "sample"), share @ np.stack(cells))
    assert own.data.n == 450
    assert str(own).startswith("The patients of 0, with their own curves")
    both = post.own({"site": 0, "period": 1})
    np.testing.assert_array_equal(both.values_of("tce"), post.at(site=0, period=1).values_of("tce"))
    own.to_netcdf(tmp_path / "own.nc")
    again = bc.load(tmp_path / "own.nc")
    np.testing.assert_array_equal(again.values_of("tce"), own.values_of("tce"))
    with pytest.raises(InputError, match="level of site must be one of"):
        post.own(site="X")
