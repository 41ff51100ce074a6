"""Every door takes cases in any form, shows what it takes, and says what was meant."""

import inspect
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal.data.columns import OF_TABLE, ROLES
from bayescal.data.doors import CaseRoles
from bayescal.errors import InputError

N, WORDS = 120, tuple(CaseRoles.__annotations__)
Y, P = bc.simulate.sample("clinical-middle-overconfident", N, random_state=1)
FRAME = pd.DataFrame(
    {
        "died": Y,
        "risk": P,
        "other": P**1.1,
        "ward": np.repeat(list("ABCD"), 30),
        "sex": Y * 0,
        "patient": np.arange(N) // 6,
    }
)
COLUMNS = {"outcome": "died", "prob": "risk"}
FEW = {"draws": 200, "random_state": 1}
DOORS = {
    "assess": bc.assess,
    "build_model": bc.build_model,
    "compare": bc.compare,
    "compare_models": bc.compare_models,
    "fit": bc.fit,
    "recalibration_gain": bc.recalibration_gain,
    "recommend": bc.recommend,
    "tce_lower_bound": bc.tce_lower_bound,
    "update": bc.update,
}
IN_EVERY_FORM = {
    "assess": partial(bc.assess, estimators=(), **FEW),
    "fit": partial(bc.fit, curve="logistic", **FEW),
    "recommend": partial(bc.recommend, **FEW),
    "tce_lower_bound": partial(bc.tce_lower_bound, random_state=1),
}


def test_the_words_are_those_of_the_roles():
    of_table = ("weight_type", "pos_label", "horizon", "mode")
    assert set(WORDS) == {*ROLES, *of_table, *OF_TABLE, "ignore"}
    assert tuple(WORDS[: len(ROLES)]) == tuple(ROLES)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_shows_and_describes_every_role_and_few_keywords_beside(door):
    parameters = inspect.signature(DOORS[door]).parameters
    assert set(WORDS) <= parameters.keys()
    own = [
        name
        for name, each in parameters.items()
        if each.kind is each.KEYWORD_ONLY and name not in WORDS
    ]
    assert len(own) <= 10
    told = inspect.getdoc(DOORS[door])
    assert "%(" not in told
    assert all(f"\n{name} : " in told for name in ("y_true", *ROLES, *own))


@pytest.mark.parametrize("name", IN_EVERY_FORM)
@pytest.mark.parametrize("role", [{}, {"cluster": "patient"}])
def test_arrays_columns_and_a_table_are_one(name, role):
    door = IN_EVERY_FORM[name]
    arrays = {name: FRAME[column] for name, column in role.items()}
    ignore = {} if role else {"ignore": "ward"}
    results = [
        door(Y, P, **arrays),
        door(bc.CalibrationData(Y, P, **arrays)),
        door(FRAME, **COLUMNS, **role, **ignore),
    ]
    shown = [repr(result) for result in results]
    assert shown[0] == shown[1] == shown[2]


def test_models_and_predictions_after_are_columns_too():
    named = bc.compare_models(FRAME, outcome="died", prob=["risk", "other"], site="ward", **FEW)
    models = {"risk": FRAME.risk, "other": FRAME.other}
    assert repr(named) == repr(bc.compare_models(Y, models, site=FRAME.ward, **FEW))
    gain = bc.recalibration_gain(FRAME, after="other", **COLUMNS, **FEW)
    assert repr(gain) == repr(bc.recalibration_gain(Y, P, FRAME.other, **FEW))


def test_several_horizons_are_columns_too():
    time = np.linspace(0.1, 6, N)
    followed = FRAME.assign(time=time, event=Y, later=np.sqrt(P))
    how = {"horizon": [2, 4], "curve": "logistic", **FEW}
    named = bc.fit(followed, prob=["risk", "later"], time="time", event="event", **how)
    arrays = bc.fit(bc.Survival(time, Y), followed[["risk", "later"]], **how)
    assert named.summary().equals(arrays.summary())


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("sites", "site="), ("groups", "site=, or subgroup="), ("periods", "period="),
        ("factors", "subgroup="), ("imputations", "imputation="), ("strata", "stratum="),
        ("weights", "sample_weight="), ("y_pred", "y_prob="), ("draw", "draws="),
    ],
)  # fmt: skip
def test_a_misspelt_keyword_is_answered(word, meant):
    with pytest.raises(InputError, match=f"no keyword {word}=. Did you mean {meant}") as told:
        bc.fit(Y, P, **{word: 1})
    assert isinstance(told.value, TypeError)
    with pytest.raises(TypeError, match=r"no keyword banana=. It has y_true, y_prob, "):
        bc.fit(Y, P, banana=1)


MODEL = LogisticRegression().fit(FRAME[["risk"]], Y)
MISTAKES = {
    "a frame alone": ((FRAME,), {}, r"outcome=\.\.\., prob=\.\.\.\. There are 'died', 'risk'"),
    "columns by position": ((FRAME, "died", "risk"), {}, r"assess\(frame, outcome=\.\.\."),
    "a column by position": ((FRAME, "risk"), {}, r"assess\(frame, outcome=\.\.\."),
    "a model": ((MODEL, FRAME, Y), {}, r"a LogisticRegression.*model\.predict_proba\(X\)\[:, 1\]"),
    "three arrays": ((Y, P, P), {}, "takes 2 arguments by position, and 3 were given"),
    "no probability": ((FRAME,), {"outcome": "died"}, "prob is missing.*There are 'died'"),
    "no outcome": ((FRAME,), {"prob": "risk"}, "outcome is missing"),
    "a time alone": ((FRAME,), {"prob": "risk", "time": "sex"}, "event is missing.*its period="),
    "columns of arrays": ((Y, P), {"outcome": "died"}, "names a column of a data frame"),
    "a column that is not there": ((FRAME,), COLUMNS | {"site": "clinic"}, "no column 'clinic'"),
    "values of a column": (
        (FRAME.assign(risk=100 * P),), COLUMNS | {"ignore": "ward"}, r"column 'risk'\[0\]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_call_is_told_how_the_door_is_called(mistake):
    cases, roles, told = MISTAKES[mistake]
    with pytest.raises(InputError, match=told):
        bc.assess(*cases, **roles)


@pytest.mark.slow
def test_a_type_checker_knows_the_roles(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "import bayescal as bc\n"
        "bc.fit([0, 1], [0.2, 0.8], site=['A', 'B'], curve='beta')\n"
        "bc.assess([0, 1], [0.2, 0.8], sites=['A', 'B'])\n"
    )
    # where the package is checked, so that what was learned of it then is used again
    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(script)],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert 'script.py:3: error: Unexpected keyword argument "sites"' in run.stdout
    assert "Found 1 error" in run.stdout
