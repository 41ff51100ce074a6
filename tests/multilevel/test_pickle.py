"""Posteriors of several curves can be pickled, also when they were read before."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayescal as bc

Y, P = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=3)
GROUP = np.arange(150) % 3
FITS: dict[str, dict[str, Any]] = {
    "sites": {"site": GROUP},
    "periods": {"period": GROUP},
    "factors": {"subgroup": {"a": GROUP, "b": np.arange(150) % 2}},
    "sites of imputations": {"site": GROUP, "imputation": np.array([P, P**1.1])},
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "sites": lambda post: post.average(),
    "periods": lambda post: post.now(),
    "factors": lambda post: post.at({"a": 1}),
    "sites of imputations": lambda post: post.new(),
}


@pytest.mark.parametrize("kind", FITS)
def test_posteriors_and_their_views_can_be_pickled_after_use(kind: str) -> None:
    scores = () if "imputation" in FITS[kind] else (P,)
    post = bc.fit(Y, *scores, curve="logistic", draws=100, random_state=1, **FITS[kind])
    view = VIEWS[kind](post)
    told, of_view = post.summary(), view.summary()
    again, view_again = pickle.loads(pickle.dumps(post)), pickle.loads(pickle.dumps(view))
    pd.testing.assert_frame_equal(again.summary(), told)
    pd.testing.assert_frame_equal(VIEWS[kind](again).summary(), of_view)
    pd.testing.assert_frame_equal(view_again.summary(), of_view)
    assert view_again.prob_calibrated == view.prob_calibrated
    assert view_again.tree.groups == view.tree.groups


@pytest.mark.slow
def test_answers_that_hold_such_posteriors_can_be_pickled() -> None:
    models = bc.compare_models(Y, {"a": P, "b": P**1.1}, draws=100, random_state=1)
    told = models.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(models)).summary(), told)
    of_sites = bc.compare_models(Y, {"a": P, "b": P**1.1}, site=GROUP, draws=100, random_state=1)
    told = of_sites.table("tce")
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(of_sites)).table("tce"), told)
    average = of_sites.average()
    told = average.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(average)).summary(), told)
    gain = bc.recalibration_gain(Y, P, P**1.1, site=GROUP, draws=100, random_state=1)
    told = gain.summary()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(gain)).summary(), told)
    a = bc.assess(Y, P, site=GROUP, draws=100, random_state=1)
    headline = a.headline()
    assert pickle.loads(pickle.dumps(a)).headline() == headline
