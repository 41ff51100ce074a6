"""Times to an event: the posterior, and what each door does with it."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import CurveDensity
from bayescal.model.problem import prepare
from bayescal.posterior.departures import other_hazard

FAST = {"draws": 400, "random_state": 1}
FAMILIES = ("identity", "logistic", "beta", "lapse", "noise", "spline", "pieces")


def study(n=400, seed=3, leaving=0.6, by_score=0.9):
    """Hazards that are not proportional, and high risks that leave early."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 1.1, n)
    z = (x + 1) / 1.1
    g = expit(-0.45 + 0.6 * x)
    event = (-rng.exponential(1, n) / np.log1p(-g)) ** np.exp(0.7 * z)
    left = rng.exponential(1, n) / (leaving * np.exp(by_score * z)) if leaving else np.full(n, 2.0)
    left = np.minimum(left, 2.0)
    return np.minimum(event, left), event <= left, expit(x), event, g


def competing(n=400, seed=3, leaving=0.6):
    """Two causes, and high risks that leave early: times, codes and risks; what would come; g.

    The event comes early if the risk is high, the other one late; it is likelier at low risks.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 1.1, n)
    z, u = (x + 1) / 1.1, rng.random((3, n))
    g = expit(-0.45 + 0.6 * x)
    own, other = u[0] < g, u[1] < expit(0.2 - 0.7 * z)
    comes = np.where(own, u[2] ** np.exp(0.5 * z), np.where(other, u[2] ** 0.6, 1 + u[2]))
    cause = np.where(own, 1, np.where(other, 2, np.where(u[2] < 0.5, 1, 2)))
    left = rng.exponential(1, n) / (leaving * np.exp(0.9 * z)) if leaving else np.full(n, 1.5)
    code = np.where(comes <= left, cause, 0)
    return np.minimum(comes, left), code, expit(x), own, g


@pytest.fixture(scope="module")
def of_two_causes():
    time, code, risk, *_ = competing(1000)
    return bc.CalibrationData(bc.Survival(time, code), risk, horizon=1)


@pytest.fixture(scope="module")
def followed():
    time, event, risk, *_ = study(1000)
    return bc.CalibrationData(bc.Survival(time, event), risk, horizon=1)


@pytest.fixture(scope="module")
def assessed():
    time, event, risk, *_ = study(300)
    return bc.assess(bc.Survival(time, event), risk, horizon=1, **FAST)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_censoring_it_is_the_binomial_fit(family):
    """Also where the time of an event depends on the score: when it came says nothing of g."""
    _, _, risk, event, _ = study(300)
    post = bc.fit(bc.Survival(event, np.ones(300)), risk, horizon=1, curve=family, **FAST)
    known = bc.fit((event <= 1).astype(int), risk, curve=family, **FAST)
    mine, theirs = (np.sort(each.curve([0.1, 0.5]).to_numpy(), axis=None) for each in (post, known))
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_ties_at_the_horizon_are_known_outcomes():
    """All events, and all who left, at the horizon itself: an event there counts."""
    _, _, risk, event, _ = study(300)
    had = event <= 1
    post = bc.fit(bc.Survival(np.ones(300), had), risk, horizon=1, curve="beta", **FAST)
    known = bc.fit(had.astype(int), risk, curve="beta", **FAST)
    assert post.data.follow_up.censored == 0
    assert post.interval("tce") == pytest.approx(known.interval("tce"), rel=1e-6)
    mixed = bc.Survival(np.where(np.arange(300) % 2, 1.0, np.minimum(event, 3)), had)
    tied = bc.fit(mixed, risk, horizon=1, curve="beta", **FAST)
    assert tied.interval("tce") == pytest.approx(known.interval("tce"), rel=1e-6)


def test_without_censoring_evidence_differs_by_a_constant():
    _, _, risk, event, _ = study(300)
    outcome = bc.Survival(event, np.ones(300))
    differences = [
        bc.fit(outcome, risk, horizon=1, curve=family, **FAST).diagnostics["log_evidence"]
        - bc.fit((event <= 1).astype(int), risk, curve=family, **FAST).diagnostics["log_evidence"]
        for family in FAMILIES
    ]
    np.testing.assert_allclose(differences, differences[0], atol=1e-6)


def test_censoring_by_score_does_not_bias_the_level(followed):
    """Those who leave are left out by a naive analysis, which then sees far too many events."""
    time, event, risk, _, g = study(1000)
    post = bc.fit(followed, curve="beta", **FAST)
    lower, upper = post.interval("observed_expected")
    assert lower < g.mean() / risk.mean() < upper
    seen = event | (time >= 1)
    naive = bc.fit((event & (time <= 1))[seen].astype(int), risk[seen], curve="beta", **FAST)
    assert naive.interval("observed_expected")[0] > 1.05 * g.mean() / risk.mean()


@pytest.mark.slow
@pytest.mark.parametrize("causes", [1, 2])
def test_laplace_over_the_steps_is_the_integral(causes):
    """Against importance sampling of the steps at each of several curves."""
    from bayescal.model.times import entries_of
    from bayescal.model.times_rows import times_rows

    n, size = (400, 1500) if causes == 1 else (150, 800)
    time, event, risk, *_ = study(n) if causes == 1 else competing(n)
    outcome = bc.Survival(time, event, np.where(np.arange(n) % 3 == 0, time / 3, 0))
    problem = prepare(outcome, risk, horizon=1, curve="logistic", random_state=1)
    density, entries = CurveDensity(problem), entries_of(problem)
    peak = density.peak.point
    curves = peak + np.array([[0, 0], [0.15, 0], [-0.15, 0.1], [0, 0.2], [0.1, -0.2]])
    coefficients, none = problem.curve.with_offset(curves), np.empty((5, 0))
    exact = times_rows(problem, exact=True)
    exact = exact.expanded_at(problem.curve.with_offset(peak[None]), none[:1])
    measured, rng = exact.log_likelihood(coefficients, none), np.random.default_rng(0)
    partial, g = entries.partial, problem.probability(curves, problem.data.score)
    coordinates = exact.correction.steps.at.size
    assert coordinates == (12 if causes == 1 else 26)
    normal, integral = rng.standard_normal((size, coordinates)), []
    for curve in g:
        own = curve[partial.row]
        steps = exact.correction.steps.likeliest(partial, own)
        information = steps.information - steps.shares(partial).late(own, partial.weight)[2]
        root = np.linalg.cholesky(1.2 * np.linalg.inv(information))
        points = steps.at + normal @ root.T
        each = np.array(
            [
                steps.of_events(at)[0] + steps.shares(partial, at).late(own, partial.weight)[0]
                for at in points
            ]
        )
        weight = each + (normal**2).sum(axis=1) / 2 + np.log(np.diag(root)).sum()
        known = entries.events @ np.log(curve) + entries.free @ np.log1p(-curve)
        integral.append(known + np.logaddexp.reduce(weight) - np.log(len(weight)))
    away = (measured - measured[0]) - (np.array(integral) - integral[0])
    assert np.abs(away).max() < 0.1
    nodes = density.rows.log_likelihood(coefficients, none)
    np.testing.assert_allclose(nodes - nodes[0], measured - measured[0], atol=0.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_complete_follow_up_with_another_cause_is_the_binomial_fit(family):
    """A competing event is then no more than no event by the horizon."""
    time, code, risk, own, _ = competing(300, leaving=0)
    post = bc.fit(bc.Survival(time, code), risk, horizon=1, curve=family, **FAST)
    known = bc.fit(own.astype(int), risk, curve=family, **FAST)
    mine, theirs = (np.sort(each.curve([0.1, 0.5]).to_numpy(), axis=None) for each in (post, known))
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_the_order_of_codes_does_not_matter(of_two_causes):
    time, code, risk, *_ = competing(1000)
    swapped = np.array([0, 7, 1])[code]
    again = bc.CalibrationData(bc.Survival(time, swapped, cause=7), risk, horizon=1)
    assert again == of_two_causes
    assert of_two_causes.follow_up.competing > 200


@pytest.mark.slow
@pytest.mark.parametrize("made", [study, competing])
def test_the_average_its_data_and_a_stored_one_are_the_same_fit(made, tmp_path):
    time, event, risk, *_ = made(200)
    families = ["identity", "beta", "pieces"]
    post = bc.fit(bc.Survival(time, event), risk, horizon=1, curve=families, **FAST)
    compared = bc.compare(bc.Survival(time, event), risk, horizon=1, curves=families, **FAST)
    assert post.summary().equals(compared.posterior.summary())
    assert bc.fit(post.data, curve=families, **FAST).summary().equals(post.summary())
    post.to_netcdf(tmp_path / "post.nc")
    stored = bc.load(tmp_path / "post.nc")
    assert stored.summary().equals(post.summary())
    assert stored.problem.likelihood.competes == (made is competing)
    assert compared.table["elpd_loo"].notna().all()
    assert np.isnan(compared.prob_calibrated_bic)


def test_update_is_one_fit_on_all_cases():
    time, event, risk, *_ = study(300)
    first = bc.fit(
        bc.Survival(time[:200], event[:200]), risk[:200], horizon=1, curve="beta", **FAST
    )
    both = bc.update(first, bc.Survival(time[200:], event[200:]), risk[200:])
    every = bc.fit(bc.Survival(time, event), risk, horizon=1, curve="beta", **FAST)
    assert both.summary().equals(every.summary())


def test_counts_are_repeated_cases():
    time, event, risk, *_ = study(200)
    often = np.arange(200) % 2 + 1
    weighted = bc.fit(
        bc.Survival(time, event), risk, sample_weight=often, weight_type="counts", horizon=1,
        curve="beta", **FAST,
    )  # fmt: skip
    again = [np.repeat(each, often) for each in (time, event, risk)]
    repeated = bc.fit(bc.Survival(*again[:2]), again[2], horizon=1, curve="beta", **FAST)
    np.testing.assert_allclose(weighted.interval("tce"), repeated.interval("tce"), rtol=1e-6)


def test_no_event_and_one_event_are_fitted():
    time, risk = np.linspace(0.1, 2, 60), np.linspace(0.02, 0.4, 60)
    for events in (0, 1):
        event = np.arange(60) < events
        post = bc.fit(bc.Survival(time, event), risk, horizon=1, curve="beta", **FAST)
        assert post.interval("observed_expected")[1] < 1
    assert np.isfinite(post.summary().loc["tce", "estimate"])


@pytest.mark.parametrize("events", [0, 1])
def test_no_event_and_one_event_beside_others_are_fitted(events):
    time, risk = np.linspace(0.1, 2, 60), np.linspace(0.02, 0.4, 60)
    code = np.where(np.arange(60) < events, 1, np.arange(60) % 2 * 2)
    post = bc.fit(bc.Survival(time, code), risk, horizon=1, curve="beta", **FAST)
    assert post.interval("observed_expected")[1] < 1
    assert post.data.follow_up.competing > 10


def test_competing_events_and_late_entry_are_fitted_together():
    """Whoever had either event before entry is not among those under observation."""
    rng = np.random.default_rng(1010)
    time, code, risk, _, g = competing(6000, seed=10, leaving=0)
    entry = np.where(rng.random(6000) < 0.5, 0, rng.uniform(0, 0.7, 6000))
    seen = time > entry
    time, code, risk, entry, g = (each[seen] for each in (time, code, risk, entry, g))
    post = bc.fit(bc.Survival(time, code, entry), risk, horizon=1, curve="logistic", **FAST)
    lower, upper = post.interval("observed_expected")
    assert lower < g.mean() / risk.mean() < upper
    blind = bc.fit(bc.Survival(time, code), risk, horizon=1, curve="logistic", **FAST)
    assert blind.estimate("observed_expected") < lower - 0.02


def test_the_model_of_pymc_is_the_same_posterior_density():
    """Curve and steps together, against the rows and the steps of the fast engine."""
    from bayescal.model.times import entries_of, steps_of

    time, code, risk, *_ = competing(150)
    outcome = bc.Survival(time, code, np.where(np.arange(150) % 3 == 0, time / 3, 0))
    model = bc.build_model(outcome, risk, horizon=1, curve="logistic")
    problem = prepare(outcome, risk, horizon=1, curve="logistic")
    steps, entries = steps_of(problem), entries_of(problem)
    compiled, rng = model.compile_logp(mode="FAST_COMPILE"), np.random.default_rng(2)
    names = ("step", "step_by_score", "competing_step", "competing_step_by_score")
    difference = []
    for _ in range(5):
        u, at = rng.normal(0, 0.5, 2), rng.normal(0, 0.5, steps.at.size)
        point = dict(zip(names, np.split(at, [6, 12, 19]), strict=True))
        point |= {"shift": u[0], "log_slope": u[1]}
        g = problem.probability(u[None], problem.data.score)[0]
        mine = entries.events @ np.log(g) + entries.free @ np.log1p(-g) + steps.of_events(at)[0]
        partial = entries.partial
        mine += steps.shares(partial, at).late(g[partial.row], partial.weight)[0]
        mine += problem.prior.logpdf(("shift", "log_slope"), u[None])[0]
        difference.append(mine - float(compiled(point)))
    np.testing.assert_allclose(difference, difference[0], atol=1e-6)


def test_the_slope_in_complementary_log_log_is_that_of_a_cox_regression():
    """Under proportional hazards, of cases who were all followed to the horizon."""
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(8)
    x = rng.normal(-1, 0.8, 3000)
    event = rng.exponential(1, 3000) / np.exp(-0.2 + 0.7 * x)
    risk = -np.expm1(-np.exp(x))
    cox = PHReg(np.minimum(event, 1), x[:, None], status=event <= 1).fit()
    outcome = bc.Survival(np.minimum(event, 1.5), event <= 1.5)
    post = bc.fit(outcome, risk, horizon=1, curve="beta", **FAST)
    lower, upper = post.interval("cloglog_slope")
    spread = (upper - lower) / 3.92
    assert post.estimate("cloglog_slope") == pytest.approx(cox.params[0], abs=1.5 * spread)
    assert lower < 0.7 < upper
    assert spread == pytest.approx(cox.bse[0], rel=0.5)
    assert {"cloglog_slope", "cloglog_intercept"} <= set(post.summary().index)
    level = post.interval("cloglog_intercept")
    assert level[0] < -0.2 < level[1]
    known = bc.fit((event <= 1).astype(int), risk, curve="beta", **FAST)
    assert "cloglog_slope" not in known.summary().index
    assert known.interval("cloglog_slope") == pytest.approx((lower, upper), rel=0.05)


def test_the_assessment_says_who_had_a_competing_event():
    time, code, risk, *_ = competing(200)
    time, code = (
        np.where(risk > 0.5, np.minimum(time, 0.6), time),
        np.where((risk > 0.5) & (time > 0.6), 0, code),
    )
    assessed = bc.assess(bc.Survival(time, code), risk, horizon=1, **FAST)
    text = " ".join(str(assessed).split())
    table = assessed.tables["followed"].to_frame()
    followed = assessed.posterior.data.follow_up
    assert f"{followed.competing:g} competing events (" in text
    assert table["competing"].sum() == followed.competing
    kinds = ["events", "competing", "censored", "at_risk"]
    np.testing.assert_allclose(table[kinds].sum(axis=1), table["cases"])
    at = [table[f"at_risk_{n}"].sum() for n in (1, 2, 3)]
    np.testing.assert_allclose(at, [(time >= quarter).sum() for quarter in (0.25, 0.5, 0.75)])
    assert "after which the event cannot come" in text
    assert "nobody was followed to 1 without an event" in text


def test_the_assessment_says_who_left(assessed):
    text = " ".join(str(assessed).split())
    assert "censored before" in text
    assert "same outlook as others with the same predicted risk" in text
    assert "Estimator" not in text
    table = assessed.tables["followed"].to_frame()
    assert len(table) == 5
    data = assessed.posterior.data
    told = f"{data.events:g} events by 1 ({100 * data.events / data.n:.3g} %) and "
    left = f"{data.follow_up.censored:g} censored before"
    assert told + left in " ".join(assessed.describe().split())
    post = assessed.posterior
    others = post._departing(other_hazard(post.problem, np.log(1.5)))
    ratio = others.estimate("observed_expected")
    assert f"if their hazard was 1.5 times as high, O/E would be {ratio:.2f}." in text
    record = assessed.to_dict()
    assert not record["data_alone"]
    assert not record["estimators"]
    assert {"C-statistic (AUC)", "Brier score"} <= set(assessed.facts.performance["title"])


def test_the_page_is_written_of_times(assessed, tmp_path):
    assessed.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Follow-up" in page
    assert "Slope in complementary log-log" in page
    assert 'id="from-r"' not in page
    assert 'id="other-estimators"' not in page


def test_c_statistic_and_brier_are_those_of_the_curve():
    """Of a calibrated model the Brier score is the mean of s (1 - s)."""
    from bayescal.report.performance import performance_by_curve

    rng = np.random.default_rng(5)
    risk = expit(rng.normal(-1, 1.1, 4000))
    event = -rng.exponential(1, 4000) / np.log1p(-risk)
    left = np.minimum(rng.exponential(1, 4000), 2)
    outcome = bc.Survival(np.minimum(event, left), event <= left)
    post = bc.fit(outcome, risk, horizon=1, curve="logistic", **FAST)
    measured = performance_by_curve(post, 0.95)
    assert measured.loc["brier_score", "estimate"] == pytest.approx(
        np.mean(risk * (1 - risk)), abs=0.01
    )
    known = bc.scores.c_statistic((event <= 1).astype(int), risk)
    assert measured.loc["c_statistic", "estimate"] == pytest.approx(known, abs=0.02)


def test_other_doors_refuse_by_name(followed):
    time, event, risk, *_ = study(60)
    outcome = bc.Survival(time, event)
    for door in (bc.estimators.ece, bc.scores.brier_score):
        with pytest.raises(InputError, match=r"Times are taken by bayescal\.fit"):
            door(followed)
    with pytest.raises(InputError, match="a Survival was passed where outcomes are 0 or 1"):
        bc.estimators.ece(outcome, risk)
    with pytest.raises(InputError, match="other estimators are of outcomes that are known"):
        bc.assess(outcome, risk, horizon=1, estimators=["ece"])
    post = bc.fit(followed, curve="beta", **FAST)
    with pytest.raises(InputError, match="some left before the horizon"):
        post.value_of_information([0.2], method="cells")
    with pytest.raises(InputError, match="curve='saturated' sums over events"):
        bc.fit(followed, curve="saturated")
    with pytest.raises(InputError, match="offset was given beside times"):
        bc.build_model(followed, curve="beta", offset=np.zeros(followed.score.size))


def test_leaving_with_another_cause_does_not_bias_the_level(of_two_causes):
    """To count competing events as leaving sees too many events; to drop who left does, too."""
    time, code, risk, _, g = competing(1000)
    true = g.mean() / risk.mean()
    post = bc.fit(of_two_causes, curve="beta", **FAST)
    lower, upper = post.interval("observed_expected")
    assert lower < true < upper
    censored = bc.fit(bc.Survival(time, code == 1), risk, horizon=1, curve="beta", **FAST)
    assert censored.interval("observed_expected")[0] > 1.05 * true


def test_late_entry_is_counted_from_then_on():
    """Whoever had the event before is not among those under observation."""
    rng = np.random.default_rng(8)
    time, event, risk, _, g = study(6000, seed=8, leaving=0)
    entry = np.where(rng.random(6000) < 0.5, 0, rng.uniform(0, 0.7, 6000))
    seen = time > entry
    outcome = bc.Survival(time[seen], event[seen], entry[seen])
    post = bc.fit(outcome, risk[seen], horizon=1, curve="beta", **FAST)
    lower, upper = post.interval("observed_expected")
    assert lower < g[seen].mean() / risk[seen].mean() < upper
    blind = bc.fit(
        bc.Survival(time[seen], event[seen]), risk[seen], horizon=1, curve="beta", **FAST
    )
    assert blind.interval("observed_expected")[1] < g[seen].mean() / risk[seen].mean()
