"""The e-value of calibration: its expectation, its frozen mixture, what it refuses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
import e_value as simulation
from bayescal.errors import InputError

SCORES = np.array([0.02, 0.2, 0.55, 0.9, 0.5])


@pytest.fixture(scope="module")
def evidence():
    return bc.e_value(*bc.simulate.sample("calibrated", 100, random_state=1), random_state=1)


def weighted(evidence, outcomes, scores):
    """The next factor of the e-value, times the probability of the outcomes when calibrated."""
    more = evidence.update(outcomes, scores)
    prob = np.prod(np.where(outcomes, scores, 1 - scores))
    return prob * np.exp(more.log_value - evidence.log_value)


def test_its_next_factor_is_1_in_expectation_whatever_came_before(evidence) -> None:
    """Summed over all outcomes of five cases, at the frozen points, between them and beyond."""
    outcomes = [np.array(each) for each in product([0, 1], repeat=SCORES.size)]
    assert sum(weighted(evidence, each, SCORES) for each in outcomes) == pytest.approx(1, abs=1e-9)
    far = np.array([1e-6, 1 - 1e-5])
    outcomes = [np.array(each) for each in product([0, 1], repeat=2)]
    assert sum(weighted(evidence, each, far) for each in outcomes) == pytest.approx(1, abs=1e-9)


def test_no_outcome_has_a_part_in_the_mixture() -> None:
    y, s = bc.simulate.sample("D4", 80, random_state=1)
    one, other = (bc.e_value(each, s, random_state=2) for each in (y, 1 - y))
    np.testing.assert_array_equal(one.deviation, other.deviation)
    np.testing.assert_array_equal(one.log_odds, other.log_odds)
    assert one.value != other.value
    assert one.update(y, s).deviation is one.deviation


def test_it_is_the_mean_likelihood_ratio_of_the_mixture(evidence) -> None:
    y, s = bc.simulate.sample("D4", 30, random_state=3)
    g = expit(logit(s) + [np.interp(logit(s), evidence.log_odds, d) for d in evidence.deviation])
    ratio = np.prod(np.where(y, g / s, (1 - g) / (1 - s)), axis=1)
    fresh = bc.EValue(evidence.log_odds, evidence.deviation, np.zeros(len(g)), (0.0,), 0.0)
    assert fresh.update(y, s).value == pytest.approx(ratio.mean(), rel=1e-9)


def test_looks_add_up_and_the_largest_is_kept(evidence) -> None:
    y, s = bc.simulate.sample("D5", 200, random_state=3)
    together = evidence.update(y, s)
    parts = evidence.update(y[:50], s[:50]).update(y[50:], s[50:])
    assert parts.log_value == pytest.approx(together.log_value, rel=1e-9)
    assert (len(parts.log_looks), parts.cases) == (3, 300)
    assert parts.largest == max(parts.values)
    assert parts.value == parts.values[-1] > 1e3
    assert repr(parts).startswith("EValue(")
    counts = bc.CalibrationData.from_counts([0.3, 0.6], [40, 60], [20, 21])
    cases = np.repeat([0.3, 0.3, 0.6, 0.6], [20, 20, 21, 39])
    single = evidence.update(np.repeat([1, 0, 1, 0], [20, 20, 21, 39]), cases)
    assert evidence.update(counts).log_value == pytest.approx(single.log_value, rel=1e-9)


def test_a_contradicted_0_or_1_refutes_calibration_for_good(evidence) -> None:
    kept = evidence.update([0, 1], [0.0, 1.0])
    assert kept.value == pytest.approx(evidence.value, rel=1e-9)
    for y, s in ((1, 0.0), (0, 1.0)):
        wrong = evidence.update([y, 1], [s, 0.5])
        assert wrong.value == np.inf
        assert wrong.update([0, 1], [0.3, 0.6]).value == np.inf


def test_a_file_gives_the_mixture_and_the_evidence_back(evidence, tmp_path) -> None:
    evidence.to_netcdf(tmp_path / "evidence.nc")
    back = bc.EValue.from_netcdf(tmp_path / "evidence.nc")
    more = bc.simulate.sample("D4", 50, random_state=5)
    assert back.update(*more).log_looks == evidence.update(*more).log_looks
    assert back.cases == evidence.cases
    bc.CalibrationData([0, 1], [0.2, 0.3]).to_netcdf(tmp_path / "table.nc")
    with pytest.raises(InputError, match="is no e-value"):
        bc.EValue.from_netcdf(tmp_path / "table.nc")
    with pytest.raises(InputError):
        bc.EValue.from_netcdf(tmp_path / "none.nc")


def test_clusters_sites_imputations_and_sampling_weights_are_refused(evidence) -> None:
    y, s = bc.simulate.sample("D4", 40, random_state=1)
    data = bc.CalibrationData
    label = np.repeat(list("abcdefgh"), 5)
    refused = {
        "clusters": data(y, s, cluster=label),
        "groups": data(y, s, site=label),
        "each imputation": data.from_imputations([data(y, s), data(y, s**1.1)]),
        "sampling weights": data(y, s, sample_weight=np.resize([0.5, 1.7], 40)),
    }
    for match, table in refused.items():
        with pytest.raises(InputError, match=match):
            bc.e_value(table)
        with pytest.raises(InputError, match=match):
            evidence.update(table)


@pytest.mark.slow
def test_calibrated_series_seldom_reach_20_and_others_do() -> None:
    """A small run of the benchmark: 20 series of 24 months, of which 1 in 20 may reach 20."""
    for cell, runs in (("calibrated, middle, 30 a month", 20), ("too extreme, slope .7", 3)):
        looks = np.array([simulation.log_looks(cell, run) for run in range(runs)])
        ever = simulation.row_of(cell, looks)["ever_20"]
        assert ever <= 0.2 if cell.startswith("calibrated") else ever == 1


def test_drift_has_it_after_each_period() -> None:
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    post = bc.fit(y, s, periods=np.repeat([1, 2, 3], 100), draws=400, random_state=1)
    seed = post.problem.pooled.seed
    one = bc.e_value(y[:100], s[:100], random_state=seed)
    three = one.update(y[100:200], s[100:200]).update(y[200:], s[200:])
    assert list(post.e_values.index) == ["1", "2", "3"]
    assert post.e_values.tolist() == pytest.approx(three.values, rel=1e-9)
    assert post.lower_bound == bc.tce_lower_bound(y, s, random_state=seed)


@pytest.mark.slow
def test_the_record_has_both_and_none_where_they_are_not_defined() -> None:
    y, s = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)
    options = {"draws": 400, "estimators": ("ece",), "random_state": 3}
    a = bc.assess(y, s, **options)
    told = a.to_dict()
    assert told["lower_bound"] == bc.tce_lower_bound(y, s, random_state=a.seed)._asdict()
    value = bc.e_value(y, s, random_state=a.seed).value
    assert told["e_value"]["value"] == pytest.approx(value, rel=1e-9)
    sites = bc.assess(y, s, groups=np.repeat(list("abcdefghijkl"), 20), **options)
    assert sites.e_value is None
    assert sites.to_dict()["lower_bound"]["unit"] == "site"
    few = bc.assess(y, s, cluster=np.repeat(list("abcdef"), 40), **options).to_dict()
    assert few["lower_bound"] is few["e_value"] is None
    clear = bc.assess(np.append(y, 1), np.append(s, 0.0), **options).to_dict()
    assert clear["e_value"]["is_infinite"]
    assert clear["e_value"]["value"] is None
