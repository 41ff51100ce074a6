"""Dask: the same table for any partitions and any scheduler, and errors that name the partition."""

import os
import pickle
import signal
import sys

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

dask = pytest.importorskip("dask", reason="needs dask, of the extra 'dask'")
dd = pytest.importorskip("dask.dataframe")

N = 5000
NAMES = {"outcome": "y", "prob": "p"}


def cases(n=N):
    rng = np.random.default_rng(1)
    p = rng.beta(2, 5, n)
    p[:4] = 0, 1, 0, 1
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "y": (rng.random(n) < p).astype(np.int8),
            "p": p,
            "w": rng.integers(0, 4, n),
            "site": np.array(["north", "south", "east"])[rng.integers(0, 3, n)],
        }
    )


@pytest.fixture(scope="module")
def frame():
    return cases()


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("partitions", [1, 7, 40])
def test_the_table_is_the_same_for_any_partitions(frame, partitions, scheduler):
    parts = dd.from_pandas(frame, npartitions=partitions)
    with dask.config.set(scheduler=scheduler):
        plain = bc.CalibrationData.from_dask(parts, **NAMES)
        table = bc.CalibrationData.from_dask(
            parts, **NAMES, sample_weight="w", site="site", weight_type="counts"
        )
    assert plain == bc.CalibrationData(frame.y, frame.p)
    expected = bc.CalibrationData(frame.y, frame.p, frame.w, site=frame.site, weight_type="counts")
    assert table == expected
    np.testing.assert_array_equal(table.group, expected.group)


def test_partitions_without_cases_or_weights(frame):
    parts = dd.from_pandas(frame, npartitions=10)
    some = parts[parts.id < N // 3]
    kept = frame[frame.id < N // 3]
    assert bc.CalibrationData.from_dask(some, **NAMES) == bc.CalibrationData(kept.y, kept.p)
    weighted = frame.assign(w=(frame.id < N // 3).astype(float))
    table = bc.CalibrationData.from_dask(
        dd.from_pandas(weighted, npartitions=10), **NAMES, sample_weight="w"
    )
    assert table == bc.CalibrationData(kept.y, kept.p)
    with pytest.raises(InputError, match="is empty: at least one observation"):
        bc.CalibrationData.from_dask(parts[parts.id < 0], **NAMES)


def test_one_label_is_the_event_in_all_partitions_together():
    frame = pd.DataFrame({"y": ["dead", "alive", "alive", "alive"], "p": [0.5, 0.25, 0.5, 0.25]})
    parts = dd.from_pandas(frame, npartitions=2)
    table = bc.CalibrationData.from_dask(parts, **NAMES, pos_label="dead")
    assert table == bc.CalibrationData([1, 0, 0, 0], frame.p)
    lost = frame.assign(y=["dead", "alive", "lost", "lost"])
    parts = dd.from_pandas(lost, npartitions=2)
    assert bc.CalibrationData.from_dask(parts, **NAMES, pos_label="dead") == table
    with pytest.raises(InputError, match="which are not two classes"):
        bc.CalibrationData.from_dask(parts, **NAMES, pos_label="Dead")


def test_only_the_named_columns_are_computed(frame):
    def fail(part):
        raise AssertionError("a column that was not asked for is computed")

    parts = dd.from_pandas(frame, npartitions=3)
    bad = parts.id.map_partitions(fail, meta=("id", "i8"))
    table = bc.CalibrationData.from_dask(parts.assign(x=bad), **NAMES)
    assert table == bc.CalibrationData(frame.y, frame.p)


def test_a_table_travels_light(frame):
    scores = np.random.default_rng(0).random(100_000)
    many = bc.CalibrationData(scores > 0.5, scores)
    assert many.is_compressed
    for table in (many, bc.CalibrationData(frame.y, frame.p, site=frame.site)):
        content = pickle.dumps(table)
        assert pickle.loads(content) == table
        assert len(content) < 200_000


# Errors


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("p", 1.2, r"column 'p': 1.2 is outside \[0, 1\] on 1 row of frame"),
        ("p", np.nan, r"column 'p'.* is missing"),
        ("y", 2, r"column 'y': 2 is neither 0 nor 1 on 1 row of frame"),
        ("site", None, r"column 'site'.* is missing"),
    ],
)
def test_a_bad_value_is_named(frame, column, value, reason):
    bad = frame.copy()
    bad.loc[1007, column] = value
    parts = dd.from_pandas(bad, npartitions=5)
    with pytest.raises(InputError, match=reason):
        bc.CalibrationData.from_dask(parts, **NAMES, site="site")


def fails_at(case, error):
    """Of the parts of a frame, that which holds this case cannot be computed."""

    def part_of(part):
        if (part["id"] == case).any():
            raise error
        return part

    return part_of


@pytest.mark.parametrize("case", [0, 2500, N - 1])
@pytest.mark.parametrize("error", [OSError("Invalid data"), KeyError("region"), RuntimeError("x")])
def test_what_cannot_be_computed_is_told(frame, case, error):
    parts = dd.from_pandas(frame, npartitions=7)
    bad = parts.map_partitions(fails_at(case, error), meta=frame.head(0))
    told = f"frame cannot be computed: {type(error).__name__}: {error}. Mend it"
    with pytest.raises(InputError, match=told) as refusal:
        bc.CalibrationData.from_dask(bad, **NAMES)
    assert repr(refusal.value.__cause__) == repr(error)


def test_without_dask_the_extra_is_named(frame, monkeypatch):
    parts = dd.from_pandas(frame, npartitions=2)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(InputError, match=r'pip install "bayescal\[dask\]"'):
        bc.CalibrationData.from_dask(parts, **NAMES)


# A cluster


@pytest.fixture(scope="module")
def client():
    """Of two workers; a task that has killed two is not tried again."""
    distributed = pytest.importorskip("distributed", reason="needs dask's distributed")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 1}),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same_table(client, frame):
    parts = dd.from_pandas(frame, npartitions=7)
    table = bc.CalibrationData.from_dask(parts, **NAMES, site="site")
    assert table == bc.CalibrationData(frame.y, frame.p, site=frame.site)
    bad = frame.assign(p=frame.p.where(frame.id != 1500, 1.2))
    with pytest.raises(InputError, match=r"column 'p': 1.2 is outside"):
        bc.CalibrationData.from_dask(dd.from_pandas(bad, npartitions=7), **NAMES)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_partition_that_kills_every_worker_is_told(client, frame):
    def die(part):
        if (part["id"] == 3000).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    parts = dd.from_pandas(frame, npartitions=10).map_partitions(die, meta=frame.head(0))
    with pytest.raises(InputError, match=r"frame cannot be .*: KilledWorker: .*memo"):
        bc.CalibrationData.from_dask(parts, **NAMES)


@pytest.mark.slow
def test_labels_of_series_are_compared():
    score = pd.Series([0.1, 0.6, 0.8], index=["a", "b", "c"])
    lazy, outcome = dd.from_pandas(score, npartitions=2), pd.Series([0, 1, 1], index=score.index)
    assert bc.estimators.ece(outcome, lazy) == bc.estimators.ece(outcome, score)
    with pytest.raises(InputError, match="in different orders, the first at"):
        bc.estimators.ece(outcome.iloc[::-1], lazy)
