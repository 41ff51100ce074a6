"""Blocks of work, and seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.arrays import as_seed, blocks, random_generator
from bayescal.core.errors import InputError


@given(st.integers(0, 200), st.integers(0, 50), st.integers(1, 500))
def test_blocks_cover_every_item_once_and_fit_the_room(size, width, room):
    parts = list(blocks(size, width, room))
    assert np.concatenate([np.arange(size)[part] for part in parts] or [[]]).tolist() == list(
        range(size)
    )
    assert all((part.stop - part.start) * width <= max(room, width) for part in parts)


@given(st.integers(0, 2**70))
def test_an_integer_is_its_own_seed(seed):
    assert as_seed(seed) == seed
    first, second = (random_generator(seed).random() for _ in range(2))
    assert first == second


def test_generators_are_used_as_they_are_and_move_on():
    rng = np.random.default_rng(1)
    assert random_generator(rng) is rng
    assert as_seed(rng) != as_seed(rng)
    state = np.random.RandomState(1)
    assert random_generator(state).random() != random_generator(state).random()
    assert as_seed(np.random.RandomState(3)) == as_seed(np.random.RandomState(3))


def test_none_is_fresh():
    assert as_seed(None) != as_seed(None)


@pytest.mark.parametrize("foreign", [-5, True, 1.5, "1", [1, 2], np.int64(-1), object()])
@pytest.mark.parametrize("read", [as_seed, random_generator])
def test_foreign_and_negative_seeds_are_refused(read, foreign):
    with pytest.raises(InputError, match="random_state must be None, an integer of at least 0"):
        read(foreign)
