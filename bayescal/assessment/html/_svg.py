"""A matplotlib figure as SVG that can stand in a page beside others."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

__all__ = ["THEMED", "Zone", "drawing", "fit_height", "inline_svg", "lay_out"]

LINK = re.compile(r"#(?=[A-Za-z_])")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
STEP = re.compile(r"([MLz]) ?([-\d.]*) ?([-\d.]*)")
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bayescal",
    "figure.dpi": 72,
    "font.size": 13,  # of which legends take two thirds
    "axes.labelsize": 11.5,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "axes.titley": 1.0,  # no search for a place above ticks: the page has the titles
}
THEMED = {
    "#000000": "currentColor",
    "#333333": "var(--ink)",
    "#666666": "var(--diagonal)",
    "#999999": "var(--others)",
    "#0072b2": "var(--curve)",
    "#d55e00": "var(--events)",
    "#ffffff": "var(--paper)",
}
"""Colours of the figures, and what the page calls them, so that it can be light or dark."""

ROOM_AROUND = 0.1
"""Inches above and below what is in a figure."""

ROOM_BESIDE = 0.06
"""Inches left free on every side of axes and their labels."""

NEARLY = {"left": 0.14, "right": 0.97, "bottom": 0.18, "top": 0.86}
NEARLY_IN_PANELS = {"left": 0.12, "right": 0.97, "bottom": 0.12, "top": 0.94, "hspace": 0.2}
"""About the place of axes in a figure, where they are measured: of one, and of several."""

MOST_PLACINGS = 3
"""Times that axes are measured and placed, at most."""

SAME_PLACE = 1e-10
"""Share of an axis by which a tick may lie beyond its ends, as matplotlib has it."""

_IS_DRAWING = ContextVar("is_drawing", default=False)

NOTHING = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Zone(NamedTuple):
    """Part of a figure that says something when it is pointed at; in points from the top left."""

    x: float
    y: float
    width: float
    height: float
    says: str


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib's own style, whatever the user's, with text left as text and ids that repeat.

    Text is set in the reader's fonts, so that it does not matter which glyphs ours have. Inside
    another one it does nothing: a page takes on the style once.
    """
    if _IS_DRAWING.get():
        yield
        return
    import matplotlib as mpl
    import matplotlib.style

    with (
        warnings.catch_warnings(),
        matplotlib.style.context("default", after_reset=True),
        mpl.rc_context(STYLE),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        token = _IS_DRAWING.set(True)
        try:
            yield
        finally:
            _IS_DRAWING.reset(token)


def lay_out(figure: Figure) -> None:
    """Find the places of all axes, which stand in one column; no layout engine is left.

    Axes are measured near the place that they will have, with all that stands round them, and once
    more only if they have other ticks there. Matplotlib's own layout measures everything twice.
    Ticks and labels then keep these places, so that drawing need not measure them once more.
    """
    if figure.get_layout_engine() is None:
        return
    from matplotlib.ticker import FixedLocator, NullLocator

    figure.set_layout_engine(None)
    figure.subplots_adjust(**(NEARLY if len(figure.axes) == 1 else NEARLY_IN_PANELS))
    for axis in _every_axis(figure):
        if isinstance(axis.get_minor_locator(), NullLocator):
            axis.remove_overlapping_locs = False  # which costs a search for the major ticks
        name = "bottom" if _is_level(axis) else "left"
        if axis.get_tick_params().get(f"label{name}", True):
            axis.axes.spines[name].set_in_layout(False)  # its labels take more room
    every = [(axis, axis.get_major_locator()) for axis in _every_axis(figure)]
    free = [pair for pair in every if not isinstance(pair[1], FixedLocator | NullLocator)]
    ticks = [_ticks(*pair) for pair in free]
    placed = not any(map(_foot, _every_axis(figure)))  # strips grow with the axes above them
    for _ in range(MOST_PLACINGS):
        for (axis, _), places in zip(free, ticks, strict=True):
            axis.set_major_locator(FixedLocator(places))
        gaps, shown = _position(figure), ticks
        ticks = [_ticks(*pair) for pair in free]
        if ticks == shown and placed:
            break
        placed = True
    _keep(figure, gaps)


def _every_axis(figure: Figure) -> list[Axis]:
    """Those of all axes and of the strips beside them."""
    each = [part for axes in figure.axes for part in (axes, *axes.child_axes)]
    return [axis for axes in each for axis in (axes.xaxis, axes.yaxis)]


def _is_level(axis: Axis) -> bool:
    return axis is axis.axes.xaxis


def _gap(axis: Axis) -> float:
    """Dots from axes to the label below or left of them, as last measured."""
    own, (x, y) = axis.axes.get_window_extent(), axis.label.get_position()
    return float(own.y0 + _foot(axis) * own.height - y if _is_level(axis) else own.x0 - x)


def _foot(axis: Axis) -> float:
    """Where an axis is that stands beneath strips, as a share of the axes' height."""
    position = axis.axes.spines["bottom"].get_position()
    return float(position[1]) if position[0] == "axes" else 0.0


def _keep(figure: Figure, gaps: list[float]) -> None:
    """Let labels stay as far from their axes as they were measured."""
    from matplotlib.transforms import ScaledTranslation

    for axis, gap in zip(_every_axis(figure), gaps, strict=True):
        is_level, (x, y) = _is_level(axis), axis.label.get_position()
        if axis.get_label_position() == ("bottom" if is_level else "left"):
            down, left = (gap, 0.0) if is_level else (0.0, gap)
            away = ScaledTranslation(-left / figure.dpi, -down / figure.dpi, figure.dpi_scale_trans)
            x, y = (x, _foot(axis)) if is_level else (0.0, y)
            axis.set_label_coords(x, y, transform=axis.axes.transAxes + away)


def _ticks(axis: Axis, locator: Locator) -> list[float]:
    """Where an axis has ticks now: those in view, since all others would be made as well."""
    low, high = sorted(axis.get_view_interval())
    slack = SAME_PLACE * (high - low)
    at = np.asarray(locator(), dtype=float)
    return [float(each) for each in at[(low - slack <= at) & (at <= high + slack)]]


def _position(figure: Figure) -> list[float]:
    """Place the axes by the room that all round them takes now; the gaps of all labels."""
    pad, (width, height) = ROOM_BESIDE * figure.dpi, figure.bbox.size
    inside = [axes.get_window_extent() for axes in figure.axes]
    around = [axes.get_tightbbox(for_layout_only=True) for axes in figure.axes]
    gaps = [_gap(axis) for axis in _every_axis(figure)]
    pairs = [(box or own, own) for box, own in zip(around, inside, strict=True)]
    left = pad + max(own.x0 - box.x0 for box, own in pairs)
    right = pad + max(box.x1 - own.x1 for box, own in pairs)
    above = [pad + box.y1 - own.y1 for box, own in pairs]
    below = [pad + own.y0 - box.y0 for box, own in pairs]
    shares = np.array([axes.get_position(original=True).height for axes in figure.axes])
    free = (height - sum(above) - sum(below)) * shares / shares.sum()
    top = height
    for axes, over, own, under in zip(figure.axes, above, free, below, strict=True):
        bottom = top - over - own
        position = left / width, bottom / height, (width - left - right) / width, own / height
        axes.set_position(position)
        axes.set_in_layout(True)
        axes.apply_aspect()
        top = bottom - under
    return gaps


def fit_height(figure: Figure) -> None:
    """Make a figure as high as what its square axes, strips and legend take, and lay it out."""
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)
    for axes in figure.axes:
        axes.apply_aspect()
    figure.set_figheight(figure.get_tightbbox().height + 2 * ROOM_AROUND)
    lay_out(figure)


def inline_svg(
    figure: Figure, name: str, title: str, description: str, zones: Sequence[Zone] = ()
) -> Markup:
    """The figure as an `svg` element without links to anything outside itself."""
    lay_out(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=NOTHING)
    root = ElementTree.fromstring(buffer.getvalue())
    for element in root.iter():
        _make_local(element, name)
    for child in list(root):
        if child.tag == "metadata":
            root.remove(child)
    for definitions in root.findall("defs"):
        for style in definitions.findall("style"):
            definitions.remove(style)  # it would style the page around it
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    for index, (kind, text) in enumerate((("title", title), ("desc", description))):
        spoken = ElementTree.Element(kind, id=f"{name}-{'title' if index == 0 else 'description'}")
        spoken.text = text
        root.insert(index, spoken)
    if zones:
        root.append(_drawn(zones))
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _make_local(element: ElementTree.Element, name: str) -> None:
    """Drop namespaces, and put the figure's name before every id and every link to one."""
    element.tag = element.tag.rpartition("}")[2]
    changed = {}
    for key, value in element.attrib.items():
        key = key.rpartition("}")[2]
        if key == "id":
            value = f"{name}-{value}"
        elif key == "href" or "url(#" in value:
            value = LINK.sub(f"#{name}-", value)
        elif key in ("style", "fill", "stroke"):
            value = COLOUR.sub(lambda code: THEMED.get(code[0].lower(), code[0]), value)
        elif key == "d":
            value = _thinned(NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value))
        changed[key] = value
    element.attrib = changed


def _thinned(path: str) -> str:
    """A path without the points that lie between two others on a level or upright line."""
    if STEP.sub("", path).strip():
        return path  # it has curves
    kept: list[tuple[str, str, str]] = []
    for step in STEP.findall(path):
        while (
            len(kept) > 1
            and step[0] == kept[-1][0] == "L"
            and any(kept[-2][axis] == kept[-1][axis] == step[axis] for axis in (1, 2))
        ):
            kept.pop()
        kept.append(step)
    return " ".join(" ".join(step) for step in kept)


def _drawn(zones: Sequence[Zone]) -> ElementTree.Element:
    group = ElementTree.Element("g", {"class": "zones"})
    for zone in zones:
        position = {
            key: f"{value:.2f}"
            for key, value in zip(("x", "y", "width", "height"), zone[:4], strict=True)
        }
        rectangle = ElementTree.SubElement(group, "rect", position)
        ElementTree.SubElement(rectangle, "title").text = zone.says
    return group
