"""ImputedComparison: families of curves compared on every imputation, and combined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.table import CalibrationData
from bayescal.fitting.imputed.combine import combine_imputations
from bayescal.inference.comparison import CurveComparison
from bayescal.inference.loo import LeaveOneOut
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ImputedComparison"]

WORST_OF = ("pareto_k", "pareto_k_loo", "log_evidence_error")


class ImputedComparison(CurveComparison):
    """Families of curves compared on several imputations. Made by `bayescal.compare`.

    The posterior probability of a family is the mean over the imputations, and so is that of
    exact calibration; the evidence is the logarithm of the mean evidence. The averaged posterior
    of every imputation is mixed with the others; see `CalibrationPosterior`.

    Parameters
    ----------
    comparisons : sequence of CurveComparison
        One for each imputation.
    """

    def __init__(self, comparisons: Sequence[CurveComparison]) -> None:
        self.comparisons = tuple(comparisons)
        self._weights = comparisons[0].prior_prob

    @property
    def problem(self) -> Problem:
        """The table of all imputations, with the settings of the first."""
        return self.posterior.problem

    @property
    def data(self) -> CalibrationData:
        """The table of all imputations, with its roles."""
        return self.posterior.data

    def under(self, prior: Prior) -> ImputedComparison:
        """The same comparison under another prior."""
        return ImputedComparison([each.under(prior) for each in self.comparisons])

    @property
    def log_evidence(self) -> dict[str, float]:
        """Log of the mean marginal likelihood over the imputations, under each family."""
        each = [one.log_evidence for one in self.comparisons]
        return {
            name: float(logsumexp([one[name] for one in each]) - np.log(len(each)))
            for name in each[0]
        }

    @property
    def posterior_prob(self) -> dict[str, float]:
        """Posterior probability of each family, the mean over the imputations."""
        each = [one.posterior_prob for one in self.comparisons]
        return {name: float(np.mean([one[name] for one in each])) for name in each[0]}

    @cached_property
    def design_effect(self) -> float:
        """By how much clusters enlarge variances, the mean over the imputations."""
        return float(np.mean([one.design_effect for one in self.comparisons]))

    def prob_calibrated_at(self, prior_calibrated: float = 0.5) -> float:
        """Posterior probability of exact calibration under another prior for it.

        Parameters
        ----------
        prior_calibrated : float in (0, 1)
            0.5 gives even odds.

        Returns
        -------
        float
            The mean over the imputations.
        """
        each = [one.prob_calibrated_at(prior_calibrated) for one in self.comparisons]
        return float(np.mean(each))

    @cached_property
    def prob_calibrated_bic(self) -> float:
        """Probability of calibration by BIC, the mean over the imputations."""
        return float(np.mean([one.prob_calibrated_bic for one in self.comparisons]))

    @property
    def loo(self) -> Mapping[str, LeaveOneOut]:
        """Refused: leave-one-out is of one imputation."""
        raise InputError(
            "loo is of one imputation, whose cases are weighed one by one. Read it of each: "
            "comparisons[0].loo."
        )

    def of_family(self, name: str) -> tuple[Problem, Floats]:
        """Refused: the draws of a family are of one imputation."""
        raise InputError(
            f"name={name!r}: the draws of a family are of one imputation. Take them of each: "
            "comparisons[0].of_family(name)."
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per family, with the columns of `CurveComparison.table`.

        Probabilities, `elpd_loo`, `stacking_weight` and `elpd_diff` are means over the imputations;
        `log_evidence` and `bayes_factor` are of the mean evidence; `elpd_diff_error` is the root of
        Rubin's total variance, (mean of the squared errors) + (1 + 1 / m) B; k-hats and Monte
        Carlo errors are the largest.
        """
        tables = [one.table for one in self.comparisons]
        table = mean_table(tables)
        for name in WORST_OF:
            table[name] = np.max([one[name] for one in tables], axis=0)
        table["log_evidence"] = self.log_evidence
        log_factor = table["log_evidence"] - self.log_evidence["identity"]
        table["bayes_factor"] = np.exp(log_factor.clip(-700, 700))
        table["elpd_diff_error"] = total_error(
            [one["elpd_diff"] for one in tables], [one["elpd_diff_error"] for one in tables]
        )
        return table

    @cached_property
    def posterior(self) -> CalibrationPosterior:
        """The averaged posteriors of all imputations, mixed."""
        return combine_imputations([one.posterior for one in self.comparisons])

    @cached_property
    def prob_by_prior(self) -> pd.DataFrame:
        """The probability of exact calibration under other priors, the mean over imputations."""
        return mean_table([one.prob_by_prior for one in self.comparisons])

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """Sensitivity to the prior, the mean over the imputations."""
        return mean_table([one.sensitivity for one in self.comparisons])

    def __repr__(self) -> str:
        _, *lines = super().__repr__().splitlines()
        return "\n".join(["ImputedComparison", f"  {len(self.comparisons)} imputations", *lines])


def mean_table(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The mean of tables with the same rows and columns of numbers.

    A row that not all have is left out.
    """
    first = tables[0]
    rows = [name for name in first.index if all(name in one.index for one in tables)]
    total = sum(one.loc[rows].to_numpy(dtype=np.float64) for one in tables)
    mean = first.loc[rows].astype(np.float64)
    mean[:] = np.asarray(total) / len(tables)
    return mean


def total_error(estimates: Sequence[Any], errors: Sequence[Any]) -> Floats:
    """Standard errors by Rubin's rules: the root of W + (1 + 1 / m) B.

    Parameters
    ----------
    estimates, errors : sequence of array-like of shape (k,)
        One of each for each imputation.

    Returns
    -------
    ndarray of shape (k,)

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.1.
    """
    between = np.var(np.asarray(estimates, dtype=np.float64), axis=0, ddof=1)
    within = np.mean(np.square(np.asarray(errors, dtype=np.float64)), axis=0)
    return np.asarray(np.sqrt(within + (1 + 1 / len(estimates)) * between))
