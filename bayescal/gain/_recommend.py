"""recommend(): whether to update the model, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from bayescal._base.arrays import Floats
from bayescal._base.card import card
from bayescal._base.decision import least_treated, net_benefit
from bayescal._base.text import chance, count, per_thousand
from bayescal.data.data import CalibrationData
from bayescal.data.weights import WeightType
from bayescal.inference import CurveComparison, compare
from bayescal.inference.comparison.imputed import ImputedComparison, mean_table, total_error
from bayescal.inference.loo import LeaveOneOut
from bayescal.model.curves import updates
from bayescal.model.priors import Prior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Recommendation", "recommend", "recommendation"]

FEWEST = 20
"""Events, and non-events, below which nothing is recommended."""


@dataclass(frozen=True)
class Recommendation:
    """Which update to make.

    Attributes
    ----------
    choice : str or None
        The simplest family whose expected log score is within one standard error of the best. None
        where nothing is recommended, because there are fewer than 20 events or non-events.
    table : pandas.DataFrame
        One row per family: `gain`, the expected fall of the held-out log score per patient
        relative to no update, its standard error `se`, `prob_better` than no update,
        `short_of_best` in standard errors, and the expected fall of the held-out Brier score
        `brier_gain` with its standard error `brier_se`. For each threshold t,
        `net_benefit_gain@t` and `net_benefit_se@t`, the rise of the held-out net benefit.
    n : float
        Number of cases.
    too_few : str
        What there are too few of, such as "3 events"; empty where there are enough.
    """

    choice: str | None
    table: pd.DataFrame
    n: float
    too_few: str = ""

    def __str__(self) -> str:
        if self.choice is None:
            return (
                f"Nothing is recommended, with only {self.too_few}: at least {FEWEST} events and "
                "as many non-events are needed to choose an update."
            )
        lead = f"Recommended: {updates()[self.choice]}."
        best = str(self.table["gain"].idxmax()) if self.choice == "identity" else self.choice
        if best == "identity":
            return f"{lead} No update is expected to predict better."
        fall = float(self.table["brier_gain"][best])
        points, error = per_thousand(abs(fall), float(self.table["brier_se"][best]))
        how = "fall" if fall >= 0 else "rise"
        helps = chance(float(self.table["prob_better"][best]))
        if self.choice == "identity":
            return (
                f"{lead} The best update would be to {updates()[best]}; with it the Brier score is "
                f"expected to {how} by {points} per 1000 patients (standard error {error}). It "
                f"predicts better with probability {helps}, which is not enough to recommend it."
            )
        return (
            f"{lead} On new patients the Brier score is then expected to {how} by {points} "
            f"per 1000 patients (standard error {error}). The update predicts better with "
            f"probability {helps}."
        )

    def __repr__(self) -> str:
        return f"Recommendation({self.choice!r}: {self})"

    def _repr_html_(self) -> str:
        rows = {
            str(name): (
                "{} ({})".format(*per_thousand(row["brier_gain"], row["brier_se"])),
                "{} ({})".format(*per_thousand(row["gain"], row["se"])),
                chance(float(row["prob_better"])),
            )
            for name, row in self.table.iterrows()
            if name != "identity"
        }
        columns = ("fall of the Brier score, per 1000 (SE)", "of the log score (SE)", "P(better)")
        return card(str(self), columns, rows)


def recommend(
    y_true: Any,
    y_prob: Any = None,
    *,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 4000,
    sample_weight: Any = None,
    weight_type: WeightType | None = None,
    random_state: int | np.random.Generator | None = None,
    pos_label: Any = None,
) -> Recommendation:
    """Recommend an update of the model, or none, by expected held-out log score.

    Each family's Bayesian recalibration is scored by leave-one-out. The simplest update within one
    standard error of the best is recommended; no update counts as the simplest. With fewer than 20
    events or 20 non-events nothing is recommended.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
    y_prob : array-like of shape (n,), optional
    prior : {"neutral", "clinical"}, Prior, or mapping
    draws : int
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
    random_state : int or numpy.random.Generator, optional
    pos_label : object, optional
        As in `bayescal.fit`.

    Returns
    -------
    Recommendation

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases.

    Notes
    -----
    The gain shown for the update that is recommended is that of the best of several, and so
    optimistic with few data: on 50 simulated sets of 100 patients it was .0098 on average where
    .0006 was true. For a calibrated model, no update was chosen in 48 of 50 sets of 100 patients
    and in 50 of 50 sets of 500. For the gain itself use `bayescal.cross_fit`, or new patients.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC. Vergouwe et al. (2017), A closed testing procedure to select an
    appropriate method for updating prediction models, Statistics in Medicine 36, for the ladder.

    Examples
    --------
    >>> import bayescal as bc
    >>> advice = bc.recommend(
    ...     *bc.simulate.sample("clinical-middle-calibrated", 300, random_state=1), random_state=1
    ... )
    >>> advice.choice
    'identity'
    """
    comparison = compare(
        y_true,
        y_prob,
        curves=tuple(updates()),
        prior=prior,
        draws=draws,
        sample_weight=sample_weight,
        weight_type=weight_type,
        random_state=random_state,
        pos_label=pos_label,
    )
    return recommendation(comparison)


def recommendation(comparison: CurveComparison, thresholds: Sequence[float] = ()) -> Recommendation:
    """Recommend an update of the model, or none, from families that were compared already.

    Of several imputations, gains and shortfalls are means, and standard errors are the roots of
    Rubin's total variance.

    Parameters
    ----------
    comparison : CurveComparison
    thresholds : sequence of float in (0, 1)
        Risks from which a patient is treated, for the net benefit that an update gains.

    Returns
    -------
    Recommendation
    """
    if isinstance(comparison, ImputedComparison):
        each = [recommendation(one, thresholds) for one in comparison.comparisons]
        return _combined(each, comparison.comparisons[0].data)
    import pandas as pd

    wide = comparison.design_effect**0.5
    results = {name: comparison.loo[name] for name in updates()}
    none, best = results["identity"], max(results.values(), key=lambda loo: loo.elpd)
    n_hits = int(np.count_nonzero(comparison.data.hits > 0))
    rows = {}
    for name, loo in results.items():
        gain, error = _difference(loo.pointwise - none.pointwise, none.count, wide)
        short, its_error = _difference(best.pointwise - loo.pointwise, none.count, wide)
        rows[name] = {
            "gain": gain,
            "se": error,
            "prob_better": float(ndtr(gain / error)) if error > 0 else float(gain > 0),
            "short_of_best": short / its_error if its_error > 0 else 0.0,
        }
        fall = (1 - np.exp(none.pointwise)) ** 2 - (1 - np.exp(loo.pointwise)) ** 2
        rows[name]["brier_gain"], rows[name]["brier_se"] = _difference(fall, none.count, wide)
        for threshold in thresholds:
            benefit = _benefit(loo, n_hits, threshold) - _benefit(none, n_hits, threshold)
            value, its_error = _difference(benefit, none.count, wide)
            rows[name][f"net_benefit_gain@{threshold:g}"] = value
            rows[name][f"net_benefit_se@{threshold:g}"] = its_error
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "curve"
    shortfall = {name: row["short_of_best"] for name, row in rows.items()}
    return _chosen(shortfall, table, comparison.data)


def _combined(each: Sequence[Recommendation], data: CalibrationData) -> Recommendation:
    """One recommendation of those for several imputations."""
    tables = [one.table for one in each]
    table = mean_table(tables)
    errors = {"se": "gain"} | {
        str(column): str(column).replace("_se", "_gain")
        for column in table.columns
        if "_se" in str(column)
    }
    for error, gain in errors.items():
        table[error] = total_error([one[gain] for one in tables], [one[error] for one in tables])
    gains, spread = (table[name].to_numpy(dtype=np.float64) for name in ("gain", "se"))
    standard = np.divide(gains, spread, out=np.zeros_like(gains), where=spread > 0)
    table["prob_better"] = np.where(spread > 0, np.asarray(ndtr(standard)), gains > 0)
    short = dict(zip(table.index, table["short_of_best"].to_numpy(dtype=np.float64), strict=True))
    return _chosen(short, table, data)


def _chosen(
    short: Mapping[str, float], table: pd.DataFrame, data: CalibrationData
) -> Recommendation:
    """The simplest update that falls short of the best by at most one standard error.

    Nothing where events, or non-events, are few: clusters of cases do not change their number, and
    sampling weights are worth Kish's effective size.
    """
    counts = {"event": data.events, "non-event": data.n - data.events}
    rarer = min(counts, key=lambda what: counts[what])
    effective = counts[rarer] * data.weight_scale
    if effective < FEWEST:
        return Recommendation(None, table, data.n, count(effective, rarer))
    return Recommendation(next(name for name in updates() if short[name] <= 1), table, data.n)


def _benefit(loo: LeaveOneOut, n_hits: int, threshold: float) -> Floats:
    """Net benefit of one patient of each kind, treated by the risk that the others give."""
    own = np.exp(loo.pointwise)
    has_event = np.arange(own.size) < n_hits
    treated = np.where(has_event, own, 1 - own) >= least_treated(threshold)
    return net_benefit((treated & has_event).astype(float), treated.astype(float), threshold)


def _difference(values: Floats, count: Floats, wide: float) -> tuple[float, float]:
    """Mean per patient, and its standard error, `wide` times that of independent cases."""
    n = float(count.sum())
    mean = float(count @ values / n)
    return mean, float(wide * np.sqrt(count @ (values - mean) ** 2) / n)
