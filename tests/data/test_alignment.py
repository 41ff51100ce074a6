"""Arrays that do not line up, and values that are not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

N = 40
RNG = np.random.default_rng(0)
SCORE = pd.Series(RNG.random(N))
EVENT = (RNG.random(N) < SCORE).astype(int)
SHUFFLED = pd.Series(RNG.integers(1, 4, N)).sample(frac=1, random_state=1)
MASKED = np.ma.masked_array(np.ones(N), mask=[False] * 7 + [True] + [False] * (N - 8))

WEIGHTED = {
    "fit": lambda w: bc.fit(EVENT, SCORE, sample_weight=w),
    "compare": lambda w: bc.compare(EVENT, SCORE, sample_weight=w),
    "ece": lambda w: bc.estimators.ece(EVENT, SCORE, sample_weight=w),
    "brier_score": lambda w: bc.scores.brier_score(EVENT, SCORE, sample_weight=w),
    "recalibrator": lambda w: bc.recalibrate.LogisticRecalibrator().fit(SCORE, EVENT, w),
    "gain": lambda w: bc.recalibration_gain(EVENT, SCORE, SCORE**1.2, sample_weight=w),
    "cross_fit": lambda w: bc.cross_fit(
        EVENT, SCORE, bc.recalibrate.LogisticRecalibrator(), sample_weight=w
    ),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_shuffled_weights_are_refused(name) -> None:
    with pytest.raises(InputError, match=r"sample_weight have the same index labels in different"):
        WEIGHTED[name](SHUFFLED)


@pytest.mark.parametrize("name", WEIGHTED)
def test_masked_weights_are_refused(name) -> None:
    with pytest.raises(InputError, match=r"sample_weight\[7\] is masked"):
        WEIGHTED[name](MASKED)


def test_labels_of_mixed_types_are_compared() -> None:
    mixed = EVENT.set_axis([1, "a"] * (N // 2))
    assert bc.fit(mixed, SCORE, random_state=0).data.n == N
    with pytest.raises(InputError, match="different orders"):
        bc.fit(mixed, SCORE.set_axis(["a", 1] * (N // 2)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (SHUFFLED, "y_true and groups have the same index labels"),
        ([np.nan, *["a"] * (N - 1)], r"groups\[0\] is missing"),
        (["a", None, *["a"] * (N - 2)], r"groups\[1\] is missing"),
        (pd.Series([pd.NA, *["a"] * (N - 1)], dtype="string"), r"groups\[0\] is missing"),
        (pd.Series([pd.NaT] * N), r"groups\[0\] is missing"),
        (MASKED, r"groups\[7\] is masked"),
    ],
)
def test_groups_without_a_name_are_refused(groups, message) -> None:
    with pytest.raises(InputError, match=message):
        bc.CalibrationData(EVENT, SCORE, groups=groups)


def test_a_group_may_be_called_nan() -> None:
    assert bc.CalibrationData(EVENT, SCORE, groups=["nan", *["a"] * (N - 1)]).groups == ("a", "nan")


@pytest.mark.parametrize("scores", [np.ma.masked_array(SCORE, mask=SCORE > 0.9), [10**400] * N])
def test_scores_that_are_no_numbers_are_refused_in_a_line(scores) -> None:
    with pytest.raises(InputError, match="y_prob") as error:
        bc.fit(EVENT, scores)
    assert len(str(error.value)) < 250
