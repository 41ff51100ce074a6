"""fit_known(): the known outcomes are fitted, and the scores of all cases are the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table, measured, rows_of
from bayescal.core.text import count, percent, rounded
from bayescal.data.cases import (
    aligned,
    as_floats,
    as_scores,
    as_vector,
    check_same_length,
    is_missing,
)
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.fitting._fit import fit
from bayescal.posterior.departures import OtherRisk
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KnownFit", "fit_known"]

OF_CASES = ("sample_weight", "cluster", "stratum")
REFUSED = ("site", "period", "subgroup", "imputation", "known", "vary")
FIFTHS = (0.2, 0.4, 0.6, 0.8)
FURTHEST_DELTA, DELTA_STEP, DELTA_ERROR = 3.0, 0.25, 0.01
"""Log-odds up to which a change of the verdict is looked for, in which steps, and how exactly."""


@dataclass(frozen=True)
class KnownFit:
    """A fit of the cases whose outcome is known, seen on the scores of all.

    Attributes
    ----------
    posterior : CalibrationPosterior
        Of all cases, with and without outcome: the curve of the known, on the scores of all.
    known : CalibrationPosterior
        The same curve on the cases whose outcome is known.
    missing : pandas.DataFrame
        By fifth of the score: lowest and highest score, cases, known and missing outcomes, and the
        share that is missing.
    """

    posterior: CalibrationPosterior
    known: CalibrationPosterior
    missing: pd.DataFrame
    _share: Floats

    def sensitivity(
        self,
        deltas: ArrayLike = (-1.0, -0.5, 0.0, 0.5, 1.0),
        ci_prob: float = 0.95,
        *,
        names: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Results if the missing outcomes are not missing at random.

        At each score, the log-odds of an event among the cases without an outcome are those of the
        known plus delta: at 0 the outcomes are missing at random, above it cases without an outcome
        had the event more often than others with the same score.

        Parameters
        ----------
        deltas : array-like of shape (k,)
            In log-odds.
        ci_prob : float in (0, 1)
        names : sequence of str, optional
            Names in `bayescal.functionals.FUNCTIONALS`; by default the main ones.

        Returns
        -------
        pandas.DataFrame
            Index: (delta, functional). Columns: estimate, mean, median, lower, upper, of all cases.
        """
        import pandas as pd

        level, at = as_level(ci_prob), as_floats(deltas, "deltas")
        chosen = main_functionals() if names is None else names
        each = {
            float(delta): self._with_delta(float(delta)).summary(level, names=chosen)
            for delta in at
        }
        return pd.concat(each, names=["delta", "functional"])

    def verdicts(
        self,
        close: float,
        deltas: ArrayLike = (-1.0, -0.5, 0.0, 0.5, 1.0),
        ci_prob: float = 0.95,
    ) -> pd.DataFrame:
        """Whether the error of all cases is within a limit, if outcomes are not missing at random.

        Parameters
        ----------
        close : float in (0, 1)
            The largest true calibration error that is accepted.
        deltas : array-like of shape (k,)
            In log-odds, as of `sensitivity`.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: delta. Columns: estimate, lower and upper of TCE, prob_close, and verdict: "close
            enough", "miscalibrated" or "cannot tell", as of `bayescal.assess`.
        """
        import pandas as pd

        limit, level, at = as_level(close, "close"), as_level(ci_prob), as_floats(deltas, "deltas")
        rows = {}
        for delta in at:
            post = self._with_delta(float(delta))
            lower, upper = post.interval("tce", level)
            below = post.prob_below(limit)
            told = post.estimate("tce", level), lower, upper, below, verdict_of(below, level)
            rows[float(delta)] = told
        columns = ["estimate", "lower", "upper", "prob_close", "verdict"]
        table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
        return table.rename_axis("delta")

    def delta_to_change(self, close: float, ci_prob: float = 0.95) -> pd.Series:
        """How far the log-odds of missing outcomes must differ before the verdict changes.

        Parameters
        ----------
        close : float in (0, 1)
            The largest true calibration error that is accepted.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.Series
            verdict, that of outcomes missing at random; lower and upper, the deltas between which
            it stays, to 0.01: infinite where no delta up to 3 changes it; and odds_ratio, that of
            the nearer one.

        Examples
        --------
        >>> import numpy as np
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 400, random_state=1)
        >>> known = np.where(np.arange(400) % 3 > 0, y_true, np.nan)
        >>> result = bc.fit_known(known, y_prob, random_state=1)
        >>> result.delta_to_change(0.1)["verdict"]
        'close enough'
        """
        import pandas as pd

        limit, level = as_level(close, "close"), as_level(ci_prob)

        def verdict(delta: float) -> str:
            return verdict_of(self._with_delta(delta).prob_below(limit), level)

        at_random = verdict(0.0)
        ends = {}
        for name, side in (("lower", -1), ("upper", 1)):
            steps = np.arange(DELTA_STEP, FURTHEST_DELTA + DELTA_STEP / 2, DELTA_STEP)
            other = next((each for each in steps if verdict(side * each) != at_random), np.inf)
            inside = other - DELTA_STEP
            while np.isfinite(other) and other - inside > DELTA_ERROR:
                middle = (inside + other) / 2
                if verdict(side * middle) == at_random:
                    inside = middle
                else:
                    other = middle
            ends[name] = float(side * other)
        nearer = min(ends.values(), key=abs)
        return pd.Series({"verdict": at_random, **ends, "odds_ratio": float(np.exp(nearer))})

    def _with_delta(self, delta: float) -> CalibrationPosterior:
        """The posterior of all cases, where the missing differ by delta."""
        return self.posterior._departing(OtherRisk(self._share, delta))

    def page(self, limit: float | None = None, ci_prob: float = 0.95) -> Page:
        """The error of all cases, and how far it depends on the outcomes that are missing.

        Parameters
        ----------
        limit : float in (0, 1), optional
            The largest true calibration error that is accepted: how far missing outcomes must
            differ before the verdict on it changes.
        ci_prob : float in (0, 1)
        """
        cases, known = self.missing["cases"].sum(), self.missing["known"].sum()
        ratio, error = (
            _with_interval(self.posterior, name, ci_prob) for name in ("observed_expected", "tce")
        )
        answer = [f"Of all cases: O/E {ratio}; true calibration error {error}."]
        answer += [
            "Missing outcomes are taken as missing at random given the score; the table says what "
            "would change if they were not."
        ]
        record: dict[str, Any] = {"missing": self.missing.to_dict(orient="records")}
        if limit is not None:
            change = self.delta_to_change(limit, ci_prob)
            record["delta_to_change"] = change.to_dict()
            answer.insert(1, _of_change(change, limit))
        of_deltas = self.sensitivity(ci_prob=ci_prob)
        record["sensitivity"] = of_deltas.reset_index().to_dict(orient="records")
        each = [of_deltas.xs(name, level="functional") for name in ("tce", "observed_expected")]
        rows = [
            Row(
                f"{delta:g}",
                f"{delta:+g}" if delta else "0",
                {**each[0].loc[delta].to_dict(), "ratio": each[1].loc[delta].to_dict()},
            )
            for delta in each[0].index
        ]
        level = percent(ci_prob)
        columns = (
            measured("tce", f"True calibration error ({level} interval)", short="TCE"),
            Column("ratio", f"O/E ({level} interval)", _of_ratio),
        )
        title = "If log-odds of missing outcomes differ by delta from those of known ones"
        deltas = Table("deltas", title, "Delta", columns, rows)
        shares = (
            Column("cases", "Cases", lambda row: count(row["cases"])),
            Column("known", "Known", lambda row: count(row["known"])),
            Column("share", "Missing", lambda row: f"{100 * row['share_missing']:.0f} %"),
        )
        labels = {
            at: f"{row['lowest']:.2g} to {row['highest']:.2g}"
            for at, row in self.missing.iterrows()
        }
        by_fifth = Table(
            "missing",
            "Missing outcomes by fifth of the score",
            "Score",
            shares,
            rows_of(self.missing, labels),
        )
        figure = Figure("reliability", self.posterior, {}, "Calibration curve of all cases")
        return Page(
            "Calibration with missing outcomes",
            f"{count(cases, 'case')}, of whom {count(known)} have a known outcome",
            tuple(answer),
            (Section("Results", (figure, deltas, by_fifth)),),
            (),
            record,
        )

    def __repr__(self) -> str:
        return f"KnownFit\n{self.page()}"


def _with_interval(post: CalibrationPosterior, name: str, ci_prob: float) -> str:
    lower, upper = post.interval(name, ci_prob)
    middle, low, high = rounded((post.estimate(name, ci_prob), lower, upper), lower, upper)
    return f"{middle} ({low} to {high})"


def _of_ratio(row: Row) -> str:
    middle, lower, upper = (float(row["ratio"][key]) for key in ("estimate", "lower", "upper"))
    return "{} ({} to {})".format(*rounded((middle, lower, upper), lower, upper, 1))


def _of_change(change: pd.Series, limit: float) -> str:
    """How far missing outcomes must differ before the verdict on a limit changes."""
    verdict = str(change["verdict"])
    if np.isfinite(float(change["odds_ratio"])) and float(change["odds_ratio"]) > 0:
        return (
            f"On the limit of {100 * limit:.3g} points: {verdict}, unless the odds of missing "
            f"outcomes are {float(change['odds_ratio']):.2g} times those of known ones."
        )
    return f"On the limit of {100 * limit:.3g} points: {verdict}, whatever the missing outcomes."


def fit_known(y_true: ArrayLike, y_prob: ArrayLike, **options: Any) -> KnownFit:
    """Fit the cases whose outcome is known, and answer for all of them.

    Outcomes are missing where they were not looked for, or not yet. If whether an outcome is known
    depends on the score alone, the curve of the known is that of all, without weights; but the
    scores of the known are not those of all. So missing outcomes are left out of the likelihood and
    not of the population. If it depends on more than the score, impute the outcomes instead.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes; None, NaN or pandas.NA where one is missing.
    y_prob : array-like of shape (n,)
        Predicted probabilities of the event of all cases.
    **options
        As of `bayescal.fit`, of all cases, but for sites, subgroups, periods and imputations.

    Returns
    -------
    KnownFit
        With `posterior` (of all cases), `known`, `missing` (by fifth of the score) and
        `sensitivity` (to outcomes that are not missing at random).

    Raises
    ------
    InputError
        If no outcome is known, a score is missing, or an option is given that needs several curves.

    References
    ----------
    Begg & Greenes (1983), Assessment of diagnostic tests when disease verification is subject to
    selection bias, Biometrics 39.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 400, random_state=1)
    >>> known = np.where(np.arange(400) % 3 > 0, y_true, np.nan)
    >>> result = bc.fit_known(known, y_prob, random_state=1)
    >>> int(result.missing["known"].sum())
    266
    """
    if isinstance(y_true, CalibrationData):
        raise InputError(
            "y_true is a table, which holds no missing outcomes. Pass outcomes and scores, or see "
            "the posterior of the known on the scores of all: bc.fit(table).on(scores)."
        )
    for name in REFUSED:
        if options.get(name) is not None:
            raise InputError(
                f"{name} cannot be given to fit_known, which fits one curve. Fit the cases with an "
                "outcome, bc.fit(...), and see each of its views on the scores of all: "
                "post.at(site='A').on(scores)."
            )
    given = {name: options.pop(name, None) for name in OF_CASES}
    y_true, y_prob, *of_cases = aligned(y_true=y_true, y_prob=y_prob, **given)
    labels = as_vector(_listed(y_true), "y_true")
    scores = as_scores(y_prob)
    check_same_length(labels.size, "y_true", scores.size, "y_prob")
    is_known = ~np.array([is_missing(label) for label in labels.tolist()], dtype=np.bool_)
    if not is_known.any():
        raise InputError("y_true has no outcome: all are missing. One at least must be known.")
    of_known = {
        name: _among(values, is_known, name)
        for name, values in zip(OF_CASES, of_cases, strict=True)
    }
    outcomes = np.array(labels[is_known].tolist())
    weight = of_cases[0]
    post = fit(outcomes, scores[is_known], **of_known, **options)
    assert isinstance(post, CalibrationPosterior)
    counted = np.ones(scores.size) if weight is None else as_floats(weight, "sample_weight")
    seen = post.on(scores, weight)
    table = seen.problem.data
    rows = table.rows_of(scores)
    share = add_up(rows, counted * ~is_known, table.score.size) / table.trials
    return KnownFit(
        seen, post, _by_fifth(scores, is_known, counted), seen.problem.mean_of_rows(share)
    )


def _listed(values: Any) -> Any:
    """Outcomes as an array of objects where they are not numbers, so that None may stand there."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal length
        array = np.array([list(values)], dtype=object)
    nested = any(isinstance(label, list | tuple | np.ndarray) for label in array.ravel().tolist())
    if array.ndim == 1 and nested:
        raise InputError("y_true must hold one outcome for each case, and holds lists.")
    return array if array.dtype.kind in "biufO" else array.astype(object)


def _among(values: Any, kept: NDArray[np.bool_], name: str) -> Any:
    """An argument of the cases that are kept."""
    if values is None:
        return None
    array = np.asarray(values)
    check_same_length(array.shape[0] if array.ndim else 0, name, kept.size, "y_prob")
    return array[kept]


def _by_fifth(scores: Floats, known: NDArray[np.bool_], counted: Floats) -> pd.DataFrame:
    """How many outcomes are known, by fifth of the score; equal scores share a fifth."""
    import pandas as pd

    fifth = np.searchsorted(np.quantile(scores, FIFTHS), scores, side="left")
    table = pd.DataFrame(
        {"fifth": fifth + 1, "score": scores, "cases": counted, "known": counted * known}
    )
    grouped = table.groupby("fifth")
    shown = grouped.agg(
        lowest=("score", "min"), highest=("score", "max"), cases=("cases", "sum"),
        known=("known", "sum"),
    )  # fmt: skip
    shown["missing"] = shown["cases"] - shown["known"]
    shown["share_missing"] = shown["missing"] / shown["cases"]
    return shown
