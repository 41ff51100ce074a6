"""Files are written in full or not at all."""

import os
from pathlib import Path

import pytest

from bayescal.core.files import replacing


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("former", ["former", None])
def test_an_interruption_leaves_the_former_file(tmp_path, error, former):
    path = tmp_path / "out.json"
    if former is not None:
        path.write_text(former)

    def write():
        with replacing(path) as file:
            file.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert [one.read_text() for one in tmp_path.iterdir()] == [former] * (former is not None)


def test_a_file_is_replaced_with_its_permissions_and_through_its_link(tmp_path):
    path, link = tmp_path / "out.json", tmp_path / "link.json"
    path.write_text("former")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        assert file.suffix == ".json"
        file.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    if os.name != "nt":  # where the mode is whether a file can be written at all
        assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    with replacing(tmp_path / "new.json") as file:
        file.touch()
    (tmp_path / "usual").touch()
    modes = {one.stat().st_mode for one in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_written_to_directly(tmp_path):
    with pytest.raises(OSError, match="/dev/full"), replacing(Path("/dev/full")) as file:
        file.write_text("no room")
    with replacing(Path("/dev/null")) as file:
        assert file == Path("/dev/null")


def test_a_link_to_itself_cannot_be_written(tmp_path):
    link = tmp_path / "loop.json"
    link.symlink_to(link)
    with pytest.raises(OSError, match=r"loop\.json"), replacing(link):
        pytest.fail("there is nothing to write to")
    assert list(tmp_path.iterdir()) == [link]


def test_a_link_to_a_file_that_does_not_exist_yet_makes_it(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "new.json")
    with replacing(link) as file:
        file.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "new.json").read_text() == "new"
