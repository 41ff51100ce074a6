"""What ended each time: codes or words, and which are the event and a case that left."""

import re

import numpy as np
import pytest

from bayescal.cli.reading import COMMAND_LINE
from bayescal.data.times import Ends
from bayescal.errors import InputError

TWO = np.array(["dead", "alive", "dead ", "alive"], dtype=object)
THREE = np.array(["dead", "alive", "moved", "alive"], dtype=object)
NUMBERS = np.array([2.0, 1.0, 3.0, 1.0])


def test_numbers_are_codes_as_python_has_them():
    ends = Ends.of("status", np.array([0.0, 1.0, 2.0]), None, None)
    assert ends.codes.tolist() == [0, 1, 2]
    assert (ends.cause, ends.event, ends.left) == (None, "1", "0")
    assert Ends.of("status", np.array([0.0, 1.0, 2.0]), "2", None).cause == 2


@pytest.mark.parametrize(
    ("values", "event", "left", "codes"),
    [
        (TWO, "dead", None, [1, 0, 1, 0]),
        (TWO, "alive", None, [0, 1, 0, 1]),
        (TWO, "dead", "alive", [1, 0, 1, 0]),
        (THREE, "dead", "alive", [1, 0, 2, 0]),
        (THREE, "dead", "moved", [1, 2, 0, 2]),
        (NUMBERS, "2", "1", [1, 0, 2, 0]),
        (NUMBERS, "3", "2", [0, 2, 1, 2]),
        (NUMBERS, None, "2", [0, 1, 2, 1]),
    ],
)
def test_the_event_is_one_and_a_case_that_left_nought(values, event, left, codes):
    ends = Ends.of("status", values, event, left)
    assert ends.codes.tolist() == codes
    assert ends.cause == 1


@pytest.mark.parametrize(
    ("values", "event", "left", "told"),
    [
        (TWO, None, None, "holds alive, dead. Say which of these is the event, such as --positive"),
        (THREE, "dead", None, "Say which of these is a case that left, such as --censored alive"),
        (THREE, None, None, "and which a case that left: --censored alive"),
        (TWO, "Dead", None, "--positive Dead: no case has this in the column 'status' of --event"),
        (TWO, "dead", "lost", "--censored lost: no case has this"),
        (TWO, "dead", "dead", "--positive and --censored are both 'dead'"),
        (TWO[:1], "dead", None, "holds dead alone"),
        (NUMBERS, "x", None, "--positive x: no case has this"),
        (NUMBERS / 2, "1.5", None, "codes of events are whole numbers from 1"),
    ],
)
def test_what_is_not_clear_is_asked_about(values, event, left, told):
    with pytest.raises(InputError, match=re.escape(told)):
        Ends.of("status", values, event, left, COMMAND_LINE)
