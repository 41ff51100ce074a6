"""The lower bound of the true calibration error against its definition, and what it refuses."""

import numpy as np
import pytest
from scipy import stats

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference import lower_bound as module


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("D5", 300, random_state=3)


def test_signs_of_a_block_depend_on_the_blocks_before_it_alone(cases):
    data = bc.CalibrationData(*cases)
    entries, unit = module._in_blocks(data, 4, np.random.default_rng(1))
    assert unit == "case"
    assert entries.trials.sum() == 300
    assert np.bincount(entries.block, entries.trials).min() > 40
    other = np.where(entries.block == 2, entries.trials, entries.hits)
    changed = entries._replace(hits=other)
    one, two = (module._signs(data, each, 4, "spline", 1) for each in (entries, changed))
    assert (one[:, 0] == 0).all()
    np.testing.assert_array_equal(one[:, :3], two[:, :3])
    assert (one[:, 3] != two[:, 3]).any()


def test_it_is_the_mean_of_signed_errors_less_students_quantile(cases, monkeypatch):
    """With one sign for all cases, and no first block, it is the test of a mean."""
    y, s = cases
    monkeypatch.setattr(module, "_signs", lambda data, *_: -np.ones((data.score.size, 5)))
    monkeypatch.setattr(
        module,
        "_in_blocks",
        lambda data, blocks, rng: (
            module._Entries(
                np.arange(data.score.size),
                np.ones(data.score.size, int),
                data.trials,
                data.hits,
                None,
            ),
            "case",
        ),
    )
    bound = bc.tce_lower_bound(y, s, ci_prob=0.9, random_state=1)
    error = s - y
    assert bound.estimate == pytest.approx(error.mean(), abs=1e-12)
    ends = stats.t.interval(0.8, 299, error.mean(), error.std(ddof=1) / np.sqrt(300))
    assert bound.lower == pytest.approx(max(ends[0], 0), abs=1e-12)
    assert bound.units == 300


@pytest.mark.parametrize("kind", ["cluster", "site"])
def test_clusters_and_sites_stay_together(cases, kind):
    y, s = cases
    each = np.arange(300).astype(str)
    alone = bc.tce_lower_bound(y, s, random_state=1)
    twice = {kind: np.tile(each, 2)}
    doubled = bc.tce_lower_bound(np.tile(y, 2), np.tile(s, 2), random_state=1, **twice)
    assert doubled.unit == kind
    assert alone.unit == "case"
    assert doubled.units == 240
    assert alone.estimate - alone.lower == pytest.approx(doubled.estimate - doubled.lower, rel=0.25)
    naive = bc.tce_lower_bound(np.tile(y, 2), np.tile(s, 2), random_state=1)
    assert naive.estimate - naive.lower < 0.8 * (doubled.estimate - doubled.lower)


def test_it_finds_a_large_error_and_is_the_same_again(cases):
    bound = bc.tce_lower_bound(*cases, random_state=1)
    assert 0.15 < bound.lower < bc.simulate.truth("D5").tce()
    assert bound == bc.tce_lower_bound(bc.CalibrationData(*cases), random_state=1)
    assert bound.prob == 0.95
    wider = bc.tce_lower_bound(*cases, ci_prob=0.999, random_state=1)
    assert wider.lower < bound.lower
    assert wider.estimate == bound.estimate


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"ci_prob": 95}, "divide by 100"),
        ({"blocks": 1}, "blocks must be"),
        ({"cluster": ["a", "b"] * 150}, r"at least 10 clusters.*there are 2"),
        ({"site": ["a", "b", "c"] * 100}, r"at least 10 sites.*there are 3"),
        ({"cluster": list(range(300)), "site": ["a", "b"] * 150}, "clusters or sites"),
        ({"sample_weight": [0.5, 1.5] * 150}, "sampling weights"),
        ({"curve": "no curve"}, "curve"),
    ],
)
def test_it_refuses_what_has_no_independent_units(cases, keywords, match):
    with pytest.raises(InputError, match=match):
        bc.tce_lower_bound(*cases, **keywords)


def test_it_refuses_imputations_and_too_few_cases(cases):
    y, s = cases
    tables = [bc.CalibrationData(y, s), bc.CalibrationData(y, s**1.1)]
    with pytest.raises(InputError, match="each imputation"):
        bc.tce_lower_bound(bc.CalibrationData.from_imputations(tables))
    with pytest.raises(InputError, match=r"at least 10 cases.*there are 9"):
        bc.tce_lower_bound(y[:9], s[:9])


def test_scores_of_0_and_1_and_one_class_give_a_bound():
    y, s = np.zeros(40, int), np.resize([0.0, 0.5, 1.0, 0.9], 40)
    bound = bc.tce_lower_bound(y, s, random_state=1)
    assert 0 <= bound.lower <= bound.estimate <= 0.6 + 0.2


@pytest.mark.slow
def test_a_bound_of_calibrated_cases_is_seldom_above_zero():
    """In 40 sets of 300 it is above 0 in at most 7 (P < .005 at .05)."""
    truth = bc.simulate.truth("calibrated")
    sets = [truth.sample(300, np.random.default_rng([34, run])) for run in range(40)]
    bounds = [bc.tce_lower_bound(*each, random_state=run) for run, each in enumerate(sets)]
    assert sum(bound.lower > 0 for bound in bounds) <= 7
    binned = np.mean([bc.estimators.debiased_ece(*each, p=1) for each in sets])
    assert abs(np.mean([bound.estimate for bound in bounds])) < 0.01 < binned
