"""Exact calibration of several curves: its probability, and the draws that know it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
import bayescal.multilevel.curves as module
from bayescal.core.errors import DiagnosticWarning
from bayescal.multilevel.changes import draw_terms
from bayescal.multilevel.curves import Curves, explained, identity_log_likelihood
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import NARROW_SCALES, prepare_terms
from bayescal.multilevel.sample import draw_effects, draw_if_likely
from bayescal.posterior.intervals import equal_tailed
from integrated import log_integral


def simulated(seed, sites=6, n=100, sd=0.0, shift=0.0):
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(sites), n)
    x = rng.normal(-1.2, 1.1, label.size)
    own = np.repeat(sd * rng.standard_normal(sites), n)
    return (rng.random(label.size) < expit(x + shift + own)).astype(int), expit(x), label


def fitted(seed, curve="logistic", draws=400, **options):
    y, s, label = simulated(seed, **options)
    return bc.fit(y, s, site=label, curve=curve, draws=draws, random_state=seed)


@pytest.fixture(scope="module")
def calibrated():
    return fitted(1, draws=2000)


@pytest.fixture(scope="module")
def impact(shared_data):
    table = pd.read_csv(shared_data / "data/clinical/impact_tbi_iecv.csv")
    data = bc.CalibrationData(table["outcome"], table["score"], site=table["study"])
    vary = bc.by("site", robust=False)  # as the independent sampler
    return bc.fit(data, vary=vary, curve="logistic", random_state=1)


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_the_likelihood_of_exact_calibration_is_that_of_sites_that_are_alike(curve):
    """The density of a calibrated population tends to it as the spread tends to none."""
    y, s, label = simulated(1)
    known = {"site": ["A", "B"], "observed": [4, 9], "expected": [5, 6], "n": [40, 50]} | {
        name: [np.nan, value]
        for name, value in zip(
            ("calibration_slope", "slope_lower", "slope_upper"), (0.9, 0.6, 1.2), strict=True
        )
    }
    data = bc.CalibrationData(y, s, site=label)
    options = {"curve": curve, "known": known, "random_state": 1}
    problem = prepare_terms(data, bc.by("site", robust=False), prior="neutral", **options)
    density, r = EffectsDensity(problem), len(problem.varying)
    point = np.zeros((1, density.size))
    point[0, :r] = -9  # the least scale
    got = log_integral(density, point, np.zeros((1, r)), repeats=100_000)
    assert got == pytest.approx(identity_log_likelihood(problem), abs=0.01)


@pytest.mark.parametrize(("sd", "shift"), [(0.0, 0.0), (0.4, 0.1), (0.4, -0.3)])
def test_probabilities_are_those_of_a_fit_for_each_scale_of_the_priors(sd, shift):
    post = fitted(3, sites=10, sd=sd, shift=shift, draws=8000)
    problem, pinned = post.problem, module._with_exact_average(post.problem)
    modest = replace(problem.pooled, prior=module.modest_scale(problem.pooled.prior))
    averages = [problem, replace(problem, pooled=modest, against=problem)]

    def evidence(of, factor):
        (term,) = of.terms
        scaled = replace(term, prior=term.prior.scaled(factor))
        return draw_effects(replace(of, terms=(scaled,)), 8000).stats["log_evidence"]

    scales = (1.0, NARROW_SCALES)
    logs = [identity_log_likelihood(problem), *(evidence(pinned, scale) for scale in scales)]
    logs += [evidence(of, scale) for of in averages for scale in scales]
    prior = [0.01, *[0.11 / 2] * 2, *[0.88 / 4] * 4]
    weight = np.array(prior) * np.exp(np.array(logs) - max(logs))
    every, average = post.prob_calibrated.values()
    assert average == pytest.approx(weight[:3].sum() / weight.sum(), abs=0.03)
    assert every == pytest.approx(weight[0] / weight.sum(), abs=0.03)


def test_scales_of_several_terms_are_narrow_together():
    """Draws by two scales are those of a fit for each, in proportion to their evidence."""
    y, s, _ = simulated(5, sites=4, n=120)
    factors = {"sex": np.resize(["F", "M"], y.size), "age": np.repeat(["a", "b", "c"], y.size // 3)}
    vary = ["sex", "age", bc.by("sex", "age")]
    data = bc.CalibrationData(y, s, subgroup=factors)
    problem = prepare_terms(data, vary, prior="neutral", curve="logistic", random_state=1)
    scaled = tuple(replace(term, prior=term.prior.scaled(NARROW_SCALES)) for term in problem.terms)
    wide, narrow = (draw_effects(each, 8000) for each in (problem, replace(problem, terms=scaled)))
    both = draw_effects(problem, 8000, two_scales=True)
    logs = [each.stats["log_evidence"] for each in (wide, narrow)]
    evidence = np.logaddexp(*logs) - np.log(2)
    assert both.stats["log_evidence"] == pytest.approx(evidence, abs=0.06)
    share = np.exp(np.array(logs) - evidence) / 2
    for draws in (lambda each: each.scales, lambda each: np.abs(each.groups)):
        mean = [draws(each).mean(axis=1) for each in (wide, narrow)]
        error = draws(both).std(axis=1) / np.sqrt(both.stats["ess"])
        off = draws(both).mean(axis=1) - share[0] * mean[0] - share[1] * mean[1]
        assert np.all(np.abs(off) < 5 * error)
    again = module.with_scales_in_use(both)
    assert again.stats["log_evidence"] == pytest.approx(logs[0], abs=0.06)
    error = wide.scales.std(axis=1) / np.sqrt(again.stats["ess"])
    assert np.all(np.abs(again.scales.mean(axis=1) - wide.scales.mean(axis=1)) < 5 * error)


def test_of_calibrated_sites_no_view_is_surely_above_zero():
    """In about 95 % of data sets, of five sites and of fifteen."""
    lower = []
    for seed in range(20):
        post = fitted(seed, "intercept", sites=5 if seed % 2 else 15, n=60)
        views = (
            post.average(),
            post.new(),
            post.at(),
            *(post.at(site=label) for label in post.labels[:3]),
        )
        lower += [view.interval("tce")[0] for view in views]
    assert np.mean(np.array(lower) <= 0.003) >= 0.9


def test_sites_that_differ_round_a_calibrated_average():
    post = fitted(2, sites=12, n=300, sd=0.5)
    assert post.prob_calibrated["every_site"] < 1e-3
    assert post.prob_calibrated["average_site"] > 0.1
    assert post.average().interval("tce")[0] == 0
    assert post.new().interval("tce")[0] > 0
    assert post.table()["tce_lower"].min() > 0


def test_the_studies_differ_and_so_will_a_new_one(impact):
    """The average study may be calibrated."""
    new, average = impact.new(), impact.average()
    assert impact.prob_calibrated["every_site"] < 1e-20
    np.testing.assert_allclose(new.interval("tce", population="sample"), (0.005, 0.115), atol=0.01)
    assert average.prob_calibrated > 0.6
    assert average.interval("tce")[0] == 0


@pytest.mark.parametrize("view", ["average", "new", "at", "site"])
def test_everything_about_a_distance_is_read_from_its_draws(calibrated, view):
    view = calibrated.at(site="2") if view == "site" else getattr(calibrated, view)()
    draws = view.tce().to_numpy().ravel()
    assert view.prob_calibrated is not None
    assert view.interval("tce") == equal_tailed(draws, 0.95)
    assert view.estimate("tce") == draws.mean()
    assert view.prob_below(0.02) == np.mean(draws < 0.02)
    row = view.summary(names=["tce"]).loc["tce"]
    assert row["estimate"] == row["mean"] == draws.mean()
    assert (row["lower"], row["upper"]) == view.interval("tce")
    assert view.summary(names=["tce"]).attrs["interval"].endswith("among the draws of distances")


@pytest.mark.parametrize("sd", [0.0, 0.3])
def test_no_draw_contradicts_itself(sd):
    post = fitted(4, sites=5, sd=sd, shift=0.2)
    for view in (post.average(), post.new(), post.at(), post.at(site="0")):
        error, signed, ratio, largest = (
            view.functional(name).to_numpy().ravel()
            for name in ("tce", "signed_error", "observed_expected", "emax")
        )
        assert (np.abs(signed) <= error + 1e-12).all()
        assert (error <= largest + 1e-12).all()
        np.testing.assert_allclose(ratio[error == 0], 1.0)


def test_draws_are_of_three_components():
    """A curve is on the diagonal in as many draws as that is probable."""
    post = fitted(2, sites=8, n=150, sd=0.1, draws=4000)
    every, average = post.prob_calibrated.values()
    assert 0.02 < every < average < 0.95
    drawn = post._drawn
    on = [np.mean(~curve.any(axis=1)) for curve in (drawn.average, *drawn.groups)]
    assert on[0] == pytest.approx(average, abs=1e-3)
    np.testing.assert_allclose(on[1:], every, atol=1e-3)
    new = post.new().tables[0].u
    assert np.mean(~new.any(axis=1)) == pytest.approx(every, abs=1e-3)


def test_one_component_alone_is_the_fit(calibrated, monkeypatch):
    monkeypatch.setattr(module, "at_two_scales", lambda *_: np.ones(calibrated.draws))
    for prior in ("EVERY", "AVERAGE"):
        monkeypatch.setattr(module, prior, 1e-300)
    fit = calibrated._fits[0].fit
    drawn = explained(fit).drawn
    order, other = (np.argsort(each.groups[0, :, 0]) for each in (fit, drawn))
    for name, axis in (("average", 0), ("groups", 1), ("scales", 1), ("unlike", 1)):
        one, two = getattr(fit, name), getattr(drawn, name)
        np.testing.assert_array_equal(one.take(order, axis), two.take(other, axis))


def test_a_calibrated_average_that_is_far_from_likely_needs_no_draws(monkeypatch):
    fit, made = fitted(3, sites=15, n=100, sd=0.1, shift=1.2)._fits[0].fit, []

    def kept(*args, **options):
        made.append(draw_if_likely(*args, **options))
        return made[-1]

    monkeypatch.setattr(module, "draw_if_likely", kept)
    without = explained(fit)
    monkeypatch.setattr(module, "UNLIKELY", np.inf)
    with_draws = explained(fit)
    assert made[0] is None
    assert made[1] is not None
    assert with_draws.prob_calibrated.average_site < 1e-6
    np.testing.assert_array_equal(without.drawn.groups, with_draws.drawn.groups)


def test_spread_and_who_is_unlike_are_given_that_nothing_is_exact(calibrated):
    scales = calibrated._free.scales[0]
    np.testing.assert_allclose(
        calibrated.heterogeneity.loc[["shift", "log_slope"], "mean"], scales.mean(axis=0)
    )
    np.testing.assert_array_equal(calibrated.prob_unlike(), calibrated._free.unlike.mean(axis=1))


def test_factors_know_exact_calibration():
    y, s, _ = simulated(5, sites=4, n=120)
    factors = {"sex": np.resize(["F", "M"], y.size), "age": np.repeat(["a", "b", "c"], y.size // 3)}
    post = bc.fit(y, s, subgroup=factors, curve="logistic", draws=400, random_state=1)
    assert 0.02 < post.prob_calibrated["every_site"] < post.prob_calibrated["average_site"]
    for view in (post.at(), post.at(sex="F"), post.at(sex="M", age="a"), post.new("age")):
        assert view.interval("tce")[0] < 0.005
    assert (post.table()["tce_lower"] < post.table()["tce"]).all()


def test_periods_begin_calibrated_and_some_stay_so():
    rng = np.random.default_rng(3)
    x = rng.normal(-1.2, 1.1, 3600)
    period = np.repeat([1, 2, 3, 4], 900)
    y = (rng.random(x.size) < expit(x + 1.2 * (period > 2))).astype(int)
    post = bc.fit(y, expit(x), period=period, curve="logistic", draws=400, random_state=1)
    assert post.prob_calibrated["every_site"] < 1e-6 < post.prob_calibrated["average_site"]
    lower = post.table()["tce_lower"].to_numpy()
    assert lower[:2].max() == 0
    assert lower[2:].min() > 0.05
    assert post.new().interval("tce")[0] > 0.05
    shares = np.bincount(post._drawn.explanation, minlength=5) / post.draws
    told = post.explanations.to_numpy()
    np.testing.assert_allclose([shares[0], shares[1:4].sum(), shares[4]], told, atol=0.03)
    still = bc.fit(y[:1800], expit(x[:1800]), period=period[:1800], draws=400, random_state=1)
    assert still.prob_calibrated["every_site"] > 0.2
    for view in (still.now(), still.new()):
        assert view.interval("tce")[0] == 0


def test_nothing_is_said_where_no_evidence_was_computed(calibrated):
    numbers = {"r_hat": 1.0, "ess_bulk": 400.0, "ess_tail": 400.0, "divergences": 0.0}
    drawn = replace(calibrated._free, engine="nuts", stats=numbers)
    post = MultilevelPosterior([Curves(drawn)])
    assert post.prob_calibrated is None
    for view in (post.average(), post.new(), post.at(site="1")):
        assert view.prob_calibrated is None
        assert view.interval("tce") == equal_tailed(view.tce().to_numpy(), 0.95)
        assert view.interval("tce")[0] > 0


def test_a_tree_of_an_earlier_version_computes_them(calibrated):
    tree = calibrated.tree.copy()
    tree["posterior"] = tree["free"]
    del tree["free"]
    again = MultilevelPosterior(tree)
    views = [each.at(site="3") for each in (again, calibrated)]
    one, two = (view.interval("tce") for view in views)
    assert one == pytest.approx(two, abs=0.25 * views[0].values_of("tce").std())


def test_an_uncertain_evidence_is_a_warning(calibrated, monkeypatch):
    problem = module._with_exact_average(calibrated.problem)
    pinned = draw_terms(problem, calibrated.draws)
    stats = pinned.stats | {"log_evidence_error": 0.9}
    uncertain = replace(pinned, stats=stats)
    monkeypatch.setattr(module, "draw_if_likely", lambda *_, **__: uncertain)
    with pytest.warns(DiagnosticWarning, match=r"Monte Carlo error of 0.9. Fit with more draws"):
        explained(calibrated._fits[0].fit)


def test_imputations_of_a_site_mix_its_draws():
    y, s, label = simulated(1, sites=3, n=60)
    posts = [
        bc.fit(y, np.clip(s + off, 0.01, 0.99), site=label, draws=2000, random_state=1)
        for off in (0.0, 0.01)
    ]
    views = [post.at(site="1") for post in posts]
    both = bc.combine_imputations(views)
    assert both.prob_calibrated is not None
    assert both.prob_calibrated == np.mean([view.prob_calibrated for view in views])
    assert both.interval("tce")[0] == 0
    assert both.estimate("tce") == pytest.approx(both.tce().to_numpy().mean())
    with pytest.raises(bc.errors.InputError, match="Combine sites"):
        bc.combine_imputations([post.average() for post in posts])
