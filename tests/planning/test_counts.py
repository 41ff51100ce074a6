"""Widths by counts against a regression by scikit-learn."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.planning._riley import slope_error
from bayescal.planning.setting import as_truth, setting_of


@pytest.fixture(scope="module", params=["clinical", "clinical-middle-overconfident"])
def simulated(request):
    scores = bc.simulate.scores(prevalence=0.3, c_statistic=0.75)
    setting = setting_of(as_truth(request.param), scores, 12, 1)
    return setting, *setting.counts(3000, 1)


def test_the_slope_of_a_regression_has_the_error_of_its_information(simulated):
    from sklearn.linear_model import LogisticRegression

    setting, trials, hits = simulated
    error = slope_error(setting.score, trials, hits)
    score, cases, events = setting.score_of(0), trials[0], hits[0]
    x = np.log(score / (1 - score))
    y = np.repeat([1, 0], score.size)
    weight = np.concatenate([events, cases - events])
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(np.tile(x, 2)[:, None], y, weight)
    risk = model.predict_proba(x[:, None])[:, 1]
    each = cases * risk * (1 - risk)
    spread = each @ (x - each @ x / each.sum()) ** 2
    assert error[0] == pytest.approx(1 / np.sqrt(spread), rel=1e-4)


def test_counts_of_a_study_do_not_depend_on_the_others(simulated):
    setting, trials, hits = simulated
    part = setting.part(range(5, 8))
    some, events = part.counts(3000, 1, 5)
    np.testing.assert_array_equal(some, trials[5:8])
    np.testing.assert_array_equal(events, hits[5:8])
    assert (trials.sum(axis=1) == 3000).all()
