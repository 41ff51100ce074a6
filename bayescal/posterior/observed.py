"""What was observed, and what curves say of it: the groups of a tree that are by `obs`.

Up to 5000 cases are an observation each, as leave-one-out needs them; more, and those of sampling
weights and times to an event, are rows of cases with equal scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.told import cases_of_times
from bayescal.model.problem import Problem
from bayescal.model.pymc import MOST_CASES, cases_of_table

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Observed"]

OF_SINGLE_CASES = (
    "Of single cases, as if they were independent: leave-one-out of this group does not leave out "
    "whole clusters. bayescal.compare(...).loo does."
)
"""What the log likelihood of cases in clusters is not."""
# Draws that are on the diagonal, or the same draw many times, have equal likelihoods.
# `arviz_stats.loo` divides by a quartile of the largest weights less their smallest, which is then
# 0, and its answer was NaN in 3 of 4 data sets. With this the elpd of 400 cases is within .06 of
# that of ArviZ 0.23.
BESIDE_TIES, MOST_TIES = 1e-3, 8
"""Standard deviation of what is added to log likelihoods where more than so many are equal."""


class Observed:
    """The observations of one curve or of several, in the order of their scores, events first.

    The order does not depend on how many curves there are, so that leave-one-out compares them.

    Parameters
    ----------
    problems : sequence of Problem
        That of each curve.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        each = [cases_of_table(problem.data) for problem in self.problems]
        many = sum(problem.data.n for problem in self.problems) > MOST_CASES
        self.are_cases = not many and all(one is not None for one in each)
        self._rows: list[Any] = []
        for problem, cases in zip(self.problems, each, strict=True):
            if self.are_cases and cases is not None:
                self._rows.append((cases[0], np.ones(cases[0].size), cases[1]))
            else:
                table = problem.table
                self._rows.append((slice(None), table.trials, problem.data.hits))

        score = [p.data.score[row] for p, (row, *_) in zip(problems, self._rows, strict=True)]
        self._of_curve = np.repeat(np.arange(len(score)), [each.size for each in score])
        self._score = np.concatenate([np.empty(0), *score])
        events = np.concatenate([np.empty(0), *(each for *_, each in self._rows)])
        self._order = np.lexsort((-events, self._score))

    def data(self) -> dict[str, xr.Dataset]:
        """The groups observed_data and constant_data."""
        import xarray as xr

        coords = {"obs": np.arange(self._order.size)}
        trials, events = (
            np.concatenate([np.empty(0), *(rows[at] for rows in self._rows)])[self._order]
            for at in (1, 2)
        )
        given = {"score": ("obs", self._score[self._order]), "trials": ("obs", trials)}
        return {
            "observed_data": xr.Dataset({"y": ("obs", events)}, coords),
            "constant_data": xr.Dataset(given, coords),
        }

    def of_curve(self) -> NDArray[np.intp]:
        """Which curve each observation is of."""
        return self._of_curve[self._order]

    def predicted(self, draws: Sequence[Floats], chains: int, purpose: str) -> xr.Dataset:
        """Events drawn anew, given draws `u` of each curve."""
        each = []
        for problem, u, (row, trials, _) in zip(self.problems, draws, self._rows, strict=True):
            prob = expit(problem.curves_at(problem.data.score).log_odds(u))[:, row]
            rng = problem.rng(purpose)
            if self.are_cases:
                each.append((rng.random(prob.shape) < prob).astype(np.int8))
            else:
                cases = np.rint(trials).astype(np.int64)
                each.append(problem.likelihood.draw(rng, cases, prob).astype(np.int32))
        return _by_obs(np.concatenate(each, axis=1)[:, self._order], chains)

    def log_likelihood(self, draws: Sequence[Floats], chains: int) -> xr.Dataset | None:
        """Of each case; None where there is no such number.

        Of times to an event it is of each kind of case, `followed` by `kind`.
        """
        if not self.are_cases:
            (problem, *others), (u, *_) = self.problems, draws
            if others or problem.likelihood.is_linear or problem.data.n > MOST_CASES:
                return None
            return _by_obs(cases_of_times(problem, u)[0], chains, "followed", "kind")
        each = []
        for problem, u, (row, _, events) in zip(self.problems, draws, self._rows, strict=True):
            log_odds = problem.curves_at(problem.data.score).log_odds(u)
            event, other = (BINOMIAL.log_case(which, log_odds)[:, row] for which in (True, False))
            told = np.where(events == 1, event, other)
            if np.unique(told[:, 0], return_counts=True)[1].max() > MOST_TIES:
                told += BESIDE_TIES * problem.rng("ties").standard_normal(told.shape)
            each.append(told)
        by_case = _by_obs(np.concatenate(each, axis=1)[:, self._order], chains)
        clusters = [problem.data.clusters for problem in self.problems]
        if any(one is not None and not one.are_single for one in clusters):
            by_case.attrs["note"] = OF_SINGLE_CASES
        return by_case


def _by_obs(values: NDArray[Any], chains: int, name: str = "y", dim: str = "obs") -> xr.Dataset:
    import xarray as xr

    shaped = values.reshape(chains, -1, values.shape[1])
    coords = {
        "chain": np.arange(chains),
        "draw": np.arange(shaped.shape[1]),
        dim: np.arange(values.shape[1]),
    }
    return xr.Dataset({name: (("chain", "draw", dim), shaped)}, coords)
