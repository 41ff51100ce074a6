"""Net benefit of acting on some of the cases."""

from __future__ import annotations

from bayescal._base.arrays import Floats

__all__ = ["net_benefit"]


def net_benefit(events: Floats, treated: Floats | float, threshold: Floats | float) -> Floats:
    """Events treated, less the others treated at the price that the threshold puts on them.

    events - (treated - events) t / (1 - t). It is linear, so that it may be taken of one case, of
    the average case, or of all of them.

    Parameters
    ----------
    events, treated : ndarray
        Events among the treated, and all that are treated.
    threshold : ndarray or float
        Risk t in [0, 1) from which whoever acts is willing to treat.

    Returns
    -------
    ndarray
        In the units of `events`.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.
    """
    benefit: Floats = events - (treated - events) * (threshold / (1 - threshold))
    return benefit
