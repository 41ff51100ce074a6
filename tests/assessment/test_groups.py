"""What an assessment of groups refuses."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError


def test_a_prior_of_exact_calibration_is_refused_where_groups_have_their_own() -> None:
    y, s = bc.simulate.sample("calibrated", 90, random_state=1)
    three, two = np.resize(["A", "B", "C"], 90), np.resize(["A", "B"], 90)
    with pytest.raises(InputError, match=r"prior_calibrated=0\.3 was given with 3 groups"):
        bc.assess(y, s, groups=three, prior_calibrated=0.3)
    a = bc.assess(y, s, groups=two, prior_calibrated=0.3, draws=400, random_state=1)
    assert a.prior_calibrated == pytest.approx(0.3)


def test_a_diagnostic_that_is_not_defined_is_not_printed_as_nan(tmp_path):
    outcome, score, group = [0, 1, 0, 1], [0.0, 1, 1, 1], [0, 1, 2, 2]
    a = bc.assess(outcome, score, groups=group, edge=0.01, draws=200, random_state=1)
    a.to_html(tmp_path / "page.html")
    assert ">nan<" not in (tmp_path / "page.html").read_text("utf-8")
