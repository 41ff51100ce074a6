"""Which update to make where curves differ: here, in the average site, and in the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayescal.core.text import chance
from bayescal.gain.updates.recommendation import Recommendation, recommendation
from bayescal.inference import CurveComparison
from bayescal.model.curves import CURVES
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.words import views_of
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SeveralRecommendations", "recommendations"]


@dataclass(frozen=True, repr=False)
class SeveralRecommendations(Recommendation):
    """Which update to make where curves differ between sites, periods or factors.

    Made by `bayescal.recommend` of cases in groups. It is the recommendation for all cases
    together. Updates are fitted to all cases, one for all groups. One fit of all groups says what
    each update gains in a group, in the average group and in one that has not been seen.

    Attributes
    ----------
    comparison : CurveComparison
        Of all cases as one table, whose families are the updates.
    post : MultilevelPosterior
        The curves of the groups.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> advice = bc.recommend(
    ...     y_true, y_prob, site=np.repeat(["A", "B", "C"], 200), random_state=1
    ... )
    >>> list(advice.by_curve().index)
    ['All cases', 'The average of 3 sites', 'A', 'B', 'C']
    """

    comparison: CurveComparison | None = None
    post: MultilevelPosterior | None = None

    def at(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> Recommendation:
        """The recommendation for cases with some levels, of updates fitted to all cases.

        Parameters
        ----------
        levels : mapping of str to str, optional
            As `MultilevelPosterior.at` takes them.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        Recommendation

        Raises
        ------
        InputError
            If there is no such level.
        """
        return self._of(self._several.at(levels, **by_name))

    def average(self) -> Recommendation:
        """The recommendation for the average site.

        Returns
        -------
        Recommendation
        """
        return self._of(self._several.average())

    def new(self, by: str | None = None) -> Recommendation:
        """The recommendation for a level that has not been seen: the next site or period.

        Parameters
        ----------
        by : str, optional
            What the level is of, as `MultilevelPosterior.new` takes it.

        Returns
        -------
        Recommendation

        Raises
        ------
        InputError
            If there is no such axis.
        """
        return self._of(self._several.new(by))

    def by_curve(self) -> pd.DataFrame:
        """What is recommended for all cases, for the average, for the next, and for each level.

        Returns
        -------
        pandas.DataFrame
            Index: all cases, the average, and of five sites or more the next; then the levels.
            Columns: `choice`, the update recommended there; and for the update that is recommended
            for all cases the `gain` there per patient, by the measure that decides, its `lower` and
            `upper` end, and `prob_better`, the probability that it is better than no update there.
            Of no update these are of the one that is most probably better in all cases.
        """
        import pandas as pd

        name, rows = self.asked, []
        views = [*views_of(self._several).values(), *self._levels]
        for view in views:
            advice = self._of(view)
            row = advice.table.loc[name]
            numbers = {end: row[f"{self.measure}_{end}"] for end in ("gain", "lower", "upper")}
            rows.append({"choice": advice.choice, **numbers, "prob_better": row["prob_better"]})
        table = pd.DataFrame(rows, pd.Index([view._title for view in views], name="curve"))
        table.attrs["update"] = name
        return table

    @property
    def asked(self) -> str:
        """The update that `by_curve` is about: the one recommended, or the most promising."""
        if self.choice not in (None, "identity"):
            return self.choice
        others = self.table.drop(index="identity")
        return str(others["prob_better"].idxmax())

    @property
    def answer(self) -> tuple[str, ...]:
        """As of any recommendation, and how probably it helps for others than these patients."""
        if self.choice in (None, "identity"):
            return super().answer
        _, *others = views_of(self._several).items()
        told = " and ".join(
            f"{chance(float(self._of(view).table['prob_better'][self.choice]))} in "
            f"{_named(name, view)}"
            for name, view in others
        )
        return *super().answer, f"To {CURVES[self.choice].update} helps with probability {told}."

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.choice!r}: {self})"

    @property
    def _several(self) -> MultilevelPosterior:
        assert self.post is not None  # given by `recommendations`
        return self.post

    @property
    def _levels(self) -> list[CalibrationPosterior]:
        return [self._several.at(part.levels) for part in self._several.parts()]

    def _of(self, view: CalibrationPosterior) -> Recommendation:
        assert self.comparison is not None  # given by `recommendations`
        return recommendation(self.comparison, self.thresholds, self.ci_prob, of=view)


def _named(name: str, view: CalibrationPosterior) -> str:
    """What a population is called in a sentence."""
    title = view._title if name == "now" else view._title[0].lower() + view._title[1:]
    return title


def recommendations(
    comparison: CurveComparison,
    post: MultilevelPosterior,
    thresholds: tuple[float, ...],
    ci_prob: float,
) -> SeveralRecommendations:
    """Recommend an update for all cases, which can be asked for each curve.

    Parameters
    ----------
    comparison : CurveComparison
        Of all cases as one table.
    post : MultilevelPosterior
        Of the same cases in their groups.
    """
    here = recommendation(comparison, thresholds, ci_prob, of=post.at())
    return SeveralRecommendations(**vars(here), comparison=comparison, post=post)
