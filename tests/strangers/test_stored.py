"""Stored posteriors that were damaged, and tables at the edge of arithmetic."""

import warnings

import h5py
import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

RNG = np.random.default_rng(4)
N = 120
RISK = RNG.beta(2, 3, N)
DIED = (RNG.random(N) < RISK).astype(int)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "posterior.nc"
    post = bc.fit(DIED, RISK, curve="logistic", draws=200, random_state=1)
    post.to_netcdf(path)
    return path, post.summary()


@pytest.mark.slow
def test_a_flipped_bit_is_noticed(stored, tmp_path):
    """One bit in the middle of each table of numbers: an error, or the same numbers."""
    path, expected = stored
    content, wrong = path.read_bytes(), []
    for name, at in places(path)[:12]:
        damaged = bytearray(content)
        damaged[at] ^= 4
        copy = tmp_path / f"{at}.nc"
        copy.write_bytes(damaged)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = bc.load(copy).summary()
        except InputError:
            continue
        if not told.equals(expected):
            wrong.append(name)
    assert not wrong


def places(path):
    """The middle of the bytes of each table, the largest first."""
    stored = []

    def look(name, item):
        if not isinstance(item, h5py.Dataset) or not item.size:
            return
        if item.chunks is None:
            start, size = item.id.get_offset(), item.id.get_storage_size()
        else:
            chunk = item.id.get_chunk_info(0)
            start, size = chunk.byte_offset, chunk.size
        if start is not None and size:
            stored.append((size, name, start + size // 2))

    with h5py.File(path) as file:
        file.visititems(look)
    return [(name, at) for _, name, at in sorted(stored, reverse=True)]


def texts_of(file):
    """Attributes that hold JSON."""
    stored = []

    def look(_, item):
        for name, value in item.attrs.items():
            if isinstance(value, str) and value[:1] in "{[":
                stored.append((item.attrs, name))

    look("", file)
    file.visititems(look)
    return stored


def test_a_stored_posterior_holds_json(stored):
    with h5py.File(stored[0]) as file:
        assert texts_of(file)


def test_brackets_without_end_are_refused(stored, tmp_path):
    copy = tmp_path / "posterior.nc"
    copy.write_bytes(stored[0].read_bytes())
    with h5py.File(copy, "a") as file:
        for attributes, name in texts_of(file):
            attributes[name] = "[" * 2000
    with pytest.raises(InputError, match="cannot be loaded"):
        bc.load(copy)


@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
def test_periods_over_many_orders_of_magnitude_are_fitted_or_refused():
    period = np.array([0, 1.2e-12, 1])[np.arange(N) % 3]
    try:
        post = bc.fit(DIED, RISK, period=period, draws=200, random_state=0)
    except InputError:
        return
    assert np.isfinite(post.summary().to_numpy(dtype=float)).all()


def test_nearly_separated_outcomes_are_refused_in_a_sentence():
    score = np.linspace(0.01, 0.99, 40)
    outcome = (np.arange(40) >= 20).astype(int)
    outcome[[19, 20]] = 1, 0
    with pytest.raises(InputError, match="separated"):
        bc.estimators.ici_interval(outcome, score, random_state=0)
