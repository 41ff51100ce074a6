"""Several horizons of times to an event: a door called at each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bayescal.core.arrays import is_single
from bayescal.core.errors import InputError
from bayescal.data.predicted import Risks
from bayescal.posterior.several import Several

__all__ = ["each_horizon", "is_several"]


def is_several(horizon: Any) -> bool:
    """Whether a list of horizons was given."""
    return not is_single(horizon)


def each_horizon(
    door: Callable[..., Any], risks: Risks, refused: Mapping[str, Any]
) -> Several[Any]:
    """What a function gives at each of several horizons.

    Parameters
    ----------
    door : callable
        `bayescal.fit`, or another of times to an event, with its options.
    risks : Risks
    refused : mapping
        Arguments by name, which several horizons do not go with.
    """
    for name, value in refused.items():
        if value is not None:
            raise InputError(
                f"{name} was given beside several horizons, which are fitted without. Fit each "
                "horizon by itself."
            )
    pairs = zip(risks.horizons, risks.columns, strict=True)
    each = {at: door(risks.outcome, column, horizon=at) for at, column in pairs}
    return Several(each, "horizon", risks.notes)
