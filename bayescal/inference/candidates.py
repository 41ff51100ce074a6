"""The candidates: families of curves that are compared, and the prior probability of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayescal.core.errors import InputError, as_items, as_number, check_choice
from bayescal.model.average import PRIOR_CALIBRATED
from bayescal.model.curves import CURVES, EXACT
from bayescal.model.mixture import weighed

__all__ = ["PRIOR_CALIBRATED", "in_order", "prior_probabilities"]


def in_order(curves: Sequence[str] | None) -> list[str]:
    """The families asked for, and exact calibration, in the order of the registry.

    By default all of which the mixture can be made; those in `WEIGHTS` have weight. A risk of its
    own for each score has no place among curves.
    """
    mixed = [name for name, curve in CURVES.items() if not curve.per_score]
    if curves is None:
        return mixed
    asked = as_items(curves, "curves")
    for name in asked:
        check_choice(name, mixed, "curves")
    return [name for name in mixed if name in asked or name == EXACT]


def prior_probabilities(
    names: Sequence[str],
    prior_calibrated: float = PRIOR_CALIBRATED,
    weights: Mapping[str, float] | None = None,
    *,
    are_named: bool = False,
) -> dict[str, float]:
    """Prior probability of each family asked for, identity included; see `compare`."""
    others = [name for name in names if name != EXACT]
    raw = weighed(others, are_named=are_named)
    if weights is not None:
        raw = _given(weights, others)
    total = sum(raw.values())
    if not total > 0:
        asked = ", ".join(name for name in CURVES if name != EXACT)
        raise InputError(
            "curve= or curves= names no family other than identity with any weight, so there is "
            f"nothing to compare it with. Name one of {asked}, with a weight above 0."
        )
    shares = {name: (1 - prior_calibrated) * w / total for name, w in raw.items()}
    return {EXACT: prior_calibrated} | shares


def _given(weights: Mapping[str, float], others: Sequence[str]) -> dict[str, float]:
    """The weights that the user gave, checked."""
    raw = {name: as_number(weights.get(name, 0.0), "curves") for name in others}
    if any(not (np.isfinite(w) and w >= 0) for w in raw.values()):
        raise InputError(
            f"the prior weights of curves must be non-negative numbers, got {dict(weights)!r}."
        )
    return raw
