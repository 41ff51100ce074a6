"""Times to an event as input: what is read, and what is refused in words."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data import rows
from bayescal.data.stored import fingerprint
from bayescal.data.times import TIME_STEPS, FollowUp
from bayescal.errors import InputError, ScoreWarning

TIME, EVENT, RISK = [2.5, 5.0, 1.2, 7.1, 5.0], [1, 0, 0, 1, 1], [0.4, 0.1, 0.2, 0.3, 0.5]


def table(time=TIME, event=EVENT, risk=RISK, horizon=5, **options):
    return bc.CalibrationData(bc.Survival(time, event, **options), risk, horizon=horizon)


def test_an_event_at_the_horizon_counts_and_leaving_there_is_without():
    data = table()
    assert data.events == 2
    followed = data.follow_up
    assert followed.censored == 1
    known = dict(zip(data.score[followed.row], followed.exit, strict=True))
    assert known[0.1] == TIME_STEPS
    assert known[0.5] == TIME_STEPS
    assert known[0.2] == round(1.2 / 5 * TIME_STEPS)
    assert repr(data) == "CalibrationData(5 cases, 2 events by 5, 1 censored before, 5 rows)"


def test_cases_at_risk_fall_with_time():
    np.testing.assert_array_equal(table().follow_up.at_risk(np.array([0.0, 2.0, 5.0])), [5, 4, 3])


@pytest.mark.parametrize("codes", [EVENT, [2, 0, 0, 1, 1]])
def test_tables_add_and_are_stored(codes, tmp_path):
    data = table(event=codes)
    other = table(time=[4.0, 9.0], event=[codes[0], 0], risk=[0.2, 0.9])
    both = table([*TIME, 4.0, 9.0], [*codes, codes[0], 0], [*RISK, 0.2, 0.9])
    assert data + other == both
    assert data not in (both, table(event=[0, 0, 0, 1, 1]))
    both.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == both
    with pytest.raises(InputError, match="horizons 3 and 5"):
        data + table(horizon=3)
    with pytest.raises(InputError, match="times to an event and the other has outcomes"):
        data + bc.CalibrationData([0, 1], [0.2, 0.9])


@pytest.mark.parametrize(
    "change",
    [
        {"time": [2.5, 5.0, 1.3, 7.1, 5.0]},
        {"event": [2, 0, 0, 1, 1], "cause": 1},
        {"horizon": 4.9},
        {"entry": [0, 1, 0, 0, 0]},
    ],
)
def test_the_fingerprint_knows_how_long_each_case_was_followed(change):
    assert fingerprint(table(**change)) != fingerprint(table())
    order = [3, 1, 4, 0, 2]
    moved = {"time": TIME, "event": EVENT, "risk": RISK} | change
    again = {k: [v[i] for i in order] if np.ndim(v) else v for k, v in moved.items()}
    assert fingerprint(table(**again)) == fingerprint(table(**change))


def test_cuts_have_as_much_time_at_risk_each():
    time = np.full(100, 5.0)
    cuts = table(time, np.zeros(100), np.full(100, 0.2)).follow_up.cuts(5)
    np.testing.assert_allclose(cuts, np.arange(6) * TIME_STEPS / 5, atol=1)


def test_a_case_without_weight_is_left_out():
    weights = np.array([1, 1, 1, 1, 0])
    data = bc.CalibrationData(bc.Survival(TIME, EVENT), RISK, weights, horizon=5)
    assert data == table(TIME[:4], EVENT[:4], RISK[:4])


@pytest.mark.parametrize(
    ("time", "event", "options", "message"),
    [
        ([1, -2.0], [0, 1], {}, r"time\[1\] = -2 is no time"),
        ([1, np.nan], [0, 1], {}, r"time\[1\] = nan is no time"),
        ([1, 2], [0, -1], {}, r"event\[1\] = -1 is no code of what ended it. Pass 0 for a case"),
        ([1, 2], [0, 0.5], {}, r"event\[1\] = 0.5 is no code of what ended it. Pass 0 for a case"),
        ([1, 2], [0, 365], {}, r"event\[1\] = 365 is no code"),
        ([1, 2], [0, np.nan], {}, r"event\[1\] = nan"),
        ([1, 2], [0, 1], {"cause": 0}, "cause must be a whole number from 1 to 20, got 0"),
        ([1, 2], [0, 1], {"cause": "death"}, "cause must be a whole number"),
        ([1, 2], [0, 1], {"entry": [0, 2]}, r"entry\[1\] = 2 is not before the event"),
        ([1, 2], [0, 1], {"entry": [1.5, 0]}, r"entry\[0\] = 1.5 is not before the end"),
        ([1, 2], [0, 1], {"entry": [-1, 0]}, r"entry\[0\] = -1 is before the start"),
        ([1, 2], [1], {}, "time has 2"),
    ],
)
def test_wrong_times_are_refused_in_words(time, event, options, message):
    with pytest.raises(InputError, match=message):
        bc.Survival(time, event, **options)


def test_codes_of_r_are_asked_about():
    """R writes 1 for a case that left and 2 for the event."""
    with pytest.raises(InputError, match="no 0, and R writes 1 for a case that left"):
        table(event=[2, 1, 1, 2, 2])
    chunk = {"time": TIME, "event": [2, 1, 1, 2, 2], "y_prob": RISK}
    with pytest.raises(InputError, match="name the one that scores are risks of"):
        bc.CalibrationData.from_chunks([chunk], horizon=5)
    bc.CalibrationData.from_chunks([chunk, chunk | {"event": EVENT}], horizon=5)
    named = table(event=[2, 1, 1, 2, 2], cause=2)
    assert named.events == 2
    assert named.follow_up.competing == 2


def test_a_competing_event_is_by_the_horizon_or_none():
    data = table(time=[2.5, 5.0, 5.5, 7.1, 1.0], event=[2, 2, 2, 0, 1])
    assert data.follow_up.competing == 2
    assert data.follow_up.censored == 0
    assert repr(data) == (
        "CalibrationData(5 cases, 1 event by 5 and 2 with a competing event, 0 censored before, "
        "5 rows)"
    )
    assert repr(bc.Survival(TIME, [2, 0, 3, 1, 1])) == (
        "Survival(5 cases, 2 events, 2 competing events, 1 censored)"
    )


def test_texts_are_no_codes():
    with pytest.raises(InputError, match=r"event\[1\] = 'dead' is no code.*as in event == 'dead'"):
        bc.Survival([1.0, 2.0], np.array([0, "dead"], dtype=object))
    with pytest.raises(InputError, match=r"event\[0\] = 'alive'"):
        bc.Survival(pd.Series([1.0, 2.0]), pd.Series(["alive", "dead"]))


def test_a_door_of_times_asks_for_the_horizon():
    with pytest.raises(InputError, match=r"horizon is missing: times to an event were given"):
        bc.fit_known(bc.Survival(TIME, EVENT), RISK)
    with pytest.raises(InputError, match="a Survival was passed"):
        list(bc.Survival(TIME, EVENT))


def test_event_is_needed():
    with pytest.raises(InputError, match="event is missing"):
        bc.Survival([1.0, 2.0])


@pytest.mark.parametrize(
    ("horizon", "message"),
    [
        (None, "horizon is missing"),
        (0, "must be a positive time"),
        (9, "no case was followed beyond 7.1, and 2 left"),
    ],
)
def test_wrong_horizons_are_refused_in_words(horizon, message):
    with pytest.raises(InputError, match=message):
        table(horizon=horizon)


def test_all_censored_at_one_time_before_the_horizon_is_refused():
    with pytest.raises(InputError, match="no case was followed beyond 3"):
        table(np.full(5, 3.0), np.zeros(5))


def test_a_horizon_needs_times():
    with pytest.raises(InputError, match="horizon was given, but no times"):
        bc.fit([0, 1], [0.2, 0.9], horizon=5)
    with pytest.raises(InputError, match="horizon was given, but no times"):
        bc.fit(table(), horizon=5)


def test_entries_that_are_all_late_are_refused():
    with pytest.raises(InputError, match=r"no case was under observation before 0\.5"):
        table(entry=[0.5, 0.7, 0.6, 0.9, 0.5])


def test_a_time_at_which_nobody_is_under_observation_is_refused():
    first, last = np.full(40, 1.0), np.full(40, 6.0)
    outcome = bc.Survival(
        np.concatenate([first, last]), np.tile([0, 0, 0, 1], 20), np.repeat([0.0, 2.0], 40)
    )
    score = np.tile(np.linspace(0.1, 0.6, 40), 2)
    with pytest.raises(InputError, match="between 1 and 2 no case was under observation, and 30"):
        bc.CalibrationData(outcome, score, horizon=5)
    short = bc.Survival(outcome.time, outcome.event, np.repeat([0.0, 1.2], 40))
    assert bc.CalibrationData(short, score, horizon=5).follow_up.is_delayed  # 4 % of the time


@pytest.mark.parametrize(("stay", "taken"), [(1, False), (4, False), (5, True), (30, True)])
def test_few_who_stand_for_many_that_left_are_refused(stay, taken):
    time = np.where(np.arange(100) < stay, 6.0, 1.5)
    outcome, score = bc.Survival(time, np.zeros(100)), np.linspace(0.1, 0.6, 100)
    if taken:
        assert bc.CalibrationData(outcome, score, horizon=5).n == 100
        return
    told = f"between 1.5 and 5 never more than {stay} case"
    with pytest.raises(InputError, match=told):
        bc.CalibrationData(outcome, score, horizon=5)
    assert bc.CalibrationData(outcome, score, horizon=1.5).n == 100
    late = bc.Survival(np.where(time == 1.5, 4.9, time), np.zeros(100))
    assert (
        bc.CalibrationData(late, score, horizon=5).n == 100
    )  # only 2 % of the time is hardly seen


def test_entry_at_the_horizon_is_refused():
    with pytest.raises(InputError, match=r"entry\[3\] = 5.5 is not before the horizon 5"):
        table(entry=[0, 0, 0, 5.5, 0])


def test_scores_with_other_labels_than_the_times_are_refused():
    labels = [f"case {k}" for k in range(len(TIME))]
    outcome = bc.Survival(pd.Series(TIME, index=labels), EVENT)
    assert bc.CalibrationData(outcome, pd.Series(RISK, index=labels), horizon=5) == table()
    assert bc.CalibrationData(outcome, RISK, horizon=5) == table()
    for given in ({"y_prob": RISK}, {"y_prob": RISK, "sample_weight": np.ones(len(TIME))}):
        last = list(given)[-1]
        other = given | {last: pd.Series(given[last], index=labels[::-1])}
        with pytest.raises(InputError, match=f"time and {last} have the same index labels"):
            bc.CalibrationData(outcome, horizon=5, **other)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    time = rng.exponential(4, 3000)
    entry = np.where(rng.random(3000) < 0.3, time * rng.random(3000) * 0.2, 0)
    event, risk = rng.random(3000) < 0.6, rng.random(3000)
    return pd.DataFrame({"years": time, "died": event, "since": entry, "risk": risk})


COLUMNS = {"time": "years", "event": "died", "entry": "since", "prob": "risk", "horizon": 4}


@pytest.fixture(scope="module")
def of_arrays(frame):
    outcome = bc.Survival(frame["years"], frame["died"], frame["since"])
    return bc.CalibrationData(outcome, frame["risk"], horizon=4)


def test_columns_of_a_frame_and_of_files_are_the_same_table(
    frame, of_arrays, tmp_path, monkeypatch
):
    """More scores than rows, so that cases are on the grid; files of a few cases each."""
    assert bc.CalibrationData.from_frame(frame, **COLUMNS) == of_arrays
    frame[:1700].to_parquet(tmp_path / "a.parquet")
    frame[1700:].to_parquet(tmp_path / "b.parquet")
    monkeypatch.setattr("bayescal.data.files.BATCH_ROWS", 500)
    assert bc.read(tmp_path, **COLUMNS) == of_arrays
    assert of_arrays.is_compressed


def test_chunks_of_times_are_the_same_table_however_they_are_split(frame, of_arrays):
    pieces = [frame[start : start + 700] for start in range(0, 3000, 700)]
    named = [
        {"time": each.years, "event": each.died, "entry": each.since, "y_prob": each.risk}
        for each in (*pieces, frame[:0])
    ]
    assert bc.CalibrationData.from_chunks(named, horizon=4) == of_arrays
    outcomes = [
        (bc.Survival(each.years, each.died, each.since), each.risk) for each in reversed(pieces)
    ]
    assert bc.CalibrationData.from_chunks(outcomes, horizon=4) == of_arrays


def test_weights_of_chunks_are_those_of_all(frame):
    weight = np.arange(3000) % 3
    outcome = bc.Survival(frame["years"], frame["died"])
    options = {"horizon": 4, "weight_type": "counts"}
    both = bc.CalibrationData(outcome, frame["risk"], weight, **options)
    chunks = [
        (bc.Survival(frame.years[part], frame.died[part]), frame.risk[part], weight[part])
        for part in (slice(0, 1000), slice(1000, None))
    ]
    assert bc.CalibrationData.from_chunks(chunks, **options) == both


def test_partitions_of_dask_are_the_same_table(frame, of_arrays):
    dask = pytest.importorskip("dask.dataframe")
    parts = dask.from_pandas(frame, npartitions=3)
    assert bc.CalibrationData.from_dask(parts, **COLUMNS) == of_arrays


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": "died"}, "outcome was given beside time, event or entry"),
        ({"event": None}, "event must be the name of a column"),
        ({"time": "days"}, "time=: there is no column 'days'"),
        ({"horizon": None}, "horizon is missing"),
        ({"horizon": 900}, "horizon is 900, but no case was followed beyond"),
        ({"pos_label": 1}, "pos_label was given beside a Survival"),
        ({"event": "years"}, r"column 'years'\[0\] = .* is no code of what ended it"),
    ],
)
def test_wrong_columns_of_times_are_refused_in_words(frame, change, message):
    with pytest.raises(InputError, match=message):
        bc.CalibrationData.from_frame(frame, **(COLUMNS | change))


def test_chunks_of_times_and_of_outcomes_are_not_mixed():
    times = {"time": TIME, "event": EVENT, "y_prob": RISK}
    with pytest.raises(InputError, match="chunk 1: horizon was given, but no times"):
        bc.CalibrationData.from_chunks([times, ([0, 1], [0.2, 0.8])], horizon=5)
    with pytest.raises(InputError, match="has y_true and times to an event"):
        bc.CalibrationData.from_chunks([times | {"y_true": EVENT}], horizon=5)
    with pytest.raises(InputError, match="lacks time or event or y_prob"):
        bc.CalibrationData.from_chunks([{"time": TIME, "y_prob": RISK}], horizon=5)


def test_probabilities_of_survival_are_noticed():
    """Risks are not, nor scores of too few cases."""
    rng = np.random.default_rng(2)
    risk = rng.random(300)
    event = -rng.exponential(1, 300) / np.log1p(-0.9 * risk)
    time, died = np.minimum(event, 1.5), event < 1.5
    with pytest.warns(ScoreWarning, match=r"C-statistic 0\.[12].*pass 1 - y_prob"):
        bc.CalibrationData(bc.Survival(time, died), 1 - risk, horizon=1)
    chunks = [(bc.Survival(time[:100], died[:100]), 1 - risk[:100])]
    with pytest.warns(ScoreWarning, match="probabilities of survival"):
        bc.CalibrationData.from_chunks(chunks, horizon=1)
    bc.CalibrationData(bc.Survival(time, died), risk, horizon=1)
    bc.CalibrationData(bc.Survival(time[:12], died[:12]), 1 - risk[:12], horizon=1)


def test_a_cause_that_no_case_has_is_warned_of():
    with pytest.warns(bc.errors.LabelWarning, match="cause=5 does not occur in event, whose codes"):
        bc.Survival([1.0, 2.0, 3.0], [0, 1, 2], cause=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bc.Survival([1.0, 2.0, 3.0], [0, 1, 2], cause=2)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n", [1, 40, 30_000])
def test_counting_and_sorting_give_the_same_entries(monkeypatch, n, late):
    rng = np.random.default_rng(n)
    time = rng.integers(1, 130, n) / 100
    entry = np.where(rng.random(n) < 0.5, 0, 0.5 * time) if late else None
    outcome = bc.Survival(time, rng.integers(0, 3, n), entry, cause=1)
    row, weight = rng.integers(0, 9, n), rng.uniform(0.5, 2, n)
    cases = FollowUp.of_cases(outcome, 1.0, weight)
    counted = cases.in_rows(row)
    monkeypatch.setattr(rows, "MOST_KEYS_A_VALUE", -1)
    sorted_ = cases.in_rows(row)
    assert counted == sorted_
    np.testing.assert_array_equal(counted.weight, sorted_.weight)
    assert counted.weight.sum() == pytest.approx(weight.sum())
    assert counted.row.dtype == counted.exit.dtype == sorted_.entry.dtype == np.intp
    order = np.lexsort((counted.kind, counted.exit, counted.entry, counted.row))
    np.testing.assert_array_equal(order, np.arange(order.size))
    np.testing.assert_allclose(
        np.bincount(counted.row, counted.weight, 9), np.bincount(row, weight, 9)
    )
