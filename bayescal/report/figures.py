"""The figures of a page, drawn: as SVG that stands in a page, and as PNG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from bayescal.core.page import Figure

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.transforms import Bbox

DOTS_PER_INCH = 200
BORDER = 0.1  # inches
# Where axes stand on a figure and how far panels are apart, as shares of it and of a panel.
PLACES = {"left": 0.14, "right": 0.97, "bottom": 0.12, "top": 0.95, "hspace": 0.3, "wspace": 0.3}
STYLE = {
    "svg.fonttype": "none",  # text in the reader's fonts, whatever glyphs ours have
    "svg.hashsalt": "bayescal",  # the same ids each time, so that equal pages are equal files
    "figure.dpi": 72,
    "font.size": 12,
}
# Colours of the figures, and what the page calls them, so that it can be light or dark.
THEMED = {
    "#000000": "currentColor",
    "#333333": "var(--ink)",
    "#666666": "var(--diagonal)",
    "#999999": "var(--others)",
    "#0072b2": "var(--curve)",
    "#d55e00": "var(--events)",
    "#ffffff": "var(--paper)",
}
LINK = re.compile(r"#(?=[A-Za-z_])")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
NUMBER = re.compile(r"-?\d+\.\d{3,}")


@contextmanager
def _drawn(figure: Figure) -> Iterator[Drawing]:
    """A figure drawn in matplotlib's own style, whatever the user's; it is closed afterwards."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import matplotlib.style

    from bayescal import plots

    with (
        warnings.catch_warnings(),
        matplotlib.style.context("default", after_reset=True),
        mpl.rc_context(STYLE),
        plt.ioff(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        axes = np.ravel(getattr(plots, figure.name)(figure.of, **figure.options))
        drawing = axes[0].figure
        try:
            for ax in axes if figure.title else ():
                ax.set_title("", loc="left")  # the page has the title
            yield drawing
        finally:
            plt.close(drawing)


def save(figure: Figure, file: Any, kind: str, **options: Any) -> None:
    """Write a figure in one of matplotlib's formats, cut where its texts end.

    Ticks, their names and labels are placed once: matplotlib's own layout finds them anew in each
    of its passes, which took half of the time of a figure.
    """
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    with _drawn(figure) as drawing:
        drawing.set_layout_engine(None)
        drawing.subplots_adjust(**PLACES)
        boxes = []
        every: list[Any] = [part for main in drawing.axes for part in (main, *main.child_axes)]
        for ax in every:
            inset = ax.get_axes_locator()
            ax.apply_aspect(inset and inset(ax, None))
            texts = [part for part in ax.get_children() if isinstance(part, Text)]
            texts += [ax.xaxis.label, ax.yaxis.label]
            legend = ax.get_legend()
            for text in (*texts, *(legend.get_texts() if legend else ())):
                text.set_text(figure.worded(text.get_text()))
            for axis in (ax.xaxis, ax.yaxis):
                boxes += _fix_ticks(axis, figure.worded) if axis.get_visible() else []
            outside = [part for part in (*texts, legend) if part and part.get_visible()]
            if any(map(ax.get_title, ("left", "center", "right"))):
                ax.get_tightbbox()  # which puts the title above all else
            boxes += [ax.bbox, *(part.get_window_extent() for part in outside)]
        inches = Bbox.union([box for box in boxes if box.width]).transformed(
            drawing.dpi_scale_trans.inverted()
        )
        drawing.savefig(file, format=kind, bbox_inches=inches.padded(BORDER), **options)


def _fix_ticks(axis: Axis, worded: Callable[[str], str]) -> list[Bbox]:
    """Keep ticks where they are, with names in the words of the page and the label beside these.

    Returns where the names are.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator

    ax, former = axis.axes, axis.get_major_formatter()
    at, (low, high) = axis.get_majorticklocs().tolist(), sorted(axis.get_view_interval())
    named = zip(at, map(worded, former.format_ticks(at)), strict=True)
    seen = {tick: name for tick, name in named if low <= tick <= high}
    fixed = FixedFormatter(list(seen.values()))
    fixed.set_offset_string(former.get_offset())
    axis.set_major_locator(FixedLocator(list(seen)))
    axis.set_major_formatter(fixed)
    boxes = [name.get_window_extent() for name in axis.get_ticklabels() if name.get_visible()]
    side, spine = (1, "bottom") if axis is ax.xaxis else (0, "left")
    nearest = min(box.min[side] for box in (*boxes, ax.spines[spine].get_window_extent()))
    beside = nearest - axis.labelpad * ax.figure.dpi / 72
    label = np.full(2, 0.5)
    label[side] = (beside - ax.bbox.min[side]) / ax.bbox.size[side]
    axis.set_label_coords(*label)
    return boxes


def as_png(figure: Figure) -> bytes:
    """The figure as a picture."""
    file = io.BytesIO()
    save(figure, file, "png", dpi=DOTS_PER_INCH, facecolor="white")
    return file.getvalue()


def as_svg(figure: Figure, name: str) -> str:
    """The figure as an `svg` element without links outside itself; `name` begins every id."""
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    file = io.BytesIO()
    save(figure, file, "svg", metadata=nothing)
    root = ElementTree.fromstring(file.getvalue())
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
        "aria-labelledby": f"{name}-alt",
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    spoken = ElementTree.Element("desc", id=f"{name}-alt")
    spoken.text = figure.alt or figure.title
    root.insert(0, spoken)
    return ElementTree.tostring(root, encoding="unicode")


def plain_colours(drawing: str) -> str:
    """A drawing for a notebook, which has not the colours of our pages."""
    for code, name in THEMED.items():
        drawing = drawing.replace(name, "currentColor" if name == "var(--ink)" else code)
    return drawing


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
            value = NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)
        changed[key] = value
    element.attrib = changed
