"""Paragraphs that docstrings share: filled in, and written nowhere else."""

import inspect
import re
from pathlib import Path

import pytest

import bayescal
from bayescal import estimators, scores
from bayescal.core.text import PARAGRAPHS, documented

PACKAGE = Path(bayescal.__file__).parent
PUBLIC = [
    getattr(room, name)
    for room in (estimators, scores)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
]


def test_a_paragraph_is_indented_as_its_name():
    def sample():
        """Of cases.

        Parameters
        ----------
        %(scores)s
        """

    assert inspect.getdoc(documented(sample)).splitlines()[4:6] == [
        "y_prob : array-like of shape (n_samples,), optional",
        "    Predicted probabilities.",
    ]


def test_a_name_that_does_not_exist_is_an_error():
    def sample():
        """%(nothing)s"""

    with pytest.raises(KeyError, match="nothing"):
        documented(sample)


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_no_name_of_a_paragraph_is_left(function):
    assert not re.search(r"%\(\w+\)s", inspect.getdoc(function))


@pytest.mark.parametrize("name", PARAGRAPHS)
def test_a_paragraph_is_written_once_and_used_often(name):
    sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    indented = "\n".join("    " + line for line in PARAGRAPHS[name].splitlines()) + "\n"
    continued = indented + "        "  # the same beginning, and more to say
    copies = sum(source.count(indented) - source.count(continued) for source in sources)
    assert copies == 0
    assert sum(source.count(f"%({name})s") for source in sources) > 3
