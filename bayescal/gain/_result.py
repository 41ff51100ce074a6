"""What is known of a gain: its draws, intervals, summary, and on which patients it was seen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_flag, as_level, as_number, check_choice
from bayescal.core.page import Block, Figure, Page, Section
from bayescal.core.table import Column, Row, Table, rows_of
from bayescal.core.text import NO_CHANGE, chance, count, decimals, per_thousand, signed
from bayescal.data.columns import WeightType
from bayescal.gain._terms import (
    PARTS,
    SCORES,
    are_certain,
    net_benefit_name,
    told_impossible,
    treated,
)
from bayescal.gain.paired import PairedPredictions
from bayescal.gain.routes import Posterior, calibration_mixture, quantiles
from bayescal.model.priors import Prior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["RecalibrationGain", "evidence_of"]

CHAINS = 4
# With one or two patients moved across a threshold, 95 % intervals covered .47 to .85 of known
# changes in net benefit by the curve, and .09 to .66 by pairs.
FEW_MOVED = 10
MEASURE_LABELS = {
    "tce": "true calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}
# What is said where both predictions were rounded.
OF_ROUNDING = (
    "Rounding: equal scores before have several scores after, no further apart than rounding can "
    "have left them. Their mean stands for the map."
)
CROSS_FITTED = (
    "about the procedure (95 % intervals covered its gain in .87 to 1.00 of simulations), not the "
    "map fitted to all patients (.79 to .94)"
)


class RecalibrationGain:
    """The posterior of the gain of a recalibration. Made by `bayescal.recalibration_gain`.

    Attributes
    ----------
    route : str
        "curve" or "paired": how the gains were computed.
    evidence : str
        On which patients: other patients than the map was fitted to (assumed), cross-fitted, or
        in-sample, and then whether that was stated or detected.
    in_sample : bool
        Whether the map was fitted to these patients, stated or detected.
    thresholds : tuple of float
    seed : int
        The random seed; with it the numbers can be reproduced.
    title : str
        Of one of several curves, whose gain it is: a level, or what stands in its place; else "".
    """

    def __init__(
        self,
        posterior: Posterior,
        pairs: PairedPredictions,
        *,
        route: str,
        evidence: str,
        in_sample: bool,
        thresholds: tuple[float, ...],
        prior: Prior,
        seed: int,
        title: str = "",
    ) -> None:
        self._posterior, self._pairs, self._prior = posterior, pairs, prior
        self.route, self.evidence, self.in_sample = route, evidence, in_sample
        self.thresholds, self.seed, self.title = thresholds, seed, title

    @property
    def n(self) -> float:
        """Number of cases; of sampling weights, Kish's effective number."""
        return float(self._pairs.weight.sum())

    @cached_property
    def prob_calibrated(self) -> dict[str, float]:
        """Posterior probabilities that "before", and that "after", is exactly calibrated.

        Computed by `bayescal.compare` for either prediction, with prior probability 0.05; for
        repeats of a cross-fit, their mean. Not a number where NUTS drew several curves.
        """
        of, how = self._pairs, (self._prior, self.seed)
        before, after = self._posterior.before, self._posterior.after
        if before is None:
            before = calibration_mixture(of.table_before, *how)
            after = tuple(calibration_mixture(table, *how) for table in of.tables_after)
        each = [one.prob_calibrated for one in (before, *after)]
        first, *others = (float("nan") if one is None else one for one in each)
        return {"before": first, "after": float(np.mean(others))}

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._pairs.weight_type

    @property
    def contradicted(self) -> dict[str, int]:
        """Patients to whom "before", and "after", gives probability 0 to what happened.

        The log loss of such a patient is infinite. Of repeats, the patients of any of them.
        """
        of = self._pairs
        wrong = {
            "before": told_impossible(of.outcome, of.before),
            "after": np.any(told_impossible(of.outcome, of.after), axis=0),
        }
        return {side: self._cases(patients) for side, patients in wrong.items()}

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Gains that are exactly 0: of net benefit, where no patient crosses the threshold."""
        return tuple(name for name, values in self._posterior.draws.items() if not values.any())

    @property
    def notes(self) -> list[str]:
        """What a reader should know of infinite log losses, and of thresholds that few cross."""
        pairs, notes = self._pairs, []
        is_rounded = bool(self.title) and pairs.is_rounded_map and not pairs.is_map
        is_certain = are_certain(pairs.after)
        wrong = self.contradicted
        if wrong["before"] or wrong["after"]:
            sides = ", ".join(f"{side} to {count(n, 'case')}" for side, n in wrong.items())
            notes.append(
                f"Log score: probability 0 is given to what happened, {sides}, so that the loss is "
                "infinite. To compare a map that never says 0 or 1, pass its clipped predictions."
            )
        elif is_certain and not pairs.is_unchanged:
            certain = ((pairs.after == 0) | (pairs.after == 1)).any(axis=0)
            told = count(self._cases(certain), "case")
            notes.append(
                f"Log score: after gives probability 0 or 1 to {told}, and no outcome contradicts "
                "it. One that does makes the loss infinite."
            )
        for threshold in self.thresholds:
            moved = treated(pairs.after, threshold) != treated(pairs.before, threshold)
            cases = float((moved @ pairs.weight).mean())
            if not cases and not pairs.is_unchanged:
                notes.append(
                    f"Net benefit at {threshold:g}: unchanged, since no case crosses the threshold."
                )
            elif cases < FEW_MOVED and not pairs.is_unchanged:
                notes.append(
                    f"Net benefit at {threshold:g}: {cases:.3g} cases cross the threshold. With "
                    f"fewer than {FEW_MOVED} its interval is too narrow."
                )
        return [*notes, OF_ROUNDING] if is_rounded else notes

    def _cases(self, patients: NDArray[np.bool_]) -> int:
        """Number of some patients: cases by their counts, rows where weights are of sampling."""
        of = self._pairs
        return (
            round(float(of.weight[patients].sum()))
            if of.weight_type == "counts"
            else int(patients.sum())
        )

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
        least = as_number(minimum, "minimum")
        return float((self._posterior.draws[self._known(measure)] > least).mean())

    def interval(self, measure: str = "brier", ci_prob: float = 0.95) -> tuple[float, float]:
        """Credible interval of a gain.

        Parameters
        ----------
        measure : str
        ci_prob : float in (0, 1)

        Returns
        -------
        lower, upper : float
            Equal-tailed. Infinite where a log loss is. That of the fall in TCE holds the interval
            of the draws in which a side is exactly calibrated, if that is more probable than one
            tail.
        """
        tail = (1 - as_level(ci_prob)) / 2
        return self._posterior.interval(self._known(measure), tail)

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
            upper, prob_improved. The estimate is the mean. Numbers of the log score are infinite
            where a log loss is. `attrs` hold ci_prob, route, evidence, in_sample,
            prob_calibrated, and `contradicted` and `unchanged` as the attributes.
        """
        import pandas as pd

        level = as_level(ci_prob)
        rows = {}
        for name in (
            *SCORES,
            *(PARTS if as_flag(parts, "parts") else ()),
            *map(net_benefit_name, self.thresholds),
        ):
            values = self._posterior.draws[name]
            lower, upper = self.interval(name, level)
            mean = _mean(values)
            rows[name] = {
                "estimate": mean,
                "mean": mean,
                "median": quantiles(values, 0.5)[0],
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
            contradicted=self.contradicted,
            unchanged=self.unchanged,
        )
        return table

    def page(self) -> Page:
        """What the recalibration gains, on which patients, and how that was computed."""
        summary = self.summary()
        exact = self.prob_calibrated
        row: Any = summary.loc["brier"]
        if "brier" in self.unchanged:
            first = "The Brier score does not change."
        else:
            falls = row["estimate"] >= 0
            ends = (row["lower"], row["upper"]) if falls else (-row["upper"], -row["lower"])
            middle, low, high = per_thousand(abs(row["estimate"]), *ends)
            first = (
                f"The sum of the Brier scores of 1000 cases {'falls' if falls else 'rises'} by "
                f"{middle} ({low} to {high}); "
                f"it improves with probability {chance(float(row['prob_improved']))}."
            )
        rows = rows_of(summary, MEASURE_LABELS)

        def gained(row: Row) -> str:
            middle, ends = self._shown(row.name, dict(row.values))
            return f"{middle} ({ends})" if ends else middle

        def improved(row: Row) -> str:
            return "" if row.name in self.unchanged else chance(float(row["prob_improved"]))

        columns = (
            Column("gained", "Gain (95 % interval)", gained),
            Column("prob_improved", "P(improved)", improved),
        )
        title = "Estimated gain per case; positive where the recalibration helped"
        table = Table("gain", title, "Measure", columns, rows, stacks=True)
        blocks: list[Block] = [
            Figure("gain", self, {}, "Gain of the recalibration"),
            table,
            f"{self._how[0].upper()}{self._how[1:]}. P(exactly calibrated) "
            f"{chance(exact['before'])} before, {chance(exact['after'])} after.",
        ]
        record: dict[str, Any] = {"gain": summary.to_dict(orient="index"), "route": self.route}
        record |= {"evidence": self.evidence, "prob_calibrated": exact, "seed": self.seed}
        record |= {"in_sample": self.in_sample, "contradicted": self.contradicted}
        evidence = f"{self.evidence[0].upper()}{self.evidence[1:]}."
        return Page(
            "What a recalibration gains",
            self._cases_in_words,
            (first, evidence),
            (Section("Gain", tuple(blocks)),),
            tuple(self.notes),
            record,
        )

    def __repr__(self) -> str:
        return f"RecalibrationGain\n{self.page()}"

    @property
    def _cases_in_words(self) -> str:
        cases = count(self.n, "case")
        if self.weight_type == "sampling":
            cases = f"sampling weights worth {self.n:.1f} cases"
        return cases

    @property
    def _how(self) -> str:
        """How the gains were computed."""
        if self.title:
            return f"{self.title}, of curves fitted together"
        if self.route == "curve":
            return "one curve, since after is a function of before"
        clusters = self._pairs.clusters
        units = "patients" if clusters is None else f"{clusters.size:,} clusters"
        return f"paired Bayesian bootstrap of the {units}"

    def _repr_html_(self) -> str:
        page = self.page()
        return page.tables["gain"].beneath("\n".join(page.answer))

    def _shown(self, name: str, row: Mapping[str, float]) -> tuple[str, str]:
        """An estimate and its interval, which is empty where there is nothing to add."""
        if name in self.unchanged:
            return NO_CHANGE, ""
        places = decimals(row["lower"], row["upper"])
        middle, lower, upper = (signed(row[key], places) for key in ("estimate", "lower", "upper"))
        return middle, "" if lower == upper else f"{lower} to {upper}"

    def _known(self, measure: str) -> str:
        return check_choice(measure, self._posterior.draws, "measure")


def _mean(values: Floats) -> float:
    """Mean of draws; minus infinity where any is, also beside infinity."""
    return -np.inf if (values == -np.inf).any() else float(values.mean())


def evidence_of(after: Any, in_sample: bool, detected: str | None) -> str:
    """The sentence that goes with every number.

    Shapes: `after` (n,) or (repeats, n).
    """
    if detected:
        return f"in-sample (detected: {detected}), so the gain is overestimated"
    if in_sample:
        return "in-sample: the map was fitted to these patients, so the gain is overestimated"
    shape = np.shape(after)
    if len(shape) == 2 and shape[1] != 1:
        return f"cross-fitted, {count(shape[0], 'repeat')}: {CROSS_FITTED}"
    return "map assumed to be fitted to other patients"
