"""Log posterior of a curve before a sudden change, and of the change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.newton import by_differences, maximise
from bayescal._base.sampling.importance import Sample, importance_sample
from bayescal.inference.density import CurveDensity
from bayescal.multilevel.drift.problem import DriftProblem
from bayescal.multilevel.factorised.likelihood import MOST_OFF

__all__ = ["sample_changes"]


class ChangeDensity:
    """Log density of the curve before a change, and of the change of its coordinates.

    Parameters
    ----------
    problem : DriftProblem
    before, after : CurveDensity
        Of the periods before and after.
    """

    def __init__(self, problem: DriftProblem, before: CurveDensity, after: CurveDensity) -> None:
        self.before, self.after = before, after
        self.columns, self.laws = problem.columns, list(problem.change_prior.values())
        self.size = problem.pooled.curve.size

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, d + r)."""
        u = np.clip(points[:, : self.size], -MOST_OFF, MOST_OFF)
        density = self.before(u) + self.after.log_likelihood(self.curve_after(points))
        for column, law in enumerate(self.laws, self.size):
            density += law.logpdf(points[:, column])
        return density

    def curve_after(self, points: Floats) -> Floats:
        """Coordinates after the change, of shape (n, d)."""
        after = points[:, : self.size].copy()
        after[:, self.columns] += points[:, self.size :]
        return np.clip(after, -MOST_OFF, MOST_OFF)


def sample_changes(problem: DriftProblem, draws: int) -> list[Sample]:
    """Draws for a sudden change into each period but the first.

    Parameters
    ----------
    problem : DriftProblem
    draws : int

    Returns
    -------
    list of Sample
        Its draws, of shape (draws, 2 d), have the coordinates before the change and after it.
    """
    tables = [each.data for each in problem.tables.values()]
    before, after = tables[:1], tables[:0:-1][:1]
    for table in tables[1:-1]:
        before.append(before[-1] + table)
    for table in tables[-2:0:-1]:
        after.append(after[-1] + table)
    samples, start = [], np.zeros(problem.pooled.curve.size + len(problem.columns))
    for period, (first, second) in enumerate(zip(before, after[::-1], strict=True), 1):
        parts = [CurveDensity(replace(problem.pooled, data=data)) for data in (first, second)]
        density = ChangeDensity(problem, *parts)
        mode = maximise(by_differences(density), start, tolerance=1e-3, longest=1.0)
        rng = problem.pooled.rng(f"change into period {period}")
        sample = importance_sample(density, mode, draws, rng)
        points = np.column_stack(
            [sample.draws[:, : density.size], density.curve_after(sample.draws)]
        )
        samples.append(replace(sample, draws=points))
    return samples
