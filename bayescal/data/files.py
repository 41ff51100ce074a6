"""Files that hold a table, of any format, as columns; and where in the file a row stands.

Text first: a column is read as a number where all of it is one, unless its role is to hold labels,
which are what is written: as a number, ward 007 is 7 and the month 2023.10 is 2023.1. Workbooks and
JSON lines are read as the CSV that they would be saved as, so that there is one way to read a cell.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import json
import warnings
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, StringIO, TextIOWrapper
from itertools import accumulate, chain, islice
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, cast
from urllib.parse import unquote

from bayescal.core.errors import InputError, RepeatWarning, warn
from bayescal.core.text import shortened
from bayescal.core.versions import needed
from bayescal.data.cases import is_number
from bayescal.data.columns import PYTHON, Door, listed

if TYPE_CHECKING:
    import pandas as pd


TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq", ".parq")
EXCEL = (".xlsx", ".xlsm")
OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
# Ends of names of files of SPSS, Stata and SAS, and what reads them in pyreadstat.
STATISTICAL = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
SEPARATORS = ",;\t"
# Between fields of R's write.table, whose rows begin with a name that has no heading.
SPACE = " "
ROW_NAMES = "row.names"
# With or without the mark at its beginning.
UTF_8 = "utf-8-sig"
# Bytes that are decoded at a time.
BLOCK = 1 << 16
# Texts of an empty cell. Not "None", which is a level of many a factor: no other illness.
MISSING = (
    "", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip
# As in Excel. Each name is looked at several times, before anything else is known.
MOST_COLUMNS_READ = 16_384
# Characters: 16 384 names of 255 each.
LONGEST_HEADER = 1 << 22
MOST_UNPACKED = 1 << 28
# A packed file may be larger than that only if it is not as empty: text packs to a third or a
# twentieth, an attack to a thousandth.
MOST_RATIO = 200
# Bytes of what was sent: of text, of a workbook's parts, or of cells where columns are packed.
LARGEST_UNPACKED = 1 << 30
# Bytes of a number.
CELL_BYTES = 8


class Upload:
    """What was sent under a name: read like a file, and never one on disk."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.suffix = name, PurePath(name).suffix
        self._content = content

    def __str__(self) -> str:
        return self.name

    def exists(self) -> bool:
        """As of a path."""
        return True

    def is_dir(self) -> bool:
        """As of a path."""
        return False

    def is_file(self) -> bool:
        """As of a path."""
        return True

    def open(self, mode: Literal["rb"]) -> BytesIO:
        """Its content, from the beginning."""
        return BytesIO(self._content)


TableFile: TypeAlias = Path | Upload


@dataclass(frozen=True)
class Source:
    """A file that holds a table, with the names of its columns, of which two may be one.

    A separator stands between two fields of text.
    """

    path: TableFile
    names: tuple[str, ...]
    separator: str | None = None
    is_said: bool = False
    """Whether numbers may be as somebody said them, such as "90 percent"."""

    def load(self, labels: Collection[str] = (), *, verbatim: bool = False) -> pd.DataFrame:
        """The table, its columns called by `names`; of Parquet, its first rows.

        Labels, or all fields, are kept as the text that they are; of typed files, whole numbers.
        """
        frame = self._frame(labels, verbatim)
        if not len(frame):
            raise InputError(f"{self.path} names columns but has no rows.")
        return frame.set_axis(list(self.names), axis="columns")

    def parts(
        self, columns: Sequence[str], labels: Collection[str], first: pd.DataFrame
    ) -> Iterator[pd.DataFrame]:
        """All rows, some at a time, of the columns that are needed; `first` was loaded."""
        yield first

    def where(self, row: int) -> str:
        """Where a row of the table stands: "line 12", or "row 12"."""
        return f"row {row + 1}"

    def located(self, row: int) -> str:
        """The same with the name of the file."""
        return f"{self.where(row)} of {self.path}"

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        raise NotImplementedError


def is_text(path: TableFile) -> bool:
    """Whether a file is text by its name."""
    return path.name.lower().removesuffix(".gz").endswith(TEXT)


def is_workbook(path: TableFile) -> bool:
    """Whether a file is a workbook that can be read, by its name."""
    return path.name.lower().endswith(EXCEL)


def check_width(path: TableFile, width: int) -> None:
    """Refuse a table of too many columns."""
    if width > MOST_COLUMNS_READ:
        raise InputError(
            f"{path} has {width:,} columns, and at most {MOST_COLUMNS_READ:,} are read. Save the "
            "columns that matter to a file of their own."
        )


def _check_unpacked(path: TableFile, packed: int, unpacked: int) -> None:
    _check_memory(path, unpacked)
    if unpacked > MOST_UNPACKED and unpacked > MOST_RATIO * packed:
        raise InputError(
            f"{path} is {packed:,} bytes and unpacks to {unpacked:,} or more, nearly all of them "
            "the same, which no table does. Unpack it yourself if you know what it is."
        )


def _check_memory(path: TableFile, unpacked: int) -> None:
    """Refuse what was sent if it becomes much larger."""
    if isinstance(path, Upload) and unpacked > LARGEST_UNPACKED:
        raise InputError(
            f"{path} is too large to be read here when it is unpacked. Read it in Python, with "
            "bayescal.read."
        )


# Text


@dataclass(frozen=True)
class Text(Source):
    """Fields between separators."""

    encoding: str = UTF_8
    tells_separator: bool = False
    """Whether the first line is Excel's "sep=;"."""

    def where(self, row: int) -> str:
        """The line on which a row begins."""
        assert self.separator is not None
        with _understood(self.path), _opened_text(self.path, self.encoding) as file:
            line, _ = next(islice(_records(file, self.separator), row + 1, None))
        return f"line {line}"

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        assert self.separator is not None
        with _understood(self.path), _opened(self.path) as file:
            return _parsed(
                file,
                self.names,
                labels,
                verbatim=verbatim,
                sep=self.separator,
                header=0,
                skiprows=int(self.tells_separator),
                encoding=self.encoding,
            )


def _parsed(
    file: Any, names: Sequence[str], labels: Collection[str], *, verbatim: bool, **options: Any
) -> pd.DataFrame:
    """Text as columns, called by their positions.

    All columns are read, always: when it is told which to use, pandas overlooks lines that are too
    long. Labels are read as texts: as categories, pandas would read numbers among them.
    """
    import pandas as pd
    from pandas.errors import DtypeWarning

    texts = [at for at, name in enumerate(names) if name in labels]
    options = {
        "names": list(range(len(names))),
        "index_col": False,
        "dtype": object if verbatim else dict.fromkeys(texts, object),
        "keep_default_na": False,
        "na_values": [] if verbatim else list(MISSING),
        **options,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", DtypeWarning)
        try:
            frame: pd.DataFrame = pd.read_csv(file, **options)
        except DtypeWarning:  # in parts, which is faster, a column is of numbers in one only
            file.seek(0)
            frame = pd.read_csv(file, low_memory=False, **options)
    return frame


def open_text(path: TableFile, told: str | None, door: Door) -> Text:
    """Look at a text: how it is encoded, what separates its fields, and its header."""
    with _understood(path):
        return _look_at_text(path, _encoding_of(path, told, door))


def _encoding_of(path: TableFile, told: str | None, door: Door) -> str:
    """The encoding as told, or else UTF-16 or UTF-8, if the file is in it from end to end."""
    if told is not None:
        try:
            TextIOWrapper(BytesIO(), told)
        except (LookupError, ValueError):
            raise InputError(
                f"{door.option('encoding')}: {told!r} is no encoding of text that Python "
                "knows. Some are utf-8, utf-16, latin-1 and cp1252."
            ) from None
    decoder, packed = codecs.getincrementaldecoder("utf-8")(), None
    unpacked, lines, block = 0, 1, b"-"
    if path.suffix.lower() == ".gz":
        with path.open("rb") as file:
            packed = file.seek(0, 2)
    with _opened(path) as file:
        while block and (told is None or packed is not None):
            block = file.read(BLOCK)
            if not unpacked and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                told = told or "utf-16"
            unpacked += len(block)
            if packed is not None:
                _check_unpacked(path, packed, unpacked)
            try:
                decoder.decode(block if told is None else b"", final=not block)
            except UnicodeDecodeError as error:
                if b"\0" in error.object:
                    raise InputError(f"{path} is not a text file.") from None
                lines += error.object[: error.start].count(b"\n")
                raise InputError(
                    f"line {lines} of {path} is not UTF-8 (byte 0x{error.object[error.start]:02x})."
                    f" Say what the file is, such as {door.option('encoding', 'cp1252')} (Excel's "
                    "CSV on Windows) or latin-1, or save it as UTF-8."
                ) from None
            lines += block.count(b"\n")
    return UTF_8 if told is None or codecs.lookup(told).name == "utf-8" else told


def _look_at_text(path: TableFile, encoding: str) -> Text:
    with _opened_text(path, encoding) as file:
        head = "\n"
        while head and not head.strip():
            head = file.readline(LONGEST_HEADER)
    if not head:
        raise InputError(f"{path} is empty.")
    if "\0" in head:
        raise InputError(f"{path} is not a text file.")
    told = _told_separator(head)
    separator = told or max(SEPARATORS, key=head.count)
    check_width(path, head.count(separator) + 1)
    if len(head) == LONGEST_HEADER:
        raise InputError(f"{path}: the first line is longer than {LONGEST_HEADER:,} characters.")
    with _opened_text(path, encoding) as file:
        records = list(islice(_records(file, separator), 2))
    if not records:
        raise InputError(f"{path} is empty.")
    (line, header), *rest = records
    if told is None and separator not in head:
        with _opened_text(path, encoding) as file:
            spaced = _written_by_r(file)
        if spaced is not None:
            return Text(path, spaced, SPACE, encoding=encoding)
    names = tuple(name.strip() for name in header)
    if all(is_number(name) for name in names):
        raise InputError(
            f"line {line} of {path} holds numbers, where column names are needed: "
            f"{listed(names)}. Write a first line of names, such as died,risk."
        )
    for line, fields in rest:
        if len(fields) > len(names):  # pandas would take the first column for row names
            raise InputError(
                f"line {line} of {path} has {len(fields)} fields, and the header names "
                f"{len(names)} columns. Name every column, and write decimals with a point; in R "
                "use write.csv(data, file, row.names = FALSE)."
            )
    return Text(path, names, separator, encoding=encoding, tells_separator=told is not None)


def _told_separator(line: str) -> str | None:
    """Of a first line that Excel wrote or is to read, such as "sep=;"; it is no record."""
    text = line.strip("\r\n").strip('"')
    return text[4] if text.startswith("sep=") and text[4:] in (*SEPARATORS,) else None


def _written_by_r(file: TextIO) -> tuple[str, ...] | None:
    """The columns of a table of R's write.table; None of another text without separators.

    Where rows have one field more than the header, the first is the name of the row.
    """
    records = [fields for _, fields in islice(_records(file, SPACE), 2)]
    if len(records) < 2 or len(records[0]) < 2:
        return None
    names, fields = records
    extra = len(fields) - len(names)
    if extra not in (0, 1) or all(is_number(name) for name in names):
        return None
    return (*[ROW_NAMES] * extra, *names)


@contextmanager
def _opened_text(path: TableFile, encoding: str) -> Iterator[TextIO]:
    with _opened(path) as file, TextIOWrapper(file, encoding, newline="") as text:
        yield text


@contextmanager
def _opened(path: TableFile) -> Iterator[IO[bytes]]:
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
        if line == 1 and _told_separator(separator.join(fields)):
            line = 2
            continue
        if len(fields) > 1 or any(field.strip() for field in fields):
            yield line, fields
        line = reader.line_num + 1


@contextmanager
def _understood(path: TableFile, kind: str = "") -> Iterator[None]:
    """Say which file is broken, rather than how a library stumbled over it."""
    try:
        yield
    except InputError:
        raise
    except (
        *(ValueError, EOFError, KeyError, SyntaxError, AttributeError, csv.Error),
        *(zlib.error, gzip.BadGzipFile, zipfile.BadZipFile),
    ) as error:
        reason = " ".join(str(error).removeprefix("Error tokenizing data. C error: ").split())
        cure = " Say how it is written with the encoding." * isinstance(error, UnicodeError)
        if ", saw " in reason:
            cure = " Write decimals with a point, and texts that hold a separator in quotes."
        raise InputError(f"{path} cannot be read{kind}: {reason.rstrip('.')}.{cure}") from error


# Workbooks and JSON lines: cells, as the text that they would be saved as


@dataclass(frozen=True)
class Cells(Source):
    """Rows of cells that were read one by one, each with its number in the file.

    Missing cells at the end of a row are left out. A unit is what a row is called.
    """

    rows: tuple[tuple[int, Sequence[Any]], ...] = field(default=(), repr=False)
    unit: str = "row"

    def where(self, row: int) -> str:
        """Where it stands, as Excel counts, or the line."""
        return f"{self.unit} {self.rows[row][0]}"

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        text, width = StringIO(), len(self.names)

        def shown(cell: Any) -> Any:  # as Excel does: hospital 7 is no 7.0
            return int(cell) if isinstance(cell, float) and cell.is_integer() else cell

        csv.writer(text, quoting=csv.QUOTE_MINIMAL).writerows(
            [*map(shown, cells), *[None] * (width - len(cells))] for _, cells in self.rows
        )
        text.seek(0)
        options: dict[str, Any] = {"header": None, "skip_blank_lines": False}
        return _parsed(text, self.names, labels, verbatim=verbatim, **options)


def open_workbook(path: TableFile, sheet: str | None, door: Door) -> Cells:
    """Read a sheet: the one that was named, or the only one that has anything."""
    otherwise = "Or save the sheet as CSV UTF-8 in Excel (File, Save As)."
    with needed("reading Excel workbooks", "bayescal[excel]", otherwise):
        import openpyxl.reader.excel
    # A sheet that is a chart holds no table, and one without a drawing cannot be opened.
    tables_only = type(
        "TablesOnly", (openpyxl.reader.excel.ExcelReader,), {"read_chartsheet": lambda *_: None}
    )
    with _understood(path, " as an Excel workbook"), path.open("rb") as file:
        with zipfile.ZipFile(file) as packed:
            sizes = [(each.compress_size, each.file_size) for each in packed.infolist()]
        _check_unpacked(path, *(sum(each) for each in zip(*sizes, strict=True)))
        reader = tables_only(file, read_only=True, data_only=True, keep_links=False)
        reader.read()
        try:
            return _chosen(path, reader.wb, sheet, door)
        finally:
            reader.wb.close()


def _chosen(path: TableFile, book: Any, sheet: str | None, door: Door) -> Cells:
    """The sheet that was named, or the only one that has anything; sheets of charts have none."""
    sheets = {table.title: table for table in book.worksheets if hasattr(table, "iter_rows")}
    filled = [name for name, table in sheets.items() if next(_filled(table), None)]
    shown = ", ".join(repr(shortened(name)) for name in filled)
    if sheet is not None and sheet not in sheets:
        raise InputError(
            f"{door.option('sheet')}: {path} has no sheet {sheet!r}. There are {shown or 'none'}."
        )
    if not filled or (sheet is not None and sheet not in filled):
        raise InputError(f"{path} is empty{'' if sheet is None else f' on sheet {sheet!r}'}.")
    if sheet is None and len(filled) > 1:
        raise InputError(
            f"{path} has several sheets: {shown}. Say which with {door.option('sheet')}."
        )
    rows = _filled(sheets[filled[0] if sheet is None else sheet])
    head, header = next(rows)
    if all(isinstance(name, int | float) for name in header):
        raise InputError(f"row {head} of {path} holds numbers, where column names are needed.")
    used = {at for at, name in enumerate(header) if name is not None}
    records: list[tuple[int, Sequence[Any]]] = []
    for number, cells in rows:
        if len(cells) > len(header):
            raise InputError(
                f"row {number} of {path} has values in columns without a name. Name every column "
                f"in row {head}, and leave the rest of the sheet empty."
            )
        records.append((number, cells))
        used.update(at for at, cell in enumerate(cells) if cell is not None)
    if len(used) < len(header):  # columns with neither a name nor a value take no memory
        kept = sorted(used)
        header = tuple(header[at] for at in kept)
        records = [(k, [cells[at] for at in kept if at < len(cells)]) for k, cells in records]
    names = tuple("" if name is None else str(name).strip() for name in header)
    return Cells(path, names, rows=tuple(records))


def _filled(table: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Rows of a sheet with anything in them, each as wide as its last cell that has a value.

    A workbook says how wide its sheets are, and every row would be filled up to that.
    """
    if hasattr(table, "reset_dimensions"):
        table.reset_dimensions()
    for number, cells in enumerate(table.iter_rows(values_only=True), 1):
        width = len(cells)
        while width and cells[width - 1] is None:
            width -= 1
        if width:
            yield number, cells[:width]


def open_lines(path: TableFile, door: Door) -> Cells:
    """One JSON object a line; a field within others is called with points: scores.confidence."""
    names: dict[str, int] = {}
    rows = []
    with _understood(path), _opened_text(path, _encoding_of(path, None, door)) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                cells: list[Any] = [None] * len(names)
                for name, value in _flat(_object(line, f"line {number} of {path}")):
                    at = names.setdefault(name, len(names))
                    if at == len(cells):
                        cells.append(None)
                    cells[at] = value
                check_width(path, len(names))
                rows.append((number, cells))
    if not rows:
        raise InputError(f"{path} is empty.")
    return Cells(path, tuple(names), is_said=True, rows=tuple(rows), unit="line")


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise InputError(f"{where} holds no JSON object, such as {{'correct': true}}.")
    return content


def _flat(content: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The fields that hold one value; lists hold several."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{within}{name}.")
        elif not isinstance(value, list):
            yield within + name, value


# SPSS, Stata and SAS


@dataclass(frozen=True)
class Statistical(Source):
    """A file of SPSS, Stata or SAS; values that the user called missing are."""

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        """A column whose values all have a label, such as 1 "North" and 2 "South", has the labels.

        Of a column in which only some have one, such as 99 "unknown", the numbers stand.
        """
        frame, told = _read_statistical(self.path)
        for name, of_values in told.variable_value_labels.items():
            known = frame[name].dropna()
            if len(known) and known.isin(list(of_values)).all():
                frame[name] = frame[name].map(of_values)
        return frame


def open_statistical(path: TableFile) -> Statistical:
    """Look at the columns of a file, and, of one that was sent, at the size of its rows."""
    frame, told = _read_statistical(path, metadataonly=True)
    check_width(path, len(frame.columns))
    widths = map(int, told.variable_storage_width.values())
    rows = told.number_rows
    if rows is None or rows < 0:  # not said: what packs is taken to be an attack
        rows = LARGEST_UNPACKED if path.suffix.lower() == ".zsav" else 0
    _check_memory(path, int(rows) * sum(max(width, CELL_BYTES) for width in widths))
    return Statistical(path, tuple(map(str, frame.columns)))


def _read_statistical(path: TableFile, **options: Any) -> tuple[pd.DataFrame, Any]:
    """The table, and what the file says of it."""
    otherwise = "Or save the table as CSV."
    with needed("reading SPSS, Stata and SAS files", "bayescal[stats]", otherwise):
        import pyreadstat
    read = getattr(pyreadstat, STATISTICAL[path.suffix.lower()])
    try:
        if isinstance(path, Path):
            frame, told = read(str(path), **options)
        else:
            with path.open("rb") as file:
                frame, told = read(file, **options)
    except TypeError:
        raise InputError(
            "reading SPSS, Stata and SAS files here needs a later pyreadstat, which does not need "
            "them on disk: python -m pip install --upgrade pyreadstat."
        ) from None
    except (pyreadstat.ReadstatError, ValueError, OSError) as error:
        raise InputError(f"{path} cannot be read: {_reason(error)}.") from error
    return frame, told


# Rows that are read at a time.
BATCH_ROWS = 1 << 20
# Bytes of a column that are read at a time, since a row group can be of any size.
READ_AHEAD = 1 << 20
# The name of a folder of rows whose value is missing.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Smaller row groups can be equal by chance.
FEWEST_ROWS = 10


@dataclass(frozen=True)
class Part:
    """One of the files, with what its folders are named after: site=north/part.parquet."""

    path: TableFile
    in_name: dict[str, str | int | None]

    def opened(self, texts: Sequence[str] = ()) -> Any:
        """As pyarrow opens it; texts in some columns are read as numbers of distinct values."""
        with needed("reading Parquet", "bayescal[parquet]", "Or save the table as CSV."):
            from pyarrow.parquet import ParquetFile
        try:
            return ParquetFile(
                self.path if isinstance(self.path, Path) else self.path.open("rb"),
                read_dictionary=list(texts),
                buffer_size=READ_AHEAD,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.path} cannot be read as Parquet: {_reason(error)}. It may be cut short, or "
                "of another kind."
            ) from error

    @cached_property
    def metadata(self) -> Any:
        """What its end says of its row groups."""
        return self.opened().metadata

    @cached_property
    def schema(self) -> Any:
        """Its columns with their types."""
        return self.metadata.schema.to_arrow_schema()

    @property
    def rows(self) -> int:
        """Number of its rows."""
        return int(self.metadata.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns, those that folders are named after included."""
        inside = tuple(self.schema.names)
        return (*inside, *(name for name in self.in_name if name not in inside))


@dataclass(frozen=True)
class Parquet(Source):
    """Files with the same columns, in any order; `load` gives the first rows, `parts` all."""

    files: tuple[Part, ...] = ()

    def parts(
        self, columns: Sequence[str], labels: Collection[str], first: pd.DataFrame
    ) -> Iterator[pd.DataFrame]:
        """All rows of some columns, at most 2^20 at a time."""
        for file in self.files:
            for name in columns:
                if name not in file.names:
                    raise InputError(f"{file.path} has no column {name!r}, which other files have.")
        return chain.from_iterable(_batches(file, columns) for file in self.files)

    def located(self, row: int) -> str:
        """The row of a file, counted from 1."""
        ends = [*accumulate(file.rows for file in self.files)]
        at = next(at for at, end in enumerate(ends) if row < end)
        return f"row {row - ends[at] + self.files[at].rows + 1} of {self.files[at].path}"

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        from pyarrow.types import is_nested

        schema = self.files[0].schema  # of lists and structures no value a row can be shown
        nested = {name for name in schema.names if is_nested(schema.field(name).type)}
        flat = [name for name in self.names if name not in nested]
        batches: Iterator[pd.DataFrame]
        batches = chain.from_iterable(_batches(file, flat) for file in self.files)
        if verbatim:
            import pandas as pd

            batches = iter([pd.concat([*batches], ignore_index=True)])
        return next(batches).reindex(columns=list(self.names))


def open_parquet(path: TableFile) -> Parquet:
    """Look at a file, or at all files below a folder, each before any is read.

    Names that begin with a dot or an underscore, like `_SUCCESS`, are passed over, and so are other
    files in a folder.
    """
    if not path.is_dir():
        files = [Part(path, {})]
    else:
        root = Path(str(path))
        inside = sorted(file for file in root.rglob("*") if _is_data(file, root))
        if not inside:
            raise InputError(
                f"path {root} is a folder without a Parquet file (one whose name ends in "
                ".parquet). Name a file, or a folder of Parquet files."
            )
        _check_different(inside)
        files = [Part(file, _values_in_name(file, root)) for file in inside]
    files = [file for file in files if file.rows]
    if not files:
        raise InputError(f"{path} holds no rows.")
    check_width(path, len(files[0].names))
    _check_memory(path, files[0].rows * len(files[0].names) * CELL_BYTES)
    _warn_of_copies(files)
    return Parquet(path, files[0].names, files=tuple(files))


def _batches(file: Part, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of a file, in order."""
    import pandas as pd
    import pyarrow as pa

    inside = [name for name in columns if name in file.schema.names]
    for name in inside:
        if pa.types.is_nested(file.schema.field(name).type):
            raise InputError(
                f"{file.path}: column {name!r} is of type {file.schema.field(name).type}, and one "
                "value a row is needed. Write a column of plain numbers or labels."
            )
    opened = file.opened(inside)
    for group in range(opened.num_row_groups):
        try:
            for batch in opened.iter_batches(BATCH_ROWS, [group], inside):
                table = pa.Table.from_batches([batch])
                for at, field in enumerate(table.schema):
                    if pa.types.is_decimal(field.type):
                        table = table.set_column(at, field.name, table[at].cast(pa.float64()))
                frame = table.to_pandas(
                    ignore_metadata=True, integer_object_nulls=True, date_as_object=False
                )
                for name in columns:
                    if name not in inside:
                        value = file.in_name[name]
                        values = [pd.NA if value is None else value] * len(frame)
                        frame[name] = pd.Categorical(values) if isinstance(value, str) else values
                yield frame[list(columns)]
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"{file.path}, row group {group}, cannot be read: {_reason(error)}. The file may "
                "be damaged: write or copy it again."
            ) from error


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return not hidden and file.name.lower().endswith(PARQUET) and file.is_file()


def _values_in_name(file: Path, root: Path) -> dict[str, str | int | None]:
    values: dict[str, str | int | None] = {}
    for part in file.relative_to(root).parts[:-1]:
        name, is_named, text = map(unquote, part.partition("="))
        is_integer = text.removeprefix("-").isdecimal() and text == str(int(text))
        if is_named:
            values[name] = None if text == NO_VALUE else int(text) if is_integer else text
    return values


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


# Rows that are there twice


def _check_different(files: Sequence[Path]) -> None:
    """Refuse a file that is there by a link, too."""
    firsts: dict[tuple[int, int], Path] = {}
    for file in files:
        status = file.stat()
        same = firsts.setdefault((status.st_dev, status.st_ino), file)
        if same is not file:
            raise InputError(
                f"{file} and {same} are one file, so that its cases would count twice. Remove "
                "links to it."
            )


def _warn_of_copies(files: Sequence[Part]) -> None:
    """Warn of row groups that are copies of others, byte by byte.

    Bytes are read of those alone that are alike in what files say of their columns, so that of
    files without copies next to nothing is read.
    """
    described = defaultdict(list)
    for file in files:
        for k in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(k)
            columns = [group.column(at) for at in range(group.num_columns)]
            told = [str(each.is_stats_set and each.statistics.to_dict()) for each in columns]
            told += [f"{each.path_in_schema} {each.total_compressed_size}" for each in columns]
            if group.num_rows >= FEWEST_ROWS:
                described[group.num_rows, *told].append((file, k, columns))
    copies: list[tuple[tuple[Part, int], tuple[Part, int], int]] = []
    for (rows, *_), alike in described.items():
        firsts: dict[bytes, tuple[Part, int]] = {}
        for file, k, columns in alike if len(alike) > 1 else ():
            first = firsts.setdefault(_checksum(file, columns), (file, k))
            copies += [(first, (file, k), rows)] if first != (file, k) else []
    if not copies:
        return
    (one, k), (other, j), _ = copies[0]
    count = f"{len(copies):,} row groups are copies" if len(copies) > 1 else "a row group is a copy"
    warn(
        f"{count} of others, byte by byte, so that {sum(rows for *_, rows in copies):,} rows count "
        f"twice: {other.path}, row group {j}, is the same as {one.path}, row group {k}. If it is a "
        "copy of the file, remove it.",
        RepeatWarning,
    )


def _checksum(part: Part, columns: Sequence[Any]) -> bytes:
    """Of the bytes of a row group."""
    digest = hashlib.blake2b(digest_size=16)
    with part.path.open("rb") as file:
        for column in columns:
            starts = (column.dictionary_page_offset, column.data_page_offset)
            file.seek(min(at for at in starts if at is not None))
            left = column.total_compressed_size
            while left > 0 and (block := file.read(min(left, READ_AHEAD))):
                digest.update(block)
                left -= len(block)
    return digest.digest()


READ = (
    "CSV (.csv, .tsv or .txt, also with .gz), Parquet (.parquet), Excel (.xlsx), SPSS (.sav), "
    "Stata (.dta), SAS (.sas7bdat, .xpt) or JSON lines (.jsonl)"
)


def open_table(
    path: TableFile, encoding: str | None = None, sheet: str | None = None, door: Door = PYTHON
) -> Source:
    """Look at a file, or a folder of Parquet files: what it is, and which columns it has."""
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    name = path.name.lower()
    if name.endswith(PARQUET) or (path.is_dir() and isinstance(path, Path)):
        return open_parquet(path)
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or a device, and a table is read more than once. Save it to a file."
        )
    if is_text(path):
        return open_text(path, encoding, door)
    if is_workbook(path):
        return open_workbook(path, sheet, door)
    if name.endswith(JSON_LINES):
        return open_lines(path, door)
    if path.suffix.lower() in STATISTICAL:
        return open_statistical(path)
    told = f"is not {READ} by its name. Save the table as one of these, or name another path."
    if name.endswith(OTHER_WORKBOOKS):
        told = "is a workbook in a format that is not read. Save it as .xlsx, or its sheet as CSV "
        told += "UTF-8 (File, Save As), and name that file."
    raise InputError(f"{path} {told}")
