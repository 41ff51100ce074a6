"""What the figures share: colours that differ in hue and in grey, axes, ticks and legends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_type
from bayescal.core.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# From Okabe and Ito's palette, which colour-blind readers can tell apart. Greys from dark to light:
# ink, curve, diagonal, events, non-events.
CURVE = "#0072B2"
EVENTS = "#D55E00"
NON_EVENTS = "#999999"
DIAGONAL = "#666666"
INK = "#333333"


class Line(NamedTuple):
    """How a line looks: a colour, and dashes for readers who do not see it."""

    color: str
    ls: Any


# Lines of models in one figure, which differ in hue, in grey and in dashes.
MODELS = (
    Line(CURVE, "-"),
    Line("#D55E00", (0, (5, 1.5))),
    Line("#009E73", (0, (5, 1.5, 1, 1.5))),
    Line("#CC79A7", (0, (1.2, 1.2))),
    Line("#E69F00", (0, (8, 1.5, 1, 1.5, 1, 1.5))),
    Line(INK, (0, (3, 3))),
)

# Lines of smoothers drawn over a posterior.
OVERLAYS = (
    Line("#D55E00", "-"),
    Line("#009E73", (0, (5, 1.5))),
    Line(INK, (0, (1.2, 1.2))),
    Line("#CC79A7", (0, (5, 1.5, 1, 1.5))),
)

# Width of the thinnest line: what prints in a column of a journal.
THIN = 0.8
# Size of the smallest letters, in points, for the same reason.
SMALLEST_LETTERS = 7.0
# Opacity of a band.
BAND_SHADE = 0.22
# Most steps between ticks; a number that follows the size of the axes would move their labels.
TICKS = 8
# Ends of an axis, times a power of ten.
ROUND_ENDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
# Ticks of a bent axis, times a power of ten.
ROUND_TICKS = {"root": (1.0, 2.0, 5.0), "log": (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)}
# With fewer round numbers a bent axis is so short that even steps are read as well.
FEWEST_TICKS = 4
# Least share of a bent axis between two ticks, so that labels do not run into each other.
TICKS_APART = 0.12

# Points between axes and a legend, for ticks and label of the axis.
BENEATH = 36.0
# Width of a letter, as a share of its height.
LETTER = 0.47
# Room of a legend, as a share of the axes' width: it may also stand under their labels.
WIDER = 1.25
# How far an axis goes beyond what is drawn.
HEADROOM = 1.15

Scale = Literal["linear", "root", "log"]


def small(share: float = 0.7) -> float:
    """Size of small letters: this share of the usual size, but never too small to print."""
    import matplotlib as mpl

    return max(SMALLEST_LETTERS, share * float(mpl.rcParams["font.size"]))


def figure_of(rows: int, columns: int, size: tuple[float, float], **options: Any) -> list[Axes]:
    """Axes on a figure of their own, which finds room for their labels.

    A page has no time for that: there `gridspec_kw` says where axes end, as shares of the figure.
    """
    import matplotlib.pyplot as plt

    _, grid = plt.subplots(
        rows, columns, figsize=size, squeeze=False, layout="constrained", **options
    )
    return list(grid.flat)


def as_axes(ax: Axes | None, width: float, height: float, **ends: float) -> Axes:
    """The axes to draw on: those given, or new ones, which end there on the figure of a page."""
    if ax is not None:
        return _checked(ax, "ax")
    return figure_of(1, 1, (width, height), gridspec_kw=ends)[0]


def _checked(ax: Any, name: str) -> Axes:
    from matplotlib.axes import Axes

    return check_type(ax, Axes, name, "Pass matplotlib's, or none for a new figure.")


def as_panels(axes: Any, needed: int, what: str, new: Callable[[], list[Axes]]) -> list[Axes]:
    """One axes, a sequence of them, the array that `subplots` gives, or new ones."""
    if axes is None:
        return new()
    panels = list(np.atleast_1d(np.asarray(axes, dtype=object)).flat)
    if len(panels) != needed:
        raise InputError(
            f"axes holds {len(panels)}, but there are {needed} {what}. "
            "Give one each, or none for a new figure."
        )
    return [_checked(ax, f"axes[{at}]") for at, ax in enumerate(panels)]


def bare(ax: Axes, *sides: str) -> None:
    """Axes without a frame at the top, at the right and at these sides; at the left no ticks."""
    ax.spines[["top", "right", *sides]].set_visible(False)
    if "left" in sides:
        ax.tick_params(axis="y", length=0)


def titled(ax: Axes, title: str, share: float = 1.0) -> None:
    """A title that begins where the axes begin; in letters of this share of the usual size."""
    ax.set_title(title, loc="left", fontsize=small(share))


def headed(ax: Axes, title: str) -> Figure:
    """The figure of axes, with a title over all of them."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return figure


def legend_beneath(ax: Axes, *, columns: int = 3, foot: float = 0.0, **look: Any) -> None:
    """A legend beneath the axes and their labels, where no curve can run.

    Parameters
    ----------
    columns : int
        At most; fewer where names are long for the axes.
    foot : float
        Where the axis with the labels is, as a share of the axes' height below them.
    **look
        Options of matplotlib's legend.
    """
    from matplotlib.transforms import ScaledTranslation

    size = small()
    longest = max(map(len, ax.get_legend_handles_labels()[1]), default=1)
    handle = look.setdefault("handlelength", 1.5)
    room = 72 * ax.get_window_extent().width / ax.figure.dpi
    fitting = int(WIDER * room / (size * (LETTER * longest + handle + 2)))
    down = ScaledTranslation(0, -BENEATH / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -foot),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        ncols=min(max(fitting, 1), columns),
        fontsize=size,
        edgecolor="none",
        labelspacing=0.3,
        **look,
    )


def probability_axes(ax: Axes, low: float, high: float, scale: Scale = "linear") -> None:
    """Make square axes for predicted against actual probabilities."""
    for axis in (ax.xaxis, ax.yaxis):
        bend(axis, scale, low, high)
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_xlabel("Predicted probability")
    ax.set_ylabel("Probability of the event")
    bare(ax)


def bend(axis: Axis, scale: Scale, low: float, high: float) -> None:
    """A root or a log scale, with ticks at round numbers that have room for their labels."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    if scale == "linear":
        return
    set_scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    if scale == "root":
        set_scale("function", functions=(_root, np.square))
    else:
        set_scale("log", nonpositive="clip")
    axis.set_major_locator(FixedLocator(round_ticks(scale, low, high)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def bent(values: Floats, scale: Scale) -> Floats:
    """Values as a scale places them."""
    return _root(values) if scale == "root" else np.log(values) if scale == "log" else values


def unbent(places: Floats, scale: Scale) -> Floats:
    """Values at places of a scale."""
    return np.square(places) if scale == "root" else np.exp(places) if scale == "log" else places


def move_down(ax: Axes, foot: float) -> None:
    """Place the axis with ticks and label beneath strips that end there."""
    ax.spines["bottom"].set_position(("axes", -foot))


def _root(values: Any) -> Any:
    return np.sqrt(np.maximum(values, 0))


def round_ticks(scale: Scale, low: float, high: float) -> list[float]:
    """Round numbers from the highest down, each with room for its label.

    Examples
    --------
    >>> round_ticks("root", 0, 0.15)
    [0, 0.01, 0.05, 0.1]
    """
    floor = low if low > 0 else 1e-6 * high
    powers = range(int(np.floor(np.log10(floor))), int(np.ceil(np.log10(high))) + 1)
    # Powers of ten first, then twos and fives: where room is short the rounder number stays.
    steps = sorted(ROUND_TICKS[scale], key=lambda step: (step != 1, step not in (2, 5), step))
    wanted = ([low] if low == 0 else []) + [
        float(f"{step}e{k}") for step in steps for k in powers[::-1]
    ]
    across = bent(np.array([low or floor * (scale == "log"), high]), scale)
    kept: list[float] = []
    for tick in wanted:
        if low <= tick <= high * (1 + 1e-9):
            at = bent(np.array([tick, *kept]), scale)
            if not kept or np.abs(at[1:] - at[0]).min() >= TICKS_APART * np.ptp(across):
                kept.append(tick)
    if len(kept) >= FEWEST_TICKS:
        return sorted(kept)
    from matplotlib.ticker import MaxNLocator

    even = MaxNLocator(TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in even if low <= tick <= high]


def as_limits(limits: tuple[float, float] | str, drawn: Floats) -> tuple[float, float]:
    """Range of a reliability diagram: as told, or the half of [0, 1] that holds what is drawn."""
    if isinstance(limits, str) and limits == "full":
        return 0.0, 1.0
    if isinstance(limits, str) and limits == "auto":
        lowest, highest = float(drawn.min()), float(drawn.max())
        if highest < 0.5:
            return 0.0, round_up(HEADROOM * highest)
        return (1 - round_up(HEADROOM * (1 - lowest)) if lowest > 0.5 else 0.0), 1.0
    ends = as_items(limits, "limits")
    numbers = len(ends) == 2 and all(isinstance(end, (int, float, np.number)) for end in ends)
    if not (numbers and 0 <= ends[0] < ends[1] <= 1):
        raise InputError(
            "limits must be 'auto', 'full' or two numbers from 0 to 1 in order, got "
            f"{shortened(repr(limits))}."
        )
    return float(ends[0]), float(ends[1])


def round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, ... times a power of ten, at most 1."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(value))
    step = next((step for step in ROUND_ENDS if step * scale >= value), ROUND_ENDS[-1])
    return float(min(step * scale, 1.0))
