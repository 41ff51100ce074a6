"""What the verdict is read from: a few numbers, without a word about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from bayescal.core.sampling import BAD_K
from bayescal.model.reversed import Reversed
from bayescal.report.facts import RIGHT_SPREAD, Facts, Limit
from bayescal.report.performance import mean_score

__all__ = ["Measured", "Parts", "Seen", "measured", "seen"]


class Measured(NamedTuple):
    """An estimate and its interval."""

    estimate: float
    lower: float
    upper: float


class Parts(NamedTuple):
    """Sites, periods or subgroups, each with a curve of its own.

    Attributes
    ----------
    kind : {"site", "period", "subgroup"}
    number : int
    off : mapping of str to Measured
        O/E of those whose interval excludes 1, the furthest first.
    differ : float
        Probability that they differ, or have changed; NaN where it is not known.
    next : tuple of float or None
        Events for 100 predicted in the next one, as an interval.
    last : tuple of (str, Measured) or None
        The last period, and its O/E.
    pooled_error : Measured
        Against the curve of all, in which errors of parts cancel.
    changed : float
        Probability that curves have changed over time; NaN where it is not known.
    subgroups_off : mapping of str to Measured
        O/E of subgroups beside sites that are clearly off.
    own : str
        What a case has a curve of: "site", or "site and period".
    """

    kind: str
    number: int
    off: Mapping[str, Measured]
    differ: float
    next: tuple[float, float] | None
    last: tuple[str, Measured] | None
    pooled_error: Measured
    changed: float = float("nan")
    subgroups_off: Mapping[str, Measured] = MappingProxyType({})
    own: str = ""


@dataclass(frozen=True)
class Seen:
    """Numbers of an assessment, as few as the first lines need.

    Attributes
    ----------
    ratio, error : Measured
        O/E, and the true calibration error: against their own group, where there are groups.
    ratio_below : float
        Probability that O/E is below 1; in draws without any error it is 1.
    slope : Measured or None
        None where the scores define none; then `no_slope` says why.
    slope_below, slope_above, slope_right : float
        Probability that the slope is below 1, above it, and between 0.8 and 1.25.
    exact : float
        Probability that there is no error at all.
    mean : float
        Average score.
    ci_prob : float
    alone : mapping of str to Measured
        What the data say without a prior.
    runs_wrong_way : Reversed or None
    are_labels : bool
        Whether every score is exactly 0 or 1.
    pareto_k : float
        Above 0.7 draws cannot be trusted.
    limit : Limit or None
    below_limit : float
        Probability that the error is below it.
    parts : Parts or None
    """

    ratio: Measured
    ratio_below: float
    ratio_above: float
    error: Measured
    slope: Measured | None = None
    slope_below: float = 0.5
    slope_above: float = 0.5
    slope_right: float = 0.0
    no_slope: str = ""
    exact: float = 0.0
    mean: float = 0.5
    ci_prob: float = 0.95
    alone: Mapping[str, Measured] = field(default_factory=dict)
    runs_wrong_way: Reversed | None = None
    are_labels: bool = False
    pareto_k: float = 0.0
    limit: Limit | None = None
    below_limit: float = 0.0
    parts: Parts | None = None

    @property
    def sure(self) -> float:
        """What is said without "perhaps" has this probability."""
        return (1 + self.ci_prob) / 2

    @property
    def may_be_exact(self) -> bool:
        """Whether exact calibration is not ruled out, and the error is from 0."""
        return self.exact > 1 - self.sure

    @property
    def is_untrusted(self) -> bool:
        """Whether draws cannot be trusted."""
        return self.pareto_k > BAD_K


def seen(f: Facts) -> Seen:
    """The numbers of an assessment that its first lines are read from."""
    infinity = float("inf")
    of_slope: dict[str, Any] = {}
    if "calibration_slope" in f.table.index:
        of_slope = {
            "slope": measured(f.table.loc["calibration_slope"]),
            "slope_below": f.prob_within("calibration_slope", -infinity, 1),
            "slope_above": f.prob_within("calibration_slope", 1, infinity),
            "slope_right": f.prob_within("calibration_slope", *RIGHT_SPREAD),
        }
    return Seen(
        ratio=measured(f.table.loc["observed_expected"]),
        ratio_below=f.prob_within("observed_expected", -infinity, 1),
        ratio_above=f.prob_within("observed_expected", 1, infinity),
        error=measured(f.error),
        no_slope=f.table.attrs["undefined"].get("calibration_slope", ""),
        exact=float((f.error_draws == 0).mean()),
        mean=mean_score(f.posterior.data),
        ci_prob=f.ci_prob,
        alone={name: measured(row) for name, row in f.alone.items()},
        runs_wrong_way=f.runs_wrong_way,
        are_labels=f.posterior.problem.edges.assumed,
        pareto_k=float(f.posterior.diagnostics.get("pareto_k", 0)),
        limit=f.limit,
        below_limit=0.0 if f.limit is None else f.prob_below_limit,
        parts=_parts(f),
        **of_slope,
    )


def measured(row: Any) -> Measured:
    """The numbers of one row of a table or of a mapping."""
    return Measured(*(float(row[end]) for end in Measured._fields))


def _parts(f: Facts) -> Parts | None:
    if not f.has_own_curves:
        return None
    last = None
    if f.periods is not None and f.populations is not None:
        row: Any = f.populations.loc["now"]
        ends = {end: float(row[f"observed_expected_{end}"]) for end in Measured._fields}
        last = f.periods.levels["period"][-1], Measured(**ends)
    number = len(f.data.groups)
    if f.several is not None:
        number = sum(len(f.several.levels[axis]) for axis in f.axes)
    return Parts(
        f.kind,
        number,
        {label: measured(row) for label, row in f.clearly_off.items()},
        f.prob_differ,
        f.next_events,
        last,
        measured(f.table.loc["tce"]),
        f.prob_changed,
        {label: measured(row) for label, row in f.subgroups_off.items()},
        f.own,
    )
