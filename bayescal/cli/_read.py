"""Tables on disk: text, Parquet and Excel, and where in the file a row stands."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TextIO, cast

from bayescal.core.errors import InputError
from bayescal.core.versions import needed

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PARQUET",
    "Source",
    "TableFile",
    "check_file",
    "is_text",
    "is_workbook",
    "open_source",
    "types_of",
]

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
LOGS = (".jsonl", ".jsonl.gz")
LOG_COLUMNS = ("correct", "confidence", "task", "question")
SEPARATORS = ",;\t"
SEPARATOR_LINE = re.compile('"?sep=([,;\t])"?')
"""The first line of a text that Excel wrote or is to read; no record of it."""
SPACE = " "
"""Between fields of R's write.table, whose rows begin with a name that has no heading."""
ROW_NAMES = "row.names"
UTF_8 = "utf-8-sig"
"""With or without the mark at its beginning."""
ENCODED_BLOCK = 1 << 16
"""Bytes that are decoded at a time."""


class TableFile(Protocol):
    """A file that holds a table: a path, or what was sent and is kept in memory."""

    @property
    def name(self) -> str:
        """Without its folder."""

    @property
    def suffix(self) -> str:
        """The end of its name, with the point."""

    def exists(self) -> bool:
        """Whether there is such a file."""

    def is_dir(self) -> bool:
        """Whether it is a folder."""

    def is_file(self) -> bool:
        """Whether it is a file."""

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        """Its content, from the beginning."""


@dataclass(frozen=True)
class Source:
    """A file that holds a table.

    Attributes
    ----------
    names : tuple of str
        Its columns, in order; a name may occur twice.
    separator : str or None
        What stands between two fields; None for Parquet, Excel and logs of answers.
    encoding : str
        Of text.
    tells_separator : bool
        Whether the first line of a text is Excel's "sep=;".
    """

    path: TableFile
    names: tuple[str, ...]
    separator: str | None
    encoding: str = UTF_8
    tells_separator: bool = False

    def load(self, *, verbatim: bool = False, labels: Collection[str] = ()) -> pd.DataFrame:
        """The table, its columns called by `names`.

        Parameters
        ----------
        verbatim : bool
            Keep each field as the text that it is, rather than read numbers and missing values;
            of Parquet, which has types, keep whole numbers whole beside missing ones.
        labels : collection of str
            Columns that are kept so but for missing values, since they hold names: as a number,
            hospital 007 is 7, and the month 2023.10 is 2023.1.
        """
        texts = [at for at, name in enumerate(self.names) if name in labels]
        with _understood(self.path):
            if self.path.name.lower().endswith(LOGS):
                frame: pd.DataFrame = _load_log(self.path)
            elif self.separator is None:
                with self.path.open("rb") as file:
                    table = _parquet().read_table(file)
                frame = table.to_pandas(ignore_metadata=True, integer_object_nulls=verbatim)
                for at in texts:
                    integers = table.column(at).to_pandas(integer_object_nulls=True)
                    frame.isetitem(at, integers)
            else:
                frame = _load_text(self, verbatim=verbatim, texts=texts)
        if frame.shape[0] == 0:
            raise InputError(f"{self.path} names columns but has no rows.")
        return frame.set_axis(list(self.names), axis="columns")

    def where(self, row: int) -> str:
        """Where a row of the table stands in the file: "line 12", or "row 11" of Parquet."""
        if self.separator is None:
            return f"row {row + 1}"
        with _understood(self.path), _open_text(self.path, self.encoding) as file:
            line, _ = next(islice(_records(file, self.separator), row + 1, None))
        return f"line {line}"


def open_source(path: TableFile, encoding: str | None = None) -> Source:
    """Look at a file: what it is, and which columns it has.

    Parameters
    ----------
    path : Path
        CSV (comma, semicolon or tab between fields; plain or .gz), Parquet, or a log of answers.
    encoding : str, optional
        Of text. By default UTF-8, or UTF-16 if the file begins with its mark, as Excel's
        "Unicode text" does.
    """
    check_file(path)
    if is_text(path):
        with _understood(path):
            return _look_at_text(path, _encoding_of(path, encoding))
    if path.name.lower().endswith(PARQUET):
        with _understood(path), path.open("rb") as file:
            return Source(path, tuple(_parquet().read_schema(file).names), None)
    if path.name.lower().endswith(LOGS):
        return Source(path, LOG_COLUMNS, None)
    if path.name.lower().endswith(OTHER_WORKBOOKS):
        raise InputError(
            f"{path} is a workbook in a format that is not read. Save it as .xlsx, or its sheet as "
            "CSV UTF-8 (File, Save As), and name that file."
        )
    raise InputError(
        f"{path} is neither CSV (.csv, .tsv or .txt, also with .gz), Parquet (.parquet), Excel "
        "(.xlsx), SPSS (.sav), Stata (.dta), SAS (.sas7bdat, .xpt) nor a log of answers (.jsonl) "
        "by its name. Save the table as one of these."
    )


def check_file(path: TableFile) -> None:
    """Refuse what is no file on disk."""
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    if path.is_dir():
        raise InputError(
            f"{path} is a folder. Name a file; a folder of Parquet files is read in Python, by "
            "bc.CalibrationData.from_parquet."
        )
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or a device, and a table is read more than once. Save it to a file."
        )


def is_text(path: TableFile) -> bool:
    """Whether a file is text by its name."""
    return path.name.lower().removesuffix(".gz").endswith(TEXT)


def is_workbook(path: TableFile) -> bool:
    """Whether a file is a workbook that can be read, by its name."""
    return path.name.lower().endswith(EXCEL)


def _encoding_of(path: TableFile, told: str | None) -> str:
    """The encoding as told, or else UTF-16 or UTF-8, if the file is in it from end to end."""
    if told is not None:
        try:
            TextIOWrapper(BytesIO(), told)
        except (LookupError, ValueError):
            raise InputError(
                f"--encoding: {told!r} is no encoding of text that Python knows. Some are utf-8, "
                "utf-16, latin-1 and cp1252."
            ) from None
        return UTF_8 if codecs.lookup(told).name == "utf-8" else told
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open_bytes(path) as file:
        block = file.read(ENCODED_BLOCK)
        if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        try:
            while block:
                decoder.decode(block)
                block = file.read(ENCODED_BLOCK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            _refuse_lines(path)
    return UTF_8


def _refuse_lines(path: TableFile) -> None:
    """Refuse a file at its first line that is not UTF-8."""
    with _open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise _not_utf_8(path, number, line, error.start) from None


def _not_utf_8(path: TableFile, number: int, line: bytes, index: int) -> InputError:
    if b"\0" in line:
        return InputError(f"{path} is not a text file.")
    return InputError(
        f"line {number} of {path} is not UTF-8 (byte 0x{line[index]:02x}). Say what the file is "
        "with --encoding, such as --encoding cp1252 (Excel's CSV on Windows) or latin-1, or save "
        "it as UTF-8."
    )


def _look_at_text(path: TableFile, encoding: str) -> Source:
    with _open_text(path, encoding) as file:
        head = next((line for line in file if line.strip()), "")
    if not head:
        raise InputError(f"{path} is empty.")
    if "\0" in head:
        raise InputError(f"{path} is not a text file.")
    told = SEPARATOR_LINE.fullmatch(head.strip("\r\n"))
    separator = max(SEPARATORS, key=head.count) if told is None else told[1]
    with _open_text(path, encoding) as file:
        records = list(islice(_records(file, separator), 2))
    if not records:
        raise InputError(f"{path} is empty.")
    (line, header), *rest = records
    if told is None and separator not in head:
        with _open_text(path, encoding) as file:
            spaced = _written_by_r(file)
        if spaced is not None:
            return Source(path, spaced, SPACE, encoding)
    names = tuple(name.strip() for name in header)
    if all(_is_number(name) for name in names):
        raise InputError(f"line {line} of {path} holds numbers, where column names are needed.")
    for line, fields in rest:
        if len(fields) > len(names):  # pandas would take the first column for row names
            raise InputError(
                f"line {line} of {path} has {len(fields)} fields, and the header names "
                f"{len(names)} columns. Name every column, and write decimals with a point; in R "
                "use write.csv(data, file, row.names = FALSE)."
            )
    return Source(path, names, separator, encoding, told is not None)


def _written_by_r(file: TextIO) -> tuple[str, ...] | None:
    """The columns of a table of R's write.table; None of another text without separators.

    Where rows have one field more than the header, the first is the name of the row.
    """
    records = [fields for _, fields in islice(_records(file, SPACE), 2)]
    if len(records) < 2 or len(records[0]) < 2:
        return None
    names, fields = records
    extra = len(fields) - len(names)
    if extra not in (0, 1) or all(_is_number(name) for name in names):
        return None
    return (*[ROW_NAMES] * extra, *names)


def _load_log(path: TableFile) -> pd.DataFrame:
    """The answers of a log: their verdicts, confidences, tasks and questions."""
    from pathlib import Path

    from bayescal.data import readers

    if not isinstance(path, Path):
        raise InputError(f"{path} is a log of answers, which is read from disk. Name its path.")
    return readers.jsonl(path)


def types_of(texts: Sequence[int], *, verbatim: bool) -> Any:
    """What pandas reads columns as: all as texts, or those at some positions."""
    return str if verbatim else dict.fromkeys(texts, str)


def _load_text(source: Source, *, verbatim: bool, texts: Sequence[int]) -> pd.DataFrame:
    from pandas.errors import DtypeWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error", DtypeWarning)
        try:
            return _parsed(source, verbatim=verbatim, texts=texts, in_parts=True)
        except DtypeWarning:  # a column is of numbers in one part and of texts in another
            return _parsed(source, verbatim=verbatim, texts=texts, in_parts=False)


def _parsed(
    source: Source, *, verbatim: bool, texts: Sequence[int], in_parts: bool
) -> pd.DataFrame:
    """The table; in parts it takes half of the memory, and each has types of its own."""
    import pandas as pd

    # All columns, always: when it is told which to use, pandas overlooks lines that are too long.
    with _open_bytes(source.path) as file:
        return pd.read_csv(
            file,
            sep=source.separator,
            header=0,
            skiprows=int(source.tells_separator),
            names=list(range(len(source.names))) if source.separator == SPACE else None,
            encoding=source.encoding,
            index_col=False,
            low_memory=in_parts,
            dtype=types_of(texts, verbatim=verbatim),
            keep_default_na=not verbatim,
        )


@contextmanager
def _open_text(path: TableFile, encoding: str) -> Iterator[TextIO]:
    with _open_bytes(path) as file, TextIOWrapper(file, encoding, newline="") as text:
        yield text


@contextmanager
def _open_bytes(path: TableFile) -> Iterator[IO[bytes]]:
    with path.open("rb") as packed:
        if path.suffix.lower() != ".gz":
            yield packed
            return
        with gzip.open(packed) as file:
            yield cast("IO[bytes]", file)


def _records(file: TextIO, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Records that are not blank, each with the line it starts on."""
    reader = csv.reader(file, delimiter=separator)
    line = 1
    for fields in reader:
        tells_separator = line == 1 and SEPARATOR_LINE.fullmatch(separator.join(fields))
        if tells_separator:
            line = 2
            continue
        if len(fields) > 1 or any(field.strip() for field in fields):
            yield line, fields
        line = reader.line_num + 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet() -> ModuleType:
    with needed("reading Parquet", "bayescal[parquet]", "Or save the table as CSV."):
        import pyarrow.parquet
    module: ModuleType = pyarrow.parquet
    return module


@contextmanager
def _understood(path: TableFile) -> Iterator[None]:
    """Say which file is broken, rather than how a library stumbled over it."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, EOFError, csv.Error, zlib.error, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).removeprefix("Error tokenizing data. C error: ").split())
        encoded = " Say how it is written with --encoding." * isinstance(error, UnicodeError)
        raise InputError(f"{path} cannot be read: {reason.rstrip('.')}.{encoded}") from error
