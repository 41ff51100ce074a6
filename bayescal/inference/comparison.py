"""CurveComparison: families of curves, their evidence, and the probability of calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_level, check_choice
from bayescal.core.optimise import logistic_gain
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table, rows_of
from bayescal.core.text import card, chance, ratio
from bayescal.data.table import CalibrationData
from bayescal.inference.averaging import Mixture
from bayescal.inference.clusters_left_out import leave_cluster_out
from bayescal.inference.loo import (
    LeaveOneOut,
    LeftOut,
    elpd_difference,
    leave_one_out,
    stacking_weights,
)
from bayescal.inference.samples import FamilySamples
from bayescal.inference.sensitivity import power_scaling, probabilities_by_prior
from bayescal.model.clusters.design import cluster_design
from bayescal.model.curves import CURVES
from bayescal.model.mixture import on_scores, problem_of
from bayescal.model.priors import Prior, as_prior
from bayescal.model.problem import Problem
from bayescal.model.reversed import reversed_scores
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CurveComparison"]


class CurveComparison:
    """Families of curves compared on one table, and their average.

    Made by `bayescal.compare`. What takes time (leave-one-out, the averaged posterior, the prior
    sensitivity) is computed when it is first read.
    """

    def __init__(self, samples: FamilySamples, weights: Mapping[str, float], draws: int) -> None:
        self._samples, self._asked, self._draws = samples, dict(weights), draws
        self._weights = on_scores(weights, samples.problem)
        self._mixture = Mixture(samples, weights, draws)

    @property
    def problem(self) -> Problem:
        """The table as it was read, with the prior, centre, edges and seed."""
        return self._samples.problem

    @property
    def data(self) -> CalibrationData:
        """The table that was compared on, with the roles of its cases."""
        return self.problem.data

    def under(self, prior: Prior) -> CurveComparison:
        """The same comparison under another prior; no family is fitted twice under one prior."""
        return CurveComparison(self._samples.under(as_prior(prior)), self._asked, self._draws)

    @property
    def prior_prob(self) -> dict[str, float]:
        """Prior probability of each family."""
        return dict(self._weights)

    @property
    def log_evidence(self) -> dict[str, float]:
        """Log marginal likelihood of the individual outcomes under each family."""
        return {name: self._mixture.evidence_of(name).log for name in self._samples}

    @property
    def posterior_prob(self) -> dict[str, float]:
        """Posterior probability of each family, under the prior weights."""
        return {name: self._mixture.probability_of(name) for name in self._samples}

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration, under `prior_calibrated`."""
        return self.posterior_prob["identity"]

    @cached_property
    def design_effect(self) -> float:
        """By how much clusters enlarge variances: of the number of events or of the slope.

        The larger of the two, and at least 1; 1 without clusters.
        """
        if self.problem.clusters is None:
            return 1.0
        design = cluster_design(self.problem)
        return max(1.0, design.effect, design.slope_effect)

    def prob_calibrated_at(self, prior_calibrated: float = 0.5) -> float:
        """Posterior probability of exact calibration under another prior for it.

        Parameters
        ----------
        prior_calibrated : float in (0, 1)
            0.5 gives even odds.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If the probability is not between 0 and 1.
        """
        level = as_level(prior_calibrated, "prior_calibrated")
        rest = self._mixture.log_evidence_of_rest
        odds = np.log(1 - level) - np.log(level) + rest - self.log_evidence["identity"]
        return float(1 / (1 + np.exp(np.clip(odds, -700, 700))))

    @cached_property
    def prob_calibrated_bic(self) -> float:
        """Probability of calibration at even odds by BIC, against logistic recalibration.

        The formula of Guthrie & Franck's BRcal, exp(LRT / 2) / n for the Bayes factor. It has no
        prior on the curve, can never exceed n / (n + 1), and is blind to asymmetry. NaN of times to
        an event, of which the formula is not.
        """
        if not self.problem.likelihood.is_linear:
            return float("nan")
        table = self.problem.table
        gain = logistic_gain(table.score, table.trials, table.hits) / self.design_effect
        n = self.data.effective_size / self.design_effect
        return float(1 / (1 + np.exp(np.clip(gain - np.log(n), -700, 700))))

    @cached_property
    def loo(self) -> Mapping[str, LeaveOneOut]:
        """Leave-one-out log density under each family, by PSIS: of every distinct case.

        Where cases come in clusters, of every cluster: all of its outcomes are left out. Each
        family under the prior in use. That of a family is computed when it is first read.
        """
        clusters = self.problem.clusters
        if clusters is None or clusters.are_single:
            return self.loo_of_cases
        return LeftOut(self._samples, leave_cluster_out)

    @cached_property
    def loo_of_cases(self) -> Mapping[str, LeaveOneOut]:
        """As `loo`, of every distinct case, also of clusters."""
        return LeftOut(self._samples, leave_one_out)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per family.

        Columns: log_evidence and its Monte Carlo error; bayes_factor (against `identity`); prior
        and posterior_prob; elpd_loo, stacking_weight, pareto_k (of the importance weights),
        pareto_k_loo, and elpd_diff, by how much it predicts better than `identity`, with its
        standard error. Where cases come in clusters, whole clusters are left out, and the standard
        error is of the differences of clusters.
        """
        import pandas as pd

        loo = self.loo
        stacked = stacking_weights(list(loo.values()))
        rows = {}
        for index, name in enumerate(self._samples):
            evidence = self._mixture.evidence_of(name)
            log_factor = evidence.log - self.log_evidence["identity"]
            difference, error = elpd_difference(loo[name], loo["identity"])
            rows[name] = {
                "log_evidence": evidence.log,
                "bayes_factor": float(np.exp(np.clip(log_factor, -700, 700))),
                "prior": self._weights[name],
                "posterior_prob": self.posterior_prob[name],
                "elpd_loo": loo[name].elpd,
                "stacking_weight": stacked[index],
                "log_evidence_error": evidence.error,
                "pareto_k": evidence.pareto_k,
                "pareto_k_loo": loo[name].pareto_k,
                "elpd_diff": difference,
                "elpd_diff_error": error,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "curve"
        return table

    def of_family(self, name: str) -> tuple[Problem, Floats]:
        """Problem and draws, of shape (draws, d), of one of the families under the prior in use.

        Parameters
        ----------
        name : str

        Returns
        -------
        problem : Problem
        u : ndarray of shape (draws, d)

        Raises
        ------
        InputError
            If the family was not compared.
        """
        check_choice(name, self._samples, "name")
        return problem_of(name, self.problem), self._samples[name].draws

    @cached_property
    def posterior(self) -> CalibrationPosterior:
        """The averaged posterior: draws of the curve given that it is not exactly calibrated.

        In so many of them as exact calibration is probable, `exact`, all distances are 0.
        """
        return self._mixture.posterior()

    @cached_property
    def prob_by_prior(self) -> pd.DataFrame:
        """The probability of exact calibration under other priors, one row each, and by BIC.

        Columns: prob_calibrated (under this comparison's prior weights), and the probability at
        even prior odds against one alternative: logistic, beta, or the average. The row
        "modest" expects small errors: a calibration-in-the-large of standard deviation 0.35 and a
        log slope of standard deviation 0.3. If an outcome contradicts a score of exactly 0 or 1,
        a last row moves such scores by a tenth of the distance.
        """
        return probabilities_by_prior(self._samples, self._asked, self.prob_calibrated_bic)

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """Sensitivity to the prior: `prob_by_prior`, and the power scaling of TCE.

        The additional columns tce_prior_sensitivity and tce_likelihood_sensitivity, by ArviZ, are
        the power-scaling sensitivity of TCE in the beta family to prior and likelihood (values
        above 0.05 mean that it is sensitive); NaN in rows that are not a prior.
        """
        return self.prob_by_prior.join(power_scaling(self._samples))

    def page(self) -> Page:
        """How probable the families are, and that the model is exactly calibrated."""
        told = reversed_scores(self.data)
        best, share = max(self.posterior_prob.items(), key=lambda each: each[1])
        answer: tuple[str, ...] = (
            f"Exact calibration has probability {chance(self.prob_calibrated)}; the most probable "
            f"family of curves is {best} ({chance(share)}).",
        )
        if told is not None:
            answer = (told.first, told.advice)
        figure = Figure("reliability", self.posterior, {}, "Calibration curve, averaged")
        section = Section("Families of curves", (figure, self.families()))
        record = {
            "prob_calibrated": self.prob_calibrated,
            "prob_calibrated_even_odds": self.prob_calibrated_at(0.5),
            "families": self.table.to_dict(orient="index"),
        }
        return Page("Families of curves", self.data.size_in_words, answer, (section,), (), record)

    def families(self) -> Table:
        """The families of curves: how probable, and how well each predicts."""
        rows = [replace(row, hint=CURVES[row.name].meaning) for row in rows_of(self.table)]

        def posterior(row: Row) -> str:
            return chance(row["posterior_prob"]) if row["prior"] else "not averaged"

        def elpd(row: Row) -> str:
            return f"{round(row['elpd_diff'], 1) + 0.0:.1f} ({row['elpd_diff_error']:.1f})"

        columns = (
            Column("prior", "Prior", lambda row: f"{row['prior']:.2f}"),
            Column("posterior_prob", "Posterior", posterior),
            Column("bayes_factor", "Bayes factor", lambda row: ratio(row["bayes_factor"])),
            Column("elpd", "Elpd (s.e.)", elpd),
            Column("stacking", "Stacking", lambda row: f"{row['stacking_weight']:.2f}"),
        )
        title = "Families of curves, from exact calibration to any smooth shape"
        return Table("families", title, "Curve", columns, rows, stacks=True)

    def __repr__(self) -> str:
        told = reversed_scores(self.data)
        wrong_way = "" if told is None else f"\n  {told}"
        families = ", ".join(
            f"{name} {chance(probability)}"
            for name, probability in self.posterior_prob.items()
            if self._weights[name] > 0
        )
        return (
            "CurveComparison\n"
            f"  {self.data.size_in_words}; {self.problem.prior.name} prior\n"
            f"  posterior probabilities: {families}\n"
            f"  P(exactly calibrated) {chance(self.prob_calibrated)} from prior "
            f"{self._weights['identity']:g}; at even odds {chance(self.prob_calibrated_at(0.5))}"
            f"{wrong_way}"
        )

    def _repr_html_(self) -> str:
        posterior = self.posterior_prob
        rows = {
            name: (f"{prior:.2f}", chance(posterior[name]))
            for name, prior in self.prior_prob.items()
            if prior > 0
        }
        told = [line for line in repr(self).splitlines() if "posterior probabilities" not in line]
        return card("\n".join(told), ("prior probability", "posterior probability"), rows)
