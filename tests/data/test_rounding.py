"""Probabilities beyond 0 or 1 by rounding, at every door that reads some."""

import re

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError, ScoreWarning

RNG = np.random.default_rng(5)
SCORE = RNG.uniform(0.05, 0.95, 60).round(2)
OUTCOME = (RNG.random(60) < SCORE).astype(int)
ENDS = SCORE.copy()
ENDS[:2], OUTCOME[:2] = (0, 1), (0, 1)
DOORS = {
    "CalibrationData": lambda y, p: bc.CalibrationData(y, p).score,
    "fit": lambda y, p: bc.fit(y, p, curve="intercept", draws=200, random_state=1).tce().mean(),
    "ece": bc.estimators.ece,
    "ici": bc.estimators.ici,
    "brier_score": bc.scores.brier_score,
    "c_statistic": bc.scores.c_statistic,
    "isotonic": lambda y, p: bc.recalibrate.IsotonicRecalibrator().fit(p, y).transform(SCORE),
    "transform": lambda y, p: bc.recalibrate.IsotonicRecalibrator().fit(ENDS, y).transform(p),
    "from_counts": lambda y, p: bc.CalibrationData.from_counts(p, np.ones(60, int), y).score,
    "gain": lambda y, p: bc.recalibration_gain(
        y, SCORE, p, route="paired", draws=200, random_state=1
    ).summary()["mean"],
}


def with_ends(zero, one, kind=np.float64):
    score = ENDS.astype(kind)
    score[:2] = zero, one
    return score


@pytest.mark.parametrize(
    "score", [with_ends(-1e-17, 1.0000000000000002), with_ends(-1e-7, 1.0000001, np.float32)]
)
@pytest.mark.parametrize("door", DOORS)
def test_an_overshoot_by_rounding_is_set_to_the_end(door, score):
    expected = DOORS[door](OUTCOME, score.clip(0, 1))
    with pytest.warns(ScoreWarning, match=r"2 values of .* beyond 0 or 1 .* is rounding"):
        told = DOORS[door](OUTCOME, score)
    np.testing.assert_array_equal(told, expected)


@pytest.mark.parametrize("score", [with_ends(-2e-6, 1), with_ends(0, 1.000002)])
@pytest.mark.parametrize("door", DOORS)
def test_more_than_rounding_is_refused(door, score):
    with pytest.raises(InputError, match=r"is outside \[0, 1\]"):
        DOORS[door](OUTCOME, score)


@pytest.mark.parametrize(
    "door",
    [
        lambda y, m: bc.CalibrationData(y, m).score,
        bc.estimators.top_label_ece,
        bc.scores.brier_score,
        lambda y, m: bc.recalibrate.TemperatureRecalibrator().fit(m, y).transform(m.clip(0, 1)),
    ],
)
def test_a_matrix_that_a_softmax_rounded_has_one_note(door):
    matrix = RNG.dirichlet([1, 1, 1], 60)
    label = np.array([RNG.choice(3, p=row) for row in matrix])
    matrix[:2], label[:2] = [[1 + 2e-16, -1e-17, 0], [-1e-17, 0, 1]], (0, 2)
    expected = door(label, matrix.clip(0, 1))
    with pytest.warns(ScoreWarning, match="3 values of") as noted:
        told = door(label, matrix)
    np.testing.assert_array_equal(told, expected)
    assert len(noted) == 1


def test_the_note_points_at_the_line_of_the_user():
    with pytest.warns(ScoreWarning) as noted:
        bc.estimators.ece(OUTCOME, with_ends(0, 1 + 1e-9))
    assert noted[0].filename == __file__


def test_the_command_line_says_it_once(tmp_path, capfd):
    from bayescal.cli import main

    path = tmp_path / "cases.csv"
    rows = zip(OUTCOME, with_ends(-1e-17, 1 + 1e-9).tolist(), strict=True)
    path.write_text("died,risk\n" + "".join(f"{y},{p!r}\n" for y, p in rows))
    with pytest.raises(SystemExit, match="0"):
        main(["recalibrate", str(path)])
    told = re.sub(r"\s+", " ", capfd.readouterr().out)
    assert told.count("2 values of column 'risk' lie beyond 0 or 1 by at most 1e-09") == 1
