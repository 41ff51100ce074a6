"""Parquet files that hold the same rows twice: one file under two names, and copies of rows."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import bayescal as bc
from bayescal.data.sources.repeats import RowGroup, repeated
from bayescal.errors import InputError, RepeatWarning

pa = pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra 'parquet'")
pq = pytest.importorskip("pyarrow.parquet")

N = 500


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return pa.table({"y": rng.random(n) < score, "p": score, "id": np.arange(n)})


def write(path, seed=0, n=N, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table(seed, n), path, **options)
    return path


def read(path):
    return bc.CalibrationData.from_parquet(path, outcome="y", prob="p")


def row_groups(*paths):
    return [
        RowGroup(path, k, metadata.row_group(k))
        for path in paths
        for metadata in (pq.read_metadata(path),)
        for k in range(metadata.num_row_groups)
    ]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_to_a_file_of_the_folder_is_refused(tmp_path, link):
    file = write(tmp_path / "a.parquet")
    getattr(tmp_path / "b.parquet", link)(file)
    message = r"b\.parquet and .*a\.parquet are one file, so that its cases would count twice"
    with pytest.raises(InputError, match=message):
        read(tmp_path)
    with pytest.raises(InputError, match=message):
        read([file, tmp_path / "b.parquet"])
    assert read(tmp_path / "b.parquet").n == N


def test_a_file_named_twice_is_refused(tmp_path):
    file = write(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet is named twice"):
        read([file, str(file)])
    again = tmp_path / "sub" / ".." / "a.parquet"
    (tmp_path / "sub").mkdir()
    with pytest.raises(InputError, match=r"a\.parquet are one file"):
        read([file, again])


def test_a_copy_is_read_with_a_warning_that_names_both(tmp_path):
    file = write(tmp_path / "a.parquet", row_group_size=200)
    shutil.copy(file, tmp_path / "b.parquet")
    message = (
        r"3 row groups are copies of others, byte by byte, so that 500 rows count twice: "
        r".*b\.parquet, row group 0, is the same as .*a\.parquet, row group 0"
    )
    with pytest.warns(RepeatWarning, match=message) as caught:
        assert read(tmp_path).n == 2 * N
    assert caught[0].filename == __file__
    with pytest.warns(RepeatWarning, match=message):
        read([file, tmp_path / "b.parquet"])


def test_the_same_rows_among_others_are_found(tmp_path):
    """Written again behind other rows, in a file of another name, size and length."""
    write(tmp_path / "a.parquet", seed=0)
    with pq.ParquetWriter(tmp_path / "b.parquet", table().schema) as writer:
        for seed in (1, 0, 2):
            writer.write_table(table(seed))
    with pytest.warns(RepeatWarning, match=r"a row group is a copy .* 500 rows .*b\.parquet, row"):
        assert read(tmp_path).n == 4 * N
    with pq.ParquetWriter(tmp_path / "one.parquet", table().schema) as writer:
        for seed in (1, 1):
            writer.write_table(table(seed))
    with pytest.warns(RepeatWarning, match=r"one\.parquet, row group 1, is the same as .*one"):
        read(tmp_path / "one.parquet")


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_different_rows_of_one_size_are_not_read_for_it(tmp_path, compression, monkeypatch):
    for seed in range(5):
        write(tmp_path / f"{seed}.parquet", seed=seed, compression=compression)
    monkeypatch.setattr(RowGroup, "_checksum", None)  # statistics tell them apart
    assert read(tmp_path).n == 5 * N


def test_without_statistics_the_bytes_decide(tmp_path):
    options = {"write_statistics": False, "compression": "none", "use_dictionary": False}
    files = [write(tmp_path / f"{seed}.parquet", seed=seed, **options) for seed in range(3)]
    assert repeated(row_groups(*files)) == []
    copied = tmp_path / "copy.parquet"
    shutil.copy(files[1], copied)
    ((one, other),) = repeated(row_groups(*files, copied))
    assert (one.file, other.file) == (files[1], copied)


def test_rows_that_differ_at_the_end_alone_are_no_copies(tmp_path):
    """One score and the identifiers behind it are changed, inside the range of the others."""
    first = table(n=20_000)
    score = first["p"].to_numpy().copy()
    score[-1] = score[-2]
    other = first.set_column(1, "p", pa.array(score))
    for name, columns in (("a", first), ("b", other)):
        pq.write_table(columns, tmp_path / f"{name}.parquet", compression="none")
    assert read(tmp_path).n == 40_000


def test_a_few_rows_can_be_equal_by_chance(tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.parquet", n=9)
    assert read(tmp_path).n == 27
