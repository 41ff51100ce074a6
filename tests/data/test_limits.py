"""Labels, factors, periods and imputations past a limit are refused at once, with their number."""

import time

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.roles import count_labels
from bayescal.data.table import check_factors
from bayescal.errors import InputError, SpellingWarning
from bayescal.multilevel.known import check_few_labels

N = 200_000
SECONDS = 2.0
"""Of processor time; about 0.2 are needed. A pass over all labels for each would take hours."""

RNG = np.random.default_rng(0)
SCORE = RNG.uniform(0.05, 0.95, N)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
CODES = np.arange(N)
TEXTS = np.array([f"label {k}" for k in range(N)])
LABELS = {
    "whole numbers": CODES,
    "numbers": CODES / 7,
    "texts": TEXTS,
    "objects": TEXTS.astype(object),
    "list": TEXTS.tolist(),
    "categories": pd.Series(pd.Categorical(TEXTS)),
}
FEW = slice(0, 100)
KNOWN = {
    "site": TEXTS,
    "observed": np.full(N, 9.0),
    "expected": np.full(N, 10.0),
    "n": np.full(N, 90),
}


def refused(call, message):
    start = time.process_time()
    with pytest.raises(InputError, match=message):
        call()
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("kind", LABELS)
def test_labels_past_the_limit(kind):
    labels = LABELS[kind]
    message = "^site holds 200,000 distinct labels, and at most 200 can be assessed"
    refused(lambda: bc.assess(OUTCOME, SCORE, site=labels), message)
    message = "^site holds 200,000 distinct labels, and at most 2,000 are fitted at once"
    refused(lambda: bc.fit(OUTCOME, SCORE, site=labels, curve="logistic"), message)
    refused(lambda: bc.build_model(OUTCOME, SCORE, site=labels, curve="logistic"), message)
    crossed = {"a": labels, "b": CODES % 2}
    message = r"^subgroup\['a'\] has 200,000 levels, and at most 12,000 combinations"
    refused(lambda: bc.fit(OUTCOME, SCORE, subgroup=crossed, curve="logistic"), message)
    refused(lambda: bc.assess(OUTCOME, SCORE, subgroup=crossed), message)


def test_an_update_past_the_limit():
    site = np.resize(["A", "B", "C"], 100)
    post = bc.fit(OUTCOME[FEW], SCORE[FEW], site=site, curve="logistic", draws=400)
    message = "^site holds 200,000 distinct labels, and at most 2,000"
    refused(lambda: bc.update(post, OUTCOME, SCORE, site=CODES), message)


@pytest.mark.slow
def test_groups_of_a_table_past_the_limit():
    table = bc.CalibrationData(OUTCOME, SCORE, site=CODES)
    refused(lambda: bc.assess(table), "^site holds 200,000 distinct labels")
    refused(lambda: bc.fit(table, curve="logistic"), "^the table holds 200,000 groups")
    start = time.process_time()
    assert sum(table.select(name).n for name in table.groups[::10]) == N / 10
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "periods",
    [
        CODES,
        CODES / 7,
        TEXTS.tolist(),
        np.datetime64("2000-01-01", "s") + CODES.astype("timedelta64[s]"),
        pd.Categorical(TEXTS, categories=TEXTS, ordered=True),
    ],
    ids=["whole numbers", "numbers", "list", "times", "categories"],
)
def test_periods_past_the_limit(periods):
    message = "^period holds 200,000 periods, but at most 60 are compared"
    refused(lambda: bc.fit(OUTCOME, SCORE, period=periods), message)


def test_sites_known_by_summaries_past_the_limit():
    message = "^known has 200,000 sites, and at most 2,000 are fitted at once"
    refused(lambda: bc.fit(None, SCORE[FEW], known=KNOWN, curve="logistic"), message)
    known = {name: values[:1500] for name, values in KNOWN.items()}
    sites = np.arange(600)
    message = "^site and known hold 2,100 sites together"
    y, s = OUTCOME[:600], SCORE[:600]
    refused(lambda: bc.fit(y, s, site=sites, known=known, curve="logistic"), message)


def test_factors_past_the_limit():
    groups = {f"factor {k}": CODES[FEW] % 2 for k in range(N)}
    message = "^subgroup has 200,000 columns, and at most 20 can be crossed"
    refused(lambda: bc.fit(OUTCOME[FEW], SCORE[FEW], subgroup=groups, curve="logistic"), message)


def test_imputations_past_the_limit():
    matrix = np.broadcast_to(SCORE[FEW], (N, 100))
    message = "^imputation has 200,000 rows, one for each imputation, and at most 1,000"
    refused(lambda: bc.fit(OUTCOME[FEW], curve="beta", imputation=matrix), message)
    refused(lambda: bc.assess(OUTCOME[FEW], imputation=matrix), message)
    turned = np.broadcast_to(SCORE[:, None], (N, 5))
    refused(
        lambda: bc.fit(OUTCOME, curve="beta", imputation=turned),
        r"^imputation has .* imputation\.T",
    )


def test_labels_are_counted_by_their_texts():
    with pytest.warns(SpellingWarning, match="'1' as a text and as a value of another type"):
        assert count_labels([1, "1", 2.5, "a", "a"], "site") == 3
    assert count_labels(np.array([3, 3, -1]), "site") == 2
    with pytest.raises(InputError, match=r"site\[1\] is missing"):
        count_labels(["a", None], "site")


def test_as_many_as_the_limit_are_taken():
    factors = {"a": CODES[:400] % 100, "b": CODES[:400] // 100 % 2}
    crossed = check_factors(bc.CalibrationData(OUTCOME[:400], SCORE[:400], subgroup=factors))
    assert len(crossed.cells) == 200
    check_few_labels(CODES[:2000])
