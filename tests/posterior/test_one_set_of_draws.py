"""One set of draws: every number of a posterior is a function of the same curves and weights."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.curves import CURVES, register, unregister
from bayescal.model.draws import WEIGHTS, shares_of
from bayescal.posterior.evaluation import evaluate
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import equal_tailed

DISTANCES = tuple(name for name, functional in FUNCTIONALS.items() if functional.is_distance)
TRUTHS = (("clinical-middle-calibrated", 400), ("clinical-middle-overconfident", 600), ("D4", 150))


@pytest.fixture(scope="module", params=TRUTHS, ids=lambda case: case[0])
def cmp(request):
    name, n = request.param
    return bc.compare(*bc.simulate.sample(name, n, random_state=4), draws=2000, random_state=1)


def flat(values):
    return values.to_numpy().reshape(values.sizes["chain"] * values.sizes["draw"], -1).squeeze()


# The hypotheses and their shares


def test_the_default_weights_are_those_of_the_recipe(cmp):
    prior = cmp.prior_prob
    assert prior["identity"] == 0.05
    odds = {"near": 2, "pieces": 7, "noise": 1, "beta": 3, "lapse": 3, "spline": 3}
    assert odds == WEIGHTS
    for name, weight in odds.items():
        assert prior[name] == pytest.approx(0.95 * weight / 19)
    assert prior["logistic"] == prior["temperature"] == prior["intercept"] == 0
    assert sum(prior.values()) == pytest.approx(1)


def test_families_that_are_named_are_compared_with_no_others():
    cases = bc.simulate.sample("D4", 60, random_state=1)
    cmp = bc.compare(*cases, curves=["temperature", "logistic"], draws=400, random_state=1)
    assert cmp.prior_prob == pytest.approx(
        {"identity": 0.05, "temperature": 0.475, "logistic": 0.475}
    )
    assert list(cmp.table.index) == ["identity", "temperature", "logistic"]
    some = bc.compare(*cases, curves=["near", "pieces", "beta"], draws=400, random_state=1)
    assert some.prior_prob == pytest.approx(
        {"identity": 0.05, "near": 0.95 / 6, "beta": 0.95 / 4, "pieces": 0.95 * 7 / 12}
    )


def test_shares_follow_prior_and_evidence(cmp):
    table = cmp.table[cmp.table["prior"] > 0]
    joint = np.log(table["prior"]) + table["log_evidence"]
    w = np.exp(joint - logsumexp(joint))
    np.testing.assert_allclose(table["posterior_prob"], w, atol=1e-12)
    assert cmp.prob_calibrated == pytest.approx(w["identity"])
    curves = w.drop("identity") / (1 - w["identity"])
    averaged = cmp.posterior._parts[0].averaged
    assert list(averaged.families) == list(curves.index)
    counts = np.bincount(averaged.family, minlength=curves.size)
    assert (np.abs(counts - 2000 * curves) < 1).all()
    assert abs(averaged.exact.sum() - 2000 * w["identity"]) <= 1


def test_a_family_without_evidence_has_no_share():
    shares = shares_of({"identity": 0.1, "near": 0.4, "beta": 0.5}, np.array([0.0, -1, -np.inf]))
    for share in shares:
        assert share.sum() == pytest.approx(1)
        assert not share[2]


def test_a_registered_family_has_weight_where_it_is_named():
    from dataclasses import replace

    register(replace(CURVES["logistic"], name="line"))
    try:
        cases = bc.simulate.sample("D4", 60, random_state=1)
        assert bc.compare(*cases, draws=400, random_state=1).prior_prob["line"] == 0
        named = bc.compare(*cases, curves=["line", "beta"], draws=400, random_state=1)
        assert named.prior_prob["line"] == named.prior_prob["beta"] == pytest.approx(0.475)
    finally:
        unregister("line")


def test_near_has_its_own_prior_whatever_the_users():
    cases = bc.simulate.sample("D4", 200, random_state=1)
    wide = {"shift": 2.0, "log_slope": 1.0, "centre": 0.9}
    ours, theirs = (
        bc.compare(*cases, prior=prior, draws=400, random_state=1) for prior in ("neutral", wide)
    )
    assert ours.log_evidence["near"] == pytest.approx(theirs.log_evidence["near"], abs=1e-9)
    assert theirs.log_evidence["beta"] != pytest.approx(ours.log_evidence["beta"], abs=0.1)
    rng = np.random.default_rng(0)
    prior = ours.of_family("near")[0].sample_prior(rng, 4000)
    np.testing.assert_allclose(prior.std(axis=0), 0.05, rtol=0.1)


def test_near_is_not_an_update_and_not_exactly_calibrated(cmp):
    assert "near" not in bc.curves.updates()
    assert "logistic" in bc.curves.updates()
    table = cmp.table
    assert table.loc["logistic", "posterior_prob"] == 0
    assert table.loc["near", "posterior_prob"] > 0
    assert cmp.prob_calibrated == table.loc["identity", "posterior_prob"]


# What a draw says


@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_exact_calibration_counts_nothing(cmp, population):
    post = cmp.posterior
    exact = flat(post.exact)
    assert exact.mean() == pytest.approx(cmp.prob_calibrated, abs=1e-3)
    for name in ("tce", "e50", "e90", "emax", "cutoff_error", "net_benefit_lost"):
        options = {"threshold": 0.3} if name == "net_benefit_lost" else {}
        assert not flat(post.functional(name, population, **options))[exact].any()
    own = flat(post.functional("signed_error", population))
    assert np.unique(own[exact]).size == exact.sum()  # the curve is given that it is not exact


def _ends():
    rng = np.random.default_rng(2)
    p = np.round(expit(rng.normal(0, 4, 300)), 2)
    return rng.random(300) < 0.03 + 0.94 * p, p


def _grid():
    rng = np.random.default_rng(3)
    p = expit(rng.normal(-1, 1.3, 6000))
    return rng.random(6000) < expit(0.8 * logit(p) + 0.2), p


AGREEING = {
    "calibrated": lambda: bc.simulate.sample("clinical-middle-calibrated", 400, random_state=4),
    "overconfident": lambda: bc.simulate.sample(
        "clinical-middle-overconfident", 120, random_state=1
    ),
    "scores of 0 and 1": _ends,
    "more scores than rows": _grid,
    "few scores": lambda: ([0, 1, 1, 0, 1, 1, 0], [0.2, 0.2, 0.2, 0.7, 0.7, 0.7, 1.0]),
}


@pytest.mark.filterwarnings("ignore::bayescal.errors.EdgeWarning")
@pytest.mark.parametrize("cases", AGREEING)
def test_distances_are_those_of_the_curve_draw_by_draw(cases):
    """TCE is the mean of |curve - score| under the weights of the same draw."""
    post = bc.fit(*AGREEING[cases](), draws=800, random_state=1)
    exact, rows = flat(post.exact), post.problem.stated
    error = flat(post.curve(rows)) - rows
    (curves,) = post.tables
    for population in ("sample", "bootstrap"):
        weight = np.concatenate(
            [np.atleast_2d(drawn.weight) for _, drawn in curves.populations(population)]
        )
        if population == "sample":
            weight = np.broadcast_to(post.problem.trials / post.problem.n, error.shape)
        tce = flat(post.tce(population=population))
        signed = flat(post.functional("signed_error", population))
        emax = flat(post.functional("emax", population))
        e50, e90 = (flat(post.functional(name, population)) for name in ("e50", "e90"))
        expected = np.where(exact, 0.0, (np.abs(error) * weight).sum(axis=1))
        np.testing.assert_allclose(tce, expected, atol=1e-12)
        np.testing.assert_allclose(signed, (error * weight).sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(emax, np.where(exact, 0, np.abs(error).max(axis=1)), atol=1e-12)
        assert (tce[~exact] >= np.abs(signed[~exact]) - 1e-12).all()
        assert (emax >= e90 - 1e-12).all()
        assert (e90 >= e50 - 1e-12).all()
        assert (emax >= tce - 1e-12).all()
        for x in (0.01, 0.03, 0.1):
            assert post.prob_below(x, population=population) == np.mean(tce < x)
        assert post.interval("tce", 0.8, population=population) == equal_tailed(tce, 0.8)
        assert post.estimate("tce", population=population) == pytest.approx(tce.mean())
    np.testing.assert_allclose(flat(post.predict(rows)), flat(post.curve(rows)))
    known = post._errors_at(rows)
    np.testing.assert_allclose(known, np.where(exact[:, None], 0.0, error), atol=1e-12)
    np.testing.assert_allclose(post.prob_on_diagonal(rows), (known == 0).mean(axis=0))


def test_many_draws_are_left_for_the_curve_however_probable_calibration_is():
    cases = bc.simulate.sample("calibrated", 2000, random_state=1)
    post = bc.compare(*cases, prior_calibrated=0.99, draws=1200, random_state=1).posterior
    assert post.prob_calibrated > 0.98
    ratio = flat(post.functional("observed_expected"))
    assert np.unique(ratio).size == 1200
    assert post.interval("tce") == (0.0, 0.0)


def test_relabelling_mirrors_everything():
    y, p = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=2)
    one, other = bc.compare(y, p, random_state=1), bc.compare(1 - y, 1 - p, random_state=1)
    for name in WEIGHTS:
        assert one.log_evidence[name] == pytest.approx(other.log_evidence[name], abs=0.05)
    assert one.log_evidence["identity"] == pytest.approx(other.log_evidence["identity"], abs=1e-9)
    here, there = one.posterior, other.posterior
    scale = float(here.tce().std())
    assert here.estimate("tce") == pytest.approx(there.estimate("tce"), abs=0.11 * scale)
    ends = np.array(here.interval("signed_error")), -np.array(there.interval("signed_error"))[::-1]
    np.testing.assert_allclose(*ends, atol=0.11 * float(here.functional("signed_error").std()))


def test_a_fit_of_one_family_is_read_from_its_own_draws():
    post = bc.fit(
        *bc.simulate.sample("D4", 100, random_state=1), curve="beta", draws=400, random_state=1
    )
    draws = flat(post.tce())
    ((known,),) = evaluate([(post.tables[0], [("tce", {})])], "bootstrap")
    np.testing.assert_array_equal(draws, known)
    signed = flat(post.functional("signed_error"))
    assert (draws >= np.abs(signed) - 1e-12).all()
    assert "exact calibration was not considered" in repr(post)
    assert "exact calibration was not considered" in post.summary().attrs["interval"]
    assert post.prob_calibrated is None
    assert post.exact is None


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
        return bc.fit(y, imputation=scores, curve=curve, **FEW)
    return bc.compare(y, imputation=scores, **FEW).posterior


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
    "no stretches": lambda: bc.compare(*_cases("D1", 60), curves={"logistic": 1}, **FEW).posterior,
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
    "beta": lambda: bc.fit(*_cases("D4"), curve="beta", **FEW),
    "pieces": lambda: bc.fit(*_cases("D4"), curve="pieces", **FEW),
    "spline": lambda: bc.fit(*rare(2), curve="spline", **FEW),
}


@pytest.mark.filterwarnings("ignore::bayescal.errors.EdgeWarning")
@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
@pytest.mark.parametrize("door", DOORS)
def test_no_quantile_contradicts_another(door):
    post = DOORS[door]()
    for population in ("bootstrap", "sample"):

        def quantiles(name, population=population, **options):
            draws = post.functional(name, population, **options).to_numpy()
            assert np.isfinite(draws).all()
            return np.quantile(draws, LEVELS)

        chain = [*(quantiles("tce", p=p) for p in (1, 1.5, 2, np.inf)), quantiles("emax")]
        for smaller, larger in pairwise(chain):
            assert (larger >= smaller - 1e-12).all()
        e50, e90 = quantiles("e50"), quantiles("e90")
        assert (e90 >= e50 - 1e-12).all()
        assert (chain[-1] >= e90 - 1e-12).all()
        np.testing.assert_array_equal(quantiles("ici"), chain[0])
    is_inside = ((post.data.score > 0) & (post.data.score < 1)).all()
    for name in DISTANCES:
        if FUNCTIONALS[name].needs_inside and not is_inside:
            with pytest.raises(InputError, match=f"{name} is infinite"):
                post.interval(name)
            continue
        limits = np.array([0.001, 0.01, 0.02, 0.05, 0.2, 0.9])
        below = np.array([post.prob_below(x, name) for x in limits])
        above = np.array([1 - post.prob_below(x, name) for x in limits])
        assert (below + above == 1).all()
        assert (np.diff(below) >= 0).all()
        ends = np.array([post.interval(name, level) for level in (0.5, 0.8, 0.95, 0.99)])
        assert (np.diff(ends, axis=0) * [-1, 1] >= 0).all()
        table = post.summary(names=[name], ci_prob=0.8)
        assert tuple(table.loc[name, ["lower", "upper"]]) == post.interval(name, 0.8)
        if post.prior_weights is not None:
            assert post.estimate(name) == pytest.approx(float(post.functional(name).mean()))


def test_all_distances_of_an_imputation_are_widened_by_one_factor():
    """So that E50, E90 and Emax stay in order, and TCE in p."""
    post = _imputed("beta")
    ratio = {}
    for name in ("tce", "e50", "e90", "emax"):
        own = np.stack([one.values_of(name, "sample") for one in post.imputations], axis=1)
        ratio[name] = post.values_of(name, "sample").reshape(-1, 3) / own
    for name in ratio:
        np.testing.assert_allclose(ratio[name], ratio["tce"])
    assert np.ptp(ratio["tce"][0]) > 0.01


# What they are for


def test_a_calibrated_bulk_is_not_counted_as_error():
    """Chance off the diagonal adds to |g - s| there; these draws count little of it."""
    rng = np.random.default_rng(5)
    x = rng.normal(-0.5, 1.3, 6000)
    y = rng.random(6000) < expit(np.where(x > 1.2, x - 1.2, x))
    post = bc.compare(y, expit(x), draws=2000, random_state=1).posterior
    truth = np.mean(np.abs(expit(np.where(x > 1.2, x - 1.2, x)) - expit(x)))
    lower, upper = post.interval("tce")
    assert lower <= truth <= upper
    assert lower > truth / 3
    assert 1 - post.prob_below(1.25 * truth) < 0.975
    on = post.prob_on_diagonal([0.3, 0.9]).to_numpy()
    assert on[0] > 0.4
    assert on[1] < 0.05


# Saving, seeds


@pytest.mark.slow
def test_a_saved_average_gives_every_number_back(cmp, tmp_path):
    post = cmp.posterior
    post.to_netcdf(tmp_path / "average.nc")
    back = bc.load(tmp_path / "average.nc")
    for name in FUNCTIONALS:
        np.testing.assert_array_equal(back.functional(name), post.functional(name))
        assert back.interval(name) == post.interval(name)
        assert back.estimate(name) == post.estimate(name)
    assert 1 - back.prob_below(0.02) == 1 - post.prob_below(0.02)
    assert back.prob_calibrated == post.prob_calibrated
    np.testing.assert_array_equal(back.off_diagonal(0.8), post.off_diagonal(0.8))
    np.testing.assert_array_equal(back.prob_on_diagonal(), post.prob_on_diagonal())
    np.testing.assert_array_equal(back.curve(), post.curve())
    prior = [each.functional("tce", group="prior").to_numpy() for each in (back, post)]
    np.testing.assert_array_equal(*prior)
    assert back.prior_weights == pytest.approx(post.prior_weights)
    np.testing.assert_array_equal(back.exact, post.exact)
