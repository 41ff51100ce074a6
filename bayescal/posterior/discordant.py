"""Few discordant patients: how much their number alone says of which prediction is better."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["among_few"]

PRIOR_PATIENTS = 0.5
"""On either side; it is Jeffreys' prior of which model is right where the two differ."""


def among_few(gain: Floats, size: float, cases: float, rng: np.random.Generator) -> Floats:
    """Draws of a mean gain, as if half a patient more had gained and half a patient had lost.

    Resampling patients cannot show what none of them shows: two patients for whom two predictions
    differ, and who gain both, would gain in every draw. So the draws know of half a patient on
    either side. Of many who differ this changes nothing.

    Parameters
    ----------
    gain : ndarray of shape (draws,)
        Mean gains of resampled patients.
    size : float
        What a patient for whom the predictions differ typically gains or loses. Its sign only says
        which half a patient is drawn first.
    cases : float
        Number of patients.

    Returns
    -------
    ndarray of shape (draws,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.discordant import among_few
    >>> rng = np.random.default_rng(0)
    >>> gain = rng.dirichlet(np.ones(12), 4000) @ np.r_[0.1, 0.1, np.zeros(10)]
    >>> 0.9 < (among_few(gain, 0.1, 12, rng) > 0).mean() < 0.97
    np.True_
    """
    more, fewer = rng.gamma(PRIOR_PATIENTS, size=(2, gain.size))
    total = rng.gamma(cases, size=gain.size)
    return np.asarray((gain * total + size * (more - fewer)) / (total + more + fewer))
