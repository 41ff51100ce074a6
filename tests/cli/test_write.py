"""Files are written in full or not at all, and tables as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescal.cli._write import replacing, write_table


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("former", ["former", None])
def test_an_interruption_leaves_the_former_file(tmp_path, error, former) -> None:
    path = tmp_path / "out.json"
    if former is not None:
        path.write_text(former)

    def write() -> None:
        with replacing(path) as file:
            file.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert [one.read_text() for one in tmp_path.iterdir()] == [former] * (former is not None)


def test_a_file_is_replaced_with_its_permissions_and_through_its_link(tmp_path) -> None:
    path, link = tmp_path / "out.json", tmp_path / "link.json"
    path.write_text("former")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        assert file.suffix == ".json"
        file.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_a_new_file_has_the_usual_permissions(tmp_path) -> None:
    with replacing(tmp_path / "new.json") as file:
        file.touch()
    (tmp_path / "usual").touch()
    modes = {one.stat().st_mode for one in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_written_to_directly(tmp_path) -> None:
    with pytest.raises(OSError, match="/dev/full"), replacing(Path("/dev/full")) as file:
        file.write_text("no room")
    with replacing(Path("/dev/null")) as file:
        assert file == Path("/dev/null")


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=4))
def test_text_is_written_so_that_it_reads_the_same(tmp_path, rows) -> None:
    path = tmp_path / "table.csv"
    write_table(path, pd.DataFrame(rows, columns=["a", "b"]).assign(p=0.5))
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["a", "b", "p"], *([*row, "0.5"] for row in rows)]
