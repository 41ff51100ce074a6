"""On which patients a gain was seen, in the words of every output."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.text import count

__all__ = ["evidence_of"]

CROSS_FITTED = (
    "about the procedure (95 % intervals covered its gain in .89 to 1.00 of simulations), not the "
    "map fitted to all patients (.83 to .98)"
)


def evidence_of(after: Any, in_sample: bool, detected: str | None) -> str:
    """The sentence that goes with every number.

    Parameters
    ----------
    after : array-like of shape (n,) or (repeats, n)
        As it was passed: several rows, or a row of its own, come from a cross-fit.
    in_sample : bool
        Whether the user says that these patients fitted the map.
    detected : str or None
        What shows it.

    Returns
    -------
    str
    """
    if detected:
        return f"in-sample (detected: {detected}), so it looks too good"
    if in_sample:
        return "in-sample: the map was fitted to these patients, so it looks too good"
    shape = np.shape(after)
    if len(shape) == 2 and shape[1] != 1:
        return f"cross-fitted, {count(shape[0], 'repeat')}: {CROSS_FITTED}"
    return "patients assumed not seen by the map"
