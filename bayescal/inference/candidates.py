"""The candidates: families of curves that are compared, and the prior probability of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayescal.core.errors import InputError, as_items, as_number
from bayescal.core.text import shortened
from bayescal.data.validate import check_choice
from bayescal.model.average import PRIOR_CALIBRATED
from bayescal.model.curves import CURVES

__all__ = ["ALWAYS", "PRIOR_CALIBRATED", "in_order", "prior_probabilities"]

ALWAYS = ("identity", "pieces")
# The weights of the average were settled on development populations. On 2400 others, P(TCE < limit)
# was within .07 of the share of true statements in every bin.
SMOOTH_SHARE = 5 / 9
"""Of the prior probability that exact calibration leaves; the stretches have the rest."""


def in_order(curves: Sequence[str] | None) -> list[str]:
    """The families asked for, with those that are always compared, in the order of the registry.

    `saturated` is none of them by default: where there are few distinct scores it stands for others
    by itself.
    """
    if curves is None:
        return [name for name, curve in CURVES.items() if not curve.per_score]
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
    raw = _default_weights(others) if prior_weights is None else _given(prior_weights, others)
    total = sum(raw.values())
    if not total > 0:
        asked = ", ".join(name for name in CURVES if name != "identity")
        raise InputError(
            "no family other than identity has any weight, so there is nothing to compare it "
            f"with. Ask for one of {asked}, or give prior_weights=."
        )
    shares = {name: (1 - prior_calibrated) * w / total for name, w in raw.items()}
    return {"identity": prior_calibrated} | shares


def _default_weights(others: Sequence[str]) -> dict[str, float]:
    """4/9 for the stretches; the ideas among the smooth families share the rest equally.

    The families that weigh nothing by default have it where no other was asked for.
    """
    smooth = [name for name in others if name not in ALWAYS]
    weighed = [name for name in smooth if CURVES[name].averaged] or smooth
    ideas = Counter(CURVES[name].idea or name for name in weighed)
    raw = dict.fromkeys(others, 0.0)
    for name in weighed:
        raw[name] = SMOOTH_SHARE / len(ideas) / ideas[CURVES[name].idea or name]
    if "pieces" in raw:
        raw["pieces"] = 1 - SMOOTH_SHARE
    return raw


def _given(prior_weights: Any, others: Sequence[str]) -> dict[str, float]:
    """The weights that the user gave, checked."""
    if not isinstance(prior_weights, Mapping):
        given = shortened(repr(prior_weights))
        raise InputError(f"prior_weights must be a mapping of families, got {given}.")
    for name in prior_weights:
        check_choice(name, others, "the keys of prior_weights")
    raw = {name: as_number(prior_weights.get(name, 0.0), "prior_weights") for name in others}
    if any(not (np.isfinite(w) and w >= 0) for w in raw.values()):
        raise InputError(
            f"prior_weights must be non-negative numbers, got {dict(prior_weights)!r}."
        )
    return raw
