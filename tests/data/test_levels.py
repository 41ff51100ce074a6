"""Limits of how many thresholds and bands are computed at once."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import MOST_LEVELS, as_levels
from bayescal.errors import InputError

MANY = np.linspace(0.01, 0.99, MOST_LEVELS + 1)


def test_as_many_as_the_limit():
    assert as_levels(MANY[1:], "thresholds") == MANY[1:].tolist()


@pytest.mark.parametrize(
    "compute",
    [
        lambda post: bc.plots.net_benefit(post, MANY),
        lambda post: bc.plots.reliability(post, ci_probs=MANY),
        lambda post: post.net_benefit(MANY),
        lambda post: bc.assess(post.data, thresholds=MANY),
        lambda post: bc.simulate.truth("clinical-middle-calibrated").net_benefit(MANY),
    ],
)
def test_more_are_refused_by_name(compute):
    post = bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], curve="beta", random_state=0)
    with pytest.raises(InputError, match=r"(thresholds|ci_probs) holds 1,001 values"):
        compute(post)
