"""HierarchicalPosterior: the curves of several sites, of the average site and of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import blocks
from bayescal.core.errors import InputError, as_number, check_choice, check_type
from bayescal.core.text import chance, count, interval, shortened
from bayescal.multilevel.compared import OFF_BY, off_by, shares_of_worst
from bayescal.multilevel.curves import SELF_NAMED
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import LEAST_ROBUST, PROB_UNLIKE, clearly_unlike
from bayescal.multilevel.rows import beside_raw, known_of_group
from bayescal.multilevel.view import CurveView

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HierarchicalPosterior", "as_hierarchical"]

LEAST_OF_NEXT = 5
"""Groups from which on something is said of one that has not been seen."""
ROW_FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")


class HierarchicalPosterior(MultilevelPosterior):
    """Posterior of the calibration curves of several sites.

    Each site has a curve of its own, drawn towards the others as far as the data say that sites
    are alike. Measures have a dimension `site`. The average site and a site that has not been
    seen are views, and so is each site.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit` with groups.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> post = bc.fit(
    ...     y_true, y_prob, site=np.repeat(["A", "B", "C"], 200), curve="logistic", random_state=1
    ... )
    >>> post.labels
    ('A', 'B', 'C')
    >>> post.tce().dims
    ('chain', 'draw', 'site')
    """

    @staticmethod
    def _serves(problem: MultilevelProblem) -> bool:
        """Whether a fit of this problem is of this class."""
        return problem.terms[0].correlated

    def site(self, label: str) -> CurveView:
        """The posterior of one site's curve, which answers as any posterior does.

        Parameters
        ----------
        label : str
            One of `labels`.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there was no such site. `new_site` is of a site that has not been seen.
        """
        (axis,) = self.levels
        return self.at({axis: check_choice(label, self.labels, "label")})

    def average_site(self) -> CurveView:
        """The posterior of the curve of the average site, over the scores of all sites.

        It is the centre of the sites that are like each other: one that is unlike them does not
        move it. `at()` is of the cases of all sites together.

        Returns
        -------
        CalibrationPosterior
        """
        return self.average()

    def new_site(self, y_prob: ArrayLike | None = None) -> CurveView:
        """What a site that has not been seen will meet: `new`.

        Parameters
        ----------
        y_prob : array-like of shape (n,), optional
            Its scores; by default those of all patients.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        return self._new(None, y_prob, "y_prob")

    @cached_property
    def sites(self) -> pd.DataFrame:
        """One row a site: its own estimates, and those that the other sites have a part in.

        Returns
        -------
        pandas.DataFrame
            Index: site. Columns: cases, events (not a number where they are not known); for
            observed_expected and calibration_slope the `raw` estimate from the site alone (not a
            number where there is none), the posterior mean and its 95 % interval; for tce the
            estimate and interval; `prob_differs`, the probability that the site's curve is further
            than 0.05 from that of the average site, on average over the site's scores;
            `prob_worst`, that its TCE is the largest; and of robust effects `prob_unlike`.
        """
        import pandas as pd

        rows, errors = {}, []
        (axis,) = self.levels
        for label in self.labels:
            view = self._at({axis: label})  # not kept, with all that was evaluated
            known = known_of_group(self.problem, label, view)
            rows[label] = beside_raw(view, *known, ROW_FUNCTIONALS)
            rows[label]["prob_differs"] = self._share_off_average(view, OFF_BY)
            errors.append(view.values_of("tce"))
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("site")
        table["prob_worst"] = shares_of_worst(off_by(np.stack(errors), "tce"))
        if self.is_robust:
            table["prob_unlike"] = self.prob_unlike().to_numpy()
        return table

    @property
    def is_robust(self) -> bool:
        """Whether a site may be unlike the others."""
        return self._free.unlike is not None

    @property
    def is_of_few(self) -> bool:
        """Whether there are fewer than five groups, which say little of a new one."""
        return len(self.labels) < LEAST_OF_NEXT

    def prob_unlike(self) -> pd.Series:
        """Probability that a site is unlike the others.

        A site is like the others, or unlike them in both its shift and its slope. Before the data
        the probability of the second is 0.1; with fewer than ten sites the data change little.

        Returns
        -------
        pandas.Series
            By site.

        Raises
        ------
        InputError
            If effects are normal, as of `bayescal.by("site", robust=False)`.
        """
        import pandas as pd

        if self._free.unlike is None:
            raise InputError(
                "the posterior has no probability that a site is unlike the others: its effects "
                "are normal. Fit it with vary=bc.by('site'), whose effects are robust."
            )
        shares = self._free.unlike.mean(axis=1)
        index = pd.Index(self.problem.labels, name=next(iter(self.levels)))
        return pd.Series(shares, index, name="prob_unlike")

    def unlike_sites(self) -> dict[str, float]:
        """Sites that are unlike the others with a probability above 0.75, the most likely first.

        With their probabilities. There are none among fewer than ten sites, of which the data say
        little more than the prior.
        """
        if not self.is_robust or len(self.labels) < LEAST_ROBUST:
            return {}
        return clearly_unlike(self.prob_unlike())

    def prob_differs_from_average(self, delta: float = OFF_BY) -> pd.Series:
        """Probability that a site's curve is further than delta from that of the average site.

        The distance is the mean of |g_site - g_average| over the scores of the site.

        Parameters
        ----------
        delta : float

        Returns
        -------
        pandas.Series
            By site.
        """
        import pandas as pd

        limit, shares = as_number(delta, "delta"), {}
        (axis,) = self.levels
        for label in self.labels:
            shares[label] = self._share_off_average(self._at({axis: label}), limit)
        return pd.Series(shares, name="prob_differs_from_average").rename_axis("site")

    def _share_off_average(self, view: CurveView, limit: float) -> float:
        """Share of the draws in which a site's curve is further than a limit from the average's."""
        (own,), site, average = view.tables, view.problem, self._drawn.average
        curves, share = site.curves_at(), site.trials / site.trials.sum()
        distance = np.empty(len(average))
        for part in blocks(len(average), share.size):
            apart = own.observed[part] - curves.probability(average[part])
            distance[part] = np.abs(apart) @ share
        return float(np.mean(distance > limit))

    def _shown(self) -> dict[str, CurveView]:
        (axis,) = self.levels
        of = axis if axis in SELF_NAMED else f"level of {shortened(axis)}"
        return {f"average {of}": self.average(), f"new {of}": self.new()}

    def _lines(self) -> Sequence[str]:
        pooled = self.problem.pooled
        sites, data = self._counted, self.data
        if not self.has_outcomes:
            size = f"{sites} known by their summaries, at {count(data.n, 'score')}"
        else:
            size = f"{sites}, {data.size_in_words}"
            if self.problem.known:
                size += f"; {len(self.problem.known)} sites known by their summaries"
        lines = [
            size,
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
        ]
        shown, unlike = self._shown(), self.unlike_sites()
        if unlike:
            named = ", ".join(
                f"{shortened(label)} ({chance(prob)})" for label, prob in unlike.items()
            )
            lines.append(f"unlike the others: {named}; probability before the data {PROB_UNLIKE:g}")
            shown["sites together"] = self.at()
        for title, view in shown.items():
            error = interval(view.estimate("tce"), *view.interval("tce"), 0.95)
            lines.append(f"TCE of the {title} {error}")
        return lines


def as_hierarchical(post: Any) -> HierarchicalPosterior:
    """A hierarchical posterior, and nothing else."""
    cure = "Pass what bayescal.fit returns when site= says which site each case is from."
    return check_type(post, HierarchicalPosterior, "post", cure)
