"""What an assessment of groups refuses."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError


def test_a_prior_of_exact_calibration_is_refused_where_groups_have_their_own():
    y, s = bc.simulate.sample("calibrated", 90, random_state=1)
    three, two = np.resize(["A", "B", "C"], 90), np.resize(["A", "B"], 90)
    with pytest.raises(InputError, match=r"prior_calibrated=0\.3 was given with 3 groups"):
        bc.assess(y, s, site=three, prior_calibrated=0.3)
    a = bc.assess(y, s, site=two, prior_calibrated=0.3, draws=400, random_state=1)
    assert a.facts.prior_calibrated == pytest.approx(0.3)


@pytest.mark.slow
def test_a_diagnostic_that_is_not_defined_is_not_printed_as_nan(tmp_path):
    outcome, score, group = [0, 1, 0, 1], [0.0, 1, 1, 1], [0, 1, 2, 2]
    a = bc.assess(outcome, score, site=group, edge=0.01, draws=200, random_state=1)
    a.to_html(tmp_path / "page.html")
    assert ">nan<" not in (tmp_path / "page.html").read_text("utf-8")


def test_of_two_groups_the_one_that_is_off_is_named():
    y, s = bc.simulate.sample("calibrated", 600, random_state=1)
    group = np.resize(["as predicted", "more"], 600)
    more = (group == "more") & (np.random.default_rng(1).random(600) < 0.3)
    a = bc.assess(np.where(more, 1, y), s, site=group, draws=1000, random_state=1)
    told = " ".join(str(a).split())
    assert "Sites clearly off, in events for 100 predicted: more " in told
    assert "O/E (95 % interval)" in str(a.tables["groups"])


@pytest.mark.slow
def test_counts_of_groups_are_effective_cases_of_sampling_weights():
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    weight, group = np.where(y == 1, 1.0, 4.0), np.resize(["a", "b"], 300)
    options = {"weight_type": "sampling", "site": group, "draws": 500, "random_state": 1}
    shown = [bc.assess(y, s, sample_weight=k * weight, **options) for k in (1, 10)]
    first, second = (a.facts.by_group[["cases", "events"]].to_numpy(float) for a in shown)
    np.testing.assert_allclose(first, second)
    np.testing.assert_allclose(first[:, 0].sum(), shown[0].data.effective_size, rtol=0.05)
    assert "sampling weights worth" in repr(shown[0])
    assert repr(shown[0].posterior) == repr(shown[1].posterior)
