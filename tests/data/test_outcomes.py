"""Outcomes that are missing, shares, or one of several labels: every form, with every role."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.read import read_cases
from bayescal.errors import InputError

N = 90
RNG = np.random.default_rng(5)
SCORE = RNG.uniform(0.05, 0.95, N).round(2)
OUTCOME = (RNG.random(N) < SCORE).astype(float)
MISSING = np.arange(N) % 9 == 4
KNOWN = ~MISSING
SOME = np.where(MISSING, np.nan, OUTCOME)
SHARE = np.where(MISSING, 0.25, OUTCOME)
CHEAP = {"draws": 400, "random_state": 1}
LABEL = np.array(["north", "south", "east"])[np.arange(N) % 3]
ROLES = {
    "none": {},
    "site": {"site": LABEL},
    "period": {"period": np.arange(N) % 3},
    "subgroup": {"subgroup": {"area": LABEL, "half": np.arange(N) % 2}},
    "cluster": {"cluster": np.arange(N) // 3},
    "stratum": {"cluster": np.arange(N) // 3, "stratum": np.arange(N) // 30},
    "counts": {"sample_weight": np.arange(N) % 3 + 1, "weight_type": "counts"},
    "sampling": {"sample_weight": RNG.gamma(2, size=N)},
}


def of(roles, some):
    """The roles of some of the cases."""

    def part(values):
        if isinstance(values, dict):
            return {name: part(each) for name, each in values.items()}
        return values if isinstance(values, str) else values[some]

    return {name: part(values) for name, values in roles.items()}


def with_none(values):
    return [None if np.isnan(value) else int(value) for value in values]


FORMS = {
    "float64": np.asarray,
    "float32": lambda values: values.astype(np.float32),
    "list": with_none,
    "object": lambda values: np.array(with_none(values), dtype=object),
    "Int64": lambda values: pd.array(with_none(values), dtype="Int64"),
    "boolean": lambda values: pd.Series(with_none(values)).astype("boolean"),
    "masked": lambda values: np.ma.masked_invalid(values),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_outcome_is_unknown_in_every_form(form):
    data = bc.CalibrationData(FORMS[form](SOME), SCORE)
    known = bc.CalibrationData(OUTCOME[KNOWN], SCORE[KNOWN])
    assert (data.unknown.n, data.n, data.events) == (MISSING.sum(), known.n, known.events)
    np.testing.assert_array_equal(data.hits, known.hits)
    assert f"{MISSING.sum()} more cases without an outcome" in repr(data)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_is_unknown(missing):
    labels = np.array([missing, "ill", "well", "ill", "lost"], dtype=object)
    data = bc.CalibrationData(labels, SCORE[:5], pos_label="ill")
    assert (data.n, data.events, data.unknown.n) == (4, 2, 1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "xarray"])
def test_a_missing_outcome_is_unknown_in_every_frame(library):
    frame = pd.DataFrame({"y": SOME, "p": SCORE})
    of = {
        "pandas": lambda: frame.astype({"y": "Int64"}),
        "polars": lambda: pytest.importorskip("polars").DataFrame(
            {"y": with_none(SOME), "p": SCORE}
        ),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table({"y": with_none(SOME), "p": SCORE}),
        "xarray": frame.to_xarray,
    }
    data = bc.CalibrationData.from_frame(of[library](), outcome="y", prob="p")
    assert data == bc.CalibrationData(SOME, SCORE)


@pytest.mark.parametrize("kind", ROLES)
def test_known_cases_are_a_table_of_their_own_with_every_role(kind):
    roles = ROLES[kind]
    data = bc.CalibrationData(SOME, SCORE, **roles)
    known = bc.CalibrationData(OUTCOME[KNOWN], SCORE[KNOWN], **of(roles, KNOWN))
    unknown = bc.CalibrationData(np.zeros(MISSING.sum()), SCORE[MISSING], **of(roles, MISSING))
    for name in ("score", "trials", "hits"):
        np.testing.assert_allclose(getattr(data, name), getattr(known, name))
    assert (data.groups, data.roles) == (known.groups, known.roles)
    np.testing.assert_allclose(data.unknown.trials, unknown.trials)
    assert data.effective_size == pytest.approx(known.effective_size)


@pytest.mark.parametrize("kind", [kind for kind in ROLES if kind != "sampling"])
def test_chunks_sums_and_files_keep_what_is_unknown(kind, tmp_path):
    roles = ROLES[kind]
    data = bc.CalibrationData(SOME, SCORE, **roles)
    weight_type = roles.get("weight_type")
    columns = {name: values for name, values in roles.items() if name != "weight_type"}
    halves = np.arange(N) < N // 2, np.arange(N) >= N // 2
    chunks = [{"y_true": SOME[h], "y_prob": SCORE[h], **of(columns, h)} for h in halves]
    assert bc.CalibrationData.from_chunks(chunks, weight_type=weight_type) == data
    first, second = (bc.CalibrationData(SOME[h], SCORE[h], **of(roles, h)) for h in halves)
    assert first + second == data
    data.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == data
    assert data.pooled() == bc.CalibrationData(SOME, SCORE, **of_cases(roles))
    if data.groups:
        parts = [data.select(name) for name in data.groups]
        assert sum(part.unknown.n for part in parts if part.unknown) == data.unknown.n


def of_cases(roles):
    """The roles that make no groups."""
    names = ("cluster", "stratum", "sample_weight", "weight_type")
    return {name: values for name, values in roles.items() if name in names}


def test_scores_alone_are_a_table_without_outcomes():
    data = bc.CalibrationData(np.full(N, np.nan), SCORE)
    assert not data.has_outcomes
    assert data.n == N
    with pytest.raises(InputError, match="no outcomes"):
        bc.fit(data)


def test_imputations_of_scores_have_the_same_unknown_cases():
    scores = np.stack([SCORE, SCORE**1.1])
    data = bc.CalibrationData(SOME, None, imputation=scores)
    assert data.unknown.n == MISSING.sum()
    assert data == bc.CalibrationData(
        np.tile(SOME, 2), scores.ravel(), imputation=np.repeat([1, 2], N)
    )


@pytest.mark.parametrize("given", ["arrays", "table"])
@pytest.mark.parametrize("door", [bc.fit, bc.compare, bc.assess])
def test_every_door_uses_the_known_outcomes_and_says_so(door, given):
    cases = (SOME, SCORE) if given == "arrays" else (bc.CalibrationData(SOME, SCORE),)
    told = str(door(*cases, **CHEAP))
    assert "without a known outcome left out" in " ".join(told.split())


def test_a_gain_and_models_use_the_known_outcomes():
    after = np.sqrt(SCORE)
    ours = bc.recalibration_gain(SOME, SCORE, after, **CHEAP).summary()
    theirs = bc.recalibration_gain(OUTCOME[KNOWN], SCORE[KNOWN], after[KNOWN], **CHEAP).summary()
    pd.testing.assert_frame_equal(ours, theirs)
    models = {"old": SCORE, "new": after}
    known = {name: score[KNOWN] for name, score in models.items()}
    ours = bc.compare_models(SOME, models, **CHEAP).summary()
    theirs = bc.compare_models(OUTCOME[KNOWN], known, **CHEAP).summary()
    pd.testing.assert_frame_equal(ours, theirs)


def test_a_number_alone_says_nothing_of_the_missing_and_refuses_arrays_of_them():
    table = bc.CalibrationData(SOME, SCORE)
    known = bc.scores.brier_score(OUTCOME[KNOWN], SCORE[KNOWN])
    assert bc.scores.brier_score(table) == pytest.approx(known)
    with pytest.raises(InputError, match=r"y_true\[4\] = nan is missing .*CalibrationData"):
        bc.scores.brier_score(SOME, SCORE)


@pytest.mark.parametrize("kind", ROLES)
def test_a_share_is_that_many_weighted_cases_with_every_role(kind):
    roles = ROLES[kind]
    weight = roles.get("sample_weight", np.ones(N))
    others = {name: roles[name] for name in roles if name not in ("sample_weight", "weight_type")}
    data = bc.CalibrationData(SHARE, SCORE, **roles)
    both = bc.CalibrationData(
        np.repeat([1, 0], N),
        np.tile(SCORE, 2),
        np.concatenate([SHARE * weight, (1 - SHARE) * weight]),
        **{name: doubled(each) for name, each in others.items()},
    )
    np.testing.assert_allclose(data.trials, both.trials)
    np.testing.assert_allclose(data.hits, both.hits)
    assert (data.groups, data.roles) == (both.groups, both.roles)


def doubled(values):
    if isinstance(values, dict):
        return {name: doubled(each) for name, each in values.items()}
    return np.tile(values, 2)


@pytest.mark.parametrize(
    "measure",
    [
        bc.scores.brier_score,
        bc.scores.log_score,
        bc.scores.c_statistic,
        bc.estimators.ece,
        bc.estimators.debiased_ece,
    ],
)
def test_estimators_and_scores_take_shares_as_weighted_cases(measure):
    weight = np.concatenate([SHARE, 1 - SHARE])
    expected = measure(np.repeat([1, 0], N), np.tile(SCORE, 2), sample_weight=weight)
    assert measure(SHARE, SCORE) == pytest.approx(expected, rel=1e-9)
    assert measure(bc.CalibrationData(SHARE, SCORE)) == pytest.approx(expected, rel=1e-9)


def test_shares_where_single_cases_are_needed_are_refused():
    with pytest.raises(InputError, match="Shares are taken by"):
        read_cases(SHARE, SCORE, needs="cases")
    with pytest.raises(InputError, match="shares of outcomes"):
        read_cases(bc.CalibrationData(SHARE, SCORE), needs="cases")


def test_outcomes_and_scores_the_wrong_way_round_are_refused():
    with pytest.raises(InputError, match="outcomes first"):
        bc.fit(SCORE, OUTCOME)


@pytest.mark.parametrize("event", ["north", "south", "east"])
def test_each_of_several_labels_can_be_the_event(event):
    data = bc.CalibrationData(LABEL, SCORE, pos_label=event)
    assert data == bc.CalibrationData(event == LABEL, SCORE)
    frame = pd.DataFrame({"area": LABEL, "p": SCORE})
    assert data == bc.CalibrationData.from_frame(frame, outcome="area", prob="p", pos_label=event)
    with pytest.raises(InputError, match="pos_label='West'"):
        bc.CalibrationData(LABEL, SCORE, pos_label="West")


LOGITS = RNG.normal(0, 4, (N, 3))


@pytest.mark.parametrize("door", [bc.fit, bc.assess, bc.CalibrationData])
def test_a_matrix_of_logits_is_told_softmax_at_every_door(door):
    with pytest.raises(InputError, match="softmax") as refused:
        door(np.arange(N) % 3, LOGITS)
    assert "expit" not in str(refused.value)


def test_estimators_of_matrices_are_told_softmax():
    with pytest.raises(InputError, match="softmax"):
        bc.estimators.top_label_ece(np.arange(N) % 3, LOGITS)
