"""Decisions at a threshold: measures of a posterior that need the risk from which to treat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count, as_items, as_levels, check_choice
from bayescal.data.cases import as_vector
from bayescal.posterior.decisions.information import ROUNDING, Information, by_cells, by_curve
from bayescal.posterior.decisions.strategies import by_score
from bayescal.posterior.functionals import net_benefit, net_benefit_of_all
from bayescal.posterior.measures import Measures

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DecisionMeasures"]

INFORMATION_METHODS = ("curve", "cells")
INFORMATION_POPULATIONS = ("bootstrap", "sample")
MOST_FURTHER_CASES = 10**9


class DecisionMeasures(Measures):
    """What treating by a model is worth, and what it is worth to know more."""

    def net_benefit(self, thresholds: Any, population: Any = "bootstrap") -> xr.Dataset:
        """Posterior of the net benefit of treating patients with a score of at least a threshold.

        In each draw, E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: the events treated per patient,
        less the non-events treated, each counted t / (1 - t) times.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks t at which a patient is treated, in (0, 1).
        population : {"bootstrap", "sample", "beta"} or scores

        Returns
        -------
        xarray.Dataset
            `model` and `treat_all`, with dims (chain, draw, threshold); treating no one is worth
            0. `prob_best`, with dim threshold, is the probability that the model is better than
            either.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), there are more than 1000, or the population is
            unknown.

        Notes
        -----
        To compare two models on the same patients use `bayescal.recalibration_gain`, which keeps
        the pairs. A score within a relative 1e-12 below a threshold reaches it, so that rounding
        decides nothing. Scores of exactly 0 and 1 decide as they were given. Past 128 distinct
        scores neighbouring ones are merged, and of the merged cases those whose score reaches the
        threshold are treated; in a table of more than 2048 the cell of the grid that holds a
        threshold is shared by its width. Of several imputations, each treats by the scores of its
        own.

        References
        ----------
        Vickers & Elkin (2006), Decision curve analysis, Medical Decision Making 26.
        Cruz & Korthauer (2024), Bayesian decision curve analysis with bayesDCA, Statistics in
        Medicine 43: the probability that a model is useful.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> benefit = bc.fit(y_true, y_prob, random_state=1).net_benefit([0.1, 0.3])
        >>> benefit["model"].dims
        ('chain', 'draw', 'threshold')
        """
        import xarray as xr

        at = np.array(as_levels(as_vector(thresholds, "thresholds"), "thresholds"))
        seen, kind = self._over(population)
        each = []
        for of in seen._posterior.parts:
            treated = by_score(of.problem, at)
            benefit = np.empty((len(of.u), 2, at.size))
            for part, draws in of.draws(kind):
                own = draws.population.score.ndim == 1
                benefit[part, 0] = net_benefit(draws, at, *(treated if own else ()))
                benefit[part, 1] = net_benefit_of_all(draws, at)
            each.append(benefit)
        model, everyone = self._mixed(each).swapaxes(0, 1)
        best = (model > np.maximum(everyone, 0) + ROUNDING).mean(axis=0)
        return xr.Dataset(
            {
                "model": self._array(model, "model", threshold=at),
                "treat_all": self._array(everyone, "treat_all", threshold=at),
                "prob_best": ("threshold", best),
            }
        )

    def _mixed(self, values: Sequence[Floats]) -> Floats:
        """One array of those of each table, whose first axis has the draws."""
        (only,) = values
        return only

    def value_of_information(
        self,
        thresholds: Any,
        n_more: Any = None,
        method: str = "curve",
        population: Any = "bootstrap",
    ) -> xr.Dataset:
        """Value of knowing more before patients are treated from a threshold on.

        Four strategies are compared: treating no one, treating everyone, treating by the model
        (s >= t), and treating by the updated model, whose risk is the posterior mean curve. What
        is lost because the best of them is not known for certain is the expected value of perfect
        information (EVPI), in net benefit per patient.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks t from which a patient is treated, in (0, 1).
        n_more : int or sequence of int, optional
            Patients of a further study, up to 1e9, for the expected value of sample information
            (EVSI).
        method : {"curve", "cells"}
            "curve" uses the posterior of the curve. "cells" uses the four counts alone, of
            patients with and without the event who reach the threshold or do not: their shares are
            Dirichlet(counts), the Bayesian bootstrap of Sadatsafavi et al., and there is no
            updated model.
        population : {"bootstrap", "sample"} or scores
            Of method "curve": whose net benefit it is. With "bootstrap" it is that of patients like
            these, so that their scores are uncertain, too; with "sample" that of exactly these;
            with scores that of patients like others, see `on`.

        Returns
        -------
        xarray.Dataset
            By threshold, in net benefit per patient: `evpi`, its Monte Carlo error `evpi_error`,
            and by strategy (dim `strategy`) the expected `net_benefit` and `prob_best`, the
            probability that no other strategy has more; of strategies that treat the same patients
            the simplest counts. By method "curve" also `evpi_of_recalibrating`. With `n_more` also
            `evsi`, `evsi_error` and, by "curve", `evsi_of_recalibrating`; these have a dim
            `n_more` if several numbers are given.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), `n_more` is not a whole number of at least 1, or
            the method or the population is unknown, or clustered cases are asked for `n_more` or
            "cells", which take patients as independent.

        Notes
        -----
        Let NB_k be the net benefit of strategy k in a draw of the curve g and of the weights w of
        the population, and E the mean over draws. Then

            EVPI = E[max_k NB_k] - max_k E[NB_k].

        Whoever knew the curve would treat where it reaches t. Its value over the best strategy now,
        which may be the updated model, is

            EVPI of recalibrating = E[E_w[max(g - t, 0)]] / (1 - t) - max_k E[NB_k].

        It is never less than EVPI. For EVSI, 2000 data sets of `n_more` patients are drawn, each
        from a draw of the curve and the population. After each, the mean curve is that of the
        draws weighted by the likelihood of its outcomes, and the mean weights are known exactly.
        EVSI is the mean gain over the strategy that is best now, when the best of the same
        four strategies is chosen after the data; `evsi_of_recalibrating` is that of the model
        recalibrated on all data. Both are 0 or more, at most the respective EVPI, and grow in
        `n_more` up to Monte Carlo error. When `n_more` is many times the number of patients at
        hand, few draws carry the weight and both tend to be too large.

        Of an averaged posterior, the draws are of the families that are not exact calibration. Of
        several imputations, the draws are those of all, and the updated model has the mean curve
        of all; after more patients the best strategy is chosen in each imputation by itself.

        References
        ----------
        Sadatsafavi, Lee, Wynants, Vickers & Gustafson (2023), Value-of-information analysis for
        external validation of risk prediction models, Medical Decision Making 43.
        Heath et al. (2020), Calculating the expected value of sample information in practice,
        Medical Decision Making 40.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> worth = post.value_of_information([0.1, 0.3], n_more=500)
        >>> bool((worth["evsi"] <= worth["evpi"]).all())
        True
        """
        import xarray as xr

        at = np.array(as_levels(as_vector(thresholds, "thresholds"), "thresholds"))
        sizes = _as_sizes(n_more)
        of, kind = self._over(population)
        if of is not self:
            return of.value_of_information(thresholds, n_more, method, kind)
        check_choice(kind, INFORMATION_POPULATIONS, "population")
        if self._departure is not None:
            raise InputError(
                "value_of_information is of the prevalence that was fitted. Ask the posterior "
                "before at_prevalence."
            )
        check_choice(method, INFORMATION_METHODS, "method")
        parts = self._posterior.parts
        if any(part.problem.clusters is not None for part in parts):
            _check_without_clusters(sizes, method)
        if method == "cells" and not self.has_outcomes:
            raise InputError(
                "method='cells' counts patients with outcomes, and these are scores alone. Use "
                "method='curve'."
            )
        if method == "cells" and self.problem.of_times:
            raise InputError(
                "method='cells' counts outcomes that are known, and some cases left before the "
                "horizon. Take method='curve'."
            )
        if method == "cells" and len(parts) > 1:
            raise InputError(
                "method='cells' counts the cases of one table, and these are several imputations. "
                "Use method='curve'."
            )
        if method == "cells":
            information = by_cells(self.problem, at, sizes)
        else:
            information = by_curve(parts, at, sizes, kind, self._mixed)
        coords: dict[str, Any] = {"threshold": at, "strategy": list(information.strategies)}
        if n_more is not None:
            coords["n_more"] = sizes if np.ndim(n_more) else sizes[0]
        return xr.Dataset(
            _variables(information, several=bool(np.ndim(n_more))),
            coords,
            {"method": method, "population": kind, "cases": self.problem.n},
        )


def _check_without_clusters(sizes: list[int], method: str) -> None:
    """Refuse what takes patients as independent."""
    named = "n_more" if sizes else "method='cells'"
    if sizes or method == "cells":
        raise InputError(
            f"{named} takes patients as independent, and these come in clusters. Leave it out: "
            "the value of perfect information by the curve counts clusters."
        )


def _as_sizes(n_more: Any) -> list[int]:
    """Numbers of further patients, as a list."""
    if n_more is None:
        return []
    one = np.ndim(n_more) == 0 if isinstance(n_more, np.ndarray) else np.isscalar(n_more)
    given = [n_more] if one else as_items(n_more, "n_more")
    if not given:
        raise InputError("n_more is empty: give a number of patients, or several, or leave it out.")
    return [as_count(each, "n_more", maximum=MOST_FURTHER_CASES) for each in given]


def _variables(of: Information, *, several: bool) -> dict[str, Any]:
    """Variables of the dataset, each with its dims."""
    by_strategy, by_size = ("threshold", "strategy"), ("threshold", "n_more")
    variables: dict[str, Any] = {
        "net_benefit": (by_strategy, of.net_benefit),
        "prob_best": (by_strategy, of.prob_best),
        "evpi": ("threshold", of.evpi),
        "evpi_error": ("threshold", of.evpi_error),
    }
    if of.evpi_of_recalibrating is not None:
        variables["evpi_of_recalibrating"] = ("threshold", of.evpi_of_recalibrating)
    for name in ("evsi", "evsi_error", "evsi_of_recalibrating"):
        columns = [getattr(each, name) for each in of.sampled]
        if columns and columns[0] is not None:
            stacked = np.stack(columns, axis=1)
            variables[name] = (by_size, stacked) if several else ("threshold", stacked[:, 0])
    return variables
