"""The definitions that take the place of R's answers, held against R's answers on its own sets."""

import numpy as np
import pytest

from clinical_sets import ANSWERS, CLINICAL, Definitions, clinical_set


@pytest.mark.slow
@pytest.mark.parametrize("name", CLINICAL)
def test_the_definitions_give_what_r_gives(shared_data, name):
    outcomes, scores, known = clinical_set(shared_data, name)
    actual = Definitions(outcomes, scores)
    assert set(actual) == set(ANSWERS) <= set(known)
    for key in ANSWERS:
        assert actual[key] == pytest.approx(known[key], rel=1e-6, abs=1e-9), key


@pytest.mark.parametrize("name", CLINICAL)
def test_a_stand_in_is_of_the_kind_of_its_set(name):
    outcomes, scores, known = clinical_set(None, name)
    assert known["n"] == outcomes.size == scores.size
    assert set(np.unique(outcomes)) == {0, 1}
    assert 0 < scores.min() < scores.max() < 1
    assert (np.unique(scores).size < scores.size) == (name in {"precip_EPC", "dcurves_df_binary"})
    again, _, _ = clinical_set(None, name)
    np.testing.assert_array_equal(again, outcomes)
