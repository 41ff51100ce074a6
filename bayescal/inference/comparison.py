"""CurveComparison: families of curves, their evidence, and the probability of calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, check_choice
from bayescal.core.optimise import logistic_gain
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table, rows_of
from bayescal.core.text import card, chance, ratio
from bayescal.data.table import CalibrationData
from bayescal.inference.averaging import FamilySamples, Mixture
from bayescal.inference.loo import (
    LeaveOneOut,
    LeftOut,
    elpd_difference,
    leave_cluster_out,
    leave_one_out,
    stacking_weights,
)
from bayescal.model.clusters import cluster_design
from bayescal.model.curves import CURVES
from bayescal.model.draws import CHAINS, on_scores, one_table, problem_of
from bayescal.model.priors import MODEST, PRESETS
from bayescal.model.problem import Problem
from bayescal.model.reversed import reversed_scores
from bayescal.model.saturated import UNLIKE_IMPUTATIONS
from bayescal.posterior.posterior import CalibrationPosterior, mixture
from bayescal.posterior.stored import with_chains

if TYPE_CHECKING:
    import pandas as pd


ALTERNATIVES = ("logistic", "beta")
# Powers of a density between which the change of the posterior is measured.
ALPHAS = 0.99, 1.01


def probabilities_by_prior(
    samples: FamilySamples, weights: Mapping[str, float], bic: float
) -> pd.DataFrame:
    """The table of `CurveComparison.sensitivity`, of one imputation.

    `bic` is the probability by BIC at even odds. Families that `samples` has are not drawn again.
    """
    import pandas as pd

    own = samples.problem.prior
    rows = {
        name: _probabilities(samples.under(prior), weights)
        for name, prior in (PRESETS | {own.name: own, MODEST.name: MODEST}).items()
    }
    if not samples.problem.frame.scores and _contradicted(samples.problem.data):
        nearer = samples.nearer_edges(10)
        rows[f"{own.name}, 0 and 1 read ten times nearer"] = _probabilities(nearer, weights)
    if np.isfinite(bic):
        rows["BIC"] = {"prob_calibrated": _shift_odds(bic, weights["identity"]), "logistic": bic}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "prior"
    return table


def _contradicted(data: CalibrationData) -> bool:
    """Whether an outcome contradicts a score of exactly 0 or 1."""
    at_zero, at_one = data.score == 0, data.score == 1
    return bool(data.hits[at_zero].any() or (data.trials - data.hits)[at_one].any())


def _probabilities(samples: FamilySamples, weights: Mapping[str, float]) -> dict[str, float]:
    """Of exact calibration: by the average, and against each family under this prior alone."""
    mixture, exact = Mixture(samples, weights, CHAINS), samples["identity"].log_evidence
    rest = mixture.log_evidence_of_rest
    even = {name: float(expit(exact - samples[name].log_evidence)) for name in ALTERNATIVES}
    average = float(expit(exact - rest))
    calibrated = _shift_odds(average, weights["identity"])
    return {"prob_calibrated": calibrated} | even | {"average": average}


def _shift_odds(even: float, prior: float) -> float:
    """A probability at even prior odds, moved to another prior."""
    return even * prior / (even * prior + (1 - even) * (1 - prior))


def power_scaling_of(
    values: Floats, log_prior: Floats, log_likelihood: Floats
) -> tuple[float, float]:
    """Sensitivity of draws of a quantity to prior and likelihood; NaN where they hardly vary."""
    by_chain = with_chains(values, CHAINS)
    prior, likelihood = (
        _power_scale_sensitivity(by_chain, with_chains(each, CHAINS))
        for each in (log_prior, log_likelihood)
    )
    return prior, likelihood


def _power_scale_sensitivity(values: Floats, log_density: Floats) -> float:
    """By ArviZ, both of shape (chains, draws); NaN where draws hardly vary: nothing to scale.

    It is what `psense` gives, without the trees that it is asked of.
    """
    from arviz_stats.base import array_stats

    both, weights = (0, 1), []
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            for alpha in ALPHAS:
                weight = np.exp(array_stats.power_scale_lw(log_density, alpha=alpha, axis=both))
                weights.append(weight / weight.sum())
            return float(array_stats.power_scale_sense(values, *weights, *ALPHAS))
    except ValueError:
        return float("nan")


WORST_OF = ("pareto_k", "pareto_k_loo", "log_evidence_error")


class CurveComparison:
    """Families of curves compared on one table, and their average.

    Made by `bayescal.compare`. What takes time (leave-one-out, the averaged posterior, the prior
    sensitivity) is computed when it is first read.

    Of several imputations probabilities are means over them, the evidence is the logarithm of the
    mean evidence, and the draws of the averaged posteriors are mixed; see `CalibrationPosterior`.
    """

    def __init__(
        self, samples: Sequence[FamilySamples], weights: Mapping[str, float], draws: int
    ) -> None:
        self._each, self._asked, self._draws = tuple(samples), dict(weights), draws
        self._weights = on_scores(weights, samples[0].problem)
        self._mixtures = tuple(Mixture(one, weights, draws) for one in samples)

    @classmethod
    def _of_imputations(cls, each: Sequence[CurveComparison]) -> CurveComparison:
        """Those of all imputations, of the same families, weights and draws."""
        if len({tuple(one._each[0]) for one in each}) > 1:
            raise InputError(f"imputations have averages of other families. {UNLIKE_IMPUTATIONS}")
        return cls([one._each[0] for one in each], each[0]._asked, each[0]._draws)

    @cached_property
    def imputations(self) -> tuple[CurveComparison, ...]:
        """The comparison of each imputation; itself alone where nothing was imputed."""
        if len(self._each) == 1:
            return (self,)
        return tuple(CurveComparison([one], self._asked, self._draws) for one in self._each)

    @cached_property
    def problem(self) -> Problem:
        """The table as it was read, with the prior, centre, edges and seed."""
        return one_table([one.problem for one in self._each])

    @property
    def data(self) -> CalibrationData:
        """The table that was compared on, with the roles of its cases."""
        return self.problem.data

    @property
    def prior_prob(self) -> dict[str, float]:
        """Prior probability of each family."""
        return dict(self._weights)

    @property
    def log_evidence(self) -> dict[str, float]:
        """Log marginal likelihood of the individual outcomes under each family."""
        each = {name: [one[name].log_evidence for one in self._each] for name in self._each[0]}
        return {name: float(logsumexp(log) - np.log(len(log))) for name, log in each.items()}

    @property
    def posterior_prob(self) -> dict[str, float]:
        """Posterior probability of each family, under the prior weights."""
        return {
            name: float(np.mean([one.probability_of(name) for one in self._mixtures]))
            for name in self._each[0]
        }

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration, under `prior_calibrated`."""
        return self.posterior_prob["identity"]

    @cached_property
    def design_effect(self) -> float:
        """By how much clusters enlarge variances: of the number of events or of the slope.

        The larger of the two, and at least 1; 1 without clusters.
        """
        return float(np.mean([_design_effect(one.problem) for one in self._each]))

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
        against = np.array(
            [
                mixture.log_evidence_of_rest - one["identity"].log_evidence
                for mixture, one in zip(self._mixtures, self._each, strict=True)
            ]
        )
        odds = np.log(1 - level) - np.log(level) + against
        return float(np.mean(1 / (1 + np.exp(np.clip(odds, -700, 700)))))

    @cached_property
    def prob_calibrated_bic(self) -> float:
        """Probability of calibration at even odds by BIC, against logistic recalibration.

        The formula of Guthrie & Franck's BRcal, exp(LRT / 2) / n for the Bayes factor. It has no
        prior on the curve, can never exceed n / (n + 1), and is blind to asymmetry. NaN of times to
        an event, of which the formula is not.
        """
        return float(np.mean([_calibrated_by_bic(one.problem) for one in self._each]))

    @cached_property
    def loo(self) -> Mapping[str, LeaveOneOut]:
        """Leave-one-out log density under each family, by PSIS: of every distinct case.

        Where cases come in clusters, of every cluster: all of its outcomes are left out. Each
        family under the prior in use. That of a family is computed when it is first read.
        """
        clusters = self._one("loo").problem.clusters
        if clusters is None or clusters.are_single:
            return self.loo_of_cases
        return LeftOut(self._one("loo"), leave_cluster_out)

    @cached_property
    def loo_of_cases(self) -> Mapping[str, LeaveOneOut]:
        """As `loo`, of every distinct case, also of clusters."""
        return LeftOut(self._one("loo"), leave_one_out)

    def _one(self, what: str) -> FamilySamples:
        """The samples of the only imputation."""
        if len(self._each) > 1:
            raise InputError(
                f"{what} is of one imputation, whose cases are weighed one by one. Read it of "
                "each: imputations[0]."
            )
        return self._each[0]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per family.

        Columns: log_evidence and its Monte Carlo error; bayes_factor (against `identity`); prior
        and posterior_prob; elpd_loo, stacking_weight, pareto_k (of the importance weights),
        pareto_k_loo, and elpd_diff, by how much it predicts better than `identity`, with its
        standard error. Where cases come in clusters, whole clusters are left out, and the standard
        error is of the differences of clusters.

        Of several imputations, probabilities, elpd_loo, stacking_weight and elpd_diff are means;
        the evidence is the mean evidence; elpd_diff_error is the root of Rubin's total variance,
        (mean of the squared errors) + (1 + 1 / m) B; k-hats and Monte Carlo errors are the largest.
        """
        import pandas as pd

        if len(self._each) > 1:
            return self._table_of_all()
        loo, samples = self.loo, self._each[0]
        stacked = stacking_weights(list(loo.values()))
        rows = {}
        for index, (name, sample) in enumerate(samples.items()):
            log_factor = sample.log_evidence - samples["identity"].log_evidence
            difference, error = elpd_difference(loo[name], loo["identity"])
            rows[name] = {
                "log_evidence": sample.log_evidence,
                "bayes_factor": float(np.exp(np.clip(log_factor, -700, 700))),
                "prior": self._weights[name],
                "posterior_prob": self._mixtures[0].probability_of(name),
                "elpd_loo": loo[name].elpd,
                "stacking_weight": stacked[index],
                "log_evidence_error": sample.log_evidence_error,
                "pareto_k": sample.pareto_k,
                "pareto_k_loo": loo[name].pareto_k,
                "elpd_diff": difference,
                "elpd_diff_error": error,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "curve"
        return table

    def _table_of_all(self) -> pd.DataFrame:
        tables = [one.table for one in self.imputations]
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
        check_choice(name, self._each[0], "name")
        return problem_of(name, self.problem), self._one(f"name={name!r}")[name].draws

    @cached_property
    def posterior(self) -> CalibrationPosterior:
        """The averaged posterior: draws of the curve given that it is not exactly calibrated.

        In so many of them as exact calibration is probable, `exact`, all distances are 0.
        """
        one: CalibrationPosterior = mixture([one.posterior() for one in self._mixtures])
        return one

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """The probability of exact calibration under other priors, one row each, and by BIC.

        Columns: prob_calibrated (under this comparison's prior weights), and the probability at
        even prior odds against one alternative: logistic, beta, or the average. The row
        "modest" expects small errors: a calibration-in-the-large of standard deviation 0.35 and a
        log slope of standard deviation 0.3. If an outcome contradicts a score of exactly 0 or 1,
        a last row moves such scores by a tenth of the distance. How much of TCE is the prior's says
        `bayescal.prior_sensitivity`, of a fit of one family.
        """
        return mean_table(
            [
                probabilities_by_prior(one, self._asked, _calibrated_by_bic(one.problem))
                for one in self._each
            ]
        )

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
        size = len(self._each)
        return (
            "CurveComparison\n"
            f"{f'  {size} imputations, ' if size > 1 else '  '}"
            f"{self.data.size_in_words}; {self.problem.prior.name} prior\n"
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


def _design_effect(problem: Problem) -> float:
    """The larger one of the number of events and of the slope, and at least 1."""
    if problem.clusters is None:
        return 1.0
    design = cluster_design(problem)
    return max(1.0, design.effect, design.slope_effect)


def _calibrated_by_bic(problem: Problem) -> float:
    """The probability of calibration by BIC, of one table."""
    if not problem.likelihood.is_linear:
        return float("nan")
    table, effect = problem.table, _design_effect(problem)
    gain = logistic_gain(table.score, table.trials, table.hits) / effect
    n = problem.data.effective_size / effect
    return float(1 / (1 + np.exp(np.clip(gain - np.log(n), -700, 700))))


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
    """Standard errors by Rubin's rules (1987, section 3.1): the root of W + (1 + 1 / m) B.

    Of estimates and errors, one (k,) for each imputation.
    """
    between = np.var(np.asarray(estimates, dtype=np.float64), axis=0, ddof=1)
    within = np.mean(np.square(np.asarray(errors, dtype=np.float64)), axis=0)
    return np.asarray(np.sqrt(within + (1 + 1 / len(estimates)) * between))
