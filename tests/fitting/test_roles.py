"""Every door with every role: a table with it is as the keyword, or is refused in words."""

import inspect
from functools import partial

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

N = 160
RNG = np.random.default_rng(2)
SCORE = np.round(RNG.uniform(0.05, 0.95, N), 2)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
SITE = np.repeat(["A", "B", "C", "D"], 40)
MONTH = np.tile([f"2024-0{k}" for k in (1, 2, 3, 4)], 40)
FACTORS = {"sex": np.arange(N) % 2, "age": np.arange(N) // 80}
CLUSTER, STRATUM = np.arange(N) // 4, np.arange(N) // 80
IMPUTED = np.clip(SCORE + np.array([[0.0], [0.03]]), 0.01, 0.99)
WEIGHT = np.linspace(0.5, 1.5, N)

ROLES = {
    "site": ({"site": SITE}, {"site": SITE}),
    "period": ({"period": MONTH}, {"period": MONTH}),
    "factors": ({"subgroup": FACTORS}, {"subgroup": FACTORS}),
    "one factor": ({"subgroup": {"sex": FACTORS["sex"]}}, {"subgroup": {"sex": FACTORS["sex"]}}),
    "cluster": ({"cluster": CLUSTER}, {"cluster": CLUSTER}),
    "stratum": (
        {"cluster": CLUSTER, "stratum": STRATUM}, {"cluster": CLUSTER, "stratum": STRATUM},
    ),
    "imputation": ({}, {"imputation": IMPUTED}),
    "weights": ({"sample_weight": WEIGHT}, {"sample_weight": WEIGHT}),
    "imputation and cluster": ({"cluster": CLUSTER}, {"imputation": IMPUTED, "cluster": CLUSTER}),
    "site and period": ({"site": SITE, "period": MONTH}, {"site": SITE, "period": MONTH}),
    "site and cluster": ({"site": SITE, "cluster": CLUSTER}, {"site": SITE, "cluster": CLUSTER}),
    "period and cluster": (
        {"period": MONTH, "cluster": CLUSTER}, {"period": MONTH, "cluster": CLUSTER},
    ),
    "imputation and site": ({"site": SITE}, {"imputation": IMPUTED, "site": SITE}),
}  # fmt: skip
"""What makes a table of each kind, and the keywords of the same."""

DOORS = {
    "fit": partial(bc.fit, curve="logistic", draws=400, random_state=1),
    "compare": partial(bc.compare, curves=["beta"], draws=200, random_state=1),
    "assess": partial(bc.assess, draws=200, estimators=(), random_state=1),
    "recalibration_gain": partial(bc.recalibration_gain, after=np.sqrt, draws=200, random_state=1),
    "recommend": partial(bc.recommend, draws=200, random_state=1),
    "build_model": partial(bc.build_model, curve="logistic"),
}

WORKS = {
    "fit": {
        "site", "period", "factors", "one factor", "cluster", "stratum", "imputation", "weights",
        "imputation and cluster", "imputation and site", "site and cluster", "period and cluster",
    },
    "compare": {"cluster", "stratum", "imputation", "weights", "imputation and cluster"},
    "assess": {
        "site", "period", "factors", "one factor", "cluster", "stratum", "imputation", "weights",
        "imputation and cluster", "imputation and site", "site and cluster", "period and cluster",
        "site and period",
    },
    "recalibration_gain": {
        "site", "period", "factors", "one factor", "cluster", "stratum", "imputation", "weights",
        "imputation and cluster", "site and cluster", "period and cluster",
    },
    "recommend": {
        "site", "period", "factors", "one factor", "cluster", "stratum", "imputation", "weights",
        "imputation and cluster", "imputation and site", "site and cluster", "period and cluster",
    },
    "build_model": {"site", "period", "factors", "one factor", "weights"},
}  # fmt: skip


def table(kind):
    given = ROLES[kind][0]
    if kind.startswith("imputation"):
        each = [bc.CalibrationData(OUTCOME, row, **given) for row in IMPUTED]
        return bc.CalibrationData.from_imputations(each)
    return bc.CalibrationData(OUTCOME, SCORE, **given)


def draws_of(result):
    """Numbers of a result that follow from all of its draws."""
    if hasattr(result, "comparison"):
        return draws_of(result.comparison)
    if hasattr(result, "posterior") and not hasattr(result, "tree"):
        return draws_of(result.posterior)
    if hasattr(result, "tree"):
        drawn = result.tree["posterior"].items()  # one factor is fitted as sites are
        return {str(name).replace("cell_", "site_"): np.asarray(each) for name, each in drawn}
    if hasattr(result, "table"):
        shown = result.table() if callable(result.table) else result.table
        return {"table": shown.to_numpy(dtype=float)}
    if hasattr(result, "summary"):
        return {"summary": result.summary().to_numpy(dtype=float)}
    return {name: np.array([]) for name in map(str, result.free_RVs)}


def by_keyword(name, kind):
    given = ROLES[kind][1]
    known = inspect.signature(DOORS[name].func).parameters
    if not set(given) <= set(known):
        return None
    scores = () if "imputation" in given else (SCORE,)
    return DOORS[name](OUTCOME, *scores, **given)


SLOW = {"assess", "recalibration_gain", "build_model"}


@pytest.mark.parametrize("kind", ROLES)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in DOORS]
)
def test_a_table_with_a_role_is_as_the_keyword_or_is_refused(name, kind):
    roles = table(kind).roles
    if kind not in WORKS[name]:
        with pytest.raises(InputError) as told:
            DOORS[name](table(kind))
        assert any(role in str(told.value) for role in (*roles, "data.imputations"))
        assert any(cure in str(told.value) for cure in ("data.", "select", "without"))
        return
    result, expected = DOORS[name](table(kind)), by_keyword(name, kind)
    if expected is None:  # the door has no keyword for it
        return
    mine, theirs = draws_of(result), draws_of(expected)
    assert mine.keys() == theirs.keys()
    for key, values in mine.items():
        if name == "recalibration_gain" and {"cluster", "weights"} & {*roles, kind}:
            np.testing.assert_allclose(values, theirs[key], atol=0.05)  # cases in another order
        else:
            np.testing.assert_array_equal(values, theirs[key])


@pytest.mark.parametrize("kind", sorted(WORKS["fit"]))
def test_the_table_of_a_posterior_is_given_back(kind, tmp_path):
    post = DOORS["fit"](table(kind))
    assert post.data.roles == table(kind).roles
    assert post.data == table(kind)
    post.to_netcdf(tmp_path / "post.nc")
    read = bc.load(tmp_path / "post.nc")
    assert read.data == post.data
    again = draws_of(DOORS["fit"](read.data))
    for key, values in draws_of(post).items():
        np.testing.assert_array_equal(again[key], values)


@pytest.mark.parametrize("kind", sorted(WORKS["fit"]))
def test_more_cases_are_added_with_their_roles(kind):
    given = ROLES[kind][0]
    parts = []
    some = np.arange(len(OUTCOME)) % 5 < 3
    for own in (some, ~some):
        roles = {
            role: {name: each[own] for name, each in labels.items()}
            if role == "subgroup"
            else labels[own]
            for role, labels in given.items()
        }
        each = [
            bc.CalibrationData(OUTCOME[own], score[own], **roles)
            for score in (IMPUTED if kind.startswith("imputation") else [SCORE])
        ]
        together = bc.CalibrationData.from_imputations
        parts.append(together(each) if len(each) > 1 else each[0])
    after = bc.update(DOORS["fit"](parts[0]), parts[1])
    expected = DOORS["fit"](table(kind))
    assert after.data == expected.data
    for key, values in draws_of(expected).items():
        np.testing.assert_allclose(draws_of(after)[key], values, rtol=1e-9)


def test_outcomes_are_not_simulated_of_several_imputations():
    post = DOORS["fit"](table("imputation"))
    with pytest.raises(InputError, match="imputation"):
        bc.check_consistency(post, n_resamples=20)


@pytest.mark.parametrize("kind", ["site", "period", "factors", "cluster", "stratum", "imputation"])
@pytest.mark.parametrize("function", [bc.estimators.ece, bc.scores.brier_score])
def test_what_reads_independent_cases_refuses_others(function, kind):
    with pytest.raises(InputError, match=r"groups by|the table has cluster|imputations of its"):
        function(table(kind))


def test_roles_are_forgotten():
    data = bc.CalibrationData(OUTCOME, SCORE, site=SITE, period=MONTH, cluster=CLUSTER)
    assert data.without("cluster") == bc.CalibrationData(OUTCOME, SCORE, site=SITE, period=MONTH)
    assert data.without(["site", "cluster"]) == bc.CalibrationData(OUTCOME, SCORE, period=MONTH)
    assert data.without(["site", "period"]) == data.pooled()
    layered = bc.CalibrationData(OUTCOME, SCORE, cluster=CLUSTER, stratum=STRATUM)
    assert layered.without("stratum") == data.pooled()
    alone = data.without(["site", "period", "cluster"])
    assert bc.estimators.ece(alone) == pytest.approx(bc.estimators.ece(OUTCOME, SCORE))
    with pytest.raises(InputError, match="roles must be one of"):
        data.without("ward")
    with pytest.raises(InputError, match="imputation cannot be forgotten"):
        table("imputation").without("imputation")


@pytest.mark.parametrize("keyword", ["site", "period", "cluster", "stratum", "imputation"])
def test_keywords_beside_a_table_are_refused_with_the_role(keyword):
    with pytest.raises(InputError, match=f"{keyword} was given beside .* made with {keyword}="):
        bc.fit(bc.CalibrationData(OUTCOME, SCORE), **{keyword: SITE})


@pytest.mark.parametrize(("keyword", "kind"), [("period", "periods"), ("site", "sites")])
def test_several_curves_of_more_than_one_family_are_refused_by_kind(keyword, kind):
    y, s = np.arange(60) % 2, np.linspace(0.1, 0.9, 60)
    with pytest.raises(InputError, match=f"curve='average' was given beside {kind}"):
        bc.fit(y, s, curve="average", **{keyword: np.arange(60) % 3})
