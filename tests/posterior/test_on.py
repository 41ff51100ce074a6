"""A posterior seen on another population of scores: the same draws, averaged over other scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

DRAWS = 400
NAMES = ("tce", "ici", "e50", "e90", "emax", "observed_expected", "calibration_slope")


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)


@pytest.fixture(scope="module")
def new(cases):
    return expit(logit(cases[1]) + 0.7)


@pytest.fixture(scope="module")
def average(cases):
    return bc.fit(*cases, draws=DRAWS, random_state=1)


@pytest.fixture(scope="module")
def sites(cases):
    groups = np.repeat(list("ABCDE"), 60)
    return bc.fit(*cases, site=groups, curve="logistic", draws=DRAWS, random_state=1)


@pytest.fixture(scope="module")
def imputed(cases):
    y, s = cases
    return bc.fit(y, imputation=[s, 0.95 * s, s**1.05], draws=DRAWS, random_state=1)


@pytest.fixture(scope="module")
def few(cases):
    y, s = cases
    return bc.fit(y, np.clip(s.round(1), 0.1, 0.9), draws=DRAWS, random_state=1)


POSTERIORS = ("average", "imputed", "few", "a site", "the average site", "a new site")


def posterior(request, kind):
    if kind in ("average", "imputed", "few"):
        return request.getfixturevalue(kind)
    sites = request.getfixturevalue("sites")
    return {
        "a site": lambda: sites.at(site="B"),
        "the average site": sites.average,
        "a new site": lambda: sites.new("site"),
    }[kind]()


@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_on_the_scores_it_was_fitted_to_nothing_changes(average, cases, population):
    same = average.on(cases[1])
    for name in NAMES:
        assert np.array_equal(same.values_of(name, population), average.values_of(name, population))
    assert same.outside == 0


def test_a_functional_is_that_of_the_curve_at_the_new_scores(cases, new):
    post = bc.fit(*cases, curve="logistic", draws=DRAWS, random_state=1)
    few = new[:100]
    g = post.curve(few).to_numpy().reshape(DRAWS, -1)
    seen = post.on(few)
    error = np.abs(g - few).mean(axis=1)
    np.testing.assert_allclose(seen.values_of("tce", "sample"), error, rtol=1e-10)
    ratio = g.mean(axis=1) / few.mean()
    np.testing.assert_allclose(seen.values_of("observed_expected", "sample"), ratio, rtol=1e-10)
    assert abs(ratio.mean() - post.values_of("observed_expected", "sample").mean()) > 0.02


@pytest.mark.parametrize("kind", POSTERIORS)
def test_curves_and_predictions_stay_and_scores_may_be_the_population(request, kind, new):
    post = posterior(request, kind)
    seen = post.on(new)
    assert type(seen) is type(post)
    at = np.array([0.1, 0.35, 0.6])
    assert np.array_equal(seen.curve(at), post.curve(at))
    assert np.array_equal(seen.predict(at), post.predict(at))
    assert np.array_equal(seen.curve()["score"], np.unique(new))
    for name in NAMES:
        assert np.array_equal(post.values_of(name, new), seen.values_of(name))
        assert not np.array_equal(seen.values_of(name), post.values_of(name))
    assert post.interval("e90", population=new) == seen.interval("e90")
    assert post.estimate("tce", population=new) == seen.estimate("tce")
    assert 1 - post.prob_below(0.05, population=new) == 1 - seen.prob_below(0.05)
    assert post.summary(population=new).equals(seen.summary())
    benefit, other = post.net_benefit([0.3], new), seen.net_benefit([0.3])
    assert np.array_equal(benefit["model"], other["model"])


def test_what_belongs_to_a_view_stays_with_it(sites, new):
    site = sites.new("site")
    assert site.on(new)._one_of.is_new
    assert np.array_equal(site.on(new).tce(), sites.new("site", scores=new).tce())
    average = sites.average()
    assert average.on(new)._title == average._title
    assert average.on(new).prob_calibrated == average.prob_calibrated
    assert sites.tce(population=new).dims == ("chain", "draw", "site")
    a = sites.at(site="A").on(new)
    assert np.array_equal(sites.tce(population=new).sel(site="A"), a.tce())


@pytest.mark.slow
@pytest.mark.parametrize("kind", POSTERIORS)
def test_it_is_saved_and_read_back(request, kind, new, tmp_path):
    seen = posterior(request, kind).on(new)
    seen.to_netcdf(tmp_path / "seen.nc")
    read = bc.load(tmp_path / "seen.nc")
    assert type(read) is type(seen)
    assert np.array_equal(read.values_of("tce"), seen.values_of("tce"))
    assert not read.has_outcomes
    assert read.outside == seen.outside


def test_seen_twice_is_seen_on_the_last(average, cases, new):
    again = average.on(new).on(cases[1])
    assert np.array_equal(again.values_of("tce"), average.values_of("tce"))


def test_the_prior_is_that_of_the_fit(average, cases):
    prior = average.on(cases[1]).functional("observed_expected", group="prior")
    assert np.array_equal(prior, average.functional("observed_expected", group="prior"))


def test_weights_and_tables_are_taken(average, cases, new):
    twice = average.on(np.append(new, new))
    counted = average.on(new, sample_weight=np.full(new.size, 2))
    table = average.on(bc.CalibrationData(1 - cases[0], new, sample_weight=np.full(new.size, 2)))
    expected = twice.values_of("tce", "sample")
    assert np.array_equal(counted.values_of("tce", "sample"), expected)
    assert np.array_equal(table.values_of("tce", "sample"), expected)
    grouped = bc.CalibrationData(cases[0], new, site=np.repeat(["A", "B"], 150))
    for scores in (grouped, grouped.without_outcomes(), pd.Series(new)):
        assert np.array_equal(average.on(scores).tce(), average.on(new).tce())


def test_it_has_no_outcomes(average, new):
    seen = average.on(new)
    assert not seen.has_outcomes
    assert not seen.data.has_outcomes
    with pytest.raises(InputError, match="needs outcomes"):
        bc.update(seen, [0, 1], [0.2, 0.6])
    with pytest.raises(InputError, match="scores alone"):
        seen.value_of_information([0.3], method="cells")
    assert (seen.value_of_information([0.3])["evpi"] >= 0).all()
    assert "observed_data" in seen.tree.children  # that of the fit
    assert seen.tree["on"].sizes["row"] == np.unique(new).size


def test_the_share_outside_the_range_fitted_is_told(cases):
    y, s = cases
    inside = (s > 0.2) & (s < 0.6)
    post = bc.fit(y[inside], s[inside], curve="logistic", draws=DRAWS, random_state=1)
    lower, upper = s[inside].min(), s[inside].max()
    seen = post.on(s)
    assert seen.outside == pytest.approx(np.mean((s < lower) | (s > upper)))
    told = f"{100 * seen.outside:.2g} % of them outside {lower:.3g} to {upper:.3g}"
    assert told in repr(seen)
    assert "outside" not in repr(post)


@pytest.mark.parametrize(
    ("scores", "weight", "told"),
    [
        ([0.2, 1.5], None, "scores"),
        ([0.2, np.nan], None, "scores"),
        ([], None, "scores"),
        ("high", None, "scores"),
        ([0.2, 0.4], [1, -1], "sample_weight"),
        ([0.2, 0.4], [1], "sample_weight"),
    ],
)
def test_bad_scores_are_refused(average, scores, weight, told):
    with pytest.raises((InputError, TypeError), match=told):
        average.on(scores, weight)


def test_a_bad_population_is_refused(average):
    for population in ("normal", None, 3, {"a": 1}, [2.0]):
        with pytest.raises((InputError, TypeError)):
            average.tce(population=population)


def test_tables_of_imputations_and_weights_beside_tables_are_refused(average, cases):
    y, s = cases
    table = bc.CalibrationData.from_imputations(
        [bc.CalibrationData(y, s), bc.CalibrationData(y, s**1.1)]
    )
    with pytest.raises(InputError, match="imputations"):
        average.on(table)
    with pytest.raises(InputError, match="sample_weight"):
        average.on(bc.CalibrationData(y, s), np.ones(300))


def test_a_summary_by_labels_is_that_of_the_scores_of_each(average):
    scores = np.linspace(0.1, 0.9, 40)
    sex = np.resize(["M", "F", "F"], 40)
    table = average.summary(population=scores, by=sex, names=["tce", "observed_expected"])
    assert table.index.names == ["group", "functional"]
    for label in ("F", "M"):
        alone = average.summary(population=scores[sex == label], names=["tce", "observed_expected"])
        np.testing.assert_array_equal(table.loc[label], alone)
    for by, population, told in [
        (sex, "bootstrap", "Pass the score of each case with its label"),
        (sex[:3], scores, "by has 3 labels, and population 40 scores"),
        (np.where(sex == "F", None, "M"), scores, "missing labels"),
        (pd.Series(sex), pd.Series(scores)[::-1], "population and by|by and population"),
    ]:
        with pytest.raises(InputError, match=told):
            average.summary(population=population, by=by)


def test_a_page_of_scores_alone_says_so(average, new, sites):
    told = str(average.on(new).page())
    assert told.startswith("300 scores, without outcomes, ")
    assert "True calibration error (TCE)" in told
    rarer = str(average.at_prevalence(0.1).page()).splitlines()[0]
    assert "without outcomes; at a prevalence of 0.1" in rarer
    assert str(sites.new().page()).startswith("300 scores, without outcomes")
