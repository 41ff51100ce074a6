"""Sites, periods and subgroups in one assessment: what leads, and what changes nothing."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.core.page import Figure
from bayescal.errors import InputError
from bayescal.report.record import schema
from bayescal.report.verdict import is_short

OPTIONS = {"draws": 1000, "random_state": 1}
NAMES = {"outcome": "died", "prob": "risk", "site": "hospital", "period": "month"}


def table(spread, change, sites=6, months=6):
    """Hospitals by months of 30 patients each, with one change in the middle."""
    rng = np.random.default_rng(1)
    site, month = (each.ravel() for each in np.indices((sites, months, 30))[:2])
    score = rng.normal(-1, 1, site.size)
    true = score + spread * np.resize([-1, 1], sites)[site] + change * (month >= months // 2)
    return pd.DataFrame(
        {
            "died": (rng.random(site.size) < 1 / (1 + np.exp(-true))).astype(int),
            "risk": 1 / (1 + np.exp(-score)),
            "hospital": np.array([f"UK{k}" for k in range(sites)])[site],
            "month": np.array([f"2023-{k + 1:02}" for k in range(months)])[month],
            "sex": np.resize(["F", "M"], site.size),
        }
    )


@pytest.fixture(scope="module")
def a():
    return bc.assess(table(0.6, 0.6), **NAMES, **OPTIONS)


def test_hospitals_that_differ_lead_and_what_changed_follows(a):
    assert is_short(a.headline())
    assert a.headline().startswith("3 of 6 sites are clearly off; at the next expect ")
    told = " ".join(str(a).split())
    assert told.index("Sites clearly off") < told.index("The model has changed (P")
    assert "Against their own site and period risks are off by" in told
    page = a.page()
    lead = next(section for section in page.sections if section.title == "Results")
    assert [block.name for block in lead.blocks if isinstance(block, Figure)] == ["forest"]
    assert "Over time" in [section.title for section in page.sections]


def test_both_distances_are_rows_and_the_larger_one_is_against_ones_own(a):
    rows = {row.name: row for row in a.tables["first"].rows}
    assert rows["error"]["estimate"] == a.facts.error["estimate"] > rows["tce"]["estimate"]
    own = a.facts.several.own().values_of("tce")
    np.testing.assert_allclose(a.facts.error["estimate"], own.mean(), rtol=1e-9)
    assert list(a.facts.populations.index) == ["these", "pooled", "now", "average", "next"]


def test_every_site_and_period_has_its_row_of_the_same_fit(a):
    post = a.facts.several
    for label, row in a.facts.by_group.iterrows():
        ratio = post.at(site=label).values_of("observed_expected").mean()
        assert row["observed_expected_estimate"] == ratio
    assert a.facts.by_period["cases"].sum() == a.facts.by_group["cases"].sum() == a.data.n
    assert [row.name for row in a.tables["periods"].rows] == list(post.levels["period"])
    record = json.loads(json.dumps(a.to_dict()))
    jsonschema.validate(record, schema())
    assert record["over_time"]["prob_changed"] > 0.9


def test_a_change_leads_where_hospitals_are_alike():
    a = bc.assess(table(0.0, 1.0), **NAMES, **OPTIONS)
    assert a.headline().startswith("The model has changed (P > 0.99); now, in 2023-06, O/E is ")


def test_nothing_is_said_to_change_where_nothing_does():
    a = bc.assess(table(0.0, 0.0), **NAMES, **OPTIONS)
    assert "changed (P" not in a.headline()
    assert not a.facts.clearly_off
    assert a.facts.prob_differ < 0.5 > a.facts.prob_changed


@pytest.mark.parametrize(
    ("roles", "kind", "names"),
    [
        ({"site": "hospital", "subgroup": "sex"}, "site", {"groups", "levels"}),
        ({"period": "month", "subgroup": "sex"}, "subgroup", {"groups", "periods"}),
        (
            {"site": "hospital", "period": "month", "subgroup": "sex"},
            "site",
            {"groups", "levels", "periods"},
        ),
    ],
)
def test_subgroups_stand_beside_sites_and_periods(roles, kind, names):
    a = bc.assess(table(0.6, 0.6), outcome="died", prob="risk", **roles, **OPTIONS)
    assert a.facts.kind == kind
    assert {"groups", "levels", "combinations", "periods"} & set(a.tables) == names
    assert set(a.facts.several.levels) == {"sex" if r == "subgroup" else r for r in roles}
    jsonschema.validate(json.loads(json.dumps(a.to_dict())), schema())


def test_row_order_names_and_repeats_change_nothing(a):
    given = table(0.6, 0.6)
    cells = given.round({"risk": 2})
    keys = ["died", "risk", "hospital", "month"]
    counted = cells.groupby(keys, sort=False).size().rename("n").reset_index()
    renamed = cells.assign(hospital="a" + cells["hospital"])
    once = bc.assess(cells, **NAMES, **OPTIONS)
    others = [
        bc.assess(cells.sample(frac=1, random_state=2), **NAMES, **OPTIONS),
        bc.assess(renamed, **NAMES, **OPTIONS),
        bc.assess(counted, sample_weight="n", **NAMES, **OPTIONS),
    ]
    for other in others:
        np.testing.assert_allclose(other.facts.error_draws, once.facts.error_draws, atol=1e-9)
        assert other.headline() == once.headline()
        assert other.facts.prob_differ == pytest.approx(once.facts.prob_differ, abs=1e-9)


def test_one_month_is_refused_by_name():
    given = table(0.0, 0.0).assign(month="2023-01")
    with pytest.raises(InputError, match=r"period.* one "):
        bc.assess(given, **NAMES, **OPTIONS)
