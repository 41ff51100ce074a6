"""The ladder of families that are compared, and the prior probability of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayescal._base.errors import InputError, as_items, as_number
from bayescal._base.text import shortened
from bayescal.data.validate import check_choice
from bayescal.model.average import PRIOR_CALIBRATED
from bayescal.model.curves import CURVES

__all__ = ["ALWAYS", "PRIOR_CALIBRATED", "in_order", "prior_probabilities"]

ALWAYS = ("identity", "pieces")


def in_order(curves: Sequence[str] | None) -> list[str]:
    """The families asked for, with those that are always compared, in the ladder's order."""
    if curves is None:
        return list(CURVES)
    asked = as_items(curves, "curves")
    for name in asked:
        check_choice(name, CURVES, "curves")
    return [name for name in CURVES if name in asked or name in ALWAYS]


def prior_probabilities(
    names: Sequence[str],
    prior_calibrated: float = PRIOR_CALIBRATED,
    prior_weights: Any = None,
) -> dict[str, float]:
    """Prior probability of each family asked for, identity included; see `compare`."""
    others = [name for name in names if name != "identity"]
    if prior_weights is None:
        raw = {name: 1.0 if CURVES[name].averaged else 0.0 for name in others}
        if not any(raw[name] for name in others if name not in ALWAYS):  # nothing else asked for
            raw = dict.fromkeys(others, 1.0)
    else:
        weights: object = prior_weights
        if not isinstance(weights, Mapping):
            given = shortened(repr(weights))
            raise InputError(f"prior_weights must be a mapping of families, got {given}.")
        for name in prior_weights:
            check_choice(name, others, "the keys of prior_weights")
        raw = {name: as_number(prior_weights.get(name, 0.0), "prior_weights") for name in others}
        if any(not (np.isfinite(w) and w >= 0) for w in raw.values()):
            raise InputError(
                f"prior_weights must be non-negative numbers, got {dict(prior_weights)!r}."
            )
    total = sum(raw.values())
    if not total > 0:
        asked = ", ".join(name for name in CURVES if name != "identity")
        raise InputError(
            "no family other than identity has any weight, so there is nothing to compare it "
            f"with. Ask for one of {asked}, or give prior_weights=."
        )
    shares = {name: (1 - prior_calibrated) * w / total for name, w in raw.items()}
    return {"identity": prior_calibrated} | shares
