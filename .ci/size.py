"""How much there is to read: `python .ci/size.py`, and `python .ci/size.py --ratchet`.

Tokens of Python without docstrings and comments, which formatting does not change; a string counts
one for each 40 characters begun. With --ratchet the numbers in `pyproject.toml` become these;
`tests/test_size.py` fails where a part has more than its number.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("bayescal", "tests", "docs", ".ci")
TOKEN = re.compile(
    r"""
    (?:\b[rbuf]{1,2})?(?:\"{3}(?s:\\.|[^\\])*?\"{3}|'{3}(?s:\\.|[^\\])*?'{3}
        |\"(?:\\.|[^\\\"\n])*\"|'(?:\\.|[^\\'\n])*')
    |(?P<comment>\#.*)
    |\d[\d_.]*(?:e[-+]?\d+)?j?|\.\d+(?:e[-+]?\d+)?
    |\w+
    |\.{3}|(?:\*\*|//|>>|[-+*/%&|^=<>@!:])=|->|\*\*|//|<<|>>|[-+*/%@&|^~<>()\[\]{},:.;=]
    """,
    re.VERBOSE | re.IGNORECASE,
)


def without_docstrings(source: str) -> str:
    """The source with its docstrings' lines left blank."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [""] * len(
                lines[first.lineno - 1 : first.end_lineno]
            )
    return "\n".join(lines)


def tokens(source: str) -> int:
    """Tokens of one file, a string counting one for each 40 characters begun."""
    kept = [
        match[0] for match in TOKEN.finditer(without_docstrings(source)) if not match["comment"]
    ]
    return sum(1 + (len(token) // 40 if token[-1] in "\"'" else 0) for token in kept)


def sizes(root: Path = ROOT) -> dict[str, int]:
    """Tokens of each part of the project, and of each room of the package by `bayescal/room`."""
    counted: dict[str, int] = dict.fromkeys(PARTS, 0)
    for part in PARTS:
        for path in sorted((root / part).rglob("*.py")):
            names = path.relative_to(root).parts
            if "_build" in names:
                continue
            n = tokens(path.read_text("utf-8"))
            counted[part] += n
            if part == "bayescal" and len(names) > 2:
                room = f"bayescal/{names[1]}"
                counted[room] = counted.get(room, 0) + n
    return counted


def ratchet(root: Path = ROOT) -> dict[str, int]:
    """The tokens that each part may have, as `pyproject.toml` says."""
    text = (root / "pyproject.toml").read_text("utf-8")
    numbers: dict[str, int] = tomllib.loads(text)["tool"]["bayescal"]["size"]
    return numbers


def main() -> None:
    """Print the sizes, or write them as the ones that may not be passed."""
    counted, most = sizes(), ratchet()
    for name, n in counted.items():
        print(f"{name:24}{n:>9,}" + (f"  of {most[name]:,}" if name in most else ""))
    if "--ratchet" in sys.argv[1:]:
        page = ROOT / "pyproject.toml"
        text = page.read_text("utf-8")
        head, table, rest = text.partition("[tool.bayescal.size]\n")
        for part in PARTS:
            line = re.compile(rf'^("?{re.escape(part)}"?) = \d+', re.M)
            rest = line.sub(rf"\1 = {counted[part]}", rest, count=1)
        page.write_text(head + table + rest, "utf-8")


if __name__ == "__main__":
    main()
