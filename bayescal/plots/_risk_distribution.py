"""How the predicted risks are spread, of the cases with the event and of those without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayescal.core.errors import InputError, as_count, as_levels
from bayescal.plots import style
from bayescal.plots._limits import round_up
from bayescal.plots._observed import count_scores
from bayescal.plots.text import count
from bayescal.posterior.posterior import as_posterior, check_outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["risk_distribution"]

HEADROOM = 1.06
MOST_RISK_BINS = 1000


def risk_distribution(
    post: CalibrationPosterior,
    axes: Sequence[Axes] | None = None,
    *,
    n_bins: int = 30,
    thresholds: Sequence[float] = (),
) -> list[Axes]:
    """Draw two histograms of the predicted risks: with the event above, without it beneath.

    Each bar is a share of the cases with that outcome, so that a rare outcome is as well seen as a
    common one. The histograms have the same bins and one scale.

    Parameters
    ----------
    post : CalibrationPosterior
        A fit. Its scores and outcomes are drawn, and no curve.
    axes : sequence of two matplotlib.axes.Axes, optional
        Of the cases with the event and of those without it; by default on a new figure.
    n_bins : int
        Number of bins from 0 to a round number above the highest score.
    thresholds : sequence of float
        Risks from which a patient is treated, marked by dashed lines.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If outcomes are not known, as of times to an event, or an argument is out of range.

    References
    ----------
    Van Calster et al. (2025), Lancet Digital Health 7, 100916.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> upper, lower = bc.plots.risk_distribution(post)
    >>> lower.get_xlabel()
    'Predicted risk'
    """
    of = as_posterior(post)
    bins, marked = (
        as_count(n_bins, "n_bins", maximum=MOST_RISK_BINS),
        as_levels(thresholds, "thresholds"),
    )
    check_outcomes(of, "risk_distribution")
    if of.problem.of_times:
        raise InputError(
            "the risks by outcome are of outcomes that are known: some cases left before the "
            "horizon. Draw plots.reliability, whose strip has all risks."
        )
    data = of.problem.unclustered
    highest = round_up(float(data.score.max()))
    counts = count_scores(data, 0.0, highest, bins)
    sides = (
        (counts.events, style.EVENTS, "With the event"),
        (counts.non_events, style.NON_EVENTS, "Without the event"),
    )
    panels = _new_panels() if axes is None else style.as_panels(axes, len(sides), "outcomes")
    shares = [cases / max(cases.sum(), 1e-300) for cases, *_ in sides]
    top = HEADROOM * max(float(share.max()) for share in shares)
    for panel, share, (cases, colour, name) in zip(panels, shares, sides, strict=True):
        panel.stairs(100 * share, counts.edges, fill=True, color=colour, lw=0)
        for threshold in marked:
            panel.axvline(threshold, color=style.DIAGONAL, lw=1, ls="--")
        panel.set_xlim(0, highest)
        panel.set_ylim(0, 100 * top)
        panel.set_ylabel("% of them")
        told = name if data.is_pseudo else f"{name} ({count(cases.sum())})"
        panel.set_title(told, loc="left", fontsize="medium")
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("Predicted risk")
    panels[0].tick_params(axis="x", labelbottom=False)
    return panels


def _new_panels() -> list[Axes]:
    import matplotlib.pyplot as plt

    _, panels = plt.subplots(2, 1, figsize=(5.4, 4.2), layout="constrained")
    return list(panels)
