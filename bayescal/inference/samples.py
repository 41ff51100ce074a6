"""Draws and evidence of each family on one table, drawn when they are first asked for and kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from bayescal.core.sampling import Sample
from bayescal.inference.density import sample_importance
from bayescal.inference.pieces import sample_pieces
from bayescal.inference.saturated import sample_saturated
from bayescal.model.curves import CURVES, Frame
from bayescal.model.mixture import MODEST_SCALE, RISKS, Component, families_on, modest_scale
from bayescal.model.pieces import OFTEN_CALIBRATED, RARELY_CALIBRATED
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem

__all__ = ["FamilySamples"]


class FamilySamples(Mapping[str, Sample]):
    """Samples of families by name, none of them drawn twice.

    Parameters
    ----------
    problem : Problem
        Of the average: one centre and one set of knots for all families.
    names : sequence of str
        The families asked for, in order; see `families_on`.
    draws : int
        Of each.
    """

    def __init__(self, problem: Problem, names: Sequence[str], draws: int) -> None:
        self.problem, self.draws = problem, draws
        self._names = families_on(problem, names)
        self._drawn: dict[str, Sample] = {}
        self._relatives = [self]

    def __getitem__(self, name: str) -> Sample:
        if name not in self._drawn:
            self._drawn[name] = (
                self._stretches[0]
                if name == "pieces"
                else sample_importance(self.problem.of_family(CURVES[name]), self.draws)
            )
        return self._drawn[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def draw_all(self) -> FamilySamples:
        """The same, with every family drawn now."""
        for name in self:
            self[name]
        return self

    @property
    def often_calibrated(self) -> Sample:
        """Stretches that are often calibrated; `pieces` by name are those that rarely are."""
        return self._stretches[1]

    def of(self, component: Component) -> Sample:
        """The sample of a component of an average."""
        if component.is_by_score and component.scale in self._by_score:
            return self._by_score[component.scale]
        if component.is_often:
            return self.often_calibrated
        return self.at(component)[component.family]

    def at(self, component: Component) -> FamilySamples:
        """The samples under the prior of a component."""
        return self._modest if component.scale == MODEST_SCALE else self

    @cached_property
    def _modest(self) -> FamilySamples:
        """The samples under the second prior of the smooth families."""
        return self.under(modest_scale(self.problem.prior))

    def under(self, prior: Prior) -> FamilySamples:
        """The same families under another prior, made once for each prior.

        The priors of stretches and of risks by score are their own, so that they are shared.
        """
        for relative in self._relatives:
            if relative.problem.prior == prior:
                return relative
        other = FamilySamples(self.problem.with_prior(prior), self._names, self.draws)
        other._stretches = self._stretches
        if self.problem.frame.scores:
            other._by_score = self._by_score
        other._relatives = self._relatives
        self._relatives.append(other)
        return other

    @property
    def frame(self) -> Frame:
        """The constants that they were drawn at."""
        return self.problem.frame

    def nearer_edges(self, factor: float) -> FamilySamples:
        """The same families with scores of 0 and 1 read this many times nearer to certainty."""
        problem = self.problem.with_edges(self.problem.edges.nearer(factor))
        return FamilySamples(problem, self._names, self.draws)

    @cached_property
    def _by_score(self) -> dict[str, Sample]:
        """Risks of single scores, by how often they are the scores."""
        drawn = sample_saturated(self.problem, self.draws, tuple(RISKS.values()))
        return dict(zip(RISKS, drawn, strict=True))

    @cached_property
    def _stretches(self) -> list[Sample]:
        priors = (RARELY_CALIBRATED, OFTEN_CALIBRATED)
        return sample_pieces(self.problem, self.draws, priors)
