"""Reading what is known of sites without patients: every fault has its message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.problem import prepare
from bayescal.multilevel.known import KnownSite, as_known, scores_of_known
from bayescal.multilevel.problem import prepare_terms

COUNTS = {"site": ["A", "B"], "observed": [4, 9], "expected": [5.0, 6.0], "n": [40, 50]}
RATIO = {"site": ["A"], "observed_expected": [1.2], "lower": [1.0], "upper": [1.44]}
SLOPE = {"site": ["A"], "calibration_slope": [0.8], "slope_lower": [0.6], "slope_upper": [1.0]}


def test_a_frame_and_a_mapping_are_the_same():
    frame = pd.DataFrame({**COUNTS, "author": ["x", "y"]})
    assert as_known(frame) == as_known(COUNTS) == as_known(frame.set_index("site"))
    assert as_known(as_known(COUNTS)) == as_known(COUNTS)
    assert as_known(None) == ()


def test_what_is_not_a_number_is_not_known():
    nothing = [np.nan, np.nan]
    more = {**COUNTS, "calibration_slope": nothing, "slope_lower": nothing, "slope_upper": nothing}
    assert as_known(more) == as_known(COUNTS)
    frame = pd.DataFrame({**COUNTS, "ci_prob": pd.array([None, None], "Float64")})
    assert as_known(frame.convert_dtypes()) == as_known(COUNTS)
    assert as_known({**COUNTS, "lower": [None, pd.NA]}) == as_known(COUNTS)


def test_a_ratio_is_read_on_the_logarithmic_scale():
    (site,) = as_known(RATIO)
    law = site.observed_expected
    assert law.is_log
    assert law.mean == pytest.approx(np.log(1.2))
    assert law.error == pytest.approx(np.log(1.44) / (2 * 1.959964), rel=1e-6)


@pytest.mark.parametrize(
    ("ends", "is_log"), [((0.6, 1.0), False), ((0.4, 1.6), True), ((-0.1, 1.7), False)]
)
def test_a_slope_is_read_on_the_scale_on_which_its_interval_is_even(ends, is_log):
    (site,) = as_known({**SLOPE, "slope_lower": [ends[0]], "slope_upper": [ends[1]]})
    assert site.calibration_slope.is_log == is_log


def test_other_levels_of_intervals():
    (wide,), (narrow,) = as_known(RATIO), as_known({**RATIO, "ci_prob": [0.9]})
    factor = narrow.observed_expected.error / wide.observed_expected.error
    assert factor == pytest.approx(1.959964 / 1.644854, rel=1e-6)


def test_a_description_is_read_back():
    for known in (COUNTS, RATIO, SLOPE):
        for site in as_known(known):
            assert KnownSite.from_dict(site.to_dict()) == site


def test_scores_have_the_mean_risk_of_the_site():
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    pooled = prepare(y, s, random_state=1)
    (site, _) = as_known(COUNTS)
    data = scores_of_known(pooled, site)
    assert data.trials @ data.score / data.n == pytest.approx(5 / 40)
    assert data.events == 0
    moved = logit(data.score) - logit(pooled.table.score)
    assert np.ptp(moved) < 1e-9
    (unmoved,) = as_known(RATIO)
    np.testing.assert_array_equal(scores_of_known(pooled, unmoved).score, pooled.data.score)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (3, "known must be a pandas DataFrame or a mapping"),
        ({"observed": [1]}, "known has no 'site'"),
        ({"site": ["A"], "events": [1]}, "known has none of the columns"),
        ({**COUNTS, "site": ["A", None]}, "label of row 1 of known is missing"),
        ({**COUNTS, "site": ["A", "A"]}, "two rows of the site 'A'"),
        ({**COUNTS, "site": ["A", "north"]}, "'north' of known is among the groups"),
        ({**COUNTS, "n": [40]}, r"known\['n'\] has 1 values for 2 sites"),
        ({**COUNTS, "n": ["many", "few"]}, r"known\['n'\]\[0\] is .*'many'"),
        ({**COUNTS, "n": [40, np.nan]}, "n of the site 'B' in known is missing"),
        ({**COUNTS, "n": [40, np.inf]}, "n of the site 'B' in known is infinite"),
        ({**COUNTS, "n": [40, 0]}, "at least one patient"),
        ({**COUNTS, "expected": [0, 6]}, "expected of the site 'A' in known is 0"),
        ({**COUNTS, "expected": [5, 60]}, "expected of the site 'B' in known is 60"),
        ({**COUNTS, "observed": [4, 51]}, "observed of the site 'B' in known is 51"),
        ({**COUNTS, "observed": [-1, 9]}, "observed of the site 'A' in known is -1"),
        (
            {**RATIO, "observed_expected": [np.nan]},
            "observed_expected of the site 'A'.* is missing",
        ),
        ({**RATIO, "lower": [1.3]}, "must ascend"),
        ({**RATIO, "lower": [1.5], "upper": [1.0]}, "must ascend"),
        ({**RATIO, "lower": [0.0]}, "a ratio is positive"),
        ({**RATIO, "ci_prob": [95]}, "ci_prob of the site 'A' in known is 95"),
        ({**SLOPE, "slope_upper": [np.nan]}, "slope_upper of the site 'A' in known is missing"),
        ({**RATIO, "observed": [4], "expected": [5], "n": [40]}, "say the same twice"),
        ({"site": ["A"], "expected": [5], "n": [40], "observed": [np.nan]}, "nothing is known"),
    ],
)
def test_errors_teach(known, message):
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    groups = np.resize(["north", "south"], 60)
    with pytest.raises(InputError, match=message):
        bc.fit(y, s, site=groups, known=known, curve="logistic")


def test_summaries_alone_need_scores():
    with pytest.raises(InputError, match="y_prob is None"):
        bc.fit(None, known=COUNTS)
    with pytest.raises(InputError, match="y_true is None"):
        bc.fit(None, [0.2, 0.3])
    with pytest.raises(InputError, match="site was given without outcomes"):
        bc.fit(None, [0.2, 0.3], site=["a", "b"], known=COUNTS)


def test_the_mean_score_of_a_site_is_that_of_the_scores_as_they_came_in():
    """Scores of 0 and 1, which a fit moves inside, count as 0 and 1 among expected events."""
    score = np.repeat([0.0, 0.4, 1.0], 100)
    data = bc.CalibrationData(np.resize([0, 1], 300), score, site=np.repeat(["B", "C", "D"], 100))
    problem = prepare_terms(data, prior="neutral", known=RATIO, curve="logistic", random_state=1)
    assert problem.pooled.edges.moved > 0
    assert problem.summaries["A"].mean_score == pytest.approx(score.mean(), abs=1e-9)
