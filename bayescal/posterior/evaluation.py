"""Draws of a curve, evaluated: at scores, and over draws of the population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats
from bayescal.data.data import CalibrationData
from bayescal.model.problem import Settings
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws
from bayescal.posterior.one_sided import one_sided, sure_side
from bayescal.posterior.population import Population, draw_population

__all__ = ["Evaluation", "Wanted"]

FINE = expit(np.linspace(-27, 27, 1001))

Wanted = list[tuple[str, dict[str, Any]]]
"""Names of functionals, and the options of each."""


@dataclass(frozen=True)
class Evaluation:
    """Curves at any scores, and functionals of them over one stream of population draws.

    All functionals share the same draws of the population, and asking twice gives the same
    numbers.

    Attributes
    ----------
    settings : Settings
    data : CalibrationData
    u : ndarray of shape (draws, d)
        Working coordinates of the curves.
    averaged : bool
        Evaluate one curve instead, the mean of the draws, over every draw of the population.
    side : ndarray of shape (rows,), optional
        Evaluate the curves only where they are on this side of the diagonal, at the scores of the
        data: 1, -1, or 0 for nowhere.
    """

    settings: Settings
    data: CalibrationData
    u: Floats
    averaged: bool = False
    side: Floats | None = None
    _known: dict[tuple[Any, ...], Floats] = field(default_factory=dict, repr=False)

    def of_mean(self) -> Evaluation:
        """The mean of the curves, over the same draws of the population."""
        return replace(self, averaged=True, _known={})

    @cached_property
    def on_sure_side(self) -> Evaluation:
        """The curves where they lie on a side of the diagonal that is nearly sure.

        The side is judged by the draws that leave the diagonal somewhere.
        """
        error = self.curve(self.data.score) - self.settings.edges.inside(self.data.score)
        off = error[self.u.any(axis=1)]
        side = sure_side(off) if off.size else np.zeros(error.shape[1])
        return replace(self, side=side, _known={})

    def curve(self, score: Floats) -> Floats:
        """The curves at these scores, of shape (draws, scores)."""
        inside = self.settings.edges.inside(score)
        return self.settings.curve.probability(self.u, inside, self.settings.frame)

    def values(self, wanted: Wanted, population: str) -> dict[str, Floats]:
        """Functionals, each of shape (draws,); those computed before as they were then."""
        keys = {name: (name, *sorted(options.items()), population) for name, options in wanted}
        new = [(name, options) for name, options in wanted if keys[name] not in self._known]
        for kind in dict.fromkeys((population, "sample")):
            asked = [
                (name, options)
                for name, options in new
                if kind == ("sample" if FUNCTIONALS[name].on_sample else population)
            ]
            found = {keys[name]: np.empty(self.u.shape[0]) for name, _ in asked}
            for part, draws in self.draws(kind) if asked else ():
                for name, options in asked:
                    found[keys[name]][part] = FUNCTIONALS[name].compute(draws, **options)
            self._known.update(found)
        return {name: self._known[key] for name, key in keys.items()}

    def draws(self, population: str) -> Iterator[tuple[slice, CurveDraws]]:
        """The curves over their draws of the population, a block of draws at a time."""
        if self.averaged:
            yield from self._mean_draws(population)
            return
        for part, drawn in self._populations(population):
            u, frame = self.u[part], self.settings.frame
            curve = self.settings.curve.probability(u, drawn.score, frame)
            if self.side is not None:
                curve = one_sided(curve, drawn.score, self._side_at(drawn.score))
            yield part, CurveDraws(curve, drawn)

    def _side_at(self, score: Floats) -> Floats:
        """The side at any scores: that at the nearest score of the data."""
        assert self.side is not None
        own = logit(self.settings.edges.inside(self.data.score))
        between = (own[1:] + own[:-1]) / 2
        return np.asarray(self.side[np.searchsorted(between, logit(score))])

    def _mean_draws(self, population: str) -> Iterator[tuple[slice, CurveDraws]]:
        score = self.settings.edges.inside(self.data.score)
        if population == "beta":  # its scores are others in every draw
            score = np.union1d(score, FINE)
        mean = self.settings.curve.probability(self.u, score, self.settings.frame).mean(axis=0)
        for part, drawn in self._populations(population):
            curve = np.interp(logit(drawn.score), logit(score), mean)
            shape = (part.stop - part.start, curve.shape[-1])
            yield part, CurveDraws(np.broadcast_to(curve, shape), drawn)

    def _populations(self, population: str) -> Iterator[tuple[slice, Population]]:
        score = self.settings.edges.inside(self.data.score)
        trials = self.data.trials * self.data.weight_scale
        rng = self.settings.rng("population")
        return draw_population(population, score, trials, self.u.shape[0], rng)
