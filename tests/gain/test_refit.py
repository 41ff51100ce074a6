"""Refits on weighted cases."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.data.doors import Given
from bayescal.gain.paired import as_paired, of_neighbours
from bayescal.gain.routes import Refit, _Side
from bayescal.model.priors import as_prior


@pytest.mark.parametrize("n", [30, 60, 400])
def test_the_weighted_fit_is_the_posterior_mode_of_repeated_cases(patients, n):
    y, s = (values[:n] for values in patients)
    prior = as_prior({"centre": 0.4})  # weights do not move it
    refit = Refit(bc.CalibrationData(y, s), prior)
    table, n = refit.problem, refit.problem.score.size
    rng = np.random.default_rng(0)
    trials = rng.integers(1, 12, (5, n)) * table.trials
    hits = rng.binomial(trials.astype(int), table.hits / table.trials).astype(float)
    curves = refit.curves(trials, hits)
    for count, events, curve in zip(trials, hits, curves, strict=True):
        again = Refit(bc.CalibrationData.from_counts(table.score, count, events), prior)
        np.testing.assert_allclose(curve, again.at(again.start[None])[0], atol=1e-6)


def test_where_the_other_side_is_exact_rows_of_cases_expect_its_very_events(monkeypatch):
    """Cases of a row have different predictions on the other side, and none stands for all."""
    monkeypatch.setattr("bayescal.gain.paired.MOST_SINGLE", 100)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 2000, random_state=2)
    s = s.round(2).clip(0.01, 0.99)
    other = np.clip(s + np.random.default_rng(0).uniform(-0.1, 0.1, s.size), 0.01, 0.99)
    pairs = as_paired(Given(y, s), other)
    alike = of_neighbours(pairs, ())
    assert alike.trials.size < 1000
    side = _Side(pairs, alike, s, pairs.table_before, as_prior("neutral"), (), other)
    assert (side.by_other @ alike.trials).sum() == pytest.approx(other.sum(), rel=1e-12)


def test_rows_of_many_cases_gain_what_single_cases_do(monkeypatch):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 2000, random_state=2)
    after, options = (0.3 + 0.5 * s).round(2), {"route": "paired", "draws": 400, "random_state": 1}
    alone = bc.recalibration_gain(y, s.round(2), after, **options).summary()
    monkeypatch.setattr("bayescal.gain.paired.MOST_SINGLE", 100)
    together = bc.recalibration_gain(y, s.round(2), after, **options).summary()
    spread = (alone["upper"] - alone["lower"]) / 4
    assert ((together["mean"] - alone["mean"]).abs() < 0.3 * spread).all()
