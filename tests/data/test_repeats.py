"""Parquet files that hold the same rows twice: one file under two names, and copies of rows."""

import shutil

import numpy as np
import pytest

import bayescal as bc
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
    return bc.read(path, outcome="y", prob="p")


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_to_a_file_of_the_folder_is_refused(tmp_path, link):
    file = write(tmp_path / "a.parquet")
    getattr(tmp_path / "b.parquet", link)(file)
    message = r"b\.parquet and .*a\.parquet are one file, so that its cases would count twice"
    with pytest.raises(InputError, match=message):
        read(tmp_path)
    assert read(tmp_path / "b.parquet").n == N


def test_a_copy_is_read_with_a_warning_that_names_both(tmp_path):
    file = write(tmp_path / "a.parquet", row_group_size=200)
    shutil.copy(file, tmp_path / "b.parquet")
    message = (
        r"3 row groups are copies of others, byte by byte, so that 500 rows count twice: "
        r".*b\.parquet, row group 0, is the same as .*a\.parquet, row group 0"
    )
    with pytest.warns(RepeatWarning, match=message):
        assert read(tmp_path).n == 2 * N


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
