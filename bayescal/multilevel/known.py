"""Sites of which only summaries are known: read and checked, and what they say of a curve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import binomial_mle
from bayescal.core.text import shortened
from bayescal.data.cases import as_floats, as_vector, is_missing
from bayescal.data.roles import count_labels
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem

# Most sites that are fitted at once: the time grows with their number.
MOST_FITTED_SITES = 2000
# Expected time of a fit of as many sites.
LONGEST_OF_SITES = "about two minutes"
# The one site of patients without a label, beside sites known by their summaries.
THIS_SITE = "this site"

COUNTS = ("observed", "expected", "n")
RATIO = ("observed_expected", "lower", "upper")
SLOPE = ("calibration_slope", "slope_lower", "slope_upper")
# Columns that are read; others are left alone.
KNOWN_COLUMNS = (*COUNTS, *RATIO, *SLOPE, "ci_prob")
ORDINARY_LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval, read as a normal law of the estimate, or of its logarithm."""

    estimate: float
    lower: float
    upper: float
    ci_prob: float
    is_log: bool

    @property
    def mean(self) -> float:
        """The estimate, on the scale of the law."""
        return math.log(self.estimate) if self.is_log else self.estimate

    @property
    def error(self) -> float:
        """Standard error, on the scale of the law."""
        width = math.log(self.upper / self.lower) if self.is_log else self.upper - self.lower
        return width / (2 * float(ndtri((1 + self.ci_prob) / 2)))


@dataclass(frozen=True)
class KnownSite:
    """What is known of a site: events, sum of predicted probabilities, patients, estimates."""

    label: str
    observed: float | None = None
    expected: float | None = None
    n: float | None = None
    observed_expected: Interval | None = None
    calibration_slope: Interval | None = None

    @property
    def mean_risk(self) -> float | None:
        """Mean of the predicted probabilities, where it is known."""
        return None if self.expected is None or self.n is None else self.expected / self.n

    @property
    def raw(self) -> dict[str, float]:
        """Estimates of the site alone; not a number where there is none."""
        ratio, slope = (
            np.nan if each is None else each.estimate
            for each in (self.observed_expected, self.calibration_slope)
        )
        if self.observed is not None and self.expected is not None:
            ratio = self.observed / self.expected
        return {"observed_expected": ratio, "calibration_slope": slope}

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return asdict(self)

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> KnownSite:
        """Read back what `to_dict` wrote."""
        intervals = {
            name: None if described[name] is None else Interval(**described[name])
            for name in ("observed_expected", "calibration_slope")
        }
        return cls(**{**described, **intervals})


def check_few_sites(sites: int, sentence: str) -> None:
    """Refuse more sites than one fit can hold; `sentence` says where so many are."""
    if sites > MOST_FITTED_SITES:
        raise InputError(
            f"{sentence.format(f'{sites:,}')}, and at most {MOST_FITTED_SITES:,} are fitted at "
            f"once, in {LONGEST_OF_SITES}. Give a label that many cases share, such as their "
            "hospital. If the labels are of no interest themselves, like patients seen several "
            "times, pass them as cluster=."
        )


def check_few_labels(groups: Any) -> None:
    """Refuse labels of more sites than one fit can hold, before any case is read."""
    check_few_sites(count_labels(groups, "site"), "site holds {} distinct labels")


def as_known(known: Any, groups: Iterable[str] = ()) -> tuple[KnownSite, ...]:
    """Sites known by their summaries, one a row; labels are a column `site` or the index."""
    if known is None:
        return ()
    if isinstance(known, tuple) and all(isinstance(site, KnownSite) for site in known):
        sites = known
    else:
        labels, columns = _read(known)
        sites = tuple(
            _site(label, {name: float(values[row]) for name, values in columns.items()})
            for row, label in enumerate(labels)
        )
    _check_labels([site.label for site in sites], set(groups))
    return sites


def _read(known: Any) -> tuple[list[str], dict[str, Floats]]:
    """Labels, and the columns that are read, as numbers."""
    if not (isinstance(known, Mapping) or (hasattr(known, "columns") and hasattr(known, "index"))):
        raise InputError(
            "known must be a pandas DataFrame or a mapping of columns, one row a site, got "
            f"{shortened(repr(known))}."
        )
    names = set(known.keys())
    if "site" in names:
        labels = _labels(known["site"])
    elif isinstance(known, Mapping):
        raise InputError("known has no 'site': give the label of each site under that name.")
    else:
        labels = _labels(known.index)
    check_few_sites(len(labels), "known has {} sites")
    columns = {}
    for name in KNOWN_COLUMNS:
        if name in names:
            columns[name] = _numbers(known[name], f"known[{name!r}]")
            if columns[name].size != len(labels):
                raise InputError(
                    f"known[{name!r}] has {columns[name].size} values for {len(labels)} sites. "
                    "Give one value a site, NaN where it is not known."
                )
    if not set(columns) & {COUNTS[0], RATIO[0], SLOPE[0]}:
        raise InputError(
            f"known has none of the columns {', '.join(KNOWN_COLUMNS)}. A site is known by "
            "observed, expected and n; by observed_expected, lower and upper; or by "
            "calibration_slope, slope_lower and slope_upper."
        )
    return labels, columns


def _labels(values: Any) -> list[str]:
    labels = _entries(values, "known['site']")
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputError(f"the label of row {row} of known is missing. Name every site.")
    return [str(label) for label in labels]


def _entries(values: Any, name: str) -> list[Any]:
    listed = isinstance(values, (list, tuple))
    entries: list[Any] = as_vector(np.array(values, object) if listed else values, name).tolist()
    return entries


def _numbers(values: Any, name: str) -> Floats:
    """Numbers, not a number where one is missing."""
    entries = _entries(values, name)
    return as_floats([np.nan if is_missing(entry) else entry for entry in entries], name)


def _check_labels(labels: list[str], groups: set[str]) -> None:
    for row, label in enumerate(labels):
        if label in labels[:row]:
            raise InputError(
                f"known has two rows of the site {shortened(label)!r}. If they are two sites, name "
                "them apart; if not, keep one."
            )
        if label in groups:
            raise InputError(
                f"the site {shortened(label)!r} of known is among the groups, too, so that it "
                "would count twice. Leave one of the two out, or name them apart."
            )


def _site(label: str, row: dict[str, float]) -> KnownSite:
    """One row, of which what is not a number is not known."""
    given = {name: value for name, value in row.items() if not math.isnan(value)}
    of_site = f"of the site {shortened(label)!r} in known"
    level = given.pop("ci_prob", ORDINARY_LEVEL)
    if not 0 < level < 1:
        raise InputError(f"ci_prob {of_site} is {level:g}, but it is a probability, such as 0.95.")
    for name, value in given.items():
        if math.isinf(value):
            raise InputError(f"{name} {of_site} is infinite. Give a number, or leave it out.")
    counts = _counts(given, of_site)
    ratio = _interval(RATIO, given, level, of_site)
    slope = _interval(SLOPE, given, level, of_site)
    if "observed" in counts and ratio is not None:
        raise InputError(
            f"observed and observed_expected {of_site} say the same twice. Keep observed, expected "
            "and n, which say more, and leave the other and its interval out (NaN)."
        )
    if "observed" not in counts and ratio is None and slope is None:
        raise InputError(
            f"nothing is known {of_site}: give observed, expected and n; observed_expected, lower "
            "and upper; or calibration_slope, slope_lower and slope_upper. Or leave the row out."
        )
    return KnownSite(label, **counts, observed_expected=ratio, calibration_slope=slope)


def _counts(given: dict[str, float], of_site: str) -> dict[str, float]:
    """Events, expected events and patients; of the last two, both or none."""
    counts = {name: given[name] for name in COUNTS if name in given}
    needed = COUNTS if "observed" in counts else COUNTS[1:]
    missing = [name for name in needed if name not in counts]
    if counts and missing:
        raise InputError(
            f"{missing[0]} {of_site} is missing, but {next(iter(counts))} is given. Give observed, "
            "expected and n together; expected and n alone say what the mean risk is."
        )
    if not counts:
        return {}
    n, expected = counts["n"], counts["expected"]
    if n < 1:
        raise InputError(f"n {of_site} is {n:g}, but a site has at least one patient.")
    if not 0 < expected < n:
        raise InputError(
            f"expected {of_site} is {expected:g}, but the sum of {n:g} predicted probabilities is "
            "above 0 and below n. Give the number of expected events, not their share."
        )
    if not 0 <= counts.get("observed", 0) <= n:
        raise InputError(
            f"observed {of_site} is {counts['observed']:g}, but from 0 to n = {n:g} of "
            "the patients have the event."
        )
    return counts


def _interval(
    names: tuple[str, str, str], given: dict[str, float], level: float, of_site: str
) -> Interval | None:
    """An estimate with its interval; None if it is not given."""
    missing = [name for name in names if name not in given]
    if len(missing) == len(names):
        return None
    if missing:
        raise InputError(
            f"{missing[0]} {of_site} is missing: {', '.join(names)} are an estimate and the ends "
            "of its interval, and go together."
        )
    estimate, lower, upper = (given[name] for name in names)
    if not (lower <= estimate <= upper and lower < upper):
        raise InputError(
            f"{names[0]} {of_site} is {estimate:g}, {names[1]} {lower:g} and {names[2]} {upper:g}: "
            "they must ascend from lower to upper, with the estimate between."
        )
    if names == RATIO and lower <= 0:
        raise InputError(
            f"lower {of_site} is {lower:g}, but a ratio is positive, and so is its interval on the "
            "logarithmic scale. Give observed, expected and n instead."
        )
    is_log = names == RATIO or (lower > 0 and _more_even_in_logarithms(lower, estimate, upper))
    return Interval(estimate, lower, upper, level, is_log)


def _more_even_in_logarithms(lower: float, middle: float, upper: float) -> bool:
    """Whether the estimate is nearer to the middle of its interval on the logarithmic scale."""
    low, high = math.log(middle / lower), math.log(upper / middle)
    own = abs(upper + lower - 2 * middle) / (upper - lower)
    return abs(high - low) / (high + low) < own - 1e-9


# Most rows of scores over which the mean of a curve is taken.
MOST_KNOWN_ROWS = 32


def scores_of_known(pooled: Problem, site: KnownSite) -> CalibrationData:
    """The scores that a site without patients is taken to have, without outcomes.

    Those of all sites with patients, moved in log-odds so that their mean is the site's mean risk,
    where that is known.
    """
    table, score = pooled.table, pooled.data.score
    if site.mean_risk is not None:
        x = logit(table.score)
        target = site.mean_risk * table.trials
        (shift,), _ = binomial_mle(np.ones((x.size, 1)), table.trials, target, x)
        score = expit(x + shift)
    none = np.zeros(score.size)
    data = pooled.data
    return CalibrationData(none, score, data.trials, weight_type=data.weight_type)


@dataclass(frozen=True)
class Summary:
    """The likelihood of a site's curve given its summaries alone, by scores it is taken to have.

    It depends on two numbers of a curve: its mean over the site's scores, and its slope, that of
    the weighted least-squares line through its log-odds.
    """

    site: KnownSite
    problem: Problem

    @cached_property
    def weight(self) -> Floats:
        """Share of the patients at each score, of shape (rows,)."""
        return np.asarray(self.problem.trials / self.problem.trials.sum())

    @cached_property
    def columns(self) -> Floats:
        """Offset and basis of the curve's log-odds at the scores, of shape (1 + k, rows)."""
        offset, basis = self.problem.curve.basis(self.problem.score, self.problem.frame)
        return np.vstack([offset, basis.T])

    @cached_property
    def mean_score(self) -> float:
        """Mean of the predicted probabilities, as they came in."""
        return float(self.weight @ self.problem.stated)

    @cached_property
    def line(self) -> Floats:
        """What the offset and each coefficient add to the slope, of shape (1 + k,)."""
        score, x = self.problem.score, self.problem.log_odds
        information = self.weight * score * (1 - score)
        from_mean = x - np.average(x, weights=information)
        spread = information @ from_mean**2
        if not spread > 0:  # one score, at which every slope is as good
            return np.append(1.0, np.zeros(len(self.columns) - 1))
        return np.asarray(self.columns @ (information * from_mean) / spread)

    @cached_property
    def counts(self) -> tuple[float, float] | None:
        """Cases and events of the binomial law of the events; None where they are not known.

        Given the scores, the number of events varies less than if all patients had the mean risk:
        it counts as that of more patients, of equal risks.
        """
        if self.site.observed is None or self.site.n is None:
            return None
        mean, score = self.mean_score, self.problem.score
        factor = mean * (1 - mean) / float(self.weight @ (score * (1 - score)))
        return factor * self.site.n, factor * self.site.observed

    def log_likelihood(self, mean: Any, slope: Any, log: Any, log1p: Any) -> Any:
        """Log likelihood of curves, without constants, by functions of NumPy or of PyTensor."""
        value = 0.0 * mean
        if self.counts is not None:
            cases, events = self.counts
            value = value + events * log(mean) + (cases - events) * log1p(-mean)
        ratio, of_slope = self.site.observed_expected, self.site.calibration_slope
        if ratio is not None:
            value = value - ((log(mean / self.mean_score) - ratio.mean) / ratio.error) ** 2 / 2
        if of_slope is not None:
            at = log(slope) if of_slope.is_log else slope
            value = value - ((at - of_slope.mean) / of_slope.error) ** 2 / 2
        return value

    def derivatives(self, mean: Floats, slope: Floats) -> tuple[Floats, Floats]:
        """Gradient and expected information by mean and by slope, each of shape (2, n)."""
        gradient, information = np.zeros((2, 2, mean.size))
        if self.counts is not None:
            cases, events = self.counts
            information[0] = cases / (mean * (1 - mean))
            gradient[0] = (events / cases - mean) * information[0]
        ratio, of_slope = self.site.observed_expected, self.site.calibration_slope
        if ratio is not None:
            precision = 1 / ratio.error**2
            gradient[0] -= (np.log(mean / self.mean_score) - ratio.mean) * precision / mean
            information[0] += precision / mean**2
        if of_slope is not None:
            rate = 1 / slope if of_slope.is_log else np.ones(slope.size)
            at = np.log(slope) if of_slope.is_log else slope
            gradient[1] = (of_slope.mean - at) / of_slope.error**2 * rate
            information[1] = rate**2 / of_slope.error**2
        return gradient, information
