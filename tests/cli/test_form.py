"""The options that say how a file is written survive a round trip."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal.cli.form import LOGIT, PERCENT, PROBABILITY, Form
from bayescal.core.errors import InputError

SCORES = np.array([0.001, 0.2, 0.5, 0.999])
UNTOLD = {"encoding": None, "sheet": None, "logit": False, "percent": False}


@pytest.mark.parametrize("scale", [PROBABILITY, LOGIT, PERCENT])
def test_each_scale_is_its_own_inverse(scale) -> None:
    there = scale.from_probability(SCORES)
    assert np.all((there >= scale.lowest) & (there <= scale.highest))
    np.testing.assert_allclose(scale.to_probability(there), SCORES, rtol=1e-13)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, []),
        ({"logit": True}, ["--logit"]),
        ({"percent": True, "encoding": "latin-1"}, ["--encoding", "latin-1", "--percent"]),
        ({"sheet": "one"}, ["--sheet", "one"]),
    ],
)
def test_words_are_what_was_typed(tmp_path, told, words) -> None:
    form = Form.of(tmp_path / "a.csv", tmp_path / "a.xlsx", **UNTOLD | told)
    assert form.words == words


def test_a_scale_and_a_form_belong_to_the_file(tmp_path) -> None:
    csv, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    with pytest.raises(InputError, match="--logit and --percent exclude each other"):
        Form.of(csv, **UNTOLD | {"logit": True, "percent": True})
    with pytest.raises(InputError, match="--encoding goes with text"):
        Form.of(parquet, **UNTOLD | {"encoding": "latin-1"})
    with pytest.raises(InputError, match="--sheet goes with Excel"):
        Form.of(csv, **UNTOLD | {"sheet": "one"})
    assert Form.of(parquet, csv, **UNTOLD | {"encoding": "latin-1"}).encoding == "latin-1"
