"""A table of cases that were not observed is refused wherever outcomes are read."""

import inspect
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.planning.setting import as_nodes

FAST = {
    "draws": 200, "n_resamples": 100, "random_state": 0, "estimators": (), "after": np.sqrt,
    "thresholds": [0.2], "recalibrator": bc.recalibrate.LogisticRecalibrator(),
}  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    score = np.round(rng.uniform(0.05, 0.95, 120), 2)
    return (rng.random(120) < score).astype(int), score


@pytest.fixture(scope="module")
def table(cases):
    return bc.CalibrationData(*cases)


def doors():
    """Everything public that takes cases first, by name, with small numbers of what takes time."""
    by_name = {}
    for room in (bc, bc.estimators, bc.scores):
        for name in dir(room):
            door = getattr(room, name)
            if name.startswith("_") or not inspect.isfunction(door):
                continue
            known = list(inspect.signature(door).parameters)
            if known[:1] in (["y_true"], ["truth"]):
                options = {option: value for option, value in FAST.items() if option in known}
                by_name[f"{room.__name__}.{name}"] = partial(door, **options)
    for name in dir(bc.recalibrate):
        if name.endswith("Recalibrator") and name != "Recalibrator":  # the base class
            by_name[name] = getattr(bc.recalibrate, name)().fit
    return by_name


def error_of(door, table):
    try:
        door(table)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def test_every_door_refuses_a_table_without_outcomes(table):
    unseen, refused = table.without_outcomes(), 0
    for name, door in doors().items():
        message = error_of(door, unseen)
        assert message, f"{name} takes a table without outcomes"
        if message.startswith("this table"):
            assert "Pass outcomes" in message, name
            refused += 1
        else:  # no table is taken
            assert error_of(door, table) == message, name
    assert refused > 80


def test_every_reader_of_independent_cases_refuses_clusters(cases):
    clustered, refused = bc.CalibrationData(*cases, cluster=np.arange(120) // 6), 0
    alone = bc.CalibrationData(*cases, cluster=np.arange(120))
    uses = {"bayescal.fit", "bayescal.compare", "bayescal.assess", "bayescal.recommend",
            "bayescal.recalibration_gain", "bayescal.tce_lower_bound",
            "bayescal.fit_known"}  # fmt: skip
    for name, door in doors().items():
        message = error_of(door, clustered)
        if message.startswith("the table has cluster"):
            assert error_of(door, alone) == error_of(door, bc.CalibrationData(*cases)), name
            refused += 1
        elif not message:
            assert name in uses or name.endswith("Recalibrator"), name
    assert refused > 60


def test_the_doors_of_posteriors(cases, table):
    y, s = cases
    with pytest.raises(ValueError, match="this table has no outcomes"):
        bc.update(bc.fit(y, s, random_state=0), table.without_outcomes())
    planned, _ = as_nodes(table.without_outcomes(), "scores", 400)
    np.testing.assert_array_equal(planned, table.score)  # scores are all that is read


def test_views_on_what_was_not_observed_have_no_outcomes(cases):
    y, s = cases
    site = np.repeat(["A", "B", "C"], 40)
    known = pd.DataFrame({"site": ["D"], "observed": [20], "expected": [18.0], "n": [90]})
    post = bc.fit(y, s, site=site, curve="logistic", known=known, draws=400, random_state=0)
    drift = bc.fit(y, s, period=np.repeat([1, 2, 3], 40), draws=400, random_state=0)
    alone = bc.fit(None, s, known=known, curve="logistic", draws=400, random_state=0)
    unseen = (
        post.new(scores=s[:30]), post.new(), post.at(site="D"), alone, alone.average(),
        drift.new(), drift.new(scores=s[:30]),
    )  # fmt: skip
    for view in unseen:
        assert not view.data.has_outcomes
        assert "no outcomes" in repr(view.data)
        assert repr(view)
        for what in ("hits", "events"):
            with pytest.raises(ValueError, match="this table has no outcomes"):
                getattr(view.data, what)
        for door in (bc.fit, bc.assess, bc.compare, bc.recommend, bc.estimators.ece):
            with pytest.raises(ValueError, match="this table has no outcomes"):
                door(view.data)
        assert view.data.trials.sum() == view.data.n > 0
    for seen in (post.at(site="A"), post.average(), post, drift.now(), drift):
        assert seen.data.has_outcomes
        assert seen.data.events > 0
    assert bc.plots.reliability(post.new(scores=s[:30]))
