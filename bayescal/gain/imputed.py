"""The gain of a recalibration when scores or outcomes were imputed: each imputation, then all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import as_seed
from bayescal.core.errors import InputError, as_items
from bayescal.data.cases import is_matrix
from bayescal.data.doors import Given
from bayescal.data.matrices import (
    as_imputations,
    as_imputed_outcomes,
    warn_of_few_outcomes,
)
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.gain._curve_route import Posterior
from bayescal.gain._result import RecalibrationGain
from bayescal.gain.paired import is_function
from bayescal.posterior.imputed import in_turn, missing_information, widened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ImputedGain", "gain_of_imputations"]


class ImputedGain(RecalibrationGain):
    """The gain of a recalibration over several imputations. Made by `recalibration_gain`.

    The draws are those of all imputations, the deviations of whose means are enlarged as for
    `CalibrationPosterior`.

    Parameters
    ----------
    gains : sequence of RecalibrationGain
        One for each imputation, by one route.
    """

    def __init__(self, gains: Sequence[RecalibrationGain]) -> None:
        self.gains = tuple(gains)
        first = next((gain for gain in gains if gain.in_sample), gains[0])
        super().__init__(
            _mixed([gain._posterior for gain in gains]),
            first._pairs,
            route=first.route,
            evidence=first.evidence,
            in_sample=first.in_sample,
            thresholds=first.thresholds,
            prior=first._prior,
            seed=first.seed,
        )

    @cached_property
    def prob_calibrated(self) -> dict[str, float]:
        """Probabilities that "before" and "after" are exactly calibrated, their means."""
        each = [gain.prob_calibrated for gain in self.gains]
        return {side: float(np.mean([one[side] for one in each])) for side in each[0]}

    @property
    def contradicted(self) -> dict[str, int]:
        """As of one gain; the most of any imputation."""
        each = [gain.contradicted for gain in self.gains]
        return {side: max(one[side] for one in each) for side in each[0]}

    @property
    def notes(self) -> list[str]:
        """What a reader should know of an imputation; see `RecalibrationGain.notes`."""
        told: dict[str, str] = {}
        for gain in self.gains:
            for note in gain.notes:
                told.setdefault(note.partition(":")[0], note)
        return list(told.values())

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, by gain; see `CalibrationPosterior.missing_information`.

        Without gains that are infinite in any imputation.
        """
        draws = [gain._posterior.draws for gain in self.gains]
        values = {name: np.stack([one[name] for one in draws]) for name in draws[0]}
        finite = {name: each for name, each in values.items() if np.isfinite(each).all()}
        return missing_information(finite, "gain")

    def __repr__(self) -> str:
        title, cases, *lines = super().__repr__().splitlines()
        told = f"  {len(self.gains)} imputations of {cases.strip()}"
        return "\n".join([title.replace("Recalibration", "Imputed"), told, *lines])


def gain_of_imputations(
    recalibration_gain: Callable[..., RecalibrationGain],
    given: Given,
    after: Any,
    *,
    route: str,
    random_state: Any,
    **options: Any,
) -> ImputedGain:
    """The gain on each imputation, with one seed and by one route, and combined.

    Parameters
    ----------
    recalibration_gain : callable
        Of one imputation.
    given : Given
        The cases, with the predictions before, one a case or, as `imputation`, those of each
        imputation. A matrix of outcomes has those of each imputation; a table of several
        imputations has the predictions before, too.
    after : array-like of shape (n,) or (m, n), callable or fitted estimator
        The predictions after of each imputation, or the map that gives them. Where outcomes alone
        were imputed they may be the same for all, one row.
    """
    y_true, before = given.y_true, given.y_prob
    of_cases = {**given.roles, **given.words}
    imputation = of_cases.pop("imputation", None)
    if before is not None and imputation is not None:
        raise InputError(
            "imputation was given beside before. Pass one of them: before for one score a case, "
            "imputation for several."
        )
    if isinstance(y_true, CalibrationData):
        table = y_true.complete(takes_times=True)
        cases = [(one, None) for one in table.imputations]
        maps, are_imputed = _by_imputation(after, len(cases)), table.has_imputed_outcomes
    elif is_matrix(y_true):
        cases = _of_outcomes(y_true, before, imputation)
        is_shared = imputation is None and not is_function(after) and not is_matrix(after)
        maps = [after] * len(cases) if is_shared else _by_imputation(after, len(cases))
        are_imputed = True
    else:
        one = y_true.time if isinstance(y_true, Survival) else y_true
        cases = [(y_true, score) for score in as_imputations(imputation, one)]
        maps, are_imputed = _by_imputation(after, len(cases)), False
    if are_imputed:
        warn_of_few_outcomes(len(cases))
    options |= {"random_state": as_seed(random_state), **of_cases}

    def gains(by: str) -> list[RecalibrationGain]:
        pairs = zip(cases, maps, strict=True)
        return [recalibration_gain(*case, new, route=by, **options) for case, new in pairs]

    each = gains(route)
    if len({gain.route for gain in each}) > 1:  # never of times
        each = gains("paired")
    return ImputedGain(each)


def _of_outcomes(y_true: Any, before: Any, imputation: Any) -> list[tuple[Any, Any]]:
    """Outcomes and predictions before of each imputation of the outcomes."""
    if imputation is None:
        if before is None:
            raise InputError(
                "y_true has a row for each imputation of the outcomes, and before is missing. Pass "
                "before, one prediction a case, or imputation, one row for each row of y_true."
            )
        return [(row, before) for row in as_imputed_outcomes(y_true, before, "before")]
    scores = as_imputations(imputation, as_items(y_true, "y_true")[0], outcomes="y_true[0]")
    outcomes = as_imputed_outcomes(y_true, scores[0], "imputation[0]")
    if len(outcomes) != len(scores):
        raise InputError(
            f"y_true has {len(outcomes)} rows and imputation has {len(scores)}. Pass one row of "
            "each for every imputation."
        )
    return list(zip(outcomes, scores, strict=True))


def _by_imputation(after: Any, m: int) -> list[Any]:
    """The predictions after of each imputation, or the same map for each."""
    if after is None or is_function(after):
        return [after] * m
    rows = as_items(after.to_numpy() if hasattr(after, "to_numpy") else after, "after")
    if len(rows) != m or np.ndim(rows[0]) == 0:
        raise InputError(
            f"after has {len(rows)} rows, and there are {m} imputations. Pass one row of "
            "predictions for each imputation, or the map from the predictions before."
        )
    return rows


def _mixed(posteriors: Sequence[Posterior]) -> Posterior:
    stacks = {
        name: np.stack([one.draws[name] for one in posteriors]) for name in posteriors[0].draws
    }
    draws = {
        name: in_turn(widened(each) if np.isfinite(each).all() else each)
        for name, each in stacks.items()
    }
    sides = [one.exact for one in posteriors if one.exact is not None]
    exact = in_turn(np.stack(sides)) if len(sides) == len(posteriors) else None
    return Posterior(draws, exact=exact)
