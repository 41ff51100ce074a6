"""CalibrationMetric: an assessment of predictions that come batch by batch."""

from __future__ import annotations

import inspect
from typing import Any

from numpy.typing import ArrayLike

from bayescal._base.errors import InputError
from bayescal.assessment._assess import Assessment, assess
from bayescal.data.data import CalibrationData
from bayescal.data.keywords import as_data
from bayescal.data.multiclass import ClassMode
from bayescal.data.validate import is_matrix

__all__ = ["CalibrationMetric"]


class CalibrationMetric:
    """Calibration of predictions that come in batches, as metrics of training loops do.

    Only the table of the cases is kept, at most 2048 rows, so that memory does not grow.

    Parameters
    ----------
    **options
        Of `bayescal.assess`, such as `close`, `draws` and `random_state`.

    Raises
    ------
    InputError
        If an option is none of `bayescal.assess`.

    Examples
    --------
    >>> import bayescal as bc
    >>> metric = bc.CalibrationMetric(draws=400, random_state=1)
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> metric.update(y_true[:150], y_prob[:150])
    >>> metric.update(y_true[150:], y_prob[150:])
    >>> sorted(metric.compute("calibration/"))[:2]
    ['calibration/brier_score', 'calibration/brier_score_lower']
    """

    def __init__(self, **options: Any) -> None:
        known = set(inspect.signature(assess).parameters) - GIVEN_BY_BATCH
        for name in options:
            if name not in known:
                raise InputError(
                    f"{name!r} is no option here. Pass some of {', '.join(sorted(known))}."
                )
        self._options = options
        self._data: CalibrationData | None = None

    @property
    def data(self) -> CalibrationData:
        """The table of all cases so far.

        Raises
        ------
        InputError
            If there are none.
        """
        if self._data is None:
            raise InputError("there are no cases yet. Pass some with update(y_true, y_prob).")
        return self._data

    def update(
        self, y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> None:
        """Take in a batch.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Outcomes, 0/1 or boolean; or numbers of classes beside a matrix.
        y_prob : array-like of shape (n,) or (n, k)
            Predicted probabilities of the event, or of k classes, of which the top label is taken.
        sample_weight : array-like of shape (n,), optional

        Raises
        ------
        InputError
            If they are not outcomes and probabilities of the same cases.
        """
        mode: ClassMode | None = "top-label" if is_matrix(y_prob) else None
        given = (y_true, y_prob)
        more = as_data(*given, sample_weight=sample_weight, takes_classes=True, mode=mode)
        self._data = more if self._data is None else self._data + more

    def compute(self, prefix: str = "") -> dict[str, float]:
        """The numbers of all cases so far, by flat names; see `Assessment.metrics`.

        Parameters
        ----------
        prefix : str
            Before every name.

        Returns
        -------
        dict of str to float
        """
        return self.assessment().metrics(prefix)

    def assessment(self) -> Assessment:
        """The assessment of all cases so far, for its report.

        Returns
        -------
        Assessment
        """
        return assess(self.data, **self._options)

    def reset(self) -> None:
        """Forget all cases."""
        self._data = None


GIVEN_BY_BATCH = {
    "y_true", "y_prob", "groups", "sample_weight", "weight_type", "pos_label", "imputations",
    "draws_of_score", "cluster", "strata", "judged", "horizon", "mode",
}  # fmt: skip
"""Arguments of `bayescal.assess` that belong to cases."""
