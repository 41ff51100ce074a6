"""Mathematics as MathML, which browsers draw themselves: no script, no network.

A Sphinx extension over the converter of docutils, with its warnings where it cannot read a formula.
"""

from __future__ import annotations

import html
import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, unichar2tex
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

APPLIED = re.compile(r"<mo>&ApplyFunction;</mo>(?!\s*(<mrow>\s*)?<mo)")
ROW = re.compile(r"<mtr>.*?</mtr>", re.DOTALL)
ALIGNED = '<mtable class="ams-align"'
BLOCK = "margin: 1.15rem 0; padding: 0.2rem 0; overflow: auto hidden"
THIN_SPACE = '<mspace width="0.17em"/>'


def converted(node: nodes.math | nodes.math_block) -> str:
    """The formula as MathML, or as it was written if it cannot be read."""
    code = node.astext().translate(unichar2tex.uni2tex_table)
    try:
        result = latex2mathml.tex2mathml(code, as_block=isinstance(node, nodes.math_block))
    except MathError as error:
        logger.warning("no MathML for %r: %s", node.astext(), error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"
    return aligned(APPLIED.sub(THIN_SPACE, str(result)))  # browsers put no space into "log s"


def aligned(formula: str) -> str:
    """Rows of equations with their relations below each other, in full size."""
    if ALIGNED not in formula:
        return formula
    formula = formula.replace(ALIGNED, f'{ALIGNED} displaystyle="true"')
    return ROW.sub(lambda row: sided(row[0]), formula)


def sided(row: str) -> str:
    """Odd cells set against the right, even ones against the left."""
    first, *cells = row.split("<mtd>")
    sides = ("right", "left")
    return first + "".join(
        f'<mtd style="text-align: -webkit-{sides[index % 2]}">{cell}'
        for index, cell in enumerate(cells)
    )


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(converted(node))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="notranslate", style=BLOCK))
    self.body.append(f"{converted(node)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
