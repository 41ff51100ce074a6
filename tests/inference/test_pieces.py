"""The family of curves made of stretches: its curve, its tree, and where it is on the diagonal."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import sample_pieces
from bayescal.model.curves import Frame
from bayescal.model.pieces import OFTEN_CALIBRATED, PIECES, PIECES_PRIOR
from bayescal.model.problem import prepare


def simulated(n=1500, seed=1, curve=lambda x: np.where(x > 0, x - 0.9, x)):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(-0.5, 1.3, n) / 0.05) * 0.05
    return (rng.random(n) < expit(curve(x))).astype(int), expit(x)


@pytest.fixture(scope="module")
def post():
    return bc.fit(*simulated(), curve="pieces", draws=2000, random_state=0)


def test_the_curve_is_gathered_from_its_cells():
    frame = Frame(0.5, cells=(-2.0, -0.5, 1.0, 3.0))
    curve = PIECES.at(frame)
    assert curve.size == 6
    u = np.array([[0.0, 0.4, -0.2, 0.0, 0.0, 0.3], [0.1, 0.0, 0.0, -0.5, 0.0, 0.0]])
    score = expit(np.array([-5.0, -0.7, 0.3, 0.9, 1.1, 8.0]))
    cell = np.array([0, 0, 1, 1, 2, 2])
    x = logit(score)
    within = np.clip(x, -2.0, 3.0)  # as far off beyond the cells as at their end
    by_hand = expit(x + u[:, :3][:, cell] + u[:, 3:][:, cell] * within)
    drawn = curve.probability(u, score, frame)
    np.testing.assert_allclose(drawn, by_hand, rtol=1e-12)
    np.testing.assert_array_equal(drawn[0, :2], score[:2])
    np.testing.assert_array_equal(drawn[1, 2:], score[2:])
    np.testing.assert_array_equal(drawn, curve.probability(u, np.tile(score, (2, 1)), frame))


def test_draws_on_the_diagonal_are_the_score_bit_for_bit(post):
    score = np.random.default_rng(0).uniform(0.001, 0.999, 300)
    same = (post.curve(score).to_numpy() == score).mean(axis=(0, 1))
    np.testing.assert_array_equal(same, post.prob_on_diagonal(score).to_numpy())
    assert same.max() > 0.2


def test_it_says_where_the_model_is_off(post):
    on = post.prob_on_diagonal([0.2, 0.4, 0.7])
    assert (on[:2] > 0.5).all()
    assert on[2] < 0.05
    of_data = post.prob_on_diagonal()
    np.testing.assert_array_equal(of_data.score, post.data.score)
    curve = post.curve([0.2, 0.7]).mean(("chain", "draw"))
    np.testing.assert_allclose(curve, [0.2, expit(logit(0.7) - 0.9)], atol=0.05)
    with pytest.raises(InputError, match="curve='pieces'"):
        bc.fit([0, 1, 1], [0.1, 0.4, 0.8], curve="beta", random_state=0).prob_on_diagonal()


def test_the_tree_has_a_variable_each_by_cell(post, tmp_path):
    drawn = post.tree["posterior"].to_dataset()
    cells = len(post.problem.frame.cells) - 1
    for name in ("cell_shift", "cell_slope", "cell_type"):
        assert drawn[name].dims == ("chain", "draw", "cell")
        assert drawn[name].sizes["cell"] == cells
    shift, slope, kind = (
        drawn[name].to_numpy() for name in ("cell_shift", "cell_slope", "cell_type")
    )
    np.testing.assert_array_equal(kind == 0, (shift == 0) & (slope == 0))
    np.testing.assert_array_equal(kind == 2, slope != 0)
    prior = post.tree["prior"].to_dataset()
    assert prior["cell_shift"].dims == ("chain", "draw", "cell")
    post.to_netcdf(tmp_path / "pieces.nc")
    again = bc.load(tmp_path / "pieces.nc")
    np.testing.assert_array_equal(again.curve(), post.curve())
    assert again.problem == post.problem
    assert again.interval() == post.interval()


def test_it_has_no_pymc_form():
    y, s = simulated(60)
    with pytest.raises(InputError, match="exact sum over partitions"):
        bc.build_model(y, s, curve="pieces")
    with pytest.raises(InputError, match="exact sum over partitions"):
        bc.fit(y, s, curve="pieces", engine="nuts")


def test_cells_never_depend_on_outcomes():
    y, s = simulated(400)
    one, other = (prepare(outcome, s, curve=PIECES, random_state=0) for outcome in (y, 1 - y))
    assert one.frame == other.frame


@pytest.mark.slow
@given(order=st.randoms(use_true_random=False))
def test_order_and_weights_change_nothing(order):
    y, s = simulated(120)
    shuffled = np.array(order.sample(range(120), 120))
    here = bc.fit(y, s, curve="pieces", draws=100, random_state=0)
    there = bc.fit(y[shuffled], s[shuffled], curve="pieces", draws=100, random_state=0)
    np.testing.assert_array_equal(here.curve(), there.curve())
    twice = bc.fit(np.tile(y, 2), np.tile(s, 2), curve="pieces", draws=100, random_state=0)
    weight = np.full(120, 2)
    weighted = bc.fit(y, s, sample_weight=weight, curve="pieces", draws=100, random_state=0)
    np.testing.assert_array_equal(twice.curve(), weighted.curve())


def test_a_prior_of_more_calibration_has_more_draws_on_the_diagonal():
    problem = prepare(bc.CalibrationData(*simulated()), curve=PIECES, random_state=0)
    often, rarely = (type(PIECES_PRIOR)(rho=rho) for rho in ((0.5, 0.8), (0.02, 0.05)))
    on = [np.mean(sample_pieces(problem, 400, each).draws[:, :41] == 0) for each in (often, rarely)]
    assert on[0] > on[1] + 0.1


def test_it_can_be_compared_and_averaged():
    y, s = simulated()
    cmp = bc.compare(y, s, curves=("logistic", "pieces"), random_state=0, draws=1000)
    assert list(cmp.posterior_prob) == ["identity", "logistic", "pieces"]
    problem, _ = cmp.of_family("pieces")
    often = sample_pieces(problem, 400, OFTEN_CALIBRATED)
    assert cmp.log_evidence["pieces"] == pytest.approx(often.log_evidence)
    alone = bc.fit(y, s, curve="pieces", random_state=0, draws=1000)
    assert cmp.posterior_prob["pieces"] > 0.5
    family = cmp.posterior.tree["posterior"]["family"].to_numpy().ravel()
    of_pieces = cmp.posterior.curve([0.2, 0.7]).to_numpy().reshape(-1, 2)[family == 1]
    own = alone.curve([0.2, 0.7]).mean(("chain", "draw"))
    np.testing.assert_allclose(of_pieces.mean(axis=0), own, atol=0.01)
    assert (of_pieces[:, 0] == 0.2).any()
    assert "pieces" in cmp.table.index
    prior = cmp.posterior.functional("tce", group="prior")
    assert np.isfinite(prior).all()


@pytest.mark.parametrize("scores", [[0.3], [0.3, 0.6], [0.0, 1.0], [0.0, 0.2, 0.5, 0.9, 1.0]])
@pytest.mark.parametrize("events", ["none", "all", "some"])
def test_few_scores(scores, events):
    s = np.resize(scores, 40)
    y = {"none": np.zeros(40), "all": np.ones(40), "some": np.arange(40) % 3 == 0}[events]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.errors.EdgeWarning)
        post = bc.fit(y, s, curve="pieces", draws=400, random_state=0)
    assert np.isfinite(post.summary().to_numpy()).all()
    assert len(post.problem.frame.cells) - 1 <= len(scores)


def test_beyond_the_scores_a_curve_stays_as_far_off_as_at_the_last_of_them():
    y, s = simulated()
    post = bc.fit(y, s, curve="pieces", random_state=0, draws=400)
    low, high = s.min(), s.max()
    beyond = post.curve([low / 9, low, high, 1 - (1 - high) / 9]).to_numpy().reshape(-1, 4)
    off = logit(beyond) - logit([low / 9, low, high, 1 - (1 - high) / 9])
    np.testing.assert_allclose(off[:, 0], off[:, 1], atol=1e-9)
    np.testing.assert_allclose(off[:, 2], off[:, 3], atol=1e-9)
