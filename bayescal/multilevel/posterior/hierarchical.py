"""HierarchicalPosterior: the curves of several sites, of the average site and of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.errors import check_type
from bayescal._base.text import interval
from bayescal.data.data import CalibrationData
from bayescal.data.table import add_up
from bayescal.data.validate import as_number, as_scores, check_choice
from bayescal.model.problem import Problem
from bayescal.multilevel.posterior.calibrated import prob_calibrated
from bayescal.multilevel.posterior.measures import SiteMeasures
from bayescal.multilevel.posterior.raw import raw_estimates
from bayescal.multilevel.posterior.rows import beside_raw
from bayescal.multilevel.posterior.several import SeveralCurves, diagnosed
from bayescal.multilevel.posterior.tree import DrawnSites, read_sites, sites_tree
from bayescal.multilevel.posterior.view import SiteView
from bayescal.multilevel.sites_problem import SitesProblem
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.populations.bootstrap import Mixture

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["HierarchicalPosterior", "as_hierarchical"]

DIFFERS = 0.05
"""Mean distance between the curve of a site and that of the average site that is counted."""


class HierarchicalPosterior(SiteMeasures, SeveralCurves[DrawnSites]):
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
    ...     y_true, y_prob, groups=np.repeat(["A", "B", "C"], 200), curve="logistic", random_state=1
    ... )
    >>> post.labels
    ('A', 'B', 'C')
    >>> post.tce().dims
    ('chain', 'draw', 'site')
    """

    @staticmethod
    def _read(tree: xr.DataTree) -> DrawnSites:
        return read_sites(tree)

    @staticmethod
    def _written(drawn: DrawnSites) -> xr.DataTree:
        return sites_tree(drawn)

    @property
    def problem(self) -> SitesProblem:
        """The tables, the family of curves and the priors."""
        return self._drawn.problem

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with a group a site; scores alone if there are no patients."""
        data = self.problem.data
        return data if self.has_outcomes else data.without_outcomes()

    @property
    def has_outcomes(self) -> bool:
        """Whether there are sites with patients, beside those known by their summaries."""
        return self.problem.has_outcomes

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites, in order."""
        return self.problem.labels

    @property
    def centre(self) -> float:
        """Score at which the shift acts: that of the mean log-odds of all scores."""
        return self.problem.pooled.frame.centre

    @property
    def draws(self) -> int:
        """Number of draws, over all chains."""
        return len(self._drawn.average)

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k of the population (above 0.7 is bad), ess, log_evidence and
            its error, and site_ess, the least share of a site's proposals that count. For NUTS:
            the largest r_hat, the smallest ess, and divergences. `verdict` is "ok" or says what is
            wrong.
        """
        return diagnosed(self.engine, self._drawn.stats)

    @cached_property
    def prob_calibrated(self) -> dict[str, float] | None:
        """Probability of exact calibration, of every site and of the average site.

        Each of three models explains the data: the curve of every site is the diagonal; that of
        the average site is, and the sites' differ from it; neither. The first two have prior
        probability 0.1 each. `average_site` is the probability of the first two together.

        Returns
        -------
        dict or None
            every_site and average_site; None where NUTS drew, which computes no evidence.
        """
        exact = prob_calibrated(self._drawn)
        return None if exact is None else exact._asdict()

    def site(self, label: str) -> SiteView:
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
        name = check_choice(label, self.labels, "label")
        if name not in self._sites:
            index = self.labels.index(name)
            problem, u = self.problem.sites[name], self._drawn.sites[index]
            observed = name not in self.problem.summaries
            self._sites[name] = self._view(name, problem, u, has_outcomes=observed)
        return self._sites[name]

    @cached_property
    def _sites(self) -> dict[str, SiteView]:
        return {}

    def average_site(self) -> SiteView:
        """The posterior of the curve of the average site, over the scores of all sites.

        Returns
        -------
        CalibrationPosterior
        """
        return self._average

    @cached_property
    def _average(self) -> SiteView:
        drawn, title = self._drawn, f"The average of {len(self.labels)} sites"
        (prior, _), exact = self._priors, self.prob_calibrated
        return SiteView.of_site(
            title,
            self.problem.pooled,
            drawn.average,
            prior,
            drawn,
            has_outcomes=self.has_outcomes,
            prob_calibrated=None if exact is None else exact["average_site"],
        )

    def new_site(self, y_prob: ArrayLike | None = None) -> SiteView:
        """What a site that has not been seen will meet.

        Parameters
        ----------
        y_prob : array-like of shape (n,), optional
            Its scores. By default, with each draw, the scores of one of the sites with patients,
            drawn at random; `population="sample"` then takes the scores of all of them.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        if y_prob is None:
            return self._new_site
        scores = as_scores(y_prob, "y_prob")
        data = CalibrationData(np.zeros(scores.size), scores)
        problem = replace(self.problem.pooled, data=data)
        return self._of_new_site(problem)

    def _of_new_site(self, problem: Problem, **options: Any) -> SiteView:
        exact = self.prob_calibrated
        share = None if exact is None else exact["every_site"]
        u = self._drawn.of_new_site()
        return self._view("A new site", problem, u, is_new=True, prob_calibrated=share, **options)

    @cached_property
    def _new_site(self) -> SiteView:
        pooled, sites = self.problem.pooled, self.problem.tables.values()
        if not self.has_outcomes:
            return self._of_new_site(pooled)
        trials = np.array(
            [
                add_up(pooled.rows_of(site.data.score), site.table.trials, pooled.score.size)
                for site in sites
            ]
        )
        chosen = pooled.rng("site of a new site").integers(len(trials), size=self.draws)
        return self._of_new_site(pooled, mixture=Mixture(trials, chosen))

    def _view(self, title: str, problem: Problem, u: Floats, **options: Any) -> SiteView:
        _, prior = self._priors
        return SiteView.of_site(title, problem, u, prior, self._drawn, **options)

    @cached_property
    def _priors(self) -> tuple[Floats, Floats]:
        return self._drawn.of_prior()

    @property
    def heterogeneity(self) -> pd.DataFrame:
        """How much sites differ.

        Returns
        -------
        pandas.DataFrame
            Index: shift and log_slope, the standard deviations between sites, and correlation.
            Columns: mean, median, lower, upper (95 %, equal-tailed).
        """
        import pandas as pd

        columns = dict(zip(self.problem.varying, self._drawn.scales.T, strict=True))
        if len(columns) > 1:
            columns["correlation"] = self._drawn.correlation
        rows = {name: _described(values) for name, values in columns.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

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
            than 0.05 from that of the average site, on average over the site's scores; and
            `prob_worst`, that its TCE is the largest.
        """
        import pandas as pd

        differs, worst, rows = self.prob_differs(), self.prob_worst(), {}
        for label in self.labels:
            row = beside_raw(self.site(label), *raw_estimates(self.problem, label))
            row["prob_differs"], row["prob_worst"] = differs[label], worst[label]
            rows[label] = row
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "site"
        return table

    def prob_differs(self, delta: float = DIFFERS) -> pd.Series:
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
        for index, (label, site) in enumerate(self.problem.sites.items()):
            own = site.probability(self._drawn.sites[index])
            own -= site.probability(self._drawn.average)
            distance = np.abs(own, out=own) @ (site.trials / site.trials.sum())
            shares[label] = float(np.mean(distance > limit))
        return pd.Series(shares, name="prob_differs").rename_axis("site")

    def _repr_html_(self) -> str:
        return self._card({"average site": self._average, "new site": self._new_site})

    def _lines(self) -> Sequence[str]:
        pooled = self.problem.pooled
        sites, data = f"{len(self.labels)} sites", self.data
        if not self.has_outcomes:
            size = f"{sites} known by their summaries, at {data.n:g} scores"
        else:
            size = f"{sites}, {data.n:g} cases, {data.events:g} events"
            if self.problem.known:
                size += f"; {len(self.problem.known)} sites known by their summaries"
        lines = [
            size,
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
        ]
        for title, view in (("average site", self._average), ("new site", self._new_site)):
            error = interval(view.estimate("tce"), *view.interval("tce"), 0.95)
            lines.append(f"TCE of the {title} {error}")
        return lines


def as_hierarchical(post: Any) -> HierarchicalPosterior:
    """A hierarchical posterior, and nothing else."""
    cure = "Pass what bayescal.fit returns when groups= says which site each case is from."
    return check_type(post, HierarchicalPosterior, "post", cure)


def _described(values: Floats) -> dict[str, float]:
    lower, upper = equal_tailed(values, 0.95)
    named = {"mean": values.mean(), "median": np.median(values), "lower": lower, "upper": upper}
    return {name: float(value) for name, value in named.items()}
