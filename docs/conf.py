"""Sphinx configuration. Build with `python -m sphinx -W -b html docs docs/_build/html`."""

from __future__ import annotations

import shutil
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent

project = "bayescal"
author = "The bayescal developers"
project_copyright = author
version = release = installed_version("bayescal")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]

# Pages and notebooks. Notebooks are run by the tests; here they are shown as they were saved.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"
suppress_warnings = ["toc.empty_glob"]  # the notebooks folder may be empty

# Reference: docstrings are numpydoc, and types stand in them rather than in signatures.
autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "bayescal"
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
html_copy_source = False


def copy_notebooks(app: Sphinx) -> None:
    """Bring the notebooks, which live beside docs/, to where Sphinx can see them."""
    copies = HERE / "notebooks"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    for notebook in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy2(notebook, copies)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", copy_notebooks)
