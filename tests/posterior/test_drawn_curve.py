"""The curve of an average as it is drawn: gradual and rising where nothing says otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.model.curve import CurveAtScores, Frame
from bayescal.model.pieces import PIECES
from bayescal.posterior.averaged.curve import moved_to

FRAME = Frame(0.5, cells=(-2.0, 0.0, 1.0, 3.0))


def simulated(n, curve):
    rng = np.random.default_rng(6)
    x = rng.normal(-0.3, 1.4, n)
    return (rng.random(n) < expit(curve(x))).astype(int), expit(x)


def test_a_curve_passes_from_the_middle_of_one_cell_to_that_of_the_next() -> None:
    u = np.array([[0.0, 0.8, 0.8, 0.0, 0.0, 0.0]])
    x = np.array([-1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
    at = CurveAtScores(PIECES.at(FRAME), expit(x), FRAME, np.array([False, False]))
    off = logit(at.probability(u)[0]) - x
    np.testing.assert_allclose(off, [0, 0, 0.2, 0.4, 0.6, 0.8, 0.8, 0.8, 0.8], atol=1e-12)
    jump = CurveAtScores(PIECES.at(FRAME), expit(x), FRAME, np.array([True, False]))
    np.testing.assert_array_equal(jump.probability(u), PIECES.probability(u, expit(x), FRAME))


def test_one_line_over_several_cells_stays_that_line() -> None:
    u = np.array([[0.3, 0.3, 0.3, -0.2, -0.2, -0.2]])
    score = expit(np.linspace(-2, 3, 50))
    at = CurveAtScores(PIECES.at(FRAME), score, FRAME, np.array([False, False]))
    np.testing.assert_allclose(at.probability(u), PIECES.probability(u, score, FRAME), rtol=1e-12)


def test_a_jump_is_probable_where_half_of_the_draws_jump() -> None:
    one, two = [0, 0.8, 0.8, 0, 0, 0], [0, 0, 0.5, 0, 0, 0]
    meets = [0, 0, -0.5, 0, 0, 0.5]  # a line that leaves the diagonal at log-odds 1
    draws = np.array([one, one, two, meets], dtype=float)
    np.testing.assert_array_equal(PIECES.jumps(draws, FRAME), [True, False])


@pytest.mark.parametrize(("size", "jumps"), [(0.0, 0), (1.8, 1)])
def test_improbable_jumps_are_drawn_gradually_and_probable_ones_as_jumps(size, jumps) -> None:
    post = bc.compare(
        *simulated(2000, lambda x: x - size * (x > 0.2)), draws=1000, random_state=1
    ).posterior
    edges = np.array(post.problem.frame.cells[1:-1])
    sides = expit(np.concatenate([edges - 1e-7, edges + 1e-7]))
    lower, upper = post.curve(sides).to_numpy().mean(axis=(0, 1)).reshape(2, -1)
    steps = np.abs(upper - lower) > 0.002
    assert steps.sum() == jumps
    if jumps:
        assert abs(edges[steps][0] - 0.2) < 0.15


def drawn_mean(post, score):
    return post.curve(score).to_numpy().reshape(-1, score.size).mean(axis=0)


def largest_fall(values):
    return (np.maximum.accumulate(values) - values).max()


def test_two_patients_at_the_end_make_no_hook() -> None:
    x = np.linspace(-4, 5, 150)
    y = (np.random.default_rng(4).random(150) < expit(x)).astype(int)
    y[-2:] = 0
    post = bc.compare(y, expit(x), draws=1000, random_state=1).posterior
    score = expit(np.linspace(-4, 5, 300))
    of_draws = post.problem.probability(post._drawn.u, score).mean(axis=0)
    assert largest_fall(of_draws) > 0.05
    assert largest_fall(drawn_mean(post, score)) < 1e-9
    assert drawn_mean(post, score)[-1] == pytest.approx(0.95, abs=0.02)


@pytest.mark.slow
def test_the_curve_of_a_random_group_rises_where_the_truth_does() -> None:
    rng, falls = np.random.default_rng(77), []
    truths = (lambda x: x, lambda x: 0.75 * x, lambda x: x + 0.35, lambda x: 1.2 * x - 0.2)
    for number in range(13):
        n = rng.integers(800, 2001)
        x, group = rng.normal(rng.uniform(-1.2, 0.4), 1.2, n), rng.integers(0, 4, n)
        y = (rng.random(n) < expit(truths[number % 4](x))).astype(int)
        for mine in (group == k for k in range(4)):
            s = expit(x[mine])
            post = bc.compare(y[mine], s, draws=400, random_state=1).posterior
            grid = np.linspace(0.005, 0.995, 200)
            grid = grid[(grid > s.min()) & (grid < s.max())]
            falls.append(largest_fall(drawn_mean(post, grid)))
    assert np.mean(np.array(falls) < 0.02) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("size", [-1.0, 1.0])
def test_a_true_jump_is_drawn_as_one(size) -> None:
    def truth(x):
        return x + size * (x > 0.2)

    post = bc.compare(*simulated(5000, truth), draws=1000, random_state=1).posterior
    sides = np.array([0.0, 0.4])
    true = np.diff(expit(truth(sides)))
    assert np.diff(drawn_mean(post, expit(sides))) == pytest.approx(true, rel=0.25)


def test_draws_on_the_diagonal_stay_and_the_others_have_the_mean() -> None:
    rng = np.random.default_rng(2)
    curves = expit(rng.normal(size=(200, 3)))
    curves[:80, 1], curves[:, 2] = 0.3, 0.3
    mean = np.array([0.6, 0.4, 0.9])
    moved = moved_to(mean, curves, np.full(3, 0.3))
    np.testing.assert_allclose(moved.mean(axis=0)[:2], mean[:2], atol=1e-6)
    np.testing.assert_array_equal(moved[:80, 1], 0.3)
    np.testing.assert_array_equal(moved[:, 2], 0.3)
    np.testing.assert_array_equal(np.argsort(moved[:, 0]), np.argsort(curves[:, 0]))


def test_the_band_is_as_wide_as_that_of_the_draws() -> None:
    post = bc.compare(
        *simulated(600, lambda x: x + 0.4 * np.sin(2 * x)), draws=1000, random_state=1
    ).posterior
    score = np.quantile(post.data.score, np.linspace(0.02, 0.98, 60))
    drawn = logit(post.curve(score).to_numpy().reshape(-1, score.size))
    plain = logit(post.problem.probability(post._drawn.u, score))
    np.testing.assert_allclose(np.std(drawn, axis=0), np.std(plain, axis=0), rtol=0.04)
    assert np.abs(drawn - plain).max() > 1e-3
    on = plain == logit(score)
    np.testing.assert_array_equal(drawn[on], plain[on])


def test_what_is_drawn_is_what_predicts() -> None:
    cases = simulated(600, lambda x: 0.7 * x)
    post = bc.compare(*cases, draws=1000, random_state=1).posterior
    (line,) = [
        line for line in bc.plots.reliability(post).lines if line.get_label() == "Posterior mean"
    ]
    score, drawn = line.get_data()
    predicted = post.predict(score).to_numpy().reshape(-1, score.size).mean(axis=0)
    np.testing.assert_array_equal(drawn, predicted)
    printed = bc.assess(*cases, draws=1000, random_state=1).curve_at(score)
    np.testing.assert_allclose(printed[:, 0], drawn, rtol=1e-12)
