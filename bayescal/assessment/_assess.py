"""assess(): comparison, averaged posterior, estimators and advice, from outcomes and scores."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.errors import InputError
from bayescal.assessment.groups import as_few_groups, group_table
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.panel import PANEL, panel_of
from bayescal.assessment.performance import performance_of
from bayescal.assessment.record import as_dict, fingerprint
from bayescal.assessment.risk import close_enough, is_extreme, mean_score
from bayescal.assessment.terminal import as_text
from bayescal.assessment.words import describe, headline
from bayescal.data.data import CalibrationData, as_data
from bayescal.data.validate import as_level, check_choice
from bayescal.data.weights import WeightType
from bayescal.estimators.registry import ESTIMATORS
from bayescal.gain import Recommendation, recommendation
from bayescal.inference import CurveComparison, compare
from bayescal.inference.ladder import PRIOR_CALIBRATED
from bayescal.model.priors import Prior, as_prior
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Assessment", "assess"]


def assess(
    y_true: Any,
    y_prob: Any = None,
    *,
    close: float | None = None,
    ci_prob: float = 0.95,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    prior_calibrated: float = PRIOR_CALIBRATED,
    estimators: Sequence[str] = PANEL,
    draws: int = 4000,
    groups: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType | None = None,
    random_state: int | np.random.Generator | None = None,
    edge: float | None = None,
    pos_label: Any = None,
) -> Assessment:
    """Assess the calibration of predicted probabilities.

    Fits the ladder of curves and averages over it; puts a panel of frequentist estimators beside
    it, each with what a calibrated model would give; and says whether an update would help.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0/1 or boolean; or a table, and then no `y_prob`.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities of the event, in [0, 1].
    close : float in (0, 1), optional
        A true calibration error that is close enough to none. By default 0.03, or when that is
        smaller a quarter of the mean score (or of one minus it), to one digit.
    ci_prob : float in (0, 1)
        Probability of all intervals.
    prior : {"neutral", "clinical"}, Prior, or mapping
    prior_calibrated : float in (0, 1)
        Prior probability of exact calibration.
    estimators : sequence of str
        The panel, by names in `bayescal.estimators`.
    draws : int
    groups : array-like of shape (n,), optional
        A label for each case, such as its hospital. All cases together are assessed, and each
        group by itself in `by_group`; at most 200 groups.
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
    random_state : int or numpy.random.Generator, optional
    edge : float in (0, 0.5), optional
    pos_label : object, optional
        As in `bayescal.fit`.

    Returns
    -------
    Assessment

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, or a name is unknown.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> a = bc.assess(y_true, y_prob, random_state=1)
    >>> a.prob_tce_below(0.15) > 0.95
    True
    """
    for name in estimators:
        check_choice(name, ESTIMATORS, "estimators")
    level = as_level(ci_prob)
    data = as_data(
        y_true,
        y_prob,
        groups=groups,
        sample_weight=sample_weight,
        weight_type=weight_type,
        pos_label=pos_label,
    )
    pooled = as_few_groups(data).pooled() if data.groups else data
    enough = close_enough(pooled) if close is None else as_level(close, "close")
    options: dict[str, Any] = {
        "prior": as_prior(prior),
        "prior_calibrated": prior_calibrated,
        "draws": draws,
        "edge": edge,
    }
    found = compare(pooled, random_state=random_state, **options)
    return Assessment(found, data, enough, level, tuple(estimators), options)


class Assessment:
    """A calibration assessment. Made by `bayescal.assess`; parts are computed when first read.

    Attributes
    ----------
    comparison : CurveComparison
        The ladder of curves.
    data : CalibrationData
    close : float
        A true calibration error that counts as close enough to none.
    ci_prob : float
        Probability of the intervals.
    """

    def __init__(
        self,
        comparison: CurveComparison,
        data: CalibrationData,
        close: float,
        ci_prob: float,
        panel: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> None:
        self.comparison, self.data = comparison, data
        self.close, self.ci_prob = close, ci_prob
        self._panel, self._options = panel, dict(options)

    @property
    def posterior(self) -> CalibrationPosterior:
        """The posterior averaged over the ladder."""
        return self.comparison.posterior

    @property
    def seed(self) -> int:
        """Repeats the numbers, as `random_state`."""
        return self.comparison.settings.seed

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration."""
        return self.comparison.prob_calibrated

    @property
    def prior(self) -> Prior:
        """The prior on the curves."""
        return self.comparison.settings.prior

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the libraries that computed it."""
        return self.posterior.versions | {"python": platform.python_version()}

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the data: equal for equal cases in any order, whatever their file."""
        return fingerprint(self.data)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should bear in mind: moved scores, few events, draws not to be trusted."""
        return list(assessment_notes(self))

    def prob_tce_below(self, x: float) -> float:
        """Probability that the true calibration error is below `x`, for "close enough".

        On the safe side; see `CalibrationPosterior.prob_tce_below`.

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return self.posterior.prob_tce_below(x)

    def prob_tce_above(self, x: float) -> float:
        """Probability that the true calibration error is above `x`, for "miscalibrated".

        On the safe side; see `CalibrationPosterior.prob_tce_above`. What it and `prob_tce_below`
        leave to 1 is "cannot tell".

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return self.posterior.prob_tce_above(x)

    def summary(self, ci_prob: float | None = None) -> pd.DataFrame:
        """Every functional with its credible interval; see `CalibrationPosterior.summary`.

        Parameters
        ----------
        ci_prob : float in (0, 1), optional
            By default that of the assessment.

        Returns
        -------
        pandas.DataFrame
        """
        return self.posterior.summary(self.ci_prob if ci_prob is None else ci_prob)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The summary at the assessment's own `ci_prob`, computed once."""
        return self.summary()

    @cached_property
    def estimators(self) -> pd.DataFrame:
        """The panel of estimators, each beside what calibrated models give at this n.

        Columns: title, estimate, lower and upper (basic bootstrap), calibrated_lower and
        calibrated_upper (the middle 90 % for calibrated models), prob_exceeds (the share of these
        with a larger estimate) and verdict: "larger" if that share is below 5 %.
        """
        return panel_of(self.posterior, self._panel, self.ci_prob, self.seed)

    @cached_property
    def performance(self) -> pd.DataFrame:
        """C-statistic and Brier scores: title, estimate, lower and upper (bootstrap)."""
        return performance_of(self.posterior.data, self.ci_prob, self.seed)

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which update to make, if any, by expected held-out log score."""
        return recommendation(self.comparison)

    @cached_property
    def clinical(self) -> Assessment | None:
        """The same under the `clinical` prior, when the mean score is outside [0.05, 0.95].

        There the neutral prior says little about the average risk. None otherwise, and under any
        other prior.
        """
        data = self.posterior.data
        if self.prior.name != "neutral" or not is_extreme(mean_score(data)):
            return None
        options = self._options | {"prior": as_prior("clinical")}
        found = compare(data, random_state=self.seed, **options)
        return Assessment(found, data, self.close, self.ci_prob, self._panel, options)

    @cached_property
    def groups(self) -> dict[str, CalibrationPosterior]:
        """The averaged posterior of each group by itself.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        if not self.data.groups:
            raise InputError("there are no groups. Pass groups= to assess, one label a case.")
        return {
            name: compare(self.data.select(name), random_state=self.seed, **self._options).posterior
            for name in self.data.groups
        }

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """Each group by itself, with no pooling: cases, events, TCE, O/E, slope and P(close).

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return group_table(self.groups, self.close, self.ci_prob)

    @property
    def verdict(self) -> str:
        """One of "close enough", "miscalibrated" and "cannot tell".

        "close enough": the interval of the true calibration error lies below `close`, which is to
        say that `prob_tce_below(close)` is at least (1 + ci_prob) / 2. "miscalibrated": it lies
        above, and `prob_tce_above(close)` is at least that. "cannot tell": neither.
        """
        lower, upper = (float(self.table[end]["tce"]) for end in ("lower", "upper"))
        if upper < self.close:
            return "close enough"
        return "miscalibrated" if lower > self.close else "cannot tell"

    def headline(self) -> str:
        """The result in one or two sentences."""
        return headline(self)

    def describe(self) -> str:
        """Methods and results in sentences for a paper, as TRIPOD+AI asks for them."""
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and names, ready for JSON; what is not finite is None."""
        return as_dict(self)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Reliability diagram of the averaged posterior; see `bayescal.plots.reliability`."""
        from bayescal import plots

        return plots.reliability(self.posterior, ax, **options)

    def to_html(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report: one file, no network; see `bayescal.assessment.html.write`."""
        from bayescal.assessment.html import write

        return write(self, path, **details)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        data = self.posterior.data
        return f"Assessment({data.n:g} cases, {data.events:g} events: {self.headline()})"
