"""Numbers and names as people read them: rounded to what is known, and unable to do harm."""

from __future__ import annotations

import math

__all__ = [
    "cases_and_events",
    "chance",
    "count",
    "decimals",
    "interval",
    "per_thousand",
    "percent",
    "plain",
    "ratio",
    "rounded",
    "shortened",
]

LONGEST_NAME = 60


def decimals(lower: float, upper: float) -> int:
    """Decimal places that show an interval's width to about two significant digits."""
    width = abs(upper - lower)
    if not (math.isfinite(width) and width > 1e-6):
        return 3
    return min(max(1 - math.floor(math.log10(width)), 2 if width < 10 else 1), 6)


def rounded(values: tuple[float, ...], lower: float, upper: float) -> tuple[str, ...]:
    """Values of one quantity, all to the decimal places that its interval deserves."""
    places = decimals(lower, upper)
    return tuple(f"{round(value, places) + 0.0:.{places}f}" for value in values)


def interval(estimate: float, lower: float, upper: float, ci_prob: float) -> str:
    """An estimate and its credible interval: `0.043 (95 % CrI 0.018 to 0.071)`."""
    middle, low, high = rounded((estimate, lower, upper), lower, upper)
    return f"{middle} ({percent(ci_prob)} CrI {low} to {high})"


def percent(probability: float) -> str:
    """A probability as a percentage: `95 %`."""
    return f"{100 * probability:.4g} %"


def count(number: float, noun: str = "") -> str:
    """A number of things, with thousands apart; weighted counts may have a fraction."""
    shown = f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"
    plural = "" if number == 1 else "s"
    return f"{shown} {noun}{plural}" if noun else shown


def cases_and_events(n: float, events: float, effective: float, joint: str = ", ") -> str:
    """How many cases and events there are; of sampling weights, what they are worth.

    Parameters
    ----------
    n, events : float
        Sums of the weights, of all cases and of those with the event.
    effective : float
        Cases that the likelihood counts: `n`, or Kish's effective size of sampling weights.
    joint : str
        What stands between cases and events.

    Returns
    -------
    str
    """
    rate = f"{100 * events / n:.3g} %"
    if effective == n:
        return f"{count(n, 'case')}{joint}{count(events, 'event')} ({rate})"
    return f"sampling weights worth {effective:,.1f} cases, {rate} of them with the event"


def chance(probability: float) -> str:
    """A probability from a few thousand draws, which tell no more than two decimals."""
    if probability < 0.005:
        return "< 0.01"
    return "> 0.99" if probability > 0.995 else f"{probability:.2f}"


def ratio(value: float) -> str:
    """A ratio of any size to two digits: `0.29`, `8.7`, `870`; beyond 1000 its power, `10^8`."""
    if math.isnan(value):
        return "undefined"
    if not 1e-300 < value < 1e300:
        return "0" if value <= 0 else "< 10^-300" if value < 1 else "> 10^300"
    power = math.floor(math.log10(value))
    if -3 <= power <= 2:
        return f"{round(value, 1 - power):.{max(1 - power, 0)}f}"
    return f"10^{round(math.log10(value))}"


def per_thousand(value: float, error: float) -> tuple[str, str]:
    """A gain per patient and its standard error, of 1000 patients: `6.7`, `2.2`."""
    small = 1000 * error
    places = min(max(1 - math.floor(math.log10(small)), 0), 4) if small > 1e-9 else 1
    return f"{round(1000 * value, places) + 0.0:.{places}f}", f"{small:.{places}f}"


def plain(text: object) -> str:
    """Text that cannot steer a terminal or a page: what does not print becomes an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in str(text)
    )


def shortened(text: object, longest: int = LONGEST_NAME) -> str:
    """A name of any length, as plain text: its beginning, and how long it is in all."""
    shown = plain(text)
    if len(shown) <= longest:
        return shown
    told = f"… ({len(str(text)):,} characters)"
    return shown[: max(longest - len(told), 1)] + told
