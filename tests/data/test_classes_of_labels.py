"""Labels of classes beside a matrix of their probabilities, at the doors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayescal as bc
from bayescal.errors import InputError

RNG = np.random.default_rng(1)
PROBA = RNG.dirichlet([2, 1, 1], 120)
INDEX = np.array([RNG.choice(3, p=row) for row in PROBA])
NAMES = np.array(["dog", "cat", "ant"])
TOP = bc.CalibrationData(PROBA.argmax(axis=1) == INDEX, PROBA.max(axis=1))
CHEAP = {"draws": 400, "random_state": 1}


@pytest.mark.parametrize(
    ("labels", "matrix"),
    [
        (INDEX, PROBA),
        (INDEX.tolist(), PROBA.tolist()),
        (INDEX + 5, PROBA),
        (NAMES[INDEX], pd.DataFrame(PROBA, columns=NAMES)),
        (pd.Series(NAMES[INDEX]), pd.DataFrame(PROBA, columns=NAMES)),
        (pd.Categorical(NAMES[INDEX]), PROBA[:, ::-1]),
        (pd.Categorical(NAMES[INDEX], categories=NAMES), PROBA),
        (pd.Series(pd.Categorical(NAMES[INDEX], categories=NAMES)), PROBA),
        (pl.Series(NAMES[INDEX], dtype=pl.Enum(NAMES.tolist())), PROBA),
    ],
)
def test_the_top_label_whatever_labels_are(labels, matrix):
    assert bc.CalibrationData(labels, matrix) == TOP
    assert bc.fit(labels, matrix, curve="intercept", **CHEAP).data == TOP


def test_labels_that_are_columns_need_not_all_occur():
    some = INDEX < 2
    matrix = pd.DataFrame(PROBA[some], columns=NAMES)
    known = bc.CalibrationData(INDEX[some], PROBA[some])
    assert bc.CalibrationData(NAMES[INDEX[some]], matrix) == known
    ordered = pd.Categorical(NAMES[INDEX[some]], categories=NAMES)
    assert bc.CalibrationData(ordered, PROBA[some]) == known
    with pytest.raises(InputError, match=r"5 is not one of the 3 .*classes=\["):
        bc.fit(INDEX[some] + 5, PROBA[some])


WAYS = "as a data frame .*as pandas.Categorical.*classes="


@pytest.mark.parametrize("door", [bc.fit, bc.compare, bc.assess])
@pytest.mark.parametrize("labels", [NAMES[INDEX], NAMES[INDEX].tolist(), pd.Series(NAMES[INDEX])])
def test_words_beside_a_plain_matrix_are_not_put_in_alphabetical_order(door, labels):
    with pytest.raises(InputError, match=WAYS):
        door(labels, PROBA)


def test_words_beside_columns_with_other_names_are_refused():
    other = pd.DataFrame(PROBA, columns=["p_dog", "p_cat", "p_ant"])
    with pytest.raises(InputError, match=WAYS):
        bc.CalibrationData(NAMES[INDEX], other)


def test_classes_name_the_columns():
    of_words = bc.CalibrationData(NAMES[INDEX], PROBA, classes=NAMES)
    assert of_words == bc.CalibrationData(INDEX, PROBA)


def test_a_recalibrator_follows_the_same_rule():
    known = bc.recalibrate.LogisticRecalibrator().fit(PROBA, INDEX).transform(PROBA)
    ordered = pd.Categorical(NAMES[INDEX], categories=NAMES)
    frame = pd.DataFrame(PROBA, columns=NAMES)
    with pytest.raises(InputError, match=WAYS):
        bc.recalibrate.LogisticRecalibrator().fit(PROBA, NAMES[INDEX])
    by_order = bc.recalibrate.LogisticRecalibrator().fit(PROBA, ordered)
    by_name = bc.recalibrate.LogisticRecalibrator().fit(PROBA, NAMES[INDEX], classes=NAMES)
    by_column = bc.recalibrate.LogisticRecalibrator().fit(frame, NAMES[INDEX])
    assert by_order.classes_.tolist() == by_name.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(by_order.transform(PROBA), known)
    np.testing.assert_array_equal(by_name.transform(PROBA), known)
    np.testing.assert_allclose(by_column.transform(frame), known[:, ::-1], rtol=1e-9)


def test_the_other_doors_take_a_matrix():
    assert bc.compare(INDEX, PROBA, **CHEAP).posterior.data == TOP
    a = bc.assess(INDEX, PROBA, **CHEAP)
    assert a.data == TOP
    assert a.val_prob().equals(bc.assess(TOP, **CHEAP).val_prob())


def test_class_wise_is_one_hierarchical_fit():
    matrix = pd.DataFrame(PROBA, columns=NAMES)
    post = bc.fit(NAMES[INDEX], matrix, mode="class-wise", curve="intercept", **CHEAP)
    assert post.problem.kind == "sites"
    assert post.labels == ("ant", "cat", "dog")
    assert post.at({"class": "cat"}).data == bc.CalibrationData(INDEX == 1, PROBA[:, 1])


ONE = PROBA[:, 0]
REFUSED = [
    ((INDEX, ONE), {}, r"neither 0 nor 1.*fit\(labels, matrix\)"),
    ((NAMES[INDEX], ONE), {}, r"'ant', 'cat', 'dog'\. Of three classes .*fit\(labels, matrix\)"),
    ((NAMES[INDEX], ONE), {"pos_label": "Dog"}, r"not two classes .*fit\(labels, matrix\)"),
    ((INDEX, PROBA), {"pos_label": 1}, "pos_label was given beside a matrix"),
    ((INDEX > 0, ONE), {"mode": "class-wise"}, "mode='class-wise' was given without a matrix"),
    ((INDEX, PROBA), {"mode": "both"}, "mode must be one of"),
    ((TOP,), {"mode": "top-label"}, "mode was given beside a CalibrationData"),
    ((INDEX, PROBA), {"mode": "class-wise", "site": INDEX}, "site was given with mode="),
    ((INDEX[:9], PROBA), {}, "y_true has 9 observations but y_prob has 120"),
    ((INDEX, PROBA / 2), {}, r"y_prob\[0\] sums to 0.5"),
]


@pytest.mark.parametrize(("cases", "options", "told"), REFUSED)
def test_what_cannot_be_read_is_refused(cases, options, told):
    with pytest.raises(InputError, match=told):
        bc.fit(*cases, **options)


def test_class_wise_is_fitted_and_not_assessed():
    with pytest.raises(InputError, match=r"fit\(labels, matrix, mode='class-wise'\)"):
        bc.assess(INDEX, PROBA, mode="class-wise", **CHEAP)


def test_two_labels_by_themselves_still_ask_for_the_event():
    with pytest.raises(InputError, match="pos_label="):
        bc.fit(["a", "b"] * 4, [0.1] * 8)


def test_two_columns_are_not_taken_for_classes_unless_a_mode_says_so():
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    both = np.column_stack([1 - s, s])
    for door in (bc.fit, bc.assess, bc.compare, bc.recommend):
        with pytest.raises(InputError, match=r"the probability of the event alone, such as y_prob"):
            door(y, both)
    post = bc.fit(y, both, mode="top-label", curve="logistic", draws=200)
    assert post.data == bc.CalibrationData(y, both, mode="top-label")


def test_a_door_of_one_score_says_so():
    with pytest.raises(InputError, match="y_prob holds 3 columns, and one score a case is taken"):
        bc.tce_lower_bound(NAMES[INDEX], PROBA)


def test_pos_label_is_refused_beside_a_table():
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    data = bc.CalibrationData(y, s)
    for door in (bc.fit, bc.assess, bc.compare, bc.recommend, bc.tce_lower_bound):
        with pytest.raises(InputError, match="pos_label was given beside a CalibrationData"):
            door(data, pos_label=0)
