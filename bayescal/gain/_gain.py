"""recalibration_gain(): what a recalibration gained, with its uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats, as_seed
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_draws, as_level, check_choice
from bayescal.data.weights import WeightType
from bayescal.gain._curve_route import FAMILIES, Posterior, by_curve
from bayescal.gain._double_use import double_use
from bayescal.gain._evidence import evidence_of
from bayescal.gain._paired_route import by_pairs
from bayescal.gain._readings import Readings
from bayescal.gain._terms import PARTS, SCORES, net_benefit_name, treated
from bayescal.gain._triples import Triples, as_triples
from bayescal.inference import compare
from bayescal.model.priors import Prior, as_prior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["RecalibrationGain", "recalibration_gain"]

ROUTES = ("auto", "curve", "paired")
CHAINS = 4
FEW_MOVED = 10
EVIDENCE_DRAWS = 1000
LABELS = {
    "tce": "true calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}


def recalibration_gain(
    y_true: Any,
    before: Any = None,
    after: Any = None,
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
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0/1 or boolean, of patients that did not fit the recalibration; or a table of
        these outcomes and the probabilities before.
    before : array-like of shape (n,), optional
        Predicted probabilities before; none with a table.
    after : array-like of shape (n,) or (repeats, n), callable, or fitted estimator
        Predicted probabilities after, for the same patients in the same order. Several rows are
        the repeats of a cross-fit (see `cross_fit`): they are averaged within each draw. Or the
        map from the probabilities before to those after: a function of an array, or an estimator
        with `predict_proba` or `transform`. Beside a table, which no longer knows the order of its
        cases, an array has one prediction for each of its rows, or is a cross-fit of that table.
    thresholds : sequence of float in (0, 1)
        Risks at which a patient is treated, for the net benefit.
    in_sample : bool
        Whether these patients also fitted the map. The gain is then optimistic, and every output
        says so. Where the predictions themselves show it (see Notes) it is said anyway, with a
        warning.
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

    By the curve, eta is the average of `logistic`, `beta` and `spline`; that either side is
    exactly calibrated has no part in it, and stands beside it as `prob_calibrated`. Where a side
    is calibrated, every draw still has a distance from it, so that the draws of the fall in TCE
    lie too far from that side: their equal-tailed interval alone covered about half of the gains
    that calibrate exactly. The lower end of its interval therefore takes the distance before as
    max(0, E_w[phi (eta - s)]), with phi the side of s that the curve is on with probability 0.9
    and 0 if there is none; the upper end does so with the distance after; and neither goes
    beyond E_w|s - T|, which no change can exceed (unless T merges scores, or by pairs).

    Double use is detected where a fit leaves equations behind: every distinct value after is the
    mean outcome of its patients (isotonic regression, bins), or the score equations of a logistic
    map, a shift or stretch of the log-odds or a beta map hold exactly. Each sign has to be one
    that unseen patients show with probability below 1e-4. A penalised or averaged map, such as
    `BayesianRecalibrator`, cannot be detected.

    The change in net benefit rests on the patients that cross the threshold. Where fewer than
    ten do, `notes` says so: the interval is then too short. With one or two it covered .47 to
    .85 of known gains by the curve, and .04 to .72 by pairs.

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
    detected = double_use(triples)
    if detected and not in_sample:
        warnings.warn(
            f"after was fitted to these very patients: {detected}. The gain looks too good; use "
            "other patients or bayescal.cross_fit, or say in_sample=True.",
            UserWarning,
            stacklevel=2,
        )
    if route == "curve" and not triples.is_map:
        raise InputError(
            "route='curve' needs after to be a map of before: equal scores before must have equal "
            "scores after, rising or falling but for a few turns. Use route='paired'."
        )
    seed = as_seed(random_state)
    by_map = triples.is_map and route != "paired"
    if triples.is_unchanged:
        posterior = _nothing(levels, size)
    else:
        posterior = (by_curve if by_map else by_pairs)(triples, levels, chosen, size, seed)
    return RecalibrationGain(
        posterior,
        triples,
        route="curve" if by_map else "paired",
        evidence=evidence_of(after, bool(in_sample), detected),
        in_sample=bool(in_sample) or detected is not None,
        thresholds=tuple(levels),
        prior=chosen,
        seed=seed,
    )


class RecalibrationGain:
    """The posterior of what a recalibration gained. Made by `bayescal.recalibration_gain`.

    Attributes
    ----------
    route : str
        "curve" or "paired": how the gains were computed.
    evidence : str
        On which patients: assumed not seen by the map, cross-fitted, or in-sample, and then
        whether that was stated or detected.
    in_sample : bool
        Stated or detected.
    thresholds : tuple of float
    seed : int
        Repeats the numbers.
    """

    def __init__(
        self,
        posterior: Posterior,
        triples: Triples,
        *,
        route: str,
        evidence: str,
        in_sample: bool,
        thresholds: tuple[float, ...],
        prior: Prior,
        seed: int,
    ) -> None:
        self._posterior, self._triples, self._prior = posterior, triples, prior
        self.route, self.evidence, self.in_sample = route, evidence, in_sample
        self.thresholds, self.seed = thresholds, seed

    @property
    def n(self) -> float:
        """Number of cases; of sampling weights, Kish's effective number."""
        return float(self._triples.weight.sum())

    @cached_property
    def prob_calibrated(self) -> dict[str, float]:
        """Posterior probabilities that "before", and that "after", is exactly calibrated.

        Those of `bayescal.compare` for either prediction, under its prior probability 0.1; with
        repeats of a cross-fit their mean. They stand beside the gains and change none of them.
        """
        before = self._prob_calibrated(self._triples.before)
        after = [self._prob_calibrated(row) for row in self._triples.after]
        return {"before": before, "after": float(np.mean(after))}

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._triples.weight_type

    @property
    def notes(self) -> list[str]:
        """Thresholds where the interval of the net benefit rests on too few patients."""
        triples, found = self._triples, []
        for threshold in self.thresholds:
            moved = treated(triples.after, threshold) != treated(triples.before, threshold)
            cases = float((moved @ triples.weight).mean())
            if cases < FEW_MOVED and not triples.is_unchanged:
                found.append(
                    f"Net benefit at {threshold:g}: {cases:.3g} cases cross the threshold. With "
                    f"fewer than {FEW_MOVED} its interval is too short."
                )
        return found

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
        return float((self._posterior.draws[self._known(measure)] > minimum).mean())

    def interval(self, measure: str = "brier", ci_prob: float = 0.95) -> tuple[float, float]:
        """Credible interval of a gain.

        Parameters
        ----------
        measure : str
        ci_prob : float in (0, 1)

        Returns
        -------
        lower, upper : float
            Equal-tailed. For "tce" each end reads one of the two distances in a way that chance
            does not inflate (see `recalibration_gain`), so that the interval contains the
            equal-tailed one.
        """
        level = as_level(ci_prob)
        if self._known(measure) == "tce":
            return self._posterior.readings.interval(level)
        tail = (1 - level) / 2
        lower, upper = np.quantile(self._posterior.draws[measure], [tail, 1 - tail])
        return float(lower), float(upper)

    @property
    def draws(self) -> xr.Dataset:
        """Draws of every gain, with dims (chain, draw)."""
        import xarray as xr

        return xr.Dataset(
            {
                name: (("chain", "draw"), values.reshape(CHAINS, -1))
                for name, values in self._posterior.draws.items()
            }
        )

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
            Rows tce, brier, log_score, net_benefit@t; columns estimate, mean, median, lower,
            upper, prob_improved. The estimate of tce is the fall in the distance of the
            posterior mean curve, inside the interval; that of the others is the mean. `attrs`
            hold ci_prob, route, evidence, in_sample and prob_calibrated.
        """
        import pandas as pd

        level = as_level(ci_prob)
        rows = {}
        for name in (*SCORES, *(PARTS if parts else ()), *map(net_benefit_name, self.thresholds)):
            values = self._posterior.draws[name]
            lower, upper = self.interval(name, level)
            mean = float(values.mean())
            estimate = self._posterior.readings.estimate if name == "tce" else mean
            rows[name] = {
                "estimate": min(max(estimate, lower), upper),
                "mean": mean,
                "median": float(np.median(values)),
                "lower": lower,
                "upper": upper,
                "prob_improved": self.prob_above(0.0, name),
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "gain"
        table.attrs.update(
            ci_prob=level,
            route=self.route,
            evidence=self.evidence,
            weight_type=self.weight_type,
            in_sample=self.in_sample,
            prob_calibrated=self.prob_calibrated,
        )
        return table

    def __repr__(self) -> str:
        table = self.summary()
        lines = [
            f"  {LABELS.get(str(name), str(name)):24s} {row['estimate']:+.4f} "
            f"({row['lower']:+.4f} to {row['upper']:+.4f})  P(improved) {row['prob_improved']:.3f}"
            for name, row in table.iterrows()
        ]
        cases = f"{self.n:g} cases"
        if self.weight_type == "sampling":
            cases = f"sampling weights worth {self.n:.1f} cases"
        how = "one curve, since after is a map of before"
        if self.route == "paired":
            how = "paired Bayesian bootstrap of the patients"
        exact = self.prob_calibrated
        return "\n".join(
            [
                "RecalibrationGain",
                f"  {cases}; {self.evidence}",
                f"  {how}; estimated gain and 95 % credible interval",
                *lines,
                f"  P(exactly calibrated) {exact['before']:.3f} before, {exact['after']:.3f} after",
                *(f"  {note}" for note in self.notes),
            ]
        )

    def _known(self, measure: str) -> str:
        return check_choice(measure, self._posterior.draws, "measure")

    def _prob_calibrated(self, score: Floats) -> float:
        triples = self._triples
        data = CalibrationData(
            triples.outcome, score, triples.weight, weight_type=triples.weight_type
        )
        found = compare(
            data, curves=FAMILIES, prior=self._prior, draws=EVIDENCE_DRAWS, random_state=self.seed
        )
        return found.prob_calibrated


def _nothing(thresholds: Sequence[float], draws: int) -> Posterior:
    """Equal predictions gain exactly nothing."""
    names = (*SCORES, *PARTS, *map(net_benefit_name, thresholds))
    zero = np.zeros(draws)
    return Posterior(dict.fromkeys(names, zero), Readings(zero, zero, zero, zero, 0.0))
