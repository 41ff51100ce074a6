"""A table from chunks: the same for any split, order and type of the cases, counts to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescal as bc
from bayescal.data.rows import GRID, LIMIT, locate
from bayescal.data.stored import fingerprint
from bayescal.errors import InputError, WeightWarning

WEIGHTS = ("none", "counts", "sampling", "tiny")
LABELS = ("none", "numbers", "texts")


def cases(n, weights, labels, seed=0):
    """Columns of a chunk: scores of 0 and 1 and ties among them, one group larger than the rest."""
    rng = np.random.default_rng(seed)
    s = rng.beta(2, 5, n)
    s[rng.random(n) < 0.05], s[rng.random(n) < 0.05] = 0.0, 1.0
    s[rng.random(n) < 0.2] = 0.25
    y = (rng.random(n) < s).astype(np.int8)
    w = {
        "none": None,
        "counts": rng.integers(0, 3, n).astype(float),
        "sampling": rng.lognormal(0, 2, n),
        "tiny": 1e-40 * rng.lognormal(0, 2, n),
    }[weights]
    site = np.minimum(rng.poisson(0.2, n), 11)
    g = {"none": None, "numbers": site, "texts": np.array([f"site {k}" for k in site])}[labels]
    return y, s, w, g


def table(y_true, y_prob, sample_weight, site, **options):
    return bc.CalibrationData(y_true, y_prob, sample_weight, site=site, **options)


def split(columns, n_chunks, seed):
    """The cases in any order and in chunks of any sizes, some of them empty."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(columns[0].size)
    for part in np.split(order, np.sort(rng.integers(0, order.size + 1, n_chunks - 1))):
        yield tuple(None if column is None else column[part] for column in columns)


def assert_same(*tables):
    """Equal to the last bit; sums of weights that are not whole but for rounding."""
    first, *others = tables
    expected, exact = first.to_xarray(), bool((first.trials % 1 == 0).all())
    for other in others:
        dataset = other.to_xarray()
        assert (other.groups, other.weight_type) == (first.groups, first.weight_type)
        assert set(dataset.data_vars) == set(expected.data_vars)
        for name, column in expected.data_vars.items():
            values = (column.to_numpy(), dataset[name].to_numpy())
            if exact or column.dtype.kind != "f":
                np.testing.assert_array_equal(*values)
            else:
                np.testing.assert_allclose(*values, rtol=1e-12)
        assert other.effective_size == pytest.approx(first.effective_size, rel=1e-12)
        assert other == first
        assert fingerprint(other) == fingerprint(first)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("n", [300, 12_000])
def test_any_number_of_chunks_gives_the_same_bits(n, labels, weights):
    columns = cases(n, weights, labels)
    given = None if weights == "none" else "sampling"
    expected = table(*columns, weight_type=given)
    for n_chunks in (1, 7, 1000):
        chunks = split(columns, n_chunks, seed=n_chunks)
        assert_same(expected, bc.CalibrationData.from_chunks(chunks, weight_type=given))


@settings(max_examples=30)
@given(
    n=st.integers(2, 60),
    n_chunks=st.integers(1, 20),
    weights=st.sampled_from(WEIGHTS),
    labels=st.sampled_from(LABELS),
    seed=st.integers(0, 99),
)
def test_few_cases_in_any_chunks_give_the_same_bits(n, n_chunks, weights, labels, seed):
    columns = cases(n, weights, labels, seed)
    if weights == "counts":
        columns[2][0] = 1
    chunks = split(columns, n_chunks, seed + 1)
    assert_same(bc.CalibrationData.from_chunks(chunks), table(*columns))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("sizes", [(100, 200), (3000, 4000), (100, 9000), (1500, 1500)])
def test_tables_add_to_the_same_bits_in_any_order(sizes, labels, weights):
    given = None if weights == "none" else "sampling"
    first, second, third = (
        cases(size, weights, labels, seed) for seed, size in enumerate((*sizes, 500))
    )
    tables = [table(*part, weight_type=given) for part in (first, second, third)]
    joined = [
        None if column[0] is None else np.concatenate(column)
        for column in zip(first, second, third, strict=True)
    ]
    expected = table(*joined, weight_type=given)
    a, b, c = tables
    stored = [bc.CalibrationData.from_xarray(table.to_xarray()) for table in tables]
    assert_same(expected, (a + b) + c, a + (b + c), (c + b) + a, stored[0] + stored[1] + stored[2])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n", [2000, 20_000])
def test_each_group_is_the_table_of_its_cases(n, weights):
    y, s, w, g = cases(n, weights, "numbers")
    given = None if w is None else "sampling"
    data = bc.CalibrationData(y, s, w, site=g, weight_type=given)
    for name in data.groups:
        own = g == int(name)
        alone = bc.CalibrationData(y[own], s[own], None if w is None else w[own], weight_type=given)
        assert_same(data.select(name), alone)
    assert_same(data.pooled(), bc.CalibrationData(y, s, w, weight_type=given))


@pytest.mark.parametrize("n", [300, 12_000])
def test_counts_are_repeats_to_the_last_bit(n):
    y, s, w, g = cases(n, "counts", "texts")
    repeats = w.astype(int)
    counted = bc.CalibrationData(y, s, w, site=g)
    repeated = bc.CalibrationData(
        *(np.repeat(column, repeats) for column in (y, s)), site=np.repeat(g, repeats)
    )
    for column in ("score", "trials", "hits"):
        np.testing.assert_array_equal(getattr(counted, column), getattr(repeated, column))


def test_numeric_groups_stand_in_numeric_order():
    y, s = [0, 1, 1, 0], [0.1, 0.8, 0.9, 0.3]
    assert bc.CalibrationData(y, s, site=[10, 9, 100, 9]).groups == ("9", "10", "100")
    mixed = bc.CalibrationData(y, s, site=["10", "9", "b", "a"])
    assert mixed.groups == ("10", "9", "a", "b")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outcomes_and_scores_of_any_type_are_the_same_table(dtype):
    y, s, _, _ = cases(5000, "none", "none")
    s = s.astype(dtype)
    expected = bc.CalibrationData(y.astype(float), s.astype(float))
    for outcomes in (y, y.astype(bool), y.astype(float), y.astype(np.uint64), y.tolist()):
        one = bc.CalibrationData(outcomes, s)
        assert_same(expected, one, bc.CalibrationData.from_chunks([(outcomes, s)]))


def test_a_buffer_that_is_used_again_changes_nothing():
    y, s, _, g = cases(600, "none", "numbers")
    buffer = [np.empty(100, column.dtype) for column in (y, s, g)]

    def chunks():
        for start in range(0, 600, 100):
            for own, column in zip(buffer, (y, s, g), strict=True):
                own[:] = column[start : start + 100]
            yield buffer[0], buffer[1], None, buffer[2]

    assert_same(bc.CalibrationData.from_chunks(chunks()), bc.CalibrationData(y, s, None, site=g))


def test_progress_hears_the_number_of_cases():
    heard = []
    bc.CalibrationData.from_chunks(
        [([0, 1], [0.2, 0.8]), ([], []), ([1], [0.5])], progress=heard.append
    )
    assert heard == [2, 2, 3]


GOOD = ([0, 1], [0.2, 0.8])


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([GOOD, GOOD, ([0, 1], [0.5, 1.2])], r"chunk 2: y_prob\[1\] = 1.2 is outside"),
        ([GOOD, ([0, 2], [0.5, 0.2])], r"chunk 1: y_true\[1\] = 2 is neither 0 nor 1"),
        ([([0, 1], [0.5, np.nan])], r"chunk 0: y_prob\[1\] = nan is missing"),
        ([GOOD, ([0, 1], [0.5])], "chunk 1: y_true has 2 observations but y_prob has 1"),
        ([GOOD, (*GOOD, [1.0, 2.0])], "chunk 1: this chunk has weights, and those before had none"),
        ([(*GOOD, [1.0, -2.0])], r"chunk 0: sample_weight\[1\] = -2 is not"),
        ([(*GOOD, [0.0, 0.0]), ([], [], [])], "sample_weight is zero everywhere"),
        ([GOOD, [0.2]], "chunk 1 is no tuple .* but list of length 1"),
        ([GOOD, 3], "chunk 1 is no tuple .* but int"),
        ([], "the chunks hold no cases"),
        ([([], [])], "the chunks hold no cases"),
    ],
)
def test_what_is_wrong_is_named_with_its_chunk(chunks, words):
    with pytest.raises(InputError, match=words):
        bc.CalibrationData.from_chunks(chunks)


def test_one_label_is_the_event_in_all_chunks_together():
    chunks = [(["yes", "yes"], [0.2, 0.8]), (["no", "no"], [0.1, 0.3])]
    data = bc.CalibrationData.from_chunks(chunks, pos_label="yes")
    assert (data.n, data.events) == (4, 2)
    more = [*chunks, (["maybe"], [0.5])]
    assert bc.CalibrationData.from_chunks(more, pos_label="yes").events == 2
    with pytest.raises(InputError, match="'maybe', 'no', 'yes', which are not two classes"):
        bc.CalibrationData.from_chunks(more, pos_label="Yes")


def test_chunks_take_the_type_of_their_weights_together():
    counts, fractions = (*GOOD, [1.0, 2.0]), (*GOOD, [0.5, 2.0])
    assert bc.CalibrationData.from_chunks([counts]).weight_type == "counts"
    assert bc.CalibrationData.from_chunks([counts, fractions]).weight_type == "sampling"
    assert bc.CalibrationData.from_chunks([counts], weight_type="sampling").is_pseudo
    with pytest.raises(
        InputError, match=r"chunk 1: sample_weight\[0\] = 0.5 is not a whole number"
    ):
        bc.CalibrationData.from_chunks([counts, fractions], weight_type="counts")
    with pytest.raises(InputError, match="there is none"):
        bc.CalibrationData.from_chunks([GOOD], weight_type="sampling")


def in_parts(n_chunks, *columns):
    return zip(*(np.array_split(column, n_chunks) for column in columns), strict=True)


@pytest.mark.parametrize("rows", [200, 5000])
def test_chunks_of_weights_that_can_be_either_warn_once(rows):
    y, s = bc.simulate.sample("clinical-middle-shifted", rows, random_state=5)
    weights = np.random.default_rng(5).choice([4.0, 20.0], rows)
    with pytest.warns(WeightWarning) as alone:
        bc.CalibrationData(y, s, weights)
    for groups in ([], [np.arange(rows) % 2]):
        with pytest.warns(WeightWarning) as caught:
            bc.CalibrationData.from_chunks(in_parts(7, y, s, weights, *groups))
        assert [str(one.message) for one in caught] == [str(one.message) for one in alone]
        assert caught[0].filename == __file__
    for weight_type in ("counts", "sampling"):
        bc.CalibrationData.from_chunks(in_parts(7, y, s, weights), weight_type=weight_type)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("labels", LABELS)
def test_the_sizes_of_blocks_change_nothing(monkeypatch, labels, weights):
    columns = cases(6000, weights, labels)
    given = None if weights == "none" else "sampling"
    expected = table(*columns, weight_type=given)
    monkeypatch.setattr("bayescal.data.rows.BLOCK", 70)
    monkeypatch.setattr("bayescal.data.roles.FEW_LABELS", 0)
    assert_same(table(*columns, weight_type=given), expected)


@pytest.mark.parametrize("outcome", [0, 1])
def test_all_cases_of_many_blocks_may_be_at_the_upper_end_of_one_cell(outcome):
    """There the sum of positions is largest."""
    spread = np.linspace(0.01, 0.99, LIMIT + 1)
    cell, _ = locate(np.array([0.3]))
    near = 0.3 + np.linspace(0, 0.01, 100_001)
    last = near[locate(near)[0] == cell].max()
    many = np.full(200_000, last)
    score = np.append(spread, many)
    table = bc.CalibrationData(np.full(score.size, outcome), score)
    expected = np.bincount(locate(spread)[0], minlength=GRID)
    expected[cell] += many.size
    np.testing.assert_array_equal(table.trials, expected[expected > 0])
    np.testing.assert_array_equal(table.hits, outcome * table.trials)
    at = np.flatnonzero(table.trials > many.size / 2)
    assert table.score[at] == pytest.approx(last, rel=1e-5)


@pytest.mark.parametrize("size", [7, 60, 1000])
def test_chunks_of_a_collapsed_table_are_counts_without_a_word(size):
    y, s = bc.simulate.sample("clinical-middle-shifted", 20_000, random_state=2)
    table = bc.CalibrationData(y, s.round(2))
    arrays = [np.asarray(each) for each in table.to_arrays()]
    order = np.random.default_rng(0).permutation(arrays[0].size)
    again = bc.CalibrationData.from_chunks(in_parts(size, *(each[order] for each in arrays)))
    np.testing.assert_array_equal(again.trials, table.trials)
    assert again.weight_type == "counts"


@pytest.mark.parametrize("size", [7, 60])
def test_a_row_told_twice_in_two_chunks_is_no_collapsed_table(size):
    y, s = bc.simulate.sample("clinical-middle-shifted", 20_000, random_state=2)
    arrays = bc.CalibrationData(y, s.round(2)).to_arrays()
    twice = [np.append(each, each[:1]) for each in arrays]
    with pytest.warns(WeightWarning, match="whole numbers that can be counts"):
        bc.CalibrationData.from_chunks(in_parts(size, *twice))
