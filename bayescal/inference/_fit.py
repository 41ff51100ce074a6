"""fit(): from scores and outcomes to a posterior, by whichever engine serves."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from bayescal._base.arrays import RandomState
from bayescal._base.errors import DiagnosticWarning, EdgeWarning
from bayescal._base.sampling.pareto import BAD_K
from bayescal.data.read import Outcomes
from bayescal.data.validate import as_draws, check_choice
from bayescal.data.weights import WeightType
from bayescal.inference.density import sample_importance
from bayescal.inference.nuts import as_sampler, sample_curve_nuts
from bayescal.model.curves import Curve
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import CHAINS, Drawn, fit_tree

__all__ = ["ENGINES", "fit"]

ENGINES = ("auto", "importance", "nuts")


def fit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    engine: Literal["auto", "importance", "nuts"] = "auto",
    sampler: Mapping[str, Any] | None = None,
    draws: int = 4000,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    random_state: RandomState = None,
    edge: float | None = None,
    pos_label: Any = None,
) -> CalibrationPosterior:
    """Fit a calibration curve: the posterior of P(event | score).

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0/1 or boolean; or a table, and then no `y_prob`.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities of the event, in [0, 1].
    curve : str or Curve
        Family of the calibration curve: "beta", "spline", "pieces", "logistic", "temperature",
        "intercept" or "identity".
    prior : {"neutral", "clinical"}, Prior, or mapping
        Prior on the curve, centred on perfect calibration. A mapping changes parts of "neutral".
    engine : {"auto", "importance", "nuts"}
        "importance" takes milliseconds; "nuts" samples the PyMC model; "auto" takes the first and
        falls back to the second, with a warning, when Pareto k-hat exceeds 0.7. `pieces` has no
        PyMC form: its draws are from exact sums, and "nuts" is refused.
    sampler : mapping, optional
        Options of NUTS, where it samples: `tune` (1000 steps), `target_accept` (0.95), `cores` (as
        PyMC chooses) and `progress` (a bar on a terminal).
    draws : int
        Posterior draws in all, over four chains; rounded up to a multiple of four.
    sample_weight : array-like of shape (n,), optional
        Counts of cases, or sampling weights.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is; by default counts if all are whole numbers, else sampling weights.
        Sampling weights are rescaled to Kish's effective sample size, and the result is a
        pseudo-posterior.
    random_state : int or numpy.random.Generator, optional
        Seed. Drawn and kept in the tree when None, so any result can be repeated.
    edge : float in (0, 0.5), optional
        How far inside scores of exactly 0 and 1 are moved; by default a quarter of the distance
        to the nearest other score.
    pos_label : object, optional
        The label in `y_true` that counts as the event, when labels are not 0/1.

    Returns
    -------
    CalibrationPosterior

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, a name is unknown, or
        the table holds several groups, which one curve cannot describe.

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted, or NUTS took over.
    EdgeWarning
        When every score is exactly 0 or 1.
    WeightWarning
        When whole-number weights can be counts as well as sampling weights, and nothing says which.

    References
    ----------
    Dong et al. (2025), Combining priors with experience: confidence calibration based on binomial
    process modeling, AAAI, eqs. 5 and 12. Vehtari et al. (2024), Pareto smoothed importance
    sampling, JMLR 25.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=0)
    >>> post = bc.fit(y_true, y_prob, random_state=0)
    >>> table = post.summary()
    >>> bool(table.loc["calibration_slope", "upper"] < 1)
    True
    """
    check_choice(engine, ENGINES, "engine")
    size, options = as_draws(draws), as_sampler(sampler)
    problem = prepare(
        y_true,
        y_prob,
        curve=curve,
        prior=prior,
        sample_weight=sample_weight,
        weight_type=weight_type,
        edge=edge,
        random_state=random_state,
        pos_label=pos_label,
    )
    _warn_about_edges(problem)
    if engine == "nuts" and problem.curve.size:
        return _by_nuts(problem, size, options)
    sample = sample_importance(problem, size)
    if sample.pareto_k > BAD_K:
        message = (
            f"importance sampling is unreliable here (Pareto k-hat {sample.pareto_k:.2f} > 0.7)"
        )
        if engine == "auto":
            warnings.warn(
                f"{message}; sampling with NUTS instead, which takes longer.",
                DiagnosticWarning,
                stacklevel=2,
            )
            return _by_nuts(problem, size, options)
        warnings.warn(
            f"{message}; use engine='nuts', or engine='auto' to have it chosen.",
            DiagnosticWarning,
            stacklevel=2,
        )
    return CalibrationPosterior.of_draws(Drawn.of_sample(problem, sample))


def _by_nuts(problem: Problem, draws: int, options: Mapping[str, Any]) -> CalibrationPosterior:
    coordinates, stats = sample_curve_nuts(problem, draws, options)
    tree = fit_tree(
        problem, coordinates, stats, engine="nuts", chains=CHAINS, draws=draws // CHAINS
    )
    posterior = CalibrationPosterior(tree)
    verdict = posterior.diagnostics["verdict"]
    if verdict != "ok":
        warnings.warn(f"NUTS reports {verdict}.", DiagnosticWarning, stacklevel=3)
    return posterior


def _warn_about_edges(problem: Problem) -> None:
    edges = problem.edges
    if edges.assumed:
        warnings.warn(
            "every score is exactly 0 or 1, so nothing says how they were rounded; "
            f"they are read as {edges.low:g} and 1 - {1 - edges.high:.3g}. Say how far inside "
            "they belong with edge=.",
            EdgeWarning,
            stacklevel=3,
        )
