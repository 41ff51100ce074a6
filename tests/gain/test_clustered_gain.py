"""The gain of a recalibration where cases come in clusters."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.posterior.population import ClusterBootstrap


@pytest.fixture(scope="module")
def cases():
    y, before = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    after = 1 / (1 + np.exp(-0.6 * np.log(before / (1 - before))))
    return y, before, after


def test_a_case_told_ten_times_gains_what_it_gains_once(cases):
    y, before, after = cases
    once = bc.recalibration_gain(y, before, after, route="paired", random_state=1)
    times = [np.repeat(values, 10) for values in (*cases, np.arange(y.size))]
    often = bc.recalibration_gain(*times[:3], cluster=times[3], random_state=1)
    assert often.route == "paired"
    for table in (once.summary(), often.summary()):
        assert list(table.index) == ["tce", "brier", "log_score"]
    first, second = once.summary(), often.summary()
    length, again = (table["upper"] - table["lower"] for table in (first, second))
    for name in ("brier", "log_score"):
        assert again[name] == pytest.approx(length[name], rel=0.1)
    assert again["tce"] > 0.6 * length["tce"]
    assert "bootstrap of the 300 clusters" in repr(often)
    exact = once.prob_calibrated["after"]
    assert often.prob_calibrated["after"] == pytest.approx(exact, abs=0.1)


def test_the_curve_route_and_bad_clusters_are_refused(cases):
    y, before, after = cases
    half = np.arange(y.size) // 2
    with pytest.raises(bc.errors.InputError, match="route='curve' takes cases as independent"):
        bc.recalibration_gain(y, before, after, cluster=half, route="curve")
    with pytest.raises(bc.errors.InputError, match="cluster has 3"):
        bc.recalibration_gain(y, before, after, cluster=half[:3])
    with pytest.raises(bc.errors.InputError, match="stratum was given without"):
        bc.recalibration_gain(y, before, after, stratum=half)
    with pytest.raises(bc.errors.InputError, match="cluster was given beside a CalibrationData"):
        bc.recalibration_gain(bc.CalibrationData(y, before), after=np.sqrt, cluster=half)
    with pytest.raises(bc.errors.InputError, match="sample_weight"):
        bc.recalibration_gain(y, before, after, cluster=half, sample_weight="x")


def test_few_clusters_have_longer_intervals_than_the_bootstrap_alone(cases, monkeypatch):
    """By the stretch of each score, about the same mean, in which the parts still add up."""
    y, before, after = cases
    cluster = np.searchsorted([5, 20, 60, 120, 180, 240, 280], np.arange(y.size))
    options = {"cluster": cluster, "draws": 1000, "random_state": 1, "thresholds": [0.3]}
    gain = bc.recalibration_gain(y, before, after, **options)
    monkeypatch.setattr(ClusterBootstrap, "stretch", lambda law, values: 1.0)
    plain = bc.recalibration_gain(y, before, after, **options)
    for name in gain.summary(parts=True).index:
        values, others = (one.draws[name].to_numpy().ravel() for one in (gain, plain))
        if name != "tce":
            assert values.mean() == pytest.approx(others.mean(), abs=1e-12)
        assert values.std() > 1.3 * others.std()
    draws = gain.draws
    for score, measure in (("brier", "brier"), ("log", "log_score")):
        parts = draws[f"{score}_calibration"] + draws[f"{score}_refinement"]
        np.testing.assert_allclose(parts, draws[measure], atol=1e-12)
    lengths = [np.diff(one.interval("tce"))[0] for one in (gain, plain)]
    assert lengths[0] > 1.2 * lengths[1]
