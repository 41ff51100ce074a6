"""What cases with times to an event belong to: clusters, strata, imputations, weights."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc

FAST = {"draws": 400, "random_state": 1}


def patients(n=200, size=5, seed=1):
    """Several measurements of each patient, whose risks are alike: times, what ended them, ids."""
    rng = np.random.default_rng(seed)
    patient = np.arange(n) // size
    x = rng.normal(-1, 1.1, n)
    g = expit(-0.2 + 0.8 * x + rng.normal(0, 1.2, n // size)[patient])
    event = -rng.exponential(1, n) / np.log1p(-g)
    left = np.minimum(rng.exponential(1, n) / 0.6, 2.0)
    return event, left, expit(x), patient


@pytest.fixture(scope="module")
def seen():
    event, left, risk, patient = patients()
    return bc.Survival(np.minimum(event, left), event <= left), risk, patient


@pytest.fixture(scope="module")
def imputed(seen):
    noise = np.random.default_rng(5).normal(0, 0.3, (3, seen[1].size))
    return expit(logit(seen[1]) + noise)


@pytest.fixture(scope="module")
def table(seen):
    outcome, risk, patient = seen
    return bc.CalibrationData(outcome, risk, horizon=1, cluster=patient)


def sorted_curves(post):
    return np.sort(post.curve([0.1, 0.5]).to_numpy(), axis=None)


@pytest.mark.parametrize(
    ("family", "off"), [("logistic", 1e-6), ("spline", 1e-6), ("pieces", 1e-3)]
)
def test_clusters_without_censoring_are_those_of_the_binomial_fit(family, off):
    event, _, risk, patient = patients(120)
    options = {"cluster": patient, "curve": family, **FAST}
    post = bc.fit(bc.Survival(event, np.ones(risk.size)), risk, horizon=1, **options)
    known = bc.fit((event <= 1).astype(int), risk, **options)
    np.testing.assert_allclose(sorted_curves(post), sorted_curves(known), rtol=off)
    assert post.design.effect == pytest.approx(known.design.effect, rel=1e-5)
    assert post.design.slope_effect == pytest.approx(known.design.slope_effect, rel=1e-5)


def test_rates_of_clusters_without_censoring_have_the_design_effects_of_the_binomial_fit():
    from bayescal.inference.density import CurveDensity
    from bayescal.model.problem import prepare

    event, _, risk, patient = patients(120)
    given = {"cluster": patient, "curve": "lapse", "random_state": 1}
    problem = prepare(bc.Survival(event, np.ones(risk.size)), risk, horizon=1, **given)
    known = prepare((event <= 1).astype(int), risk, **given)
    points = np.random.default_rng(0).normal(0, 0.3, (5, problem.curve.size))
    difference = CurveDensity(problem)(points) - CurveDensity(known)(points)
    np.testing.assert_allclose(difference, difference[0], atol=0.02)


def test_cases_told_several_times_are_the_cases_once(seen):
    outcome, risk, _ = seen
    once = bc.fit(outcome, risk, horizon=1, curve="logistic", **FAST)
    tenfold = bc.Survival(np.tile(outcome.time, 10), np.tile(outcome.event, 10))
    ids = np.tile(np.arange(risk.size), 10)
    told = {"horizon": 1, "curve": "logistic", **FAST}
    several = bc.fit(tenfold, np.tile(risk, 10), cluster=ids, **told)
    naive = bc.fit(tenfold, np.tile(risk, 10), **told)
    for name in ("observed_expected", "calibration_slope"):
        length, again, too_short = (np.diff(post.interval(name)) for post in (once, several, naive))
        assert 0.75 < again / length < 1.25
        assert too_short < 0.5 * length
    assert several.design.effect == pytest.approx(10, rel=0.1)


def test_what_a_case_tells_is_the_slope_and_curvature_of_its_log_density():
    from bayescal.model.problem import prepare
    from bayescal.model.times import log_density_by_entry, told_by_cases

    event, left, risk, _ = patients(120)
    code = np.where(event <= left, 1 + (np.arange(120) % 4 == 0), 0)
    time = np.minimum(event, left)
    outcome = bc.Survival(time, code, np.where(np.arange(120) % 3 == 0, time / 3, 0))
    problem = prepare(outcome, risk, horizon=1, curve="logistic", random_state=1)
    row, x = problem.data.follow_up.row, logit(problem.data.score)
    told = told_by_cases(problem, expit(x)[row])
    step = 1e-4
    density = log_density_by_entry(problem, x + step * np.array([[-1.0], [0.0], [1.0]]))
    slope = (density[2] - density[0]) / (2 * step)
    bend = (density[2] - 2 * density[1] + density[0]) / step**2
    np.testing.assert_allclose(told.slope, slope, atol=1e-6)
    np.testing.assert_allclose(told.curvature, -bend, atol=1e-5)
    assert (told.spread >= 0).all()


def test_the_expected_square_of_a_slope_is_its_mean_over_what_can_happen():
    """Cases that could all be followed to the horizon: events and others by their chances."""
    from bayescal.model.problem import prepare
    from bayescal.model.times import told_by_cases

    event, _, risk, _ = patients(120)
    problem = prepare(bc.Survival(event, np.ones(120)), risk, horizon=1, random_state=1)
    g = np.full(problem.data.follow_up.row.size, 0.3)
    np.testing.assert_allclose(told_by_cases(problem, g).spread, 0.21, rtol=1e-9)


def test_whole_clusters_are_left_out(table):
    event, _, risk, patient = patients()
    given = {"cluster": patient, "curves": ["logistic"], **FAST}
    known = bc.compare((event <= 1).astype(int), risk, **given).loo["logistic"]
    outcome = bc.Survival(event, np.ones(risk.size))
    followed = bc.compare(outcome, risk, horizon=1, **given).loo["logistic"]
    assert followed.elpd == pytest.approx(known.elpd, abs=0.02)
    censored = bc.compare(table, curves=["logistic"], **FAST).loo["logistic"]
    assert censored.count.size == table.clusters.size
    assert known.elpd < censored.elpd < 0


def test_tables_with_clusters_add_up_and_are_stored(seen, table, tmp_path):
    outcome, risk, patient = seen
    parts = []
    for some in (slice(None, 90), slice(90, None)):
        part = bc.Survival(outcome.time[some], outcome.event[some])
        parts.append(bc.CalibrationData(part, risk[some], horizon=1, cluster=patient[some]))
    assert parts[0] + parts[1] == table
    columns = {"time": outcome.time, "event": outcome.event, "y_prob": risk, "cluster": patient}
    chunks = [
        {name: column[some] for name, column in columns.items()}
        for some in (slice(None, 90), slice(90, None))
    ]
    assert bc.CalibrationData.from_chunks(chunks, horizon=1) == table
    table.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == table
    alone = bc.CalibrationData(outcome, risk, horizon=1)
    assert table.without("cluster") == alone
    assert table != alone


def test_an_updated_fit_is_that_of_all_cases(seen, table):
    outcome, risk, patient = seen
    parts = [
        (bc.Survival(outcome.time[some], outcome.event[some]), risk[some], patient[some])
        for some in (slice(None, 90), slice(90, None))
    ]
    (first, scores, ids), (second, others, more) = parts
    options = {"curve": "logistic", **FAST}
    post = bc.fit(first, scores, horizon=1, cluster=ids, **options)
    updated = bc.update(post, second, others, cluster=more)
    at_once = bc.fit(table, **options)
    assert updated.data == table
    assert updated.interval("tce") == pytest.approx(at_once.interval("tce"), abs=1e-9)


def test_equal_imputations_are_the_plain_fit(seen):
    outcome, risk, patient = seen
    options = {"horizon": 1, "curve": "logistic", "cluster": patient, **FAST}
    plain = bc.fit(outcome, risk, **options)
    pooled = bc.fit(outcome, imputation=[risk, risk, risk], **options)
    for name in ("tce", "observed_expected", "calibration_slope"):
        assert pooled.interval(name) == pytest.approx(plain.interval(name), abs=2e-3)
    assert pooled.data.follow_up.censored == pytest.approx(plain.data.follow_up.censored)
    assert pooled.missing_information["missing_information"].max() < 1e-9


def test_imputations_without_censoring_are_those_of_the_binomial_fit(imputed):
    event, *_ = patients()
    options = {"imputation": imputed, "curve": "logistic", **FAST}
    post = bc.fit(bc.Survival(event, np.ones(event.size)), horizon=1, **options)
    known = bc.fit((event <= 1).astype(int), **options)
    np.testing.assert_allclose(sorted_curves(post), sorted_curves(known), rtol=1e-6)


def test_imputations_in_a_long_table_are_those_of_a_matrix(seen, imputed, tmp_path):
    outcome, *_ = seen
    options = {"curve": "logistic", **FAST}
    post = bc.fit(outcome, imputation=imputed, horizon=1, **options)
    several = bc.Survival(np.tile(outcome.time, 3), np.tile(outcome.event, 3))
    number = np.repeat([1, 2, 3], outcome.time.size)
    table = bc.CalibrationData(several, imputed.ravel(), horizon=1, imputation=number)
    assert table == post.data
    table.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == table
    columns = {"time": several.time, "event": several.event, "y_prob": imputed.ravel()}
    chunk = columns | {"imputation": number}
    assert bc.CalibrationData.from_chunks([chunk], horizon=1) == table


def test_sampling_weights_and_strata_beside_times(seen):
    outcome, risk, patient = seen
    weight = np.random.default_rng(2).choice([1.0, 2.5, 4.0], risk.size)
    given = {"horizon": 1, "cluster": patient, "curve": "logistic", **FAST}
    sampled = {"sample_weight": weight, "weight_type": "sampling"}
    post = bc.fit(outcome, risk, **sampled, **given)
    scaled = bc.fit(outcome, risk, **(sampled | {"sample_weight": 7 * weight}), **given)
    assert scaled.interval("tce") == pytest.approx(post.interval("tce"), rel=1e-6)
    layered = bc.fit(outcome, risk, stratum=patient % 2, **sampled, **given)
    assert (post.design.strata, layered.design.strata) == (1, 2)
    event, *_ = patients()
    every = bc.Survival(event, np.ones(risk.size))
    followed = bc.fit(every, risk, stratum=patient % 2, **sampled, **given)
    options = {name: value for name, value in given.items() if name != "horizon"}
    known = bc.fit((event <= 1).astype(int), risk, stratum=patient % 2, **sampled, **options)
    np.testing.assert_allclose(sorted_curves(followed), sorted_curves(known), rtol=1e-6)
