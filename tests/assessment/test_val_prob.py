"""The statistics of R's val.prob, by its names."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.assessment.val_prob import VAL_PROB, val_prob

PRINTED = "pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"


@pytest.fixture
def clinical(shared_data):
    return json.loads((shared_data / "oracles" / "clinical.json").read_text("utf-8"))


def read(shared_data, name: str) -> bc.CalibrationData:
    table = np.genfromtxt(
        shared_data / "data" / "clinical" / f"{name}.csv", delimiter=",", names=True
    )
    return bc.CalibrationData(table["outcome"], table["score"])


def test_they_are_what_rms_prints(shared_data, clinical) -> None:
    actual = val_prob(read(shared_data, "pmcalibration_readme_sim2345"))
    printed = clinical["published"][PRINTED]["rms_val.prob"]
    printed["C (ROC)"] = printed.pop("C")
    assert set(actual.index) == set(printed)
    for name, value in printed.items():
        assert actual[name] == pytest.approx(value, abs=5.01e-4), name


@pytest.mark.parametrize("name", ["predtools_val_data", "dcurves_df_binary", "impact_tbi_iecv"])
def test_they_are_those_of_base_r(shared_data, clinical, name) -> None:
    data = read(shared_data, name)
    actual, known = val_prob(data), clinical["recomputed_R"][name]
    bounds = {"rel": 1e-2, "abs": 2e-4} if data.is_compressed else {"rel": 1e-6, "abs": 1e-9}
    expected = {
        "C (ROC)": known["C"],
        "Brier": known["Brier"],
        "D": known["D"],
        "D:Chi-sq": known["D_chisq"],
        "U": known["U"],
        "Q": known["Q"],
        "S:z": known["Spiegelhalter"]["Z"],
        "S:p": known["Spiegelhalter"]["P"],
        "Eavg": known["valprob_lowess"]["Eavg"],
        "E90": known["valprob_lowess"]["E90"],
    }
    for key, value in expected.items():
        assert actual[key] == pytest.approx(value, **bounds), key


def test_what_the_data_do_not_define_is_nan() -> None:
    actual = val_prob(bc.CalibrationData([0, 0, 0], [0.2, 0.4, 0.4]))
    assert list(actual.index) == list(VAL_PROB)
    assert np.isnan(actual[["Dxy", "C (ROC)", "R2", "Intercept", "Slope"]]).all()
    assert actual["Brier"] == pytest.approx((0.04 + 0.16 + 0.16) / 3)
