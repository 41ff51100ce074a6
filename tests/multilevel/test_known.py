"""Sites known by their summaries: read, checked, fitted, and what they say of a curve."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm

import bayescal as bc
from bayescal.core.optimise import logistic_mle
from bayescal.errors import InputError
from bayescal.model.problem import prepare
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.known import KnownSite, as_known, scores_of_known
from bayescal.multilevel.problem import prepare_terms, scores_alone
from free import given_free
from integrated import grid_of, log_integral, standard_of

COUNTS = {"site": ["A", "B"], "observed": [4, 9], "expected": [5.0, 6.0], "n": [40, 50]}
RATIO = {"site": ["A"], "observed_expected": [1.2], "lower": [1.0], "upper": [1.44]}
SLOPE = {"site": ["A"], "calibration_slope": [0.8], "slope_lower": [0.6], "slope_upper": [1.0]}


def test_a_frame_and_a_mapping_are_the_same():
    frame = pd.DataFrame({**COUNTS, "author": ["x", "y"]})
    assert as_known(frame) == as_known(COUNTS) == as_known(frame.set_index("site"))
    assert as_known(as_known(COUNTS)) == as_known(COUNTS)
    assert as_known(None) == ()


def test_what_is_not_a_number_is_not_known():
    nothing = [np.nan, np.nan]
    more = {**COUNTS, "calibration_slope": nothing, "slope_lower": nothing, "slope_upper": nothing}
    assert as_known(more) == as_known(COUNTS)
    frame = pd.DataFrame({**COUNTS, "ci_prob": pd.array([None, None], "Float64")})
    assert as_known(frame.convert_dtypes()) == as_known(COUNTS)
    assert as_known({**COUNTS, "lower": [None, pd.NA]}) == as_known(COUNTS)


def test_a_ratio_is_read_on_the_logarithmic_scale():
    (site,) = as_known(RATIO)
    law = site.observed_expected
    assert law.is_log
    assert law.mean == pytest.approx(np.log(1.2))
    assert law.error == pytest.approx(np.log(1.44) / (2 * 1.959964), rel=1e-6)


@pytest.mark.parametrize(
    ("ends", "is_log"), [((0.6, 1.0), False), ((0.4, 1.6), True), ((-0.1, 1.7), False)]
)
def test_a_slope_is_read_on_the_scale_on_which_its_interval_is_even(ends, is_log):
    (site,) = as_known({**SLOPE, "slope_lower": [ends[0]], "slope_upper": [ends[1]]})
    assert site.calibration_slope.is_log == is_log


def test_other_levels_of_intervals():
    (wide,), (narrow,) = as_known(RATIO), as_known({**RATIO, "ci_prob": [0.9]})
    factor = narrow.observed_expected.error / wide.observed_expected.error
    assert factor == pytest.approx(1.959964 / 1.644854, rel=1e-6)


def test_a_description_is_read_back():
    for known in (COUNTS, RATIO, SLOPE):
        for site in as_known(known):
            assert KnownSite.from_dict(site.to_dict()) == site


def test_scores_have_the_mean_risk_of_the_site():
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    pooled = prepare(y, s, random_state=1)
    (site, _) = as_known(COUNTS)
    data = scores_of_known(pooled, site)
    assert data.trials @ data.score / data.n == pytest.approx(5 / 40)
    assert data.events == 0
    moved = logit(data.score) - logit(pooled.table.score)
    assert np.ptp(moved) < 1e-9
    (unmoved,) = as_known(RATIO)
    np.testing.assert_array_equal(scores_of_known(pooled, unmoved).score, pooled.data.score)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (3, "known must be a pandas DataFrame or a mapping"),
        ({"observed": [1]}, "known has no 'site'"),
        ({"site": ["A"], "events": [1]}, "known has none of the columns"),
        ({**COUNTS, "site": ["A", None]}, "label of row 1 of known is missing"),
        ({**COUNTS, "site": ["A", "A"]}, "two rows of the site 'A'"),
        ({**COUNTS, "site": ["A", "north"]}, "'north' of known is among the groups"),
        ({**COUNTS, "n": [40]}, r"known\['n'\] has 1 values for 2 sites"),
        ({**COUNTS, "n": ["many", "few"]}, r"known\['n'\]\[0\] is .*'many'"),
        ({**COUNTS, "n": [40, np.nan]}, "n of the site 'B' in known is missing"),
        ({**COUNTS, "n": [40, np.inf]}, "n of the site 'B' in known is infinite"),
        ({**COUNTS, "n": [40, 0]}, "at least one patient"),
        ({**COUNTS, "expected": [0, 6]}, "expected of the site 'A' in known is 0"),
        ({**COUNTS, "expected": [5, 60]}, "expected of the site 'B' in known is 60"),
        ({**COUNTS, "observed": [4, 51]}, "observed of the site 'B' in known is 51"),
        ({**COUNTS, "observed": [-1, 9]}, "observed of the site 'A' in known is -1"),
        (
            {**RATIO, "observed_expected": [np.nan]},
            "observed_expected of the site 'A'.* is missing",
        ),
        ({**RATIO, "lower": [1.3]}, "must ascend"),
        ({**RATIO, "lower": [1.5], "upper": [1.0]}, "must ascend"),
        ({**RATIO, "lower": [0.0]}, "a ratio is positive"),
        ({**RATIO, "ci_prob": [95]}, "ci_prob of the site 'A' in known is 95"),
        ({**SLOPE, "slope_upper": [np.nan]}, "slope_upper of the site 'A' in known is missing"),
        ({**RATIO, "observed": [4], "expected": [5], "n": [40]}, "say the same twice"),
        ({"site": ["A"], "expected": [5], "n": [40], "observed": [np.nan]}, "nothing is known"),
    ],
)
def test_errors_teach(known, message):
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    groups = np.resize(["north", "south"], 60)
    with pytest.raises(InputError, match=message):
        bc.fit(y, s, site=groups, known=known, curve="logistic")


def test_summaries_alone_need_scores():
    with pytest.raises(InputError, match="y_prob is None"):
        bc.fit(None, known=COUNTS)
    with pytest.raises(InputError, match="y_true is None"):
        bc.fit(None, [0.2, 0.3])
    with pytest.raises(InputError, match="site was given without outcomes"):
        bc.fit(None, [0.2, 0.3], site=["a", "b"], known=COUNTS)


def test_the_mean_score_of_a_site_is_that_of_the_scores_as_they_came_in():
    """Scores of 0 and 1, which a fit moves inside, count as 0 and 1 among expected events."""
    score = np.repeat([0.0, 0.4, 1.0], 100)
    data = bc.CalibrationData(np.resize([0, 1], 300), score, site=np.repeat(["B", "C", "D"], 100))
    problem = prepare_terms(data, prior="neutral", known=RATIO, curve="logistic", random_state=1)
    assert problem.pooled.edges.moved > 0
    assert problem.summaries["A"].mean_score == pytest.approx(score.mean(), abs=1e-9)


KNOWN = {
    "site": ["<b>", "far", "slope"],
    "observed": [30, np.nan, np.nan],
    "expected": [22.0, np.nan, np.nan],
    "n": [80, np.nan, np.nan],
    "observed_expected": [np.nan, 0.8, np.nan],
    "lower": [np.nan, 0.5, np.nan],
    "upper": [np.nan, 1.3, np.nan],
    "calibration_slope": [0.9, np.nan, 0.7],
    "slope_lower": [0.5, np.nan, 0.35],
    "slope_upper": [1.3, np.nan, 1.4],
}


@pytest.fixture(scope="module")
def post():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    groups = np.resize(["north", "south"], y.size)
    return bc.fit(y, s, site=groups, known=KNOWN, curve="logistic", random_state=1)


@pytest.fixture(scope="module")
def alone():
    scores = np.linspace(0.05, 0.6, 40)
    return bc.fit(None, scores, known=KNOWN, curve="logistic", random_state=1)


def test_they_stand_among_the_others(post):
    assert post.labels == ("<b>", "far", "north", "slope", "south")
    assert post.tce().sizes["site"] == 5
    assert "5 sites, 400 cases" in str(post)
    assert "3 sites known by their summaries" in str(post)
    table = post.table()
    assert table.loc["<b>", ["cases", "events"]].tolist() == [80, 30]
    assert table.loc["<b>", "observed_expected_raw"] == pytest.approx(30 / 22)
    assert table.loc["far", "observed_expected_raw"] == 0.8
    assert np.isnan(
        table.loc["far", ["cases", "events", "calibration_slope_raw"]].to_numpy(float)
    ).all()
    numbers = table[["tce", "tce_lower", "tce_upper", "prob_differs", "prob_worst"]]
    assert numbers.notna().all(axis=None)


def test_a_view_has_scores_and_no_outcomes(post):
    view = post.at(site="<b>")
    assert not view.has_outcomes
    assert view.data.n == 400
    assert view.data.score @ view.data.trials / 400 == pytest.approx(22 / 80)
    assert "400 scores, without outcomes" in str(view)
    assert post.at(site="north").has_outcomes
    assert post.average().has_outcomes
    assert post.average().data.n == 400
    with pytest.raises(InputError, match="needs outcomes"):
        bc.check_consistency(view)


def test_summaries_alone(alone):
    assert not alone.has_outcomes
    assert "3 sites known by their summaries, at 40 scores" in str(alone)
    for view in (alone.average(), alone.new(), alone.at(site="far")):
        assert not view.has_outcomes
        assert 0 <= view.interval("tce")[0] < view.interval("tce")[1] < 1
    given = alone.new(scores=[0.1, 0.2])
    assert given.data.n == 2


def test_summaries_alone_are_stored_and_read_back(alone, tmp_path):
    alone.to_netcdf(tmp_path / "sites.nc")
    again = bc.load(tmp_path / "sites.nc")
    assert again.problem.known == alone.problem.known
    np.testing.assert_array_equal(again.new().tce(), alone.new().tce())


@pytest.mark.parametrize("which", ["post", "alone"])
def test_they_are_drawn(which, request):
    post = request.getfixturevalue(which)
    (ax,) = bc.plots.forest(post)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert set(names) == {*post.labels, "Average site", "Next site"}
    assert np.isfinite([line.get_markersize() for line in ax.lines]).all()
    titles = [each.get_title(loc="left") for each in bc.plots.site_curves(post)]
    assert titles[:2] == ["<b> (80 cases, summary)", "far (summary)"]
    assert bc.plots.reliability(post.at(site="far")) is not None


SCORES = expit(norm.ppf((np.arange(32) + 0.5) / 32, -1.2, 1.1))
CENTRE = np.log(SCORES / (1 - SCORES)).mean()


def density_of(known, curve="logistic"):
    data = scores_alone(SCORES, known, {})
    vary = bc.by("site", robust=False)
    return EffectsDensity(
        prepare_terms(data, vary, prior="neutral", curve=curve, known=known, random_state=1)
    )


def mean_of_curves(grid, scores):
    """By hand, over every score."""
    x = np.log(scores / (1 - scores)) - CENTRE
    return np.array(
        [expit(CENTRE + shift + np.exp(log_slope) * x).mean() for shift, log_slope in grid]
    )


def moved(target):
    """The scores moved in log-odds to a mean, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        mean = expit(np.log(SCORES / (1 - SCORES)) + middle).mean()
        low, high = (middle, high) if mean < target else (low, middle)
    return expit(np.log(SCORES / (1 - SCORES)) + low)


def of_counts(grid, observed, expected, n):
    scores = moved(expected / n)
    m, s = mean_of_curves(grid, scores), scores.mean()
    factor = s * (1 - s) / np.mean(scores * (1 - scores))
    return factor * (observed * np.log(m) + (n - observed) * np.log1p(-m))


def of_ratio(grid, ratio, lower, upper):
    at = np.log(mean_of_curves(grid, SCORES) / SCORES.mean())
    error = np.log(upper / lower) / (2 * norm.ppf(0.975))
    return -(((at - np.log(ratio)) / error) ** 2) / 2


def of_slope(grid, slope, lower, upper):
    return -(((np.exp(grid[:, 1]) - slope) / ((upper - lower) / (2 * norm.ppf(0.975)))) ** 2) / 2


def of_log_slope(grid, slope, lower, upper):
    error = np.log(upper / lower) / (2 * norm.ppf(0.975))
    return -(((grid[:, 1] - np.log(slope)) / error) ** 2) / 2


COUNTED = ("observed", "expected", "n")
RATIO_OF_ROW = ("observed_expected", "lower", "upper")
SLOPE_OF_ROW = ("calibration_slope", "slope_lower", "slope_upper")
CASES = {
    "counts": [(COUNTED, (40, 25.0, 100), of_counts)],
    "no event": [(COUNTED, (0, 8.0, 60), of_counts)],
    "many": [(COUNTED, (900, 400.0, 2000), of_counts)],
    "ratio": [(RATIO_OF_ROW, (1.5, 1.2, 1.9), of_ratio)],
    "slope": [(SLOPE_OF_ROW, (0.8, 0.5, 1.1), of_slope)],
    "log slope": [(SLOPE_OF_ROW, (0.8, 0.4, 1.6), of_log_slope)],
    "counts and slope": [
        (COUNTED, (40, 25.0, 100), of_counts),
        (SLOPE_OF_ROW, (0.8, 0.5, 1.1), of_slope),
    ],
}


@pytest.mark.parametrize("population", [(0.1, -0.1, 0.3, 0.15, 0.4), (0.3, 0.0, 0.5, 0.4, -0.6)])
@pytest.mark.parametrize("case", CASES)
def test_curves_of_known_sites_are_integrated_out(case, population):
    row = {"site": ["A"]}
    for names, values, _ in CASES[case]:
        row |= {name: [value] for name, value in zip(names, values, strict=True)}
    density = density_of(row)
    mean, scales, correlation = population[:2], population[2:4], population[4]
    grid, prior = grid_of(mean, scales, correlation)
    expected = logsumexp(prior + sum(of(grid, *values) for _, values, of in CASES[case]))
    point = np.array([standard_of(density.problem, scales, correlation)])
    got = log_integral(density, point, np.array([mean]))
    assert got == pytest.approx(expected, abs=0.015)


@pytest.fixture(scope="module")
def impact(shared_data):
    return pd.read_csv(shared_data / "data/clinical/impact_tbi_iecv.csv")


def summary_of(cases):
    """What a paper would print of one site."""
    y, s = cases["outcome"].to_numpy(), cases["score"].to_numpy()
    (_, slope), covariance = logistic_mle(s, np.ones(s.size), y)[:2]
    error = norm.ppf(0.975) * np.sqrt(covariance[1, 1])
    return {
        "observed": y.sum(),
        "expected": s.sum(),
        "n": y.size,
        "calibration_slope": slope,
        "slope_lower": slope - error,
        "slope_upper": slope + error,
    }


@pytest.mark.slow
def test_summaries_of_five_studies_stand_in_for_their_patients(impact):
    """The population and the studies hardly move; the tolerances are some Monte Carlo errors.

    Over four seeds O/E of a study moved by up to .0065, before and after the engine changed.
    """
    options = {
        "curve": "logistic",
        "vary": bc.by("site", prior={"shift": 0.5, "log_slope": 0.5}),
        "random_state": 1,
    }
    full = bc.fit(impact["outcome"], impact["score"], site=impact["study"], **options)
    first = sorted(impact["study"].unique())[:5]
    known = pd.DataFrame({name: summary_of(impact[impact["study"] == name]) for name in first}).T
    rest = impact[~impact["study"].isin(first)]
    part = bc.fit(rest["outcome"], rest["score"], site=rest["study"], known=known, **options)
    assert part.labels == full.labels
    assert part.prob_calibrated == pytest.approx(full.prob_calibrated, abs=0.006)
    full, part = given_free(full), given_free(part)
    for name in ("shift", "log_slope"):
        one, other = full.heterogeneity.loc[name], part.heterogeneity.loc[name]
        np.testing.assert_allclose(one, other, atol=0.02, err_msg=name)
    for one, other in (
        (full.new(), part.new()),
        (full.average(), part.average()),
    ):
        for name, atol in (
            ("tce", 0.008),
            ("observed_expected", 0.06),
            ("calibration_slope", 0.05),
        ):
            np.testing.assert_allclose(one.interval(name), other.interval(name), atol=atol)
            assert one.estimate(name) == pytest.approx(other.estimate(name), abs=atol / 2)
    for name, atol in (("tce", 0.003), ("observed_expected", 0.009), ("calibration_slope", 0.03)):
        np.testing.assert_allclose(
            part.table().loc[first, name], full.table().loc[first, name], atol=atol
        )
    np.testing.assert_allclose(
        part.table().loc[first, "observed_expected_raw"],
        full.table().loc[first, "observed_expected_raw"],
        rtol=1e-9,
    )


def published(shared_data):
    """Validations of EuroSCORE II, and scores of patients like theirs."""
    table = pd.read_csv(shared_data / "oracles/published/euroscore2_validations.csv")
    table.index = [f"{row} {name}" for row, name in enumerate(table["Study"])]
    named = table.rename(columns={"n.events": "observed", "e.events": "expected"})
    scores = expit(norm.ppf((np.arange(500) + 0.5) / 500, -3.7, 0.9))
    return named[["observed", "expected", "n"]], scores


@pytest.mark.slow
def test_published_validations_agree_with_a_random_effects_meta_analysis(shared_data):
    """By REML of log O/E: 1.108, tau .444, Hartung-Knapp .900-1.363, prediction .430-2.856."""
    known, scores = published(shared_data)
    options = {"vary": bc.by("site", robust=False), "curve": "intercept", "random_state": 1}
    post = given_free(bc.fit(None, scores, known=known, **options))
    assert post.heterogeneity.loc["shift", "median"] == pytest.approx(0.444, abs=0.03)
    average, new = (
        np.quantile(view.functional("observed_expected"), [0.5, 0.025, 0.975])
        for view in (post.average(), post.new())
    )
    np.testing.assert_allclose(average, (1.108, 0.900, 1.363), rtol=0.05)
    np.testing.assert_allclose(new, (1.108, 0.430, 2.856), rtol=0.12)
    ratio = known["observed"] / known["expected"]
    half = norm.ppf(0.975) * np.sqrt(1 / known["observed"] - 1 / known["n"])
    intervals = pd.DataFrame(
        {
            "observed_expected": ratio,
            "lower": ratio * np.exp(-half),
            "upper": ratio * np.exp(half),
            "expected": known["expected"],
            "n": known["n"],
        }
    )
    again = given_free(bc.fit(None, scores, known=intervals, **options))
    got = again.average().interval("observed_expected")
    np.testing.assert_allclose(got, average[1:], rtol=0.04)


@pytest.mark.slow
def test_both_engines_agree_on_known_sites():
    rng = np.random.default_rng(3)
    x = rng.normal(-1, 1.1, 150)
    site = np.repeat(["a", "b", "c"], 50)
    y = (rng.random(150) < expit(x + 0.2)).astype(int)
    known = {
        "site": ["d", "e", "f"],
        "observed": [30, np.nan, np.nan],
        "expected": [22.0, np.nan, 14.0],
        "n": [80, np.nan, 60],
        "observed_expected": [np.nan, np.nan, 0.8],
        "lower": [np.nan, np.nan, 0.5],
        "upper": [np.nan, np.nan, 1.3],
        "calibration_slope": [0.9, 0.7, np.nan],
        "slope_lower": [0.5, 0.35, np.nan],
        "slope_upper": [1.3, 1.4, np.nan],
    }
    data, vary = bc.CalibrationData(y, expit(x), site=site), bc.by("site", robust=False)
    options = {"vary": vary, "known": known, "curve": "logistic", "random_state": 1}
    fast = given_free(bc.fit(data, draws=16_000, **options))
    slow = bc.fit(data, draws=4000, engine="nuts", sampler={"target_accept": 0.98}, **options)
    assert slow.diagnostics["r_hat"] < 1.03
    one, other = (each.tree["posterior"].to_dataset() for each in (fast, slow))
    for name in one.data_vars:
        mean, sd = other[name].mean(("chain", "draw")), other[name].std(("chain", "draw"))
        shift = (one[name].mean(("chain", "draw")) - mean) / sd
        assert float(np.abs(shift).max()) < 0.12, name
        ratio = one[name].std(("chain", "draw")) / sd
        assert 0.88 < float(ratio.min()) <= float(ratio.max()) < 1.12, name


def test_the_model_for_pymc_has_a_term_for_each_known_site():
    known = {"site": ["A", "B"], "observed": [4, 9], "expected": [5.0, 6.0], "n": [40, 50]}
    model = bc.build_model(None, SCORES, known=known, curve="logistic")
    assert model.coords["site"] == ("A", "B")
    assert {term.name for term in model.potentials} == {"known_A", "known_B", "robust"}
    assert "y" not in model.named_vars


@pytest.mark.slow
def test_patients_and_summaries_are_updated():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    known = {"site": ["z"], "observed": [12], "expected": [9.5], "n": [40]}
    site = np.resize(["a", "b"], 60)
    options = {"known": known, "curve": "logistic", "random_state": 1}
    post = bc.fit(y[:60], s[:60], site=site, **options)
    both = bc.update(post, y[60:], s[60:], site=site)
    again = bc.fit(y, s, site=np.tile(site, 2), **options)
    np.testing.assert_array_equal(both.tce(), again.tce())
    alone = bc.fit(None, s, **options)
    first = bc.update(alone, y, s, site=np.tile(site, 2))
    np.testing.assert_array_equal(first.tce(), again.tce())
    with pytest.raises(InputError, match="'z' of known is among the groups"):
        bc.update(post, y[60:], s[60:], site=np.resize(["a", "z"], 60))


def test_one_site_is_told_as_one():
    site = np.repeat(["A", "B"], 20)
    options = {"curve": "intercept", "draws": 100, "random_state": 1}
    post = bc.fit([0, 1] * 20, [0.3, 0.6] * 20, site=site, known=RATIO | {"site": ["K"]}, **options)
    assert "; 1 site known by" in str(post)
    alone = bc.fit(None, [0.3, 0.6], known=RATIO, engine="importance", **options)
    assert str(alone.average()).startswith("The average of 1 site\n")
