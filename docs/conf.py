"""Sphinx configuration. Build with `python -m sphinx -W -b html docs docs/_build/html`."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from importlib.metadata import metadata
from pathlib import Path

from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_scripts"))

project = "bayescal"
author = "The bayescal developers"
project_copyright = author
installed = metadata("bayescal")
version = release = installed["Version"]
addresses = dict(line.split(", ", 1) for line in installed.get_all("Project-URL", []))

extensions = [
    "mathml",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_design",
]
exclude_patterns = ["_build", "_scripts", "benchmarks", "paper", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]

# Pages and notebooks. Notebooks are stored without outputs and run here, which is also their test.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 600  # seconds for a cell
nb_execution_raise_on_error = True
os.environ.pop("MPLBACKEND", None)  # a figure then goes into its notebook
os.environ.setdefault("BAYESCAL_DATA", str(HERE.parents[1] / "shared"))

# Reference: docstrings are numpydoc, and types stand in them rather than in signatures.
autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
listed = re.findall(r"^   bayescal\.estimators\.(\w+)$", (HERE / "api.md").read_text("utf-8"), re.M)
autosummary_context = {"with_their_own_pages": {"bayescal.estimators": ", ".join(listed)}}
numpydoc_show_class_members = False
nitpicky = False

# Names of other packages lead to their references where the build may ask for these.
intersphinx_mapping = {}
if os.environ.get("BAYESCAL_DOCS_ONLINE") == "1" or os.environ.get("READTHEDOCS") == "True":
    intersphinx_mapping = {
        "arviz": ("https://python.arviz.org/en/stable/", None),
        "numpy": ("https://numpy.org/doc/stable/", None),
        "pandas": ("https://pandas.pydata.org/docs/", None),
        "pymc": ("https://www.pymc.io/projects/docs/en/stable/", None),
        "scipy": ("https://docs.scipy.org/doc/scipy/", None),
        "sklearn": ("https://scikit-learn.org/stable/", None),
        "xarray": ("https://docs.xarray.dev/en/stable/", None),
    }

intersphinx_timeout = 10  # seconds

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "bayescal"
html_static_path = ["_static"]
html_css_files = ["notebooks.css"]
html_baseurl = addresses.get("Documentation", "")  # search engines then keep one copy of a page
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "icon_links": [
        {"name": "Repository", "url": address, "icon": "fa-solid fa-code-branch"}
        for name, address in addresses.items()
        if name == "Homepage"
    ],
}
html_sidebars = {"**": []}
html_copy_source = False


def bring_notebooks(app: Sphinx) -> None:
    """Copy the notebooks, which live beside docs/, to where Sphinx can see them, and list them."""
    copies = HERE / "notebooks"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    originals = HERE.parent / "notebooks"
    names = [notebook.stem for notebook in sorted(originals.glob("*.ipynb"))]
    for notebook in (*originals.glob("*.ipynb"), *originals.glob("papers/*.ipynb")):
        copy = copies / notebook.relative_to(originals)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(notebook, copy)
    page = "# Notebooks\n\nEach notebook was run from start to end with this version of bayescal.\n"
    if names:
        page += "\n".join(["\n```{toctree}", ":maxdepth: 1\n", *names, "```\n"])
    (copies / "index.md").write_text(page, "utf-8")


def make_benchmark_pages(app: Sphinx) -> None:
    """Tables and figures of the benchmarks, from their stored results."""
    from benchmark_pages import write_pages

    write_pages()


def make_explanations(app: Sphinx) -> None:
    """Figures, the picture of a report, the table of estimators, and the numbers beside R's."""
    import claim_figure
    import demo_picture
    import estimator_table
    import explanation_figures
    import figures
    import same_numbers_page

    claim_figure.draw(explanation_figures.FIGURES / "claim.png")
    demo_picture.draw()
    figures.draw()
    explanation_figures.write_figures()
    estimator_table.write_page()
    same_numbers_page.write_page()


def plain_bar(self: Inliner, match: re.Match[str], lineno: int) -> tuple[str, list, str, list]:
    """Leave a bar as it stands: in docstrings it is an absolute value, never a substitution."""
    end = match.end("start")
    return match.string[:end], [], match.string[end:], []


def leave_out_plumbing(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Methods that scikit-learn adds to every estimator, described in its own documentation."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def lighten_pictures(app: Sphinx, exception: Exception | None) -> None:
    """Save copies of figures in the site with 128 colours, so that no page is heavy."""
    from PIL import Image

    for path in (Path(app.outdir) / "_images").glob("*.png"):
        with Image.open(path) as picture:
            if picture.mode == "P":
                continue
            solid = Image.new("RGBA", picture.size, "white")
            solid.alpha_composite(picture.convert("RGBA"))
        light = solid.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        light.save(path, optimize=True)


class OfReachableSites(logging.Filter):
    """Lets the documentation be built where that of another package cannot be reached."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is shown."""
        return "failed to reach any of the inventories" not in str(record.msg)


def setup(app: Sphinx) -> None:
    logging.getLogger("sphinx.sphinx.ext.intersphinx").addFilter(OfReachableSites())
    Inliner.dispatch["|"] = plain_bar
    app.connect("autodoc-skip-member", leave_out_plumbing)
    app.connect("builder-inited", bring_notebooks)
    app.connect("builder-inited", make_benchmark_pages)
    app.connect("builder-inited", make_explanations)
    app.connect("build-finished", lighten_pictures)
