"""What a person is told whose file holds no probabilities, but something near."""

import numpy as np
import pytest
from scipy.special import logit

from bayescal.cli.reading import read_from, request_of
from bayescal.core.errors import InputError
from bayescal.data.cases import as_scores
from bayescal.data.columns import LOG_ODDS, PERCENT

NAMES = {"outcome": ["y"], "prob": ["p"]}


def refused(path):
    with pytest.raises(InputError) as caught:
        read_from(request_of(path, NAMES))
    return str(caught.value)


@pytest.mark.parametrize(
    ("scores", "cure"),
    [
        (("-1.5", "0.3", "2.2"), "log-odds, read them with --scale logit"),
        (("16.7", "30", "80"), "percentages, read them with --scale percent"),
        (("16.7%", "30%", "80%"), "with or without the sign, are read with --scale percent"),
    ],
)
def test_scores_that_are_no_probabilities_get_a_hint(tmp_path, scores, cure):
    path = tmp_path / "a.csv"
    rows = [f"{k % 2},{score}" for k, score in enumerate(scores)]
    path.write_text("\n".join(["y,p", *rows]))
    assert cure in refused(path)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("labels", [("0", "1"), ("0.0", "1.0"), ("False", "True")])
def test_outcomes_of_two_numbers_are_read_as_they_are(tmp_path, labels, missing):
    path = tmp_path / "a.csv"
    rows = [f"{labels[k % 2]},{0.1 * k:.1f}" for k in range(1, 6)] + [f"{labels[0]},"] * missing
    path.write_text("\n".join(["y,p", *rows]))
    read = read_from(request_of(path, NAMES | {"drop_missing": missing}))
    assert (read.dropped, read.rows) == (int(missing), 5 + missing)
    np.testing.assert_array_equal(read.data.hits, [1, 0, 1, 0, 1])


PROBABILITIES = [0.02, 0.35, 0.5, 0.875]


@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize(
    ("scale", "texts"),
    [
        (LOG_ODDS, [repr(float(x)) for x in logit(PROBABILITIES)]),
        (PERCENT, ["2.0", "35", "50", "87.5"]),
        (PERCENT, ["2%", "35.0 %", "50%", "87.5%"]),
    ],
)
def test_log_odds_and_percentages_are_read(tmp_path, scale, texts, guessed):
    name = "x" if guessed and "%" not in texts[0] else "p"
    path = tmp_path / "a.csv"
    path.write_text("\n".join([f"y,{name}", *(f"{k % 2},{text}" for k, text in enumerate(texts))]))
    read = read_from(request_of(path, {"scale": "logit" if scale is LOG_ODDS else "percent"}))
    np.testing.assert_allclose(read.data.score, PROBABILITIES, rtol=1e-14)
    assert read.told["scale"] == scale.name


@pytest.mark.parametrize("score", ["-3", "101"])
def test_percentages_have_a_range(tmp_path, score):
    path = tmp_path / "a.csv"
    path.write_text(f"y,p\n1,20\n0,{score}\n")
    message = rf"column 'p': {score} is outside \[0, 100\] on line 3 of"
    with pytest.raises(InputError, match=message):
        read_from(request_of(path, NAMES | {"scale": "percent"}))


def test_the_sign_of_a_weight_is_no_reason_for_percent(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p,w\n1,.3,10%\n0,.4,20\n")
    message = (
        r"column 'w': '10%' on line 2 of [^.]*\.csv is not a number\..*without the sign, / 100\.$"
    )
    with pytest.raises(InputError, match=message):
        read_from(request_of(path, NAMES | {"sample_weight": ["w"]}))


@pytest.mark.parametrize(
    ("values", "cure"),
    [
        ([-2.0, 0.5], r"scipy\.special\.expit"),
        ([120.0, 0.5], r"scipy\.special\.expit"),
        ([0.0, 90.0], "percentages, divide by 100"),
        (["16.7%", "3%"], "percentages as numbers without the sign, / 100"),
    ],
)
def test_python_gets_the_same_hints(values, cure):
    with pytest.raises(InputError, match=cure):
        as_scores(values)


def test_a_third_value_late_in_a_file_counts_when_the_outcome_is_guessed(tmp_path):
    path, n = tmp_path / "a.csv", 1500
    died = [k % 2 for k in range(n)]
    stage = [k % 2 for k in range(n - 1)] + [2]
    rows = [
        f"{d},{s},{(k % 90 + 5) / 100}" for k, (d, s) in enumerate(zip(died, stage, strict=True))
    ]
    path.write_text("\n".join(["died,stage,chance", *rows]))
    read = read_from(request_of(path))
    assert (read.columns.outcome, read.columns.prob) == ("died", "chance")


def test_scores_whose_first_rows_are_zeros_and_ones_are_guessed(tmp_path):
    path, n = tmp_path / "a.csv", 1500
    chance = [float(k % 2) for k in range(n - 1)] + [0.4]
    path.write_text("\n".join(["died,chance", *(f"{k % 2},{p}" for k, p in enumerate(chance))]))
    assert read_from(request_of(path)).columns.prob == "chance"


MIXED = "y,p\n1,81%\n0,0.1434\n0,{}\n"


@pytest.mark.parametrize("last", ["0", "1", "0.9", "7%"])
def test_percentages_beside_probabilities_are_refused(tmp_path, last):
    path = tmp_path / "a.csv"
    path.write_text(MIXED.format(last))
    message = r"column 'p': '0\.1434' on line 3 of .* has no percent sign, and 81% has one"
    with pytest.raises(InputError, match=message):
        read_from(request_of(path, NAMES | {"scale": "percent"}))


def test_percentages_with_and_without_the_sign(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(MIXED.format("35"))
    read = read_from(request_of(path, NAMES | {"scale": "percent"}))
    np.testing.assert_allclose(read.data.score, [0.001434, 0.35, 0.81])
    path.write_text("y,p\n1,81%\n0,0\n")
    read = read_from(request_of(path, NAMES | {"scale": "percent"}))
    np.testing.assert_allclose(read.data.score, [0, 0.81])


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("died", (0, 0, 0), "Column 'died' is 0 in all rows."),
        ("outcome", (0, 1, 2), r"Column 'outcome' has 3 values \(0, 1, 2\), not two."),
        ("died", (0, -9, 1), r"Column 'died' has 3 values \(-9, 0, 1\), not two\. If -9 is for"),
        ("status", ("", "", ""), "Column 'status' is empty."),
    ],
)
def test_near_outcomes_that_do_not_fit_are_told(tmp_path, name, values, told):
    path = tmp_path / "a.csv"
    rows = zip(values, (0.2, 0.3, 0.4), strict=True)
    path.write_text(f"{name},p\n" + "".join(f"{y},{p}\n" for y, p in rows))
    message = rf"no column looks like the outcome\. {told}.* Say which it is with --outcome"
    with pytest.raises(InputError, match=message):
        read_from(request_of(path))
