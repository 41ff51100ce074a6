"""An assessment as plain numbers and names, and the fingerprint of its data."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

from bayescal.assessment.risk import mean_score
from bayescal.assessment.where import stretches_of
from bayescal.assessment.words import headline
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from bayescal.assessment._assess import Assessment
    from bayescal.data.data import CalibrationData

__all__ = ["as_dict", "fingerprint"]


def fingerprint(data: CalibrationData) -> str:
    """SHA-256 of a table, in hexadecimal: equal for equal cases in any order.

    Parameters
    ----------
    data : CalibrationData

    Returns
    -------
    str
        Of the scores, then the cases, then the events at each, as little-endian doubles, and of
        the group of each row, in UTF-8 with a zero byte after each.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.assessment.record import fingerprint
    >>> fingerprint(bc.CalibrationData([0, 1], [0.2, 0.7]))[:12]
    '34343b665f90'
    """
    digest = hashlib.sha256()
    for column in (data.score, data.trials, data.hits):
        digest.update(column.astype("<f8").tobytes())
    if data.group is not None:
        for name in data.group.tolist():
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def as_dict(a: Assessment) -> dict[str, Any]:
    """Plain numbers and names, ready for JSON; what is not finite is None."""
    data, settings, stated = a.posterior.data, a.comparison.settings, a.table.attrs
    found = {
        "cases": data.n,
        "events": data.events,
        "distinct_scores": data.score.size,
        "mean_score": mean_score(data),
        "sha256": a.sha256,
        "verdict": a.verdict,
        "headline": headline(a),
        "close": a.close,
        "prob_close": a.prob_tce_below(a.close),
        "prob_miscalibrated": a.prob_tce_above(a.close),
        "prob_calibrated": a.prob_calibrated,
        "prob_calibrated_even_odds": a.comparison.prob_calibrated_at(0.5),
        "functionals": _functionals(a),
        "stretches": [part._asdict() for part in stretches_of(a.posterior)],
        "curves": _rows(a.comparison.table),
        "sensitivity": _rows(a.comparison.sensitivity),
        "estimators": _rows(a.estimators),
        "performance": _rows(a.performance),
        "recommendation": {
            "choice": a.recommendation.choice,
            "text": str(a.recommendation),
            "table": _rows(a.recommendation.table),
        },
        "settings": {
            "curve": "average",
            "prior": settings.prior.name,
            "prior_weights": a.comparison.prior_prob,
            "engine": a.posterior.engine,
            "seed": a.seed,
            "p": 1,
            "ci_prob": a.ci_prob,
            "interval": stated["interval"],
            "population": stated["population"],
            "pseudo_posterior": stated["pseudo_posterior"],
            "weight_type": stated["weight_type"],
        },
        "scores_of_0_and_1": {
            "moved": stated["moved"],
            "zero_read_as": stated["zero_read_as"],
            "one_read_as": stated["one_read_as"],
        },
        "diagnostics": a.posterior.diagnostics,
        "notes": a.notes,
        "versions": a.versions,
    }
    if a.data.groups:
        found["groups"] = _rows(a.by_group)
    if a.clinical is not None:
        found["clinical_prior"] = {
            "verdict": a.clinical.verdict,
            "headline": headline(a.clinical),
            "functionals": _functionals(a.clinical),
        }
    return {name: _plain(value) for name, value in found.items()}


def _functionals(a: Assessment) -> dict[str, dict[str, Any]]:
    rows = _rows(a.table)
    return {
        name: {"label": FUNCTIONALS[name].label, "ideal": FUNCTIONALS[name].calibrated, **row}
        for name, row in rows.items()
    }


def _rows(table: Any) -> dict[str, dict[str, Any]]:
    return {
        str(name): {str(key): value for key, value in row.items()} for name, row in table.iterrows()
    }


def _plain(value: Any) -> Any:
    """Numbers and names as JSON knows them."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | bool) or value is None:
        return value
    number = float(value)
    return number if math.isfinite(number) else None
