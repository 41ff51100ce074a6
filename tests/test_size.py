"""The project grows only where a commit says so: tokens as `.ci/size.py` counts them."""

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def size():
    spec = importlib.util.spec_from_file_location("size", REPOSITORY / ".ci" / "size.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_part_is_larger_than_its_number_in_pyproject(size):
    counted, most = size.sizes(), size.ratchet()
    assert set(most) == set(size.PARTS)
    assert {name: counted[name] for name in most if counted[name] > most[name]} == {}, (
        "delete or merge something; or raise the number in pyproject.toml and say why in the commit"
    )


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("x = f(1e-3, *y)", 9),  # x = f ( 1e-3 , * y )
        ("x != 2  # why", 3),
        ('def f():\n    """Words."""\n    return x ** 2', 9),  # def f ( ) : return x ** 2
        (f"x = '{40 * 'a'}'", 4),
        (r"x = '''a\'' ''' + r'\''", 5),
    ],
)
def test_tokens_are_counted_without_docstrings_and_comments(size, source, tokens):
    assert size.tokens(source) == tokens
