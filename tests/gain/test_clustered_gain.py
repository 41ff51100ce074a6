"""The gain of a recalibration where cases come in clusters."""

import numpy as np
import pytest

import bayescal as bc


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
    with pytest.raises(bc.errors.InputError, match="strata was given without"):
        bc.recalibration_gain(y, before, after, strata=half)
    with pytest.raises(bc.errors.InputError, match="no longer knows its cases"):
        bc.recalibration_gain(bc.CalibrationData(y, before), after=np.sqrt, cluster=half)
    with pytest.raises(bc.errors.InputError, match="sample_weight"):
        bc.recalibration_gain(y, before, after, cluster=half, sample_weight="x")
