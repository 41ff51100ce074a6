"""The draws of distances in an average: what they are made of, and what they can never say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.mixture import HEDGE, components_of, modest_scale, shares_of
from bayescal.model.priors import MODEST, Normal, Prior
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import equal_tailed, floored

DISTANCES = tuple(name for name, functional in FUNCTIONALS.items() if functional.is_distance)
TRUTHS = (("clinical-middle-calibrated", 400), ("clinical-middle-overconfident", 600), ("D4", 150))


@pytest.fixture(scope="module", params=TRUTHS, ids=lambda case: case[0])
def cmp(request):
    name, n = request.param
    return bc.compare(*bc.simulate.sample(name, n, random_state=4), draws=2000, random_state=1)


# The components and their shares


def test_the_default_weights_are_those_of_the_recipe(cmp) -> None:
    prior = cmp.components["prior"]
    assert prior["identity"].tolist() == [0.1]
    assert prior["pieces"].to_dict() == pytest.approx(
        {"often calibrated": 0.3, "rarely calibrated": 0.1}
    )
    for name in ("beta", "spline"):
        assert prior[name].to_dict() == pytest.approx({"prior": 1 / 12, "modest": 1 / 12})
    for name in ("logistic", "lapse"):
        assert prior[name].to_dict() == pytest.approx({"prior": 1 / 36, "modest": 1 / 36})
    assert prior["noise"].to_dict() == pytest.approx({"prior": 1 / 18})
    assert prior.sum() == pytest.approx(1)


def test_shares_follow_evidence_with_a_hedge_for_no_exact_calibration(cmp) -> None:
    table = cmp.components
    joint = np.log(table["prior"]) + table["log_evidence"]
    w = np.exp(joint - logsumexp(joint))
    calibrated = [
        name in (("identity", "prior"), ("pieces", "often calibrated")) for name in w.index
    ]
    u = w.where(~np.array(calibrated), 0.0)
    exact = w.where([name[0] != "identity" for name in w.index], 0.0)
    np.testing.assert_allclose(table["posterior_prob"], w, atol=1e-12)
    np.testing.assert_allclose(
        table["distances"], (1 - HEDGE) * w + HEDGE * u / u.sum(), atol=1e-12
    )
    np.testing.assert_allclose(table["curves"], exact / exact.sum(), atol=1e-12)
    assert HEDGE == 0.3
    assert cmp.prob_calibrated == pytest.approx(w["identity"].item())


def test_draws_are_allotted_to_components_as_the_shares_say(cmp) -> None:
    drawn = cmp.posterior._drawn.averaged
    for tags, column in ((drawn.distances.component, "distances"), (drawn.component, "curves")):
        counts = np.bincount(tags, minlength=len(cmp.components))
        assert (np.abs(counts - 2000 * cmp.components[column].to_numpy()) < 1).all()


def test_weights_given_by_the_user_are_split_over_the_scales() -> None:
    cases = bc.simulate.sample("D4", 60, random_state=1)
    weights = {"intercept": 2, "pieces": 1, "beta": 1}
    cmp = bc.compare(*cases, prior_weights=weights, prior_calibrated=0.2, draws=400, random_state=1)
    assert cmp.components["prior"].to_dict() == pytest.approx(
        {
            ("identity", "prior"): 0.2,
            ("intercept", "prior"): 0.2,
            ("intercept", "modest"): 0.2,
            ("beta", "prior"): 0.1,
            ("beta", "modest"): 0.1,
            ("pieces", "often calibrated"): 0.15,
            ("pieces", "rarely calibrated"): 0.05,
        }
    )
    alone = bc.compare(*cases, prior_weights={"beta": 1}, draws=400, random_state=1).posterior
    assert alone._distances.sided.sum() == 0
    assert alone.interval("tce")[1] > 0


def test_families_of_one_idea_share_its_weight() -> None:
    from dataclasses import replace

    from bayescal.model.curves import CURVES, register, unregister

    register(replace(CURVES["logistic"], name="line", idea="beta"))
    try:
        cases = bc.simulate.sample("D4", 60, random_state=1)
        prior = bc.compare(*cases, draws=400, random_state=1).prior_prob
    finally:
        unregister("line")
    assert prior["beta"] == prior["line"] == pytest.approx(1 / 12)
    assert prior["spline"] == pytest.approx(1 / 6)
    assert prior["logistic"] == prior["noise"] == prior["lapse"] == pytest.approx(1 / 18)
    assert prior["pieces"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("prior", "one_scale"),
    [
        (MODEST, {"logistic", "beta", "spline"}),
        (Prior(shift=Normal(0.1, 0.2), log_slope=Normal(0, 0.1), name="narrow"), {"logistic"}),
        (Prior(shift=Normal(0, 0.2), name="half"), set()),
    ],
)
def test_a_prior_that_is_nowhere_wider_is_its_own_second_scale(prior, one_scale) -> None:
    cases = bc.simulate.sample("D4", 60, random_state=1)
    cmp = bc.compare(*cases, prior=prior, draws=400, random_state=1)
    scales = {name: list(cmp.components.loc[name].index) for name in ("logistic", "beta", "spline")}
    assert {name for name, each in scales.items() if each == ["prior"]} == one_scale
    assert cmp.components["prior"].sum() == pytest.approx(1)
    second = modest_scale(prior)
    assert second.shift == prior.shift
    assert second.centre == prior.centre
    assert second.asymmetry == MODEST.asymmetry


def test_the_second_scale_of_a_wide_prior_is_the_modest_one() -> None:
    assert modest_scale(Prior()) == MODEST
    assert modest_scale(bc.priors.PRESETS["clinical"]) == MODEST


def test_shares_do_not_depend_on_components_without_evidence() -> None:
    problem = bc.compare(*bc.simulate.sample("D4", 40, random_state=1), draws=100).problem
    weights = {"identity": 0.1, "pieces": 0.4, "logistic": 0.5}
    components = components_of(weights, problem)
    evidence = np.array([0.0, -1, -2, -np.inf, -np.inf])
    shares = shares_of(components, evidence)
    for share in shares:
        assert share.sum() == pytest.approx(1)
        assert not share[3:].any()


# What a draw says


@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_exact_calibration_counts_nothing_but_for_the_floor(cmp, population) -> None:
    post, drawn = cmp.posterior, cmp.posterior._drawn.averaged
    exact = np.array([each.is_exact for each in drawn.components])[drawn.distances.component]
    assert exact.mean() == pytest.approx((1 - HEDGE) * cmp.prob_calibrated, abs=1e-3)
    values = post._distances.values([("tce", {}), ("e90", {}), ("emax", {})], population)
    for distance in values.values():
        assert not distance[exact].any()
    assert not post.functional("e90", population).to_numpy().ravel()[exact].any()


def test_the_draws_are_those_of_the_definition(cmp) -> None:
    """TCE of these very patients, by hand."""
    post = cmp.posterior
    problem, drawn = post.problem, post._drawn.averaged
    score, weight = problem.score, problem.trials / problem.n
    curve = problem.probability(drawn.distances.u)
    often = np.array([each.is_often for each in drawn.components])
    m = np.maximum(drawn.distances.above, drawn.distances.below)
    sign = np.where(drawn.distances.above >= drawn.distances.below, 1, -1)
    phi = np.clip((m - 0.6) / 0.35, 0, 1)
    sided = phi * np.maximum(0, sign * (curve - score))
    error = np.where(often[drawn.distances.component][:, None], sided, np.abs(curve - score))
    distance = np.sort(error @ weight)
    signed = np.sort((problem.probability(post._drawn.u) - score) @ weight)
    n = distance.size
    expected = [max(distance[i], signed[i], -signed[n - 1 - i]) for i in range(n)]
    actual = np.sort(post.tce(population="sample").to_numpy().ravel())
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    assert post.estimate("tce", population="sample") == pytest.approx(np.mean(expected))
    assert post.prob_tce_below(0.03, population="sample") == np.mean(actual < 0.03)
    assert post.interval("tce", 0.8, population="sample") == equal_tailed(actual, 0.8)


numbers = st.lists(
    st.tuples(st.sampled_from([0.0, 0.01, 0.02, 0.3]), st.floats(-0.4, 0.4)),
    min_size=1,
    max_size=50,
)


@given(numbers)
def test_the_floor_holds_every_quantile_and_keeps_the_order(pairs) -> None:
    distance, signed = np.array(pairs).T
    values = floored(distance, signed)
    for x in np.unique(np.abs(signed)):
        assert np.mean(values >= x) >= max(np.mean(signed >= x), np.mean(-signed >= x))
    assert (values >= distance).all()
    order = np.lexsort((np.abs(signed), distance))  # equal ones by the size of the signed error
    assert (np.diff(values[order]) >= 0).all()
    low = np.maximum(np.sort(distance), np.maximum(np.sort(signed), np.sort(-signed)))
    np.testing.assert_array_equal(np.sort(values), low)


def test_a_fit_of_one_family_is_read_from_its_own_draws() -> None:
    post = bc.fit(
        *bc.simulate.sample("D4", 100, random_state=1), curve="beta", draws=400, random_state=1
    )
    draws = post.tce().to_numpy().ravel()
    np.testing.assert_array_equal(draws, post._posterior.values([("tce", {})], "bootstrap")["tce"])
    signed = post.functional("signed_error").to_numpy().ravel()
    assert (draws >= np.abs(signed) - 1e-12).all()
    assert "exact calibration was not considered" in repr(post)
    assert "exact calibration was not considered" in post.summary().attrs["interval"]
    assert post.prob_calibrated is None


# Bounds that every curve obeys

LEVELS = np.linspace(0.004, 0.996, 63)
FEW = {"draws": 400, "random_state": 2}


def rare(seed):
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-5, 1.5, 300))
    return rng.random(300) < 3 * p, p


def _cases(name, n=120, seed=3):
    return bc.simulate.sample(name, n, random_state=seed)


def _clusters():
    y, p = _cases("clinical-middle-shifted", 160)
    return bc.compare(y, p, cluster=np.repeat(np.arange(32), 5), **FEW).posterior


def _imputed(curve=None, m=3):
    y, p = _cases("clinical-middle-overconfident", 150)
    noise = np.random.default_rng(0).normal(0, 0.6, (m, 150))
    scores = expit(np.log(p / (1 - p)) + noise)
    if curve:
        return bc.fit(y, imputations=scores, curve=curve, **FEW)
    return bc.compare(y, imputations=scores, **FEW).posterior


def _weighted():
    y, p = _cases("D2", 150)
    weight = np.random.default_rng(1).gamma(2, 1, 150)
    return bc.compare(y, p, sample_weight=weight, weight_type="sampling", **FEW).posterior


DOORS = {
    "calibrated": lambda: bc.compare(*_cases("calibrated"), **FEW).posterior,
    "shifted": lambda: bc.compare(*_cases("clinical-middle-shifted", 900), **FEW).posterior,
    "rare": lambda: bc.compare(*rare(1), **FEW).posterior,
    "clinical prior": lambda: bc.compare(*_cases("D4"), prior="clinical", **FEW).posterior,
    "odd number of draws": lambda: bc.compare(*_cases("D5"), draws=108, random_state=1).posterior,
    "half calibrated": lambda: bc.compare(*_cases("D1", 60), prior_calibrated=0.9, **FEW).posterior,
    "no stretches": lambda: (
        bc.compare(*_cases("D1", 60), prior_weights={"logistic": 1}, **FEW).posterior
    ),
    "few scores": lambda: (
        bc.compare([0, 1, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.7, 0.7, 0.7], **FEW).posterior
    ),
    "one score": lambda: bc.compare([0, 1, 1, 1], [0.3] * 4, **FEW).posterior,
    "one class": lambda: bc.compare(np.ones(30), np.linspace(0.02, 0.9, 30), **FEW).posterior,
    "scores of 0 and 1": lambda: (
        bc.compare([0, 1, 1, 0, 1, 0], [0, 1, 0, 1, 0.5, 0.4], **FEW).posterior
    ),
    "many scores": lambda: bc.compare(*_cases("clinical-low-asymmetric", 4000), **FEW).posterior,
    "clusters": _clusters,
    "weights": _weighted,
    "imputations": _imputed,
    "imputations of one family": lambda: _imputed("beta"),
    "two imputations": lambda: _imputed(m=2),
    "beta": lambda: bc.fit(*_cases("D4"), curve="beta", **FEW),
    "pieces": lambda: bc.fit(*_cases("D4"), curve="pieces", **FEW),
    "spline": lambda: bc.fit(*rare(2), curve="spline", **FEW),
}


@pytest.mark.filterwarnings("ignore::bayescal.errors.EdgeWarning")
@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
@pytest.mark.parametrize("door", DOORS)
def test_no_quantile_contradicts_another(door) -> None:
    post = DOORS[door]()
    for population in ("bootstrap", "sample"):

        def quantiles(name, population=population, **options):
            draws = post.functional(name, population, **options).to_numpy()
            assert np.isfinite(draws).all()
            return np.quantile(draws, LEVELS)

        signed = quantiles("signed_error")
        size = np.maximum(signed, -signed[::-1])
        chain = [size, *(quantiles("tce", p=p) for p in (1, 1.5, 2, np.inf)), quantiles("emax")]
        for smaller, larger in pairwise(chain):
            assert (larger >= smaller - 1e-12).all()
        e50, e90 = quantiles("e50"), quantiles("e90")
        assert (e90 >= e50 - 1e-12).all()
        assert (chain[-1] >= e90 - 1e-12).all()
        np.testing.assert_array_equal(quantiles("ici"), chain[1])
    is_inside = ((post.data.score > 0) & (post.data.score < 1)).all()
    for name in DISTANCES:
        if FUNCTIONALS[name].needs_inside and not is_inside:
            with pytest.raises(InputError, match=f"{name} is infinite"):
                post.interval(name)
            continue
        limits = np.array([0.001, 0.01, 0.02, 0.05, 0.2, 0.9])
        below = np.array([post.prob_below(x, name) for x in limits])
        above = np.array([post.prob_above(x, name) for x in limits])
        assert (below + above == 1).all()
        assert (np.diff(below) >= 0).all()
        ends = np.array([post.interval(name, level) for level in (0.5, 0.8, 0.95, 0.99)])
        assert (np.diff(ends, axis=0) * [-1, 1] >= 0).all()
        table = post.summary(names=[name], ci_prob=0.8)
        assert tuple(table.loc[name, ["lower", "upper"]]) == post.interval(name, 0.8)
        if post.is_average:
            assert post.estimate(name) == pytest.approx(float(post.functional(name).mean()))
    lower, upper = post.interval("signed_error")
    least = max(lower, -upper)
    for name in ("tce", "ici", "emax"):
        assert post.interval(name)[0] >= least - 1e-12
        assert post.interval(name)[1] >= max(upper, -lower) - 1e-12


def test_all_distances_of_an_imputation_are_widened_by_one_factor() -> None:
    """So that E50, E90 and Emax stay in order, and TCE in p."""
    pooled = _imputed("beta")._posterior
    wanted = [("tce", {}), ("e50", {}), ("e90", {}), ("emax", {})]
    wider, own = pooled.values(wanted, "sample"), pooled.by_imputation(wanted, "sample")
    ratio = {name: wider[name].reshape(-1, 3) / own[name].T for name in own}
    for name in own:
        np.testing.assert_allclose(ratio[name], ratio["tce"])
    assert np.ptp(ratio["tce"][0]) > 0.01


# What they are for


def test_a_calibrated_bulk_is_not_counted_as_error() -> None:
    """Chance off the diagonal adds to |g - s| there; these draws count little of it."""
    rng = np.random.default_rng(5)
    x = rng.normal(-0.5, 1.3, 6000)
    y = rng.random(6000) < expit(np.where(x > 1.2, x - 1.2, x))
    post = bc.compare(y, expit(x), draws=2000, random_state=1).posterior
    truth = np.mean(np.abs(expit(np.where(x > 1.2, x - 1.2, x)) - expit(x)))
    lower, upper = post.interval("tce")
    assert lower <= truth <= upper
    assert lower > truth / 3
    assert post.prob_above(1.25 * truth) < 0.975
    on = post.prob_on_diagonal([0.3, 0.9]).to_numpy()
    assert on[0] > 0.4
    assert on[1] < 0.05


@pytest.mark.slow
def test_exact_calibration_is_believed_where_it_is_probable() -> None:
    """P(TCE < .01) is not below P(exactly calibrated), and P(TCE < .03) is large."""
    near, ahead = [], []
    for seed in range(6):
        cmp = bc.compare(*_cases("calibrated", 1000, seed), draws=1000, random_state=1)
        ahead.append(cmp.prob_tce_below(0.01) >= cmp.prob_calibrated - 0.02)
        near.append(cmp.prob_tce_below(0.03))
    assert np.mean(near) > 0.8
    assert sum(ahead) >= 5


def test_the_draws_of_ranges_know_exact_calibration(cmp) -> None:
    post = cmp.posterior
    score = np.array([0.2, 0.5])
    error = post.problem.probability(post._drawn.averaged.distances.u, score) - score
    np.testing.assert_allclose(post.prob_on_diagonal(score), (error == 0).mean(axis=0))
    np.testing.assert_array_equal(post.errors_where_known(score), error)
    region = post.off_diagonal(0.5).to_numpy()
    side = np.sign(post.errors_where_known(post.data.score))
    joint = (side[:, region != 0] == region[region != 0]).all(axis=1).mean()
    assert joint >= 0.5
    assert post.off_diagonal(0.5).attrs["probability"] == pytest.approx(joint)


# Saving, seeds


@pytest.mark.slow
def test_a_saved_average_gives_every_number_back(cmp, tmp_path) -> None:
    post = cmp.posterior
    post.to_netcdf(tmp_path / "average.nc")
    back = bc.load(tmp_path / "average.nc")
    for name in FUNCTIONALS:
        np.testing.assert_array_equal(back.functional(name), post.functional(name))
        assert back.interval(name) == post.interval(name)
        assert back.estimate(name) == post.estimate(name)
    assert back.prob_above(0.02) == post.prob_above(0.02)
    assert back.prob_calibrated == post.prob_calibrated
    np.testing.assert_array_equal(back.off_diagonal(0.8), post.off_diagonal(0.8))
    np.testing.assert_array_equal(back.prob_on_diagonal(), post.prob_on_diagonal())
    np.testing.assert_array_equal(back.curve(), post.curve())
    prior = [each.functional("tce", group="prior").to_numpy() for each in (back, post)]
    np.testing.assert_array_equal(*prior)
    assert back._drawn.averaged.components == post._drawn.averaged.components


@pytest.mark.slow
def test_saved_imputations_give_every_number_back(tmp_path) -> None:
    post = _imputed()
    post.to_netcdf(tmp_path / "imputed.nc")
    back = bc.load(tmp_path / "imputed.nc")
    for name in FUNCTIONALS:
        np.testing.assert_array_equal(back.functional(name), post.functional(name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_another_seed_moves_the_ends_and_the_probabilities_by_little(cmp, seed) -> None:
    one, other = (bc.compare(cmp.data, random_state=each).posterior for each in (1, seed))
    ends = [np.array(post.interval("tce")) for post in (one, other)]
    assert np.abs(ends[0] - ends[1]).max() < 0.05 * np.ptp(ends[0])
    assert one.prob_tce_below(0.03) == pytest.approx(other.prob_tce_below(0.03), abs=0.025)
