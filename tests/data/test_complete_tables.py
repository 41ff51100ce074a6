"""A table that lacks what its posterior knew says so, and is refused wherever cases are read."""

import inspect
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.planning.laws import as_nodes

PARTS = ("outcomes", "imputations", "clusters", "strata")
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
        if name.endswith("Recalibrator"):
            by_name[name] = getattr(bc.recalibrate, name)().fit
    return by_name


def error_of(door, table):
    try:
        door(table)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("part", PARTS)
def test_every_door_refuses_a_table_that_lacks_something(table, part):
    lacking, refused = table.lacking(part), 0
    for name, door in doors().items():
        message = error_of(door, lacking)
        assert message, f"{name} takes a table that lacks {part}"
        if message.startswith("this table"):
            assert part in message, name
            assert "Pass " in message, name
            refused += 1
        else:  # no table is taken
            assert error_of(door, table) == message, name
    assert refused > 80


def test_the_doors_of_posteriors(cases, table):
    y, s = cases
    lacking = table.lacking("clusters")
    with pytest.raises(ValueError, match="this table lacks the clusters"):
        bc.update(bc.fit(y, s, random_state=0), lacking)
    with pytest.raises(ValueError, match="this table lacks the clusters"):
        bc.fit(bc.CalibrationData(y, s, groups=y).lacking("clusters"), periods="groups")
    planned, _ = as_nodes(table.lacking("outcomes", "clusters"), "scores", 400)
    np.testing.assert_array_equal(planned, table.score)  # scores are all that is read


def test_a_posterior_of_clusters_hands_out_a_table_that_lacks_them(cases):
    y, s = cases
    cluster, strata = np.arange(120) // 6, np.arange(120) // 60
    post = bc.fit(y, s, cluster=cluster, random_state=0)
    assert post.data.lacks == ("clusters",)
    assert bc.fit(y, s, cluster=cluster, strata=strata).data.lacks == ("clusters", "strata")
    ladder = bc.compare(y, s, cluster=cluster, draws=200, random_state=0)
    assert ladder.data.lacks == ladder.posterior.data.lacks == ("clusters",)
    assessed = bc.assess(y, s, cluster=cluster, draws=200, random_state=0)
    assert assessed.data.lacks == ("clusters",)
    assert assessed.sha256 == bc.assess(y, s, draws=200, random_state=0).sha256
    assert not assessed.estimators.empty
    for door in (bc.fit, bc.assess, bc.compare, bc.recommend):
        with pytest.raises(ValueError, match="lacks the clusters of the posterior"):
            door(post.data)
    with pytest.raises(ValueError, match="post has clusters, and outcomes are simulated"):
        bc.check_consistency(post)
    with pytest.raises(ValueError, match="post has clusters, whose labels it does not keep"):
        bc.update(ladder.posterior, y, s)
    alone = bc.fit(y, s, cluster=np.arange(120), random_state=0)
    assert alone.data.lacks == ()


def test_it_lacks_them_after_loading(cases, tmp_path):
    y, s = cases
    post = bc.fit(y, s, cluster=np.arange(120) // 6, random_state=0)
    post.to_netcdf(tmp_path / "post.nc")
    assert bc.load(tmp_path / "post.nc").data == post.data
    post.data.to_netcdf(tmp_path / "table.nc")
    again = bc.CalibrationData.from_netcdf(tmp_path / "table.nc")
    assert again == post.data
    assert again.lacks == pickle.loads(pickle.dumps(post.data)).lacks == ("clusters",)
    assert again != bc.CalibrationData(y, s)
    plain = bc.CalibrationData(y, s)
    plain.to_netcdf(tmp_path / "plain.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "plain.nc").lacks == ()
    edited = post.data.to_xarray().assign_attrs(lacks="clusters courage")
    with pytest.raises(ValueError, match="lacks courage"):
        bc.CalibrationData.from_xarray(edited)


def test_an_imputed_posterior_hands_out_a_table_that_lacks_imputations(cases):
    y, s = cases
    other = np.clip(s + 0.03, 0, 1)
    post = bc.fit(y, imputations=[s, other], draws=200, random_state=0)
    assert post.data.lacks == ("imputations",)
    assert "without imputations" in repr(post.data)
    with pytest.raises(ValueError, match=r"lacks the imputations .* post\.imputations\[0\]\.data"):
        bc.fit(post.data)
    one = post.imputations[0].data
    assert one == bc.CalibrationData(y, s)
    assert bc.fit(one, draws=200, random_state=0).data == one
    ladder = bc.compare(y, imputations=[s, other], draws=200, random_state=0)
    assert ladder.data.lacks == ("imputations",)
    both = bc.fit(y, imputations=[s, other], cluster=np.arange(120) // 6, draws=200)
    assert both.data.lacks == ("imputations", "clusters")
    with pytest.raises(ValueError, match="lacks the imputations and clusters"):
        bc.fit(both.data)


def test_views_on_what_was_not_observed_have_no_outcomes(cases):
    y, s = cases
    site = np.repeat(["A", "B", "C"], 40)
    known = pd.DataFrame({"site": ["D"], "observed": [20], "expected": [18.0], "n": [90]})
    post = bc.fit(y, s, groups=site, curve="logistic", known=known, draws=400, random_state=0)
    drift = bc.fit(y, s, periods=np.repeat([1, 2, 3], 40), draws=400, random_state=0)
    alone = bc.fit(None, s, known=known, curve="logistic", draws=400, random_state=0)
    unseen = (
        post.new_site(s[:30]), post.new_site(), post.site("D"), alone, alone.average_site(),
        drift.next_period(), drift.next_period(s[:30]),
    )  # fmt: skip
    for view in unseen:
        assert view.data.lacks == ("outcomes",)
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
    for seen in (post.site("A"), post.average_site(), post, drift.now(), drift):
        assert seen.data.lacks == ()
        assert seen.data.events > 0
    assert bc.plots.reliability(post.new_site(s[:30]))


def test_tables_that_lack_something_are_selected_pooled_and_added(cases):
    y, s = cases
    table = bc.CalibrationData(y, s, groups=np.repeat(["A", "B"], 60))
    lacking = table.lacking("clusters")
    assert lacking.select("A").lacks == lacking.pooled().lacks == ("clusters",)
    assert lacking.lacking("strata").lacks == ("clusters", "strata")
    assert (lacking + table).lacks == (table + lacking).lacks == ("clusters",)
    assert (lacking + table).n == 240
    assert table.complete() is table
    unseen = table.lacking("outcomes")
    assert unseen.select("A").n == 60
    assert unseen == table.lacking("outcomes")
    for first, second in ((unseen, table), (table, unseen)):
        with pytest.raises(ValueError, match="this table has no outcomes"):
            first + second
    with pytest.raises(ValueError, match="this table has no outcomes"):
        unseen.to_arrays()
    assert unseen.to_xarray()["hits"].sum() == 0
