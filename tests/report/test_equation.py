"""The recommended update as an equation."""

import math
import re

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.report.facts import EQUATIONS, Equation, update_equation

SCORES = np.linspace(0.05, 0.8, 30)


@pytest.fixture(scope="module")
def comparison():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    return bc.compare(y, s, draws=1000, random_state=1)


@pytest.mark.parametrize("curve", ["intercept", "logistic", "lapse", "beta"])
def test_it_is_the_recalibrated_risk(comparison, curve):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    map_ = bc.recalibrate.BayesianRecalibrator(curve=curve, random_state=1).fit(s, y)
    equation = update_equation(comparison, curve)
    inside = SCORES[(s.min() < SCORES) & (s.max() > SCORES)]
    assert equation(inside) == pytest.approx(map_.transform(inside), abs=0.006)


@pytest.mark.parametrize("curve", EQUATIONS)
def test_its_text_says_what_it_computes(comparison, curve):
    equation = update_equation(comparison, curve)
    text = str(equation).removeprefix("new risk = ")
    text = re.sub(r"(\d) (logit|ln|expit)", r"\1 * \2", text)
    known = {"expit": expit, "logit": logit, "ln": math.log, "risk": 0.3}
    assert eval(text, known) == pytest.approx(float(equation(np.array([0.3]))[0]), abs=0.002)


def test_signs_do_not_meet():
    assert "- -" not in str(Equation("beta", (0.1, 1.0, -0.2)))
    assert str(Equation("logistic", (-0.2, 0.6))) == "new risk = expit(-0.200 + 0.600 logit(risk))"


def test_a_family_without_a_short_one_has_none(comparison):
    assert update_equation(comparison, "spline") is None
    assert update_equation(comparison, "identity") is None


def test_equal_imputations_have_the_equation_of_one():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=2)
    options = {"draws": 800, "random_state": 1}
    one = update_equation(bc.compare(y, s, **options), "logistic")
    same = update_equation(bc.compare(y, imputation=[s, s], **options), "logistic")
    assert same.coefficients == pytest.approx(one.coefficients, abs=0.03)


@pytest.mark.slow
def test_the_page_gives_it():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=1)
    a = bc.assess(y, s, estimators=("ece",), draws=1000, random_state=1)
    assert a.recommendation.choice == "logistic"
    assert str(a.facts.equation) in " ".join(str(a).split())
    assert str(a.facts.equation) in a.describe()
    assert a.to_dict()["recommendation"]["equation"] == str(a.facts.equation)
    y, s = bc.simulate.sample("clinical-middle-calibrated", 3000, random_state=1)
    calibrated = bc.assess(y, s, estimators=("ece",), draws=1000, random_state=1)
    assert calibrated.facts.equation is None
    assert "The equation" not in str(calibrated)
