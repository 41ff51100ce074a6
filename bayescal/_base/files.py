"""Files written in full or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write, which takes the name of `path` when the block ends without an error.

    An error or an interruption leaves the former file as it was. A link stays a link, and a pipe
    or a device is written to directly.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        Of the same name, in a temporary folder beside the file.

    Raises
    ------
    OSError
        If it cannot be written, as on a full disk; its `filename` is `path`.
    """
    try:
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
