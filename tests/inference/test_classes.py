"""Classes of a classifier as groups of one fit."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError


def test_a_class_wise_table_has_a_curve_for_each_class():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet([2, 1, 1], 300)
    label = np.array([rng.choice(3, p=row) for row in proba])
    data = bc.CalibrationData(label, proba, mode="class-wise")
    post = bc.fit(data, curve="logistic", draws=1000, random_state=1)
    assert post.labels == ("0", "1", "2")
    assert (post.table()["cases"] == 300).all()
    assert post.table()["events"].sum() == 300
    assert post.at({"class": "1"}).data.n == 300
    with pytest.raises(InputError, match=r"class-wise.*fit\(data, curve='logistic'\)"):
        bc.assess(data)
