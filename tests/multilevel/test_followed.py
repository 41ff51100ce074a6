"""Times to an event in several curves: the steps of Q are those of all groups."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import CurveDensity
from bayescal.inference.loo import leave_one_out
from bayescal.model.times import cases_of_times, entries_of
from bayescal.model.times_rows import partial_of_group, rows_given_steps
from bayescal.multilevel.followed import log_over_steps
from bayescal.multilevel.likelihood import of_tables
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import prepare_terms

SITES, PATIENTS = 4, 100
SITE = np.repeat([f"s{k}" for k in range(SITES)], PATIENTS)
SHIFT = (0.9, 0.0, 0.0, -0.3)
FAST = {"draws": 400, "random_state": 1}


def study(leaving=0.12, shift=(0.0, 0.0, 0.0, 0.0), seed=2):
    """High risks leave early and have their events early; the times, the events and the risks."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.6, 1.1, SITE.size)
    z = (x + 0.6) / 1.1
    had = rng.random(x.size) < expit(x + np.repeat(shift, PATIENTS))
    comes = np.where(had, 5 * rng.random(x.size) ** np.exp(-0.3 * z), 9.0)
    left = (
        rng.exponential(1, x.size) / (leaving * np.exp(0.5 * z)) if leaving else np.full(x.size, 8)
    )
    return np.minimum(comes, left), comes <= left, expit(x)


def table(role, labels=SITE, **given):
    time, event, risk = study(**given)
    return bc.CalibrationData(bc.Survival(time, event), risk, horizon=5, **{role: labels})


def problem(data, vary="site", curve="beta"):
    return prepare_terms(data, vary, curve=curve, prior="neutral", random_state=1)


def random_curves(made, size=60, spread=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return spread * rng.standard_normal((len(made.labels), size, made.pooled.curve.size))


def likelihood(made, groups):
    """Of all groups, the steps integrated out."""
    each = made.densities(range(len(made.labels)))
    given = sum(each[k].log_likelihood(u) for k, u in enumerate(groups))
    return given + log_over_steps(made, groups)


@pytest.fixture(scope="module")
def of_sites():
    return bc.fit(table("site", shift=SHIFT), **FAST)


def test_the_table_keeps_how_long_each_group_was_followed(tmp_path):
    time, event, risk = study()
    every = table("site")
    one = bc.CalibrationData(
        bc.Survival(time[SITE == "s1"], event[SITE == "s1"]), risk[SITE == "s1"], horizon=5
    )
    assert every.select(site="s1") == one
    assert every.without("site") == bc.CalibrationData(bc.Survival(time, event), risk, horizon=5)
    parts = [slice(k, None, 3) for k in range(3)]
    chunks = [
        {"time": time[k], "event": event[k], "y_prob": risk[k], "site": SITE[k]} for k in parts
    ]
    assert bc.CalibrationData.from_chunks(chunks, horizon=5) == every
    added = [
        bc.CalibrationData(bc.Survival(time[k], event[k]), risk[k], horizon=5, site=SITE[k])
        for k in parts
    ]
    assert added[2] + added[0] + added[1] == every
    every.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == every


@pytest.mark.parametrize("curve", ["intercept", "logistic", "beta"])
def test_without_leaving_it_is_the_likelihood_of_known_outcomes(curve):
    _, event, risk = study(leaving=0)
    made = problem(table("site", leaving=0), curve=curve)
    plain = problem(bc.CalibrationData(event, risk, site=SITE), curve=curve)
    groups = random_curves(made)
    known = plain.densities(range(SITES))
    difference = likelihood(made, groups)
    difference -= sum(known[k].log_likelihood(u) for k, u in enumerate(groups))
    assert np.ptp(difference) < 1e-6


def test_without_leaving_the_summaries_are_those_of_known_outcomes():
    _, event, risk = study(leaving=0)
    ours, plain = bc.fit(table("site", leaving=0), **FAST), bc.fit(event, risk, site=SITE, **FAST)
    np.testing.assert_allclose(ours.table(), plain.table(), atol=1e-5)
    known = plain.summary()
    np.testing.assert_allclose(ours.summary().loc[known.index], known, atol=1e-5)
    assert ours.prob_calibrated == pytest.approx(plain.prob_calibrated, abs=1e-5)


def test_single_cases_have_the_steps_that_sites_have_in_common():
    """Their log densities add up to the likelihood of the site, but for a constant."""
    made = problem(table("site"))
    steps, u = made.shared_steps.steps, random_curves(made)[1]
    site = made.groups["s1"]
    exact = CurveDensity(site, rows=rows_given_steps(site, partial_of_group(site), steps))
    density, count = cases_of_times(site, u, steps)
    assert np.ptp(density @ count - exact.log_likelihood(u)) < 1e-5
    own, _ = cases_of_times(site, u)
    assert np.ptp(own @ count - exact.log_likelihood(u)) > 1e-2


def test_leave_one_out_is_given_the_steps_in_common(of_sites):
    drawn = of_sites._free
    made, elpd = drawn.problem, []
    for steps in (made.shared_steps.steps, None):
        each = (
            leave_one_out(group, drawn.groups[made.labels.index(label)], steps).elpd
            for label, group in made.tables.items()
        )
        elpd.append(sum(each))
    assert of_sites.loo.elpd == pytest.approx(elpd[0], rel=1e-12)
    assert abs(of_sites.loo.elpd - elpd[1]) > 1e-3


def test_sites_together_have_the_likelihood_of_each():
    made = problem(table("site"))
    densities = made.densities(range(SITES))
    (part,) = of_tables(made.pooled, made.columns, densities)
    u, step = np.full((SITES, 3, 1), 0.2), 1e-5
    gradient = part.told(u).gradient[..., 0]
    for k in range(3):
        near = np.repeat(u, 2, axis=2)
        near[:, k] += [step, -step]
        value = part.log_likelihood(near)
        slope = (value[:, 0] - value[:, 1]) / (2 * step)
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-5, atol=1e-6)
    for k, density in densities.items():
        np.testing.assert_allclose(
            part.log_likelihood(u)[k], density.log_likelihood(u[k].T), rtol=1e-9
        )
        value, slope, _ = density.derivatives(u[k, :, 0])
        prior = [
            law.slope_and_curvature(0.2)[0]
            for law in map(made.pooled.prior.of, made.pooled.curve.coordinates)
        ]
        np.testing.assert_allclose(slope - prior, gradient[k], rtol=1e-6, atol=1e-6)


def test_information_of_those_who_came_late_is_positive():
    time, event, risk = study()
    entry = np.where(np.arange(time.size) % 2, 0.0, 0.5 * np.minimum(time, 5))
    late = bc.CalibrationData(bc.Survival(time, event, entry), risk, horizon=5, site=SITE)
    (part,) = of_tables(made := problem(late).pooled, [0, 1], problem(late).densities(range(SITES)))
    u = np.linspace(-6, 6, 25)[None, None].repeat(SITES, 0).repeat(made.curve.size, 1)
    information = part.told(u).information.transpose(0, 3, 1, 2)
    assert (np.linalg.eigvalsh(information) > -1e-9).all()
    post = bc.fit(late, **FAST)
    assert np.isfinite(post.table()["observed_expected"]).all()


def test_few_nodes_are_as_good_as_every_entry():
    rng = np.random.default_rng(4)
    x = rng.normal(-0.6, 1.1, 3000)
    time = np.minimum(rng.exponential(8, x.size), 9)
    outcome = bc.Survival(time, rng.random(x.size) < 0.4)
    data = bc.CalibrationData(outcome, expit(x), horizon=5, site=np.arange(x.size) % 2)
    made = problem(data)
    group, steps = made.groups["0"], made.shared_steps.steps
    every = entries_of(group).partial
    nodes = partial_of_group(group)
    assert nodes.size < every.size / 1.5
    few, exact = (
        CurveDensity(group, rows=rows_given_steps(group, partial, steps))
        for partial in (nodes, every)
    )
    mode = exact.near_mode()
    root = np.linalg.cholesky(np.linalg.inv(mode.information))
    u = mode.point + rng.standard_normal((200, 3)) @ root.T
    error = few.log_likelihood(u) - exact.log_likelihood(u)
    assert error.std() < 0.1


def joint_density(made):
    """PyMC's log density of the curves of all sites and of the steps of Q: a function of both."""
    model = model_of_terms(made)
    return model, model.compile_logp()


@pytest.mark.slow
def test_pymc_has_the_same_density_with_the_steps_integrated_out():
    """At two sets of curves, by importance sampling over the steps."""
    made = problem(table("site"), vary=bc.by("site", robust=False), curve="logistic")
    model, log_density = joint_density(made)
    steps = made.shared_steps.steps
    point, rng = model.initial_point(), np.random.default_rng(0)
    root = np.linalg.cholesky(np.linalg.inv(steps.information))
    standard = rng.standard_normal((1000, steps.at.size))
    drawn = steps.at + 1.1 * standard @ root.T
    proposed = -np.vecdot(standard, standard) / 2
    k = steps.at.size // 2
    pymc, ours = [], []
    for shift in (0.0, 0.4):
        point["shift"] = np.array(shift)
        values = [log_density(point | {"step": one[:k], "step_by_score": one[k:]}) for one in drawn]
        ratio = np.array(values) - proposed
        pymc.append(np.log(np.exp(ratio - ratio.max()).mean()) + ratio.max())
        u = np.array([[shift, 0.0]])
        prior = made.pooled.prior.logpdf(made.pooled.curve.coordinates, u)[0]
        ours.append(likelihood(made, [u] * SITES)[0] + prior)
    assert ours[1] - ours[0] == pytest.approx(pymc[1] - pymc[0], abs=0.02)


@pytest.mark.slow
def test_pymc_has_the_same_density_given_the_steps():
    made = problem(table("site"), vary=bc.by("site", robust=False), curve="logistic")
    model, log_density = joint_density(made)
    shared, point = made.shared_steps, model.initial_point()
    k = shared.steps.at.size // 2
    point |= {"step": shared.steps.at[:k], "step_by_score": shared.steps.at[k:]}
    each = [
        CurveDensity(group, rows=rows_given_steps(group, shared.partial[j], shared.steps))
        for j, group in enumerate(made.groups.values())
    ]
    pymc, ours = [], []
    for shift, slope in ((0.0, 0.0), (0.4, -0.2), (-0.7, 0.3)):
        pymc.append(
            float(log_density(point | {"shift": np.array(shift), "log_slope": np.array(slope)}))
        )
        u = np.array([[shift, slope]])
        prior = made.pooled.prior.logpdf(made.pooled.curve.coordinates, u)[0]
        ours.append(sum(float(density.log_likelihood(u)[0]) for density in each) + prior)
    np.testing.assert_allclose(np.diff(pymc), np.diff(ours), atol=1e-6)


def test_single_sites_the_average_and_the_next(of_sites):
    shown = of_sites.table()
    assert shown.loc["s0", "observed_expected_lower"] > 0.98
    time, event, _ = study(shift=SHIFT)
    events = [np.sum(event & (time <= 5) & (site == SITE)) for site in shown.index]
    assert shown["events"].tolist() == events
    widths = [
        np.ptp(view.summary().loc["observed_expected", ["lower", "upper"]])
        for view in (of_sites.average(), of_sites.new())
    ]
    assert widths[1] > widths[0]


def test_raw_estimates_count_who_left_only_as_long_as_they_were_followed(of_sites):
    raw = of_sites.table()["observed_expected_raw"]
    known = of_sites.table()["events"] / [
        study(shift=SHIFT)[2][site == SITE].sum() for site in raw.index
    ]
    assert (raw > 1.15 * known).all()
    alone = bc.fit(of_sites.data.select(site="s1"), curve="logistic", **FAST)
    estimate = alone.summary().loc["observed_expected"]
    assert estimate["lower"] < raw["s1"] < estimate["upper"]


def test_factors_and_competing_events():
    time, event, risk = study()
    code = np.where(event, 1, np.where(np.arange(time.size) % 3, 0, 2))
    factors = {"sex": np.arange(time.size) % 2, "age": np.arange(time.size) // 2 % 2}
    post = bc.fit(bc.Survival(time, code), risk, horizon=5, subgroup=factors, **FAST)
    assert np.isfinite(post.tce().to_numpy()).all()


def test_what_cannot_stand_beside_groups_of_times_is_refused():
    time, event, risk = study()
    outcome = bc.Survival(time, event)
    with pytest.raises(InputError, match="site was given beside several horizons"):
        bc.fit(outcome, np.column_stack([risk / 2, risk]), site=SITE, horizon=[2, 5])
