"""The Hosmer-Lemeshow test against R, its own formula, and its size."""

import numpy as np
import pytest
from scipy.stats import chi2

from bayescal.errors import InputError
from bayescal.estimators import hosmer_lemeshow_test
from clinical_sets import CLINICAL


@pytest.mark.parametrize("name", CLINICAL)
def test_gives_the_answer_of_r(clinical, name):
    outcomes, scores, answers = clinical(name)
    known = answers["HL10"]
    external = hosmer_lemeshow_test(outcomes, scores)
    assert external.statistic == pytest.approx(known["stat"], rel=1e-6)
    assert external.pvalue == pytest.approx(known["p_df_g"], rel=1e-6)
    assert external.df == known["groups"]
    development = hosmer_lemeshow_test(outcomes, scores, development=True)
    assert development.statistic == external.statistic
    assert development.pvalue == pytest.approx(known["p_df_gm2"], rel=1e-6)
    assert development.df == known["groups"] - 2


def test_is_the_formula():
    scores = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
    test = hosmer_lemeshow_test([0, 1, 0, 1, 1, 0], scores, n_groups=2)
    statistic = (1 - 0.6) ** 2 / (0.6 * 0.8) + (2 - 2.1) ** 2 / (2.1 * 0.3)
    assert test.statistic == pytest.approx(statistic)
    assert test.pvalue == pytest.approx(chi2.sf(statistic, 2))


def test_equal_scores_make_fewer_groups():
    test = hosmer_lemeshow_test([0, 1, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.7, 0.7, 0.7])
    assert test.df == 2
    assert test.statistic == pytest.approx(0.4**2 / (0.6 * 0.8) + 0.9**2 / (2.1 * 0.3))


def test_rejects_a_calibrated_model_as_often_as_it_says():
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 3, 500)
    test = hosmer_lemeshow_test(rng.random((4000, 500)) < scores, scores)
    assert (test.pvalue < 0.05).mean() == pytest.approx(0.05, abs=0.012)
    assert np.mean(test.statistic) == pytest.approx(10, rel=0.05)


def test_certain_groups():
    scores = [0, 0, 0.4, 0.6, 1, 1]
    kept = hosmer_lemeshow_test([0, 0, 1, 0, 1, 1], scores)
    assert kept.df == 2
    assert kept.statistic == pytest.approx(0.6**2 / 0.24 * 2)
    broken = hosmer_lemeshow_test([0, 1, 1, 0, 1, 1], scores)
    assert (broken.statistic, broken.pvalue, broken.df) == (np.inf, 0, 2)
    tiny = hosmer_lemeshow_test([1, 0, 1], [1e-320, 0.4, 0.6])
    assert (tiny.statistic, tiny.pvalue) == (np.inf, 0)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([0, 1, 1], {}, "y_prob makes 0 groups .* needs 1"),
        ([0.2, 0.4, 0.4], {"development": True}, "y_prob makes 2 groups .* needs 3"),
        ([0.2, 0.4, 0.6], {"n_groups": 0}, "n_groups must be"),
    ],
)
def test_refuses(scores, options, message):
    with pytest.raises(InputError, match=message):
        hosmer_lemeshow_test([0, 1, 1], scores, **options)
