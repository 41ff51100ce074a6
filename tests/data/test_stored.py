"""A table on disk: the same to the last bit, written in full or not at all, and damage is named."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.data.stored import FORMAT, read_dataset, write_dataset
from bayescal.errors import InputError


def table(n=400, weighted=True, grouped=True):
    rng = np.random.default_rng(n)
    s = rng.beta(2, 5, n)
    y = rng.random(n) < s
    w = rng.lognormal(0, 2, n) if weighted else None
    g = np.where(rng.random(n) < 0.1, "Zürich", "10") if grouped else None
    return bc.CalibrationData(y, s, w, site=g)


@pytest.mark.parametrize("n", [400, 30_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_table_comes_back_to_the_last_bit(tmp_path, n, weighted, grouped):
    data = table(n, weighted, grouped)
    data.to_netcdf(tmp_path / "table.nc")
    again = bc.CalibrationData.from_netcdf(tmp_path / "table.nc")
    assert type(again) is bc.CalibrationData
    xr.testing.assert_identical(again.to_xarray(), data.to_xarray())
    xr.testing.assert_identical((again + again).to_xarray(), (data + data).to_xarray())
    assert [file.name for file in tmp_path.iterdir()] == ["table.nc"]


@pytest.mark.slow
def test_many_groups_fit_into_a_file(tmp_path):
    size = 20_000
    data = bc.CalibrationData(
        np.arange(size) % 2, np.full(size, 0.5), np.full(size, 0.1), site=np.arange(size)
    )
    data.to_netcdf(tmp_path / "table.nc")
    again = bc.CalibrationData.from_netcdf(tmp_path / "table.nc")
    assert again.groups == data.groups == tuple(map(str, range(size)))
    assert again == data


@pytest.mark.parametrize("own", ["sepsis 2", 1.5, np.float32(1.1), [5], [1, 2], ["a", "b"]])
def test_attributes_of_ones_own_are_kept(tmp_path, own):
    dataset = table().to_xarray().assign_attrs(model=own)
    write_dataset(dataset, tmp_path / "table.nc")
    again = read_dataset(tmp_path / "table.nc")
    assert np.ravel(again.attrs["model"]).tolist() == np.ravel(own).tolist()
    xr.testing.assert_identical(again.assign_attrs(model=own), dataset)


def test_a_changed_attribute_is_damage(tmp_path):
    path = tmp_path / "table.nc"
    table().to_netcdf(path)
    content = path.read_bytes()
    assert content.count(b"sampling") == 1
    path.write_bytes(content.replace(b"sampling", b"shampoos"))
    with pytest.raises(InputError, match="its numbers are not those"):
        bc.CalibrationData.from_netcdf(path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_off_is_one_error(tmp_path, share):
    path = tmp_path / "table.nc"
    table().to_netcdf(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"table\.nc.*(cannot be read|damaged)"):
        bc.CalibrationData.from_netcdf(path)


def test_a_changed_number_is_damage(tmp_path):
    path = tmp_path / "table.nc"
    data = table(weighted=False, grouped=False)
    data.to_netcdf(path)
    content = path.read_bytes()
    number = data.score[200].tobytes()
    assert content.count(number) == 1
    path.write_bytes(content.replace(number, (data.score[200] + 0.01).tobytes()))
    with pytest.raises(InputError, match="its numbers are not those"):
        bc.CalibrationData.from_netcdf(path)


def test_what_is_no_table_is_refused(tmp_path):
    path = tmp_path / "other.nc"
    with pytest.raises(InputError, match="is not a file"):
        bc.CalibrationData.from_netcdf(path)
    bc.fit([0, 1, 1, 0], [0.1, 0.8, 0.7, 0.3], curve="beta", draws=100, random_state=0).to_netcdf(
        path
    )
    with pytest.raises(InputError, match="holds no table"):
        bc.CalibrationData.from_netcdf(path)
    table().to_xarray().assign_attrs(format=FORMAT, format_version=2).to_netcdf(path)
    with pytest.raises(InputError, match=r"a table of format 2, .* Make it again from the cases"):
        bc.CalibrationData.from_netcdf(path)
    path.unlink()
    table().to_xarray().assign_attrs(format=FORMAT, format_version=99).to_netcdf(path)
    with pytest.raises(InputError, match=r"a table of format 99, and this version .* Update"):
        bc.CalibrationData.from_netcdf(path)


def test_an_interruption_leaves_the_former_table(tmp_path, monkeypatch):
    path = tmp_path / "table.nc"
    data = table()
    data.to_netcdf(path)

    def interrupted(self, file, **options):
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.DataTree, "to_netcdf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        (data + data).to_netcdf(path)
    monkeypatch.undo()
    assert bc.CalibrationData.from_netcdf(path) == data
    assert [file.name for file in tmp_path.iterdir()] == ["table.nc"]
