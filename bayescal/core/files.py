"""Names of files, and files written in full or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bayescal.core.errors import InputError
from bayescal.core.text import shortened

# Endings of names of pages.
PAGES = (".html", ".htm")


def as_path(path: Any, name: str = "path") -> Path:
    """The name of a file or a folder, which need not exist."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(
            f"{name} must be the name of a file or folder, as a str or a path-like, "
            f"got {shortened(repr(path))}."
        )
    return Path(text)


def existing_file(path: Any) -> Path:
    """The name of a file that exists."""
    file = as_path(path, "path")
    if not os.path.isfile(file):  # unlike Path.is_file, also of a name that is too long
        raise InputError(f"path {shortened(repr(str(file)))} is not a file.")
    return file


def check_page(path: Path, name: str = "path") -> None:
    """Refuse a name that says a page is something else, such as a Word or PDF document.

    Pipes and devices have any name.
    """
    is_pipe = path.exists() and not path.is_file()
    if path.suffix.lower() not in PAGES and not is_pipe:
        raise InputError(
            f"{name} {shortened(repr(str(path)))} does not end in {' or '.join(PAGES)}, and a "
            "report is written as a web page only. For a PDF, open the page in a browser and print "
            "it to PDF."
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write, which takes the name of `path` when the block ends without an error.

    An error or an interruption leaves the former file as it was. A link stays a link, and a pipe or
    a device is written to directly.
    """
    try:
        with suppress(FileNotFoundError):
            path.stat()  # fails for a link that leads to itself
        if path.exists() and not path.is_file():
            yield path
            return
        target = path.resolve()
        with TemporaryDirectory(dir=target.parent, prefix=".bayescal-") as folder:
            unfinished = Path(folder) / target.name
            yield unfinished
            if target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
