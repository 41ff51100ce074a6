"""Whether outcomes and scores are in range, told from their bits, is what comparisons say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bayescal.data.cases import are_binary_integers, as_scores, check_scores
from bayescal.errors import InputError, ScoreWarning

FLOATS = st.sampled_from(["<f4", "<f8", ">f4", ">f8"]).flatmap(
    lambda kind: arrays.arrays(
        kind,
        st.integers(1, 5),
        elements=st.one_of(
            st.floats(0, 1, width=32),
            st.sampled_from([-0.0, 1.0, np.nan, -np.nan, np.inf, -np.inf, 1.5, -1e-30]),
        ),
    )
)
WHOLE = st.sampled_from(["?", "u1", "i1", "<i2", ">i2", "<i8", "<u8", ">u4"]).flatmap(
    lambda kind: arrays.arrays(kind, st.integers(1, 5))
)
SMALL = st.lists(st.integers(-1, 2), min_size=1).map(np.array)


@given(FLOATS)
def test_scores(values):
    inside = ((values >= 0) & (values <= 1)).all()
    if inside:
        np.testing.assert_array_equal(check_scores(values), values)
        assert as_scores(values).dtype == np.float64
    elif ((values >= -1e-6) & (values <= 1 + 1e-6)).all():
        with pytest.warns(ScoreWarning, match="beyond 0 or 1"):
            np.testing.assert_array_equal(check_scores(values), values.clip(0, 1))
    else:
        with pytest.raises(InputError, match=r"y_prob\[\d\] = .* is (missing|outside)"):
            check_scores(values)


@given(st.floats(0, 1))
def test_the_numbers_next_to_the_ends(inside):
    for kind in (np.float32, np.float64):
        ends = np.array([0, 1, inside], dtype=kind)
        check_scores(ends)
        for end, beyond in ((0, -1), (1, 2)):
            over = np.append(ends, np.nextafter(kind(end), kind(beyond)))
            with pytest.warns(ScoreWarning, match=r"1 value of y_prob lies beyond 0 or 1"):
                assert check_scores(over)[-1] == end
            with pytest.raises(InputError, match="is outside"):
                check_scores(np.append(over, end + (beyond - end) / abs(beyond - end) * 2e-6))


@given(WHOLE | SMALL)
def test_outcomes(values):
    inside = bool(((values == 0) | (values == 1)).all())
    native = values.dtype.isnative
    assert are_binary_integers(values) == (inside and native)
