"""recalibration_gain(): what a recalibration gained, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._validate import Floats, as_draws, as_level, check_choice
from bayescal._weights import WeightType
from bayescal.errors import InputError
from bayescal.gain._curve_route import Posterior, by_curve
from bayescal.gain._paired_route import by_pairs
from bayescal.gain._terms import PARTS, SCORES, net_benefit_name
from bayescal.gain._triples import Triples, as_triples
from bayescal.priors import Prior, as_prior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["RecalibrationGain", "recalibration_gain"]

ROUTES = ("auto", "curve", "paired")
CHAINS = 4
LABELS = {
    "tce": "true calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}


def recalibration_gain(
    y_true: Any,
    before: Any,
    after: Any,
    *,
    thresholds: Sequence[float] = (),
    in_sample: bool = False,
    route: str = "auto",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 2000,
    sample_weight: Any = None,
    weight_type: WeightType | None = None,
    random_state: int | np.random.Generator | None = None,
    pos_label: Any = None,
) -> RecalibrationGain:
    """What was gained by replacing predictions `before` by predictions `after`.

    All gains are positive where recalibration helped: the fall in true calibration error and in
    Brier score, the rise in log score and in net benefit. They are of the population, per patient.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, 0/1 or boolean, of patients that did not fit the recalibration.
    before : array-like of shape (n,)
        Predicted probabilities before.
    after : array-like of shape (n,) or (repeats, n)
        Predicted probabilities after, for the same patients in the same order. Several rows are
        the repeats of a cross-fit (see `cross_fit`): they are averaged within each draw.
    thresholds : sequence of float in (0, 1)
        Risks at which a patient is treated, for the net benefit.
    in_sample : bool
        Whether these patients also fitted the map. The gain is then optimistic, and every output
        says so.
    route : {"auto", "curve", "paired"}
        "curve" needs `after` to be a map of `before` and uses one posterior of E[y | before];
        "paired" is the Bayesian bootstrap of the patients. "auto" takes "curve" when equal scores
        before have equal scores after, and after rises or falls with before but for a few turns.
    prior : {"neutral", "clinical"}, Prior, or mapping
        On the calibration curve.
    draws : int
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
        As in `bayescal.fit`.
    random_state : int or numpy.random.Generator, optional
    pos_label : object, optional
        The label of the event, when outcomes are not 0 and 1.

    Returns
    -------
    RecalibrationGain

    Raises
    ------
    InputError
        If the arrays do not describe the same patients, a threshold is not inside (0, 1), or the
        route is impossible.

    Notes
    -----
    With eta = E[y | before] and T the map, a draw of the Brier gain is
    E_w[(eta - s)^2 - (eta - T)^2], and of the fall in TCE E_w|eta - s| - E_w|E_w[eta | T] - T|,
    where equal T are grouped. Score gain = calibration gain + refinement change. When T merges no
    scores the refinement change is zero, and the Brier gain is the difference of the squared L2
    calibration errors (Gruber & Buettner 2022, Proposition 4.5); not of TCE itself, nor when
    scores are merged.

    By the curve, scores use the average of `logistic`, `beta` and `spline`. The fall in TCE also
    has atoms, that `before` and that `after` is exactly calibrated, each with prior probability
    0.1; its interval is their hull. Without them no interval covers a gain that calibrates
    exactly, since a curve that is fitted never does.

    The gain of plugging in one's own posterior mean, on one's own data, has a posterior mean that
    is never negative. It is not evidence that recalibration helps.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022. Vickers & Elkin, "Decision curve analysis", Medical Decision Making
    2006. Newton & Raftery, "Approximate Bayesian inference with the weighted likelihood
    bootstrap", JRSS B 1994.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, before = bc.simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    >>> after = 1 / (1 + np.exp(-(-0.4 + 0.6 * np.log(before / (1 - before)))))
    >>> gain = bc.recalibration_gain(y_true, before, after, random_state=1)
    >>> gain.prob_improved > 0.8
    True
    >>> list(gain.summary().index)
    ['tce', 'brier', 'log_score']
    """
    check_choice(route, ROUTES, "route")
    levels = [as_level(threshold, "thresholds") for threshold in thresholds]
    chosen, size = as_prior(prior), as_draws(draws)
    triples = as_triples(y_true, before, after, sample_weight, pos_label, weight_type)
    if route == "curve" and not triples.is_map:
        raise InputError(
            "route='curve' needs after to be a map of before: equal scores before must have equal "
            "scores after, rising or falling but for a few turns. Use route='paired'."
        )
    seed = _as_seed(random_state)
    by_map = triples.is_map and route != "paired"
    if triples.is_unchanged:
        posterior = _nothing(levels, size)
    else:
        posterior = (by_curve if by_map else by_pairs)(triples, levels, chosen, size, seed)
    return RecalibrationGain(
        posterior, triples, "curve" if by_map else "paired", bool(in_sample), tuple(levels), seed
    )


class RecalibrationGain:
    """The posterior of what a recalibration gained. Made by `bayescal.recalibration_gain`.

    Attributes
    ----------
    route : str
        "curve" or "paired": how the gains were computed.
    evidence : str
        On which patients: those the map has not seen, cross-fitted, or in-sample.
    thresholds : tuple of float
    seed : int
        Repeats the numbers.
    """

    def __init__(
        self,
        posterior: Posterior,
        triples: Triples,
        route: str,
        in_sample: bool,
        thresholds: tuple[float, ...],
        seed: int,
    ) -> None:
        self._posterior, self._triples = posterior, triples
        self.route, self.thresholds, self.seed = route, thresholds, seed
        repeats = triples.after.shape[0]
        self.evidence = "patients that the map has not seen"
        if repeats > 1:
            self.evidence = f"cross-fitted, {repeats} repeats"
        if in_sample:
            self.evidence = "in-sample: the map was fitted to these patients, so it looks too good"

    @property
    def n(self) -> float:
        """Number of cases; of sampling weights, Kish's effective number."""
        return float(self._triples.weight.sum())

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._triples.weight_type

    @property
    def prob_improved(self) -> float:
        """Posterior probability that the Brier score improves."""
        return self.prob_above(0.0)

    def prob_above(self, minimum: float, measure: str = "brier") -> float:
        """Posterior probability that a gain exceeds a stated minimum.

        Parameters
        ----------
        minimum : float
        measure : str
            A row of `summary(parts=True)`.

        Returns
        -------
        float
        """
        values, weight = self._weighted(self._known(measure))
        return min(1.0, float(weight[values > minimum].sum()))

    def interval(self, measure: str = "brier", ci_prob: float = 0.95) -> tuple[float, float]:
        """Credible interval of a gain.

        Parameters
        ----------
        measure : str
        ci_prob : float in (0, 1)

        Returns
        -------
        lower, upper : float
            Equal-tailed. For "tce", the hull of the interval when neither side is exactly
            calibrated and of those when one is, if that is probable enough to matter.
        """
        tail = (1 - as_level(ci_prob)) / 2
        ends = [_quantiles(self._posterior.draws[self._known(measure)], tail)]
        if measure == "tce":
            ends += [
                _quantiles(terms["tce"], tail)
                for probability, terms in self._posterior.atoms.values()
                if probability >= tail
            ]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def draws(self) -> xr.Dataset:
        """Draws of every gain, with dims (chain, draw); for `tce` the atoms are mixed in."""
        import xarray as xr

        size = next(iter(self._posterior.draws.values())).size
        rng = np.random.default_rng([self.seed, *b"draws"])
        found = {}
        for name, values in self._posterior.draws.items():
            if name == "tce":
                mixed, weight = self._weighted(name)
                values = rng.choice(mixed, size, p=weight)
            found[name] = (("chain", "draw"), values.reshape(CHAINS, -1))
        return xr.Dataset(found)

    def summary(self, ci_prob: float = 0.95, *, parts: bool = False) -> pd.DataFrame:
        """Every gain with its interval, positive where recalibration helped.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        parts : bool
            Also what calibration and refinement contributed to the score gains.

        Returns
        -------
        pandas.DataFrame
            Rows tce, brier, log_score, net_benefit@t; columns mean, median, lower, upper,
            prob_improved. `attrs` hold ci_prob, route and evidence.
        """
        import pandas as pd

        level = as_level(ci_prob)
        rows = {}
        for name in (*SCORES, *(PARTS if parts else ()), *map(net_benefit_name, self.thresholds)):
            values, weight = self._weighted(name)
            lower, upper = self.interval(name, level)
            rows[name] = {
                "mean": float(values @ weight),
                "median": float(_weighted_median(values, weight)),
                "lower": lower,
                "upper": upper,
                "prob_improved": self.prob_above(0.0, name),
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "gain"
        table.attrs.update(ci_prob=level, route=self.route, evidence=self.evidence)
        table.attrs.update(weight_type=self.weight_type)
        return table

    def __repr__(self) -> str:
        table = self.summary()
        lines = [
            f"  {LABELS.get(str(name), str(name)):24s} {row['median']:+.4f} "
            f"({row['lower']:+.4f} to {row['upper']:+.4f})  P(improved) {row['prob_improved']:.3f}"
            for name, row in table.iterrows()
        ]
        cases = f"{self.n:g} cases"
        if self.weight_type == "sampling":
            cases = f"sampling weights worth {self.n:.1f} cases"
        how = "one curve, since after is a map of before"
        if self.route == "paired":
            how = "paired Bayesian bootstrap of the patients"
        return "\n".join(
            [
                "RecalibrationGain",
                f"  {cases}; {self.evidence}",
                f"  {how}; median gain and 95 % credible interval",
                *lines,
            ]
        )

    def plot(self, measure: str = "brier", ax: Any = None, **options: Any) -> Axes:
        """Draw the posterior of one gain; see `bayescal.plots.gain`."""
        from bayescal.plots import gain

        return gain(self, measure, ax, **options)

    def _known(self, measure: str) -> str:
        return check_choice(measure, self._posterior.draws, "measure")

    def _weighted(self, name: str) -> tuple[Floats, Floats]:
        """Draws and their weights; the atoms matter for distances only."""
        values = self._posterior.draws[name]
        parts, shares = [values], [1.0]
        if name == "tce":
            for probability, terms in self._posterior.atoms.values():
                parts.append(terms[name])
                shares.append(probability)
            shares[0] -= sum(shares[1:])
        weight = np.repeat(np.array(shares) / values.size, values.size)
        return np.concatenate(parts), weight


def _quantiles(values: Floats, tail: float) -> tuple[float, float]:
    lower, upper = np.quantile(values, [tail, 1 - tail])
    return float(lower), float(upper)


def _weighted_median(values: Floats, weight: Floats) -> float:
    order = np.argsort(values)
    place = np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())
    return float(values[order[min(int(place), values.size - 1)]])


def _nothing(thresholds: Sequence[float], draws: int) -> Posterior:
    """Equal predictions gain exactly nothing."""
    names = (*SCORES, *PARTS, *map(net_benefit_name, thresholds))
    return Posterior({name: np.zeros(draws) for name in names}, {}, float("nan"))


def _as_seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, (int, np.integer)):
        return abs(int(random_state))
    return int(np.random.default_rng(random_state).integers(2**31))
