"""Parquet files and folders of them: one table, whatever the files; and errors that say where."""

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayescal as bc
from bayescal.errors import InputError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra 'parquet'")
pq = pytest.importorskip("pyarrow.parquet")

N = 5000
NAMES = {"outcome": "y", "prob": "p", "independent": True}
ALL = {**NAMES, "sample_weight": "w", "site": "site"}


def cases(n=N, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 5, n)
    p[:4] = 0, 1, 0, 1
    return {
        "id": np.arange(n),
        "y": (rng.random(n) < p).astype(np.int8),
        "p": p,
        "w": rng.integers(0, 4, n),
        "site": np.array(["north", "south", "east"])[rng.integers(0, 3, n)],
    }


def write(path, columns, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)
    return path


def rows_of(columns, which):
    return {name: values[which] for name, values in columns.items()}


def table_of(columns, **options):
    return bc.CalibrationData(columns["y"], columns["p"], **options)


@pytest.fixture(scope="module")
def columns():
    return cases()


@pytest.fixture
def file(tmp_path, columns):
    return write(tmp_path / "a.parquet", columns, row_group_size=1000)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(data=st.data())
def test_the_table_is_the_same_for_any_files_and_batches(tmp_path_factory, columns, data):
    folder = tmp_path_factory.mktemp("cases")
    cuts = data.draw(st.lists(st.integers(0, N), max_size=4))
    shuffled = np.random.default_rng(0).permutation(N)
    for index, which in enumerate(np.split(shuffled, sorted(cuts))):
        names = data.draw(st.permutations(list(columns)))
        part = {name: columns[name][which] for name in names}
        write(folder / f"{index}.parquet", part, row_group_size=data.draw(st.integers(100, 9000)))
    options = {"weight_type": "counts"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bayescal.data.files.BATCH_ROWS", data.draw(st.integers(50, 9000)))
        table = bc.read(folder, **ALL, **options)
    expected = table_of(columns, sample_weight=columns["w"], site=columns["site"], **options)
    assert table == expected
    np.testing.assert_array_equal(table.group, expected.group)
    for name in ("score", "trials", "hits"):
        np.testing.assert_array_equal(getattr(table, name), getattr(expected, name))


def test_a_file_and_a_folder_at_any_depth(tmp_path, columns, file):
    expected = table_of(columns)
    for path in (file, str(file), tmp_path):
        assert bc.read(path, **NAMES) == expected
    other = cases(seed=2)
    write(tmp_path / "more" / "b.parquet", other)
    assert bc.read(tmp_path, **NAMES) == expected + table_of(other)


def test_what_is_no_data_is_passed_over(tmp_path, columns, file):
    empty = {name: values[:0] for name, values in columns.items()}
    write(tmp_path / "empty.parquet", empty)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("about the model")
    for hidden in ("_metadata.parquet", ".part.parquet", "_delta/a.parquet", ".tmp/a.parquet"):
        path = tmp_path / hidden
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"not parquet")
    assert bc.read(tmp_path, **NAMES) == table_of(columns)


@pytest.mark.parametrize(
    "names", [["north", "south", "east"], ["1", "2", "10"], ["a b", "c/d", "é"]]
)
def test_folders_named_after_a_column(tmp_path, columns, names):
    from urllib.parse import quote

    renamed = dict(zip(("north", "south", "east"), names, strict=True))
    for site, name in renamed.items():
        part = rows_of(columns, columns["site"] == site)
        del part["site"]
        write(tmp_path / "in" / f"site={quote(name, safe='')}" / "part-0.parquet", part)
    groups = [renamed[site] for site in columns["site"].tolist()]
    table = bc.read(tmp_path / "in", **NAMES, site="site")
    assert table == table_of(columns, site=groups)


def test_outcomes_in_the_names_of_folders(tmp_path, columns):
    for outcome in (0, 1):
        part = rows_of(columns, columns["y"] == outcome)
        del part["y"]
        write(tmp_path / f"y={outcome}" / "a.parquet", part)
    assert bc.read(tmp_path, **NAMES) == table_of(columns)


def test_a_folder_named_after_no_value_is_a_missing_group(tmp_path, columns):
    write(tmp_path / "region=__HIVE_DEFAULT_PARTITION__" / "a.parquet", columns)
    with pytest.raises(InputError, match=r"5,000 of 5,000 rows lack"):
        bc.read(tmp_path, **NAMES, site="region")


def test_one_label_is_the_event_in_all_files_together(tmp_path):
    write(tmp_path / "0.parquet", {"y": ["dead", "alive"], "p": [0.5, 0.25]})
    write(tmp_path / "1.parquet", {"y": ["alive", "alive"], "p": [0.5, 0.25]})
    table = bc.read(tmp_path, **NAMES, pos_label="dead")
    assert table == bc.CalibrationData([1, 0, 0, 0], [0.5, 0.25, 0.5, 0.25])
    write(tmp_path / "2.parquet", {"y": ["lost", "lost"], "p": [0.5, 0.25]})
    assert bc.read(tmp_path, **NAMES, pos_label="dead").events == 1
    with pytest.raises(InputError, match="'alive', 'dead', which are not two classes"):
        bc.read(tmp_path, **NAMES, pos_label="Dead")


def test_decimals_booleans_and_single_precision(tmp_path):
    decimals = pa.array([Decimal("0.25"), Decimal("0.5")], pa.decimal128(5, 3))
    types = {"p": decimals, "y": pa.array([True, False])}
    write(tmp_path / "a.parquet", types)
    expected = bc.CalibrationData([1, 0], [0.25, 0.5])
    assert bc.read(tmp_path, **NAMES) == expected
    write(tmp_path / "a.parquet", {"p": pa.array([0.25, 0.5], pa.float32()), "y": [1.0, 0.0]})
    assert bc.read(tmp_path, **NAMES) == expected


# Errors


def refused(path, match, **options):
    with pytest.raises(InputError, match=match):
        bc.read(path, **{**NAMES, **options})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"p": 1.2}, r"column 'p': 1.2 is outside \[0, 1\] on AT"),
        ({"p": np.nan}, r"1 of [\d,]+ rows lack a value: 1 in 'p', the first on AT"),
        ({"p": None}, r"1 of [\d,]+ rows lack a value: 1 in 'p', the first on AT"),
        ({"y": 2}, r"column 'y': 2 is neither 0 nor 1 on AT"),
        ({"w": -1}, r"column 'w': -1 is not a finite, non-negative number on AT"),
        ({"site": None}, r"1 in 'site', the first on AT"),
    ],
)
def test_a_bad_value_is_named_with_its_file_and_row(tmp_path, columns, change, reason, monkeypatch):
    write(tmp_path / "a.parquet", columns)
    (name, value), *_ = change.items()
    bad = columns | {name: [*columns[name].tolist()[:3234], value, *columns[name].tolist()[3235:]]}
    write(tmp_path / "b.parquet", bad, row_group_size=1000)
    options = {"sample_weight": "w", "site": "site", "weight_type": "counts"}
    told = reason.replace("AT", r"row 3235 of .*b\.parquet")
    refused(tmp_path, told, **options)
    monkeypatch.setattr("bayescal.data.files.BATCH_ROWS", 200)
    refused(tmp_path, told, **options)


def test_cases_without_an_outcome_are_kept(tmp_path, columns, monkeypatch):
    write(tmp_path / "a.parquet", columns)
    write(tmp_path / "b.parquet", columns | {"y": [None, *columns["y"].tolist()[1:]]})
    monkeypatch.setattr("bayescal.data.files.BATCH_ROWS", 200)
    data = bc.read(tmp_path, **NAMES)
    assert (data.n, data.unknown.n) == (2 * N - 1, 1)
    assert data.unknown.score.tolist() == [columns["p"][0]]


def test_scores_that_are_no_numbers(tmp_path, columns):
    write(tmp_path / "a.parquet", columns)
    write(tmp_path / "b.parquet", columns | {"p": ["high"] * N})
    refused(tmp_path, r"column 'p': 'high' on row 1 of .*b\.parquet is not a number")


def test_a_missing_column_is_named_before_any_row_is_read(tmp_path, columns):
    write(tmp_path / "a.parquet", columns | {"p": columns["p"] + 1})
    write(tmp_path / "b.parquet", {"y": columns["y"], "score": columns["p"]})
    refused(tmp_path, r"b\.parquet has no column 'p', which other files have")


@pytest.mark.parametrize("size", [0, 3, 100, 20_000])
def test_a_file_that_is_cut_short(tmp_path, file, size):
    content = file.read_bytes()
    cut = tmp_path / "b.parquet"
    cut.write_bytes(content[:size])
    refused(tmp_path, r"b\.parquet cannot be read as Parquet: .*")


def test_a_damaged_row_group(tmp_path, columns):
    path = write(
        tmp_path / "a.parquet",
        columns,
        row_group_size=1000,
        write_page_checksum=True,
        use_dictionary=False,
    )
    at = pq.ParquetFile(path).metadata.row_group(2).column(2).data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[at + 500 : at + 520] = bytes(20)
    path.write_bytes(damaged)
    refused(path, r"a\.parquet, row group 2, cannot be read: .* damaged")


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_a_row_group_without_checksums_that_is_overwritten(tmp_path, columns, compression):
    path = write(tmp_path / "a.parquet", columns, row_group_size=1000, compression=compression)
    chunk = pq.ParquetFile(path).metadata.row_group(3).column(1)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[at : at + 20] = bytes(20)
    path.write_bytes(damaged)
    refused(path, r"a\.parquet, row group 3, cannot be read: .* damaged")


@pytest.mark.parametrize("value", [[0.5], {"risk": 0.5}])
def test_columns_of_lists_and_structures_are_named_with_their_file(tmp_path, columns, value):
    write(tmp_path / "a.parquet", columns)
    write(tmp_path / "b.parquet", {"y": [0, 1], "p": [value, value]})
    refused(tmp_path, r"b\.parquet: column 'p' is of type .*, and one value a row is needed")


def test_nothing_there(tmp_path):
    refused(tmp_path / "nowhere", "there is no file .*nowhere")
    refused(tmp_path, "is a folder without a Parquet file")
    write(tmp_path / "a.parquet", {"y": pa.array([], pa.int8()), "p": pa.array([], pa.float64())})
    refused(tmp_path, "holds no rows")


def test_without_pyarrow_the_extra_is_named(file, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    refused(file, r'pip install "bayescal\[parquet\]"')


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's peak of memory")
@pytest.mark.parametrize("groups", [1, 40])
def test_memory_does_not_grow_with_the_rows(tmp_path, groups):
    """Thirty million rows take 480 MB as arrays."""
    rng = np.random.default_rng(0)
    p = rng.random(30_000_000 // 40)
    table = pa.table({"y": rng.random(p.size) < p, "p": p})
    with pq.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
        for _ in range(groups):
            writer.write_table(pa.concat_tables([table] * (40 // groups)), row_group_size=1 << 30)
    code = (
        "import re, pathlib, bayescal as bc, pyarrow.parquet, narwhals, pandas\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)',"
        " pathlib.Path('/proc/self/status').read_text())[1]) / 1e3\n"
        "before = peak()\n"
        f"table = bc.read({str(tmp_path)!r}, outcome='y', prob='p')\n"
        "print(int(table.n), before, peak())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    n, before, after = map(float, done.stdout.split())
    assert n == 30_000_000
    assert after - before < 300
    assert after < 1000
