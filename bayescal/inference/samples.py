"""Draws and evidence of each family on one table, drawn when they are first asked for and kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bayescal.core.sampling import Sample
from bayescal.inference.density import sample_importance
from bayescal.inference.pieces import sample_pieces
from bayescal.inference.saturated import sample_saturated
from bayescal.model.curves import NEAR
from bayescal.model.mixture import on_scores, problem_of
from bayescal.model.pieces import OFTEN_CALIBRATED
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem
from bayescal.model.saturated.family import SATURATED, SOME_RISKS_EXACT

__all__ = ["FamilySamples"]

POINTS_OF_FAMILY = 2048
"""Of each family. Against eight times as many, the mean of TCE differs by .013 posterior standard
deviations and its upper end by .062; half as many cost hardly less, since stretches cost most."""

FEW_POINTS_OF_FAMILY = 512
"""Of `near`, whose two coordinates are nearly normal."""

OWN_PRIOR = (NEAR, "pieces", SATURATED.name)
"""Families that every prior leaves as they are."""


class FamilySamples(Mapping[str, Sample]):
    """Samples of families by name, none of them drawn twice.

    Parameters
    ----------
    problem : Problem
        Of the average: one set of knots and cells for all families.
    names : sequence of str
        The families asked for, in order; see `on_scores`.
    """

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        self.problem = problem
        self._names = tuple(on_scores(dict.fromkeys(names, 0.0), problem))
        self._drawn: dict[str, Sample] = {}
        self._relatives = [self]

    def __getitem__(self, name: str) -> Sample:
        if name not in self._drawn:
            self._drawn[name] = self._sampled(name)
        return self._drawn[name]

    def _sampled(self, name: str) -> Sample:
        problem = problem_of(name, self.problem)
        if name == "pieces":
            return sample_pieces(problem, POINTS_OF_FAMILY, (OFTEN_CALIBRATED,))[0]
        if name == SATURATED.name:
            return sample_saturated(problem, POINTS_OF_FAMILY, (SOME_RISKS_EXACT,))[0]
        return sample_importance(
            problem, FEW_POINTS_OF_FAMILY if name == NEAR else POINTS_OF_FAMILY
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def draw_all(self) -> FamilySamples:
        """The same, with every family drawn now."""
        for name in self:
            self[name]
        return self

    def under(self, prior: Prior) -> FamilySamples:
        """The same families under another prior, made once for each prior.

        Those whose prior is their own are shared.
        """
        for relative in self._relatives:
            if relative.problem.prior == prior:
                return relative
        other = FamilySamples(self.problem.with_prior(prior), self._names)
        other._relatives = self._relatives
        self._relatives.append(other)
        for name in OWN_PRIOR:
            if name in self._drawn:
                other._drawn[name] = self._drawn[name]
        return other

    def nearer_edges(self, factor: float) -> FamilySamples:
        """The same families with scores of 0 and 1 read this many times nearer to certainty."""
        problem = self.problem.with_edges(self.problem.edges.nearer(factor))
        return FamilySamples(problem, self._names)
