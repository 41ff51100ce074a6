"""Few discordant patients: how much their number alone says of a gain."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["among_few"]

PRIOR_PATIENTS = 0.5
"""On either side; it is Jeffreys' prior of which model is right where the two differ."""


def among_few(gain: Floats, each: Floats, cases: Floats, rng: np.random.Generator) -> Floats:
    """Draws of a mean gain, as if half a patient more had gained and half a patient had lost.

    Resampling patients cannot show what none of them shows: two patients who differ between two
    models, and gain both, would gain in every draw. So the draws know of half a patient on either
    side, who gains or loses what those who differ typically do. Of many who differ this changes
    nothing.

    Parameters
    ----------
    gain : ndarray of shape (draws,)
        Mean gains of resampled patients.
    each : ndarray of shape (rows,)
        The gain of a patient of each row.
    cases : ndarray of shape (rows,)
        Patients of each row.

    Returns
    -------
    ndarray of shape (draws,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.gain._discordant import among_few
    >>> rng = np.random.default_rng(0)
    >>> each = np.r_[0.1, 0.1, np.zeros(10)]
    >>> gain = rng.dirichlet(np.ones(12), 4000) @ each
    >>> 0.9 < (among_few(gain, each, np.ones(12), rng) > 0).mean() < 0.97
    np.True_
    """
    differ = each != 0
    if not differ.any():
        return gain
    size = np.sqrt(cases @ each**2 / cases[differ].sum())
    more, fewer = rng.gamma(PRIOR_PATIENTS, size=(2, gain.size))
    total = rng.gamma(cases.sum(), size=gain.size)
    return np.asarray((gain * total + size * (more - fewer)) / (total + more + fewer))
