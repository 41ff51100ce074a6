"""An assessment as plain numbers and names."""

from __future__ import annotations

import math
from typing import Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.performance import mean_score, observed_expected
from bayescal.assessment.words import first_words, headline
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["as_dict"]


def as_dict(f: Findings) -> dict[str, Any]:
    """Plain numbers and names, ready for JSON; what is not finite is None."""
    data, settings, stated = f.posterior.data, f.comparison.settings, f.table.attrs
    record = {
        "cases": data.n,
        "events": data.events,
        "distinct_scores": data.score.size,
        "mean_score": mean_score(data),
        "observed_expected_in_data": observed_expected(data),
        "sha256": f.sha256,
        "verdict": f.verdict,
        "first": first_words(f),
        "headline": headline(f),
        "close": f.close,
        "prob_close": f.prob_tce_below(f.close),
        "prob_miscalibrated": f.prob_tce_above(f.close),
        "prob_calibrated": f.prob_calibrated,
        "prob_calibrated_even_odds": f.comparison.prob_calibrated_at(0.5),
        "functionals": _functionals(f),
        "stretches": [part._asdict() for part in f.stretches],
        "curves": _rows(f.comparison.table),
        "sensitivity": _rows(f.comparison.sensitivity),
        "estimators": _rows(f.estimators),
        "performance": _rows(f.performance),
        "recommendation": {
            "choice": f.recommendation.choice,
            "text": str(f.recommendation),
            "table": _rows(f.recommendation.table),
        },
        "net_benefit": _rows(f.net_benefit),
        "val_prob": f.val_prob().to_dict(),
        "settings": {
            "curve": "average",
            "prior": settings.prior.name,
            "prior_weights": f.comparison.prior_prob,
            "engine": f.posterior.engine,
            "seed": f.seed,
            "p": 1,
            "ci_prob": f.ci_prob,
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
        "diagnostics": f.posterior.diagnostics,
        "notes": assessment_notes(f),
        "versions": f.versions,
    }
    if f.data.groups:
        record["groups"] = _rows(f.by_group)
    if f.clinical is not None:
        record["clinical_prior"] = {
            "verdict": f.clinical.verdict,
            "headline": headline(f.clinical),
            "functionals": _functionals(f.clinical),
        }
    return {name: _plain(value) for name, value in record.items()}


def _functionals(f: Findings) -> dict[str, dict[str, Any]]:
    rows = _rows(f.table)
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
