"""Several horizons of times to an event: a posterior at each."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

HORIZONS = (0.5, 1, 2)
FAST = {"curve": "logistic", "draws": 1000, "random_state": 1}


def study(n=400, seed=1, off=(1.0, 1.0, 1.0), leaving=True):
    """Times, and risks by each horizon whose odds are so many times too high."""
    rng = np.random.default_rng(seed)
    hazard = np.exp(-0.9 + 0.8 * rng.normal(-1, 1.1, n))
    event = rng.exponential(1, n) / hazard
    left = np.minimum(rng.exponential(3, n), 3) if leaving else np.full(n, 9.0)
    true = 1 - np.exp(-hazard[:, None] * HORIZONS)
    odds = true / (1 - true) * off
    outcome = bc.Survival(np.minimum(event, left), event <= left)
    return outcome, odds / (1 + odds)


@pytest.fixture(scope="module")
def fitted():
    outcome, risks = study(off=(1.0, 1.0, 3.0))
    return bc.fit(outcome, risks, horizon=HORIZONS, **FAST)


def test_each_horizon_is_the_fit_at_this_horizon_alone(fitted):
    outcome, risks = study(off=(1.0, 1.0, 3.0))
    for at, column in zip(HORIZONS, risks.T, strict=True):
        alone = bc.fit(outcome, column, horizon=at, **FAST)
        assert fitted.at(at).summary().equals(alone.summary())
    table = fitted.summary(names=["tce", "observed_expected"])
    assert list(table.index.names) == ["horizon", "functional"]
    assert table.loc[(2, "tce"), "estimate"] == fitted.at(2).estimate("tce")


def test_frames_labels_competing_events_and_late_entry_are_taken():
    outcome, risks = study(200)
    code = np.where(outcome.event & (np.arange(200) % 4 == 0), 2, outcome.event)
    entry = np.where(np.arange(200) % 3 == 0, np.minimum(outcome.time / 3, 0.3), 0)
    labels = [f"case {k}" for k in range(200)]
    time = pd.Series(outcome.time, index=labels)
    frame = pd.DataFrame(risks, index=labels, columns=["half", "one", "two"])
    post = bc.fit(bc.Survival(time, code, entry), frame, horizon=HORIZONS, **FAST)
    same = bc.fit(bc.Survival(outcome.time, code, entry), risks, horizon=HORIZONS, **FAST)
    assert post.summary().equals(same.summary())
    assert post.at(2).data.follow_up.competing > 5
    assert repr(post) == "Several(200 cases, horizon 0.5, 1, 2)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": [1, 3]}, r"y_prob has the shape \(60, 3\), for 2 horizons"),
        ({"horizon": [1, 0.5, 2]}, "ascending times, got 1, 0.5, 2"),
        ({"horizon": [0.5, 1, 1]}, "ascending times"),
        ({"horizon": []}, "from 1 to 20 ascending times, got none"),
        ({"horizon": [0.5, 1, 9]}, "no case was followed beyond"),
        ({"horizon": [0, 1, 2]}, "horizon must be a positive time, got 0"),
        ({"site": np.arange(60) % 2}, "site was given beside several horizons"),
        ({"y_true": np.arange(60) % 2}, "y_true is no Survival"),
    ],
)
def test_wrong_horizons_are_refused_in_words(change, message):
    outcome, risks = study(60)
    asked = {"y_true": outcome, "y_prob": risks, "horizon": HORIZONS, **FAST} | change
    with pytest.raises(InputError, match=message):
        bc.fit(**asked)


def test_columns_in_the_wrong_order_and_other_doors_are_refused(fitted):
    outcome, risks = study(60)
    with pytest.raises(InputError, match=r"mean risk falls from column y_prob\[:, 0\]"):
        bc.fit(outcome, 1 - risks, horizon=HORIZONS)
    with pytest.raises(InputError, match=r"horizon=3 was not fitted. Those fitted are 0\.5, 1, 2"):
        fitted.at(3)
    for door in (bc.build_model, bc.CalibrationData):
        with pytest.raises(InputError, match=r"horizon is 2 times here"):
            door(outcome, risks[:, 0], horizon=[1, 2])


@pytest.fixture(scope="module")
def measured_twice():
    """Every patient twice, as one cluster."""
    outcome, risks = study()
    return bc.Survival(np.repeat(outcome.time, 2), np.repeat(outcome.event, 2)), risks.repeat(2, 0)


PATIENT = np.repeat(np.arange(400), 2)


def test_clusters_at_several_horizons_are_those_at_each(measured_twice):
    outcome, risks = measured_twice
    post = bc.fit(outcome, risks, horizon=HORIZONS, cluster=PATIENT, **FAST)
    for at, column in zip(HORIZONS, risks.T, strict=True):
        alone = bc.fit(outcome, column, horizon=at, cluster=PATIENT, **FAST)
        assert post.at(at).summary().equals(alone.summary())
    named = np.array([f"patient {k}" for k in PATIENT])
    again = bc.fit(outcome, risks, horizon=HORIZONS, cluster=named, **FAST)
    assert again.summary().equals(post.summary())


def test_patients_that_stand_twice_as_a_cluster_tell_as_much_as_once(measured_twice):
    outcome, risks = measured_twice
    once = bc.fit(*study(), horizon=HORIZONS, **FAST)
    twice = bc.fit(outcome, risks, horizon=HORIZONS, cluster=PATIENT, **FAST)
    alone = bc.fit(outcome, risks, horizon=HORIZONS, **FAST)
    names = ["observed_expected", "calibration_slope"]
    width = {
        name: np.ptp(post.summary(names=names)[["lower", "upper"]].to_numpy(), axis=1)
        for name, post in {"once": once, "twice": twice, "alone": alone}.items()
    }
    np.testing.assert_allclose(width["twice"], width["once"], rtol=0.15)
    assert (width["alone"] < 0.85 * width["once"]).all()
