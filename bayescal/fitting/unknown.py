"""fit_known(): what was seen is fitted, and the scores of all cases are the population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table, measured, rows_of
from bayescal.core.text import count, percent, rounded
from bayescal.data.cases import as_floats
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.fitting._fit import fit
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.departures import Departure, OtherRisk, left_early, other_hazard
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

FIFTHS = (0.2, 0.4, 0.6, 0.8)
# Log-odds up to which a change of the verdict is looked for, in which steps, and how exactly.
FURTHEST_DELTA, DELTA_STEP, DELTA_ERROR = 3.0, 0.25, 0.01

OF_ONE = "the fit is of one curve. Pass site=, period= or subgroup= to fit_known."


@dataclass(frozen=True, eq=False)
class KnownFit:
    """A fit of the cases whose outcome is known, seen on the scores of all.

    Of times to an event what is not known is what became of those who left before the horizon: they
    count up to then, and `delta` is the log ratio of their hazard from then on. Of outcomes it is
    the difference in log-odds of the cases without one.

    Attributes
    ----------
    known : CalibrationPosterior
        The curve, on the cases whose outcome is known.
    several : MultilevelPosterior or None
        Of all curves, where sites, periods or subgroups were given: see `at`.
    """

    known: CalibrationPosterior
    several: MultilevelPosterior | None = None
    _cases: CalibrationData | None = None

    def at(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> KnownFit:
        """The same of the cases of a site, a period or a subgroup.

        Parameters
        ----------
        levels : mapping of str to str, optional
            As `MultilevelPosterior.at` takes them.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        KnownFit

        Raises
        ------
        InputError
            If there is one curve, or no such level.
        """
        if self.several is None:
            raise InputError(OF_ONE)
        return KnownFit(self.several.at(levels, **by_name), self.several)

    @property
    def _seen(self) -> CalibrationData:
        """The cases; of all groups together those too of groups in which no outcome is known."""
        return self.known.data if self._cases is None else self._cases

    @cached_property
    def posterior(self) -> CalibrationPosterior:
        """Of all cases, with and without outcome: the curve of the known, on the scores of all."""
        own, unknown = self._seen, self._seen.unknown
        if unknown is None:
            return self.known
        return self.known.on(own.scores_alone() + unknown.scores_alone())

    @cached_property
    def missing(self) -> pd.DataFrame:
        """By fifth of the score: its range, cases, known and missing outcomes, and their share.

        Returns
        -------
        pandas.DataFrame
            Index: fifth. Columns: lowest, highest, cases, known, missing, share_missing.
        """
        return _by_fifth(self.posterior.problem.data, self._unseen)

    @cached_property
    def _unseen(self) -> Floats:
        """Cases in each row of all whose outcome is missing, or who left early."""
        own, everyone = self._seen, self.posterior.problem.data
        left = left_early(own)
        if left is not None:
            return left
        if own.unknown is None:
            return np.zeros(everyone.score.size)
        row = everyone.rows_of(own.unknown.score)
        return add_up(row, own.unknown.trials, everyone.score.size)

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
            the nearer one, NaN if there is none.

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
        ratio = float(np.exp(nearer)) if np.isfinite(nearer) else np.nan
        return pd.Series({"verdict": at_random, **ends, "odds_ratio": ratio})

    def _with_delta(self, delta: float) -> CalibrationPosterior:
        """The posterior of all cases, where those that are not known differ by delta."""
        problem = self.posterior.problem
        if left_early(self._seen) is not None:
            departure: Departure = other_hazard(problem, delta)
        else:
            share = self._unseen / problem.data.trials
            departure = OtherRisk(problem.mean_of_rows(share), delta)
        return self.posterior._departing(departure)

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
            "Missing outcomes are taken as missing at random given the score. The table says what "
            "would change if their log-odds of an event differed by delta from those of known "
            "outcomes with the same score."
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
    if np.isfinite(float(change["odds_ratio"])):
        return (
            f"On the limit of {100 * limit:.3g} points: {verdict}, unless the odds of missing "
            f"outcomes are {float(change['odds_ratio']):.2g} times those of known ones."
        )
    return f"On the limit of {100 * limit:.3g} points: {verdict}, whatever the missing outcomes."


def fit_known(y_true: Any, y_prob: ArrayLike | None = None, **options: Any) -> KnownFit:
    """Fit the cases whose outcome is known, and answer for all of them.

    Outcomes are missing where they were not looked for, or not yet. If whether an outcome is known
    depends on the score alone, the curve of the known is that of all, without weights; but the
    scores of the known are not those of all. So missing outcomes are left out of the likelihood and
    not of the population. If it depends on more than the score, impute the outcomes instead.

    Parameters
    ----------
    y_true : array-like of shape (n,), Survival or CalibrationData
        Outcomes; None, NaN or pandas.NA where one is missing. Or times to an event, of which those
        who left before the horizon are not known from then on.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities of the event of all cases.
    **options
        As of `bayescal.fit`, of all cases, but for imputations.

    Returns
    -------
    KnownFit
        With `posterior` (of all cases), `known`, `missing` (by fifth of the score), `sensitivity`
        and `delta_to_change` (to outcomes that are not missing at random), and of sites, periods or
        subgroups the same of each by `at`.

    Raises
    ------
    InputError
        If no outcome is known, a score is missing, or there are several imputations.

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
    post = fit(y_true, y_prob, **options)
    if len(post.imputations) > 1:
        raise InputError(
            "imputation cannot be given to fit_known, which leaves out outcomes that are missing. "
            "Fit the imputations, or leave them out."
        )
    return known_fit(post)


def known_fit(post: CalibrationPosterior | MultilevelPosterior) -> KnownFit:
    """The same of a posterior, whose cases may have no outcome."""
    if isinstance(post, MultilevelPosterior):
        return KnownFit(post.at(), post, post.data.pooled())
    return KnownFit(post)


def _by_fifth(everyone: CalibrationData, unseen: Floats) -> pd.DataFrame:
    """How many outcomes are known, by fifth of the score; equal scores share a fifth."""
    import pandas as pd

    score, cases = everyone.score, everyone.trials
    last = np.floor((cases.sum() - 1) * np.array(FIFTHS))
    ends = score[np.searchsorted(np.cumsum(cases), last, side="right")]
    fifth = np.searchsorted(ends, score, side="left") + 1
    table = pd.DataFrame({"fifth": fifth, "score": score, "cases": cases, "known": cases - unseen})
    shown = table.groupby("fifth").agg(
        lowest=("score", "min"), highest=("score", "max"), cases=("cases", "sum"),
        known=("known", "sum"),
    )  # fmt: skip
    shown["missing"] = shown["cases"] - shown["known"]
    shown["share_missing"] = shown["missing"] / shown["cases"]
    return shown
