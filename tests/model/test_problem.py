"""The problem: a table as the model reads it, prepared in one way for whoever fits a curve."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import CurveDensity
from bayescal.model.cells import MOST_ROWS
from bayescal.model.curves import CURVES
from bayescal.model.priors import PRESETS
from bayescal.model.problem import Problem, prepare
from bayescal.model.rows import every_row, merged_rows

CASES = [0, 1, 1, 0, 1, 0], [0.0, 0.4, 1.0, 0.3, 0.4, 0.7]


def grouped():
    return bc.CalibrationData(*CASES, site=["a", "b", "a", "b", "a", "b"])


@pytest.mark.parametrize("door", [bc.compare, prepare])
def test_every_door_of_one_curve_refuses_a_table_of_several_groups(door):
    with pytest.raises(InputError, match=r"holds 2 groups .*data.select\(site='a'\)"):
        door(grouped())


def test_it_reads_scores_inside_the_unit_interval():
    problem = prepare(*CASES, random_state=0)
    np.testing.assert_allclose(problem.score, [0.075, 0.3, 0.4, 0.7, 0.925])
    np.testing.assert_allclose(problem.log_odds, logit(problem.score))
    np.testing.assert_allclose(problem.trials, [1, 1, 2, 1, 1])
    np.testing.assert_allclose(problem.hits, [0, 0, 2, 0, 1])
    nearer = problem.with_edges(problem.edges.nearer(10))
    np.testing.assert_allclose(nearer.score[[0, -1]], [0.0075, 0.9925])
    assert nearer.score[1] == problem.score[1]


def test_sampling_weights_count_as_the_effective_number_of_cases():
    weight = np.array([0.5, 1.5, 2.5, 1.0, 0.7, 3.1])
    problem = prepare(*CASES, sample_weight=weight, random_state=0)
    assert problem.n == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert problem.hits.sum() / problem.n == pytest.approx(weight[[1, 2, 4]].sum() / weight.sum())
    again = prepare(*CASES, sample_weight=np.pi * weight, random_state=0)
    np.testing.assert_allclose(again.trials, problem.trials)


def test_another_prior_has_its_own_centre_and_the_same_scores():
    problem = prepare(*CASES, curve="spline", prior={"centre": 0.5}, random_state=0)
    clinical = problem.with_prior(PRESETS["clinical"])
    assert clinical == prepare(*CASES, curve="spline", prior="clinical", random_state=0)
    assert clinical.frame.centre == pytest.approx(
        1 / (1 + np.exp(-np.average(problem.log_odds, weights=problem.trials)))
    )
    assert problem.frame.centre == 0.5


def test_of_family_keeps_the_constants():
    spline = prepare(*CASES, curve="spline", random_state=0)
    beta = spline.of_family(bc.curves.CURVES["beta"])
    assert beta.frame == spline.frame
    assert beta.curve.name == "beta"


def test_it_is_read_back_from_attributes():
    problem = prepare(*CASES, curve="pieces", prior="clinical", random_state=3)
    assert Problem.from_attributes(problem.to_attributes(), problem.data) == problem


def test_scores_are_moved_inside_in_one_place():
    package = Path(bc.__file__).parent
    lines = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text().splitlines()
        if "edges.inside(" in line
    ]
    assert lines == ["model/problem.py: return self.edges.inside(scores)"]


@pytest.fixture(params=["clinical-low-asymmetric", "D1"])
def merged(request):
    return prepare(*bc.simulate.sample(request.param, 1500, random_state=3), random_state=0)


def test_merged_rows_add_up_to_the_table(merged):
    assert merged.score.size <= MOST_ROWS[0] < merged.data.score.size
    assert (np.diff(merged.score) > 0).all()
    assert merged.trials.sum() == merged.data.n
    assert merged.hits.sum() == merged.data.events
    total = merged.trials @ merged.score
    assert total == pytest.approx(merged.table.trials @ merged.table.score, rel=1e-12)


def test_few_rows_are_not_merged():
    problem = prepare(*bc.simulate.sample("D1", MOST_ROWS[0], random_state=3), random_state=0)
    np.testing.assert_array_equal(problem.score, problem.table.score)


def test_merging_does_not_depend_on_outcomes(merged):
    data = merged.data
    other = bc.CalibrationData.from_counts(data.score, data.trials, data.trials - data.hits)
    np.testing.assert_array_equal(prepare(other, random_state=0).score, merged.score)


def test_merging_mirrors(merged):
    data = merged.data
    mirrored = bc.CalibrationData.from_counts(1 - data.score, data.trials, data.hits)
    other = prepare(mirrored, random_state=0)
    np.testing.assert_allclose(other.score, 1 - merged.score[::-1], atol=1e-14)
    np.testing.assert_array_equal(other.trials, merged.trials[::-1])


def test_merging_hardly_moves_the_likelihood(merged):
    """Against every row by itself: where the posterior is, and how high."""
    every = every_row(merged)
    rows = merged_rows(merged, every)
    assert rows.size == merged.score.size < every.size
    modes = [CurveDensity(merged, rows=each).mode() for each in (rows, every)]
    sd = np.sqrt(np.diag(np.linalg.inv(modes[1].information)))
    assert (np.abs(modes[0].point - modes[1].point) < 0.005 * sd).all()
    assert modes[0].value == pytest.approx(modes[1].value, abs=0.02)


def test_families_and_priors_share_what_is_read_off_the_table():
    y, p = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    problem = prepare(y, p, curve="beta", random_state=0)
    other = problem.with_prior(PRESETS["clinical"]).of_family(CURVES["logistic"])
    assert other.table is problem.table
    assert other.rule("hits", 8) is problem.rule("hits", 8)
    nodes, weight = problem.rule("misses", 8)
    misses = problem.table.trials - problem.table.hits
    assert weight.sum() == pytest.approx(misses.sum())
    assert weight @ nodes**3 == pytest.approx(misses @ logit(problem.table.score) ** 3)


def test_other_edges_share_nothing():
    problem = prepare([0, 1, 1, 0], [0.0, 0.7, 1.0, 0.2], random_state=0)
    problem.rule("trials", 2)
    nearer = problem.with_edges(problem.edges.nearer(10))
    assert nearer.table.score[0] < problem.table.score[0]
    assert nearer.rule("trials", 2)[0][0] < problem.rule("trials", 2)[0][0]
