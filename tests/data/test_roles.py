"""Roles of a table: read once, whatever the cases come from, and carried by all that is done."""

import pickle

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.clusters import COUNTED
from bayescal.errors import InputError

N = 240
RNG = np.random.default_rng(3)
SCORE = np.round(RNG.uniform(0.05, 0.95, N), 2)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
ROLES = {
    "site": np.array(["B", "A", "C"])[np.arange(N) % 3],
    "period": np.array(["2024-02", "2023-12"])[np.arange(N) // 120],
    "cluster": np.arange(N) // 4,
    "stratum": np.arange(N) // 60,
    "subgroup": {"sex": np.array(["m", "f"])[np.arange(N) % 2], "age": np.arange(N) % 5 // 2},
}
FRAME = pd.DataFrame(
    {"died": OUTCOME, "risk": SCORE}
    | {name: ROLES[name] for name in ("site", "period", "cluster", "stratum")}
    | ROLES["subgroup"]
)
COLUMNS = {
    "outcome": "died", "prob": "risk", "subgroup": ["sex", "age"],
    **{name: name for name in ("site", "period", "cluster", "stratum")},
}  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return bc.CalibrationData(OUTCOME, SCORE, **ROLES)


def cases_of(data):
    """Rows of a table by group, as sets."""
    columns = zip(data.group, data.score, data.trials, data.hits, strict=True)
    return {tuple(map(str, row)) for row in columns}


def same_clusters(one, two):
    names = ("cluster", "row", "stratum", *COUNTED)
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def test_a_table_names_its_roles_and_their_levels(table):
    assert table.roles == ("site", "period", "sex", "age", "cluster", "stratum")
    assert table.subgroups == ("sex", "age")
    assert table.levels == {
        "site": ("A", "B", "C"), "period": ("2023-12", "2024-02"), "sex": ("f", "m"),
        "age": ("0", "1", "2"),
    }  # fmt: skip
    assert table.periods.elapsed.tolist() == [1]
    assert len(table.cells) == len(table.groups) == len(set(table.groups))
    seen = FRAME[["site", "period", "sex", "age"]].astype(str).drop_duplicates()
    assert {tuple(cell.values()) for cell in table.cells} == set(
        seen.itertuples(index=False, name=None)
    )
    assert "clusters and strata" in repr(table)


def chunks():
    for part in np.array_split(np.arange(N), 7):
        own = {name: ROLES[name][part] for name in ("site", "period", "cluster", "stratum")}
        factors = {name: values[part] for name, values in ROLES["subgroup"].items()}
        yield {"y_true": OUTCOME[part], "y_prob": SCORE[part], **own, "subgroup": factors}


def from_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "cases.parquet")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bayescal.data.files.BATCH_ROWS", 50)
        return bc.read(tmp_path / "cases.parquet", **COLUMNS)


def from_csv(tmp_path):
    FRAME.to_csv(tmp_path / "cases.csv", index=False)
    return bc.read(tmp_path / "cases.csv", **COLUMNS)


def from_dask(_):
    frames = pytest.importorskip("dask.dataframe")
    return bc.CalibrationData.from_dask(frames.from_pandas(FRAME, npartitions=5), **COLUMNS)


def counted(_):
    return bc.CalibrationData.from_counts(SCORE, np.ones(N), OUTCOME, **ROLES)


SOURCES = {
    "frame": lambda _: bc.CalibrationData.from_frame(FRAME, **COLUMNS),
    "chunks": lambda _: bc.CalibrationData.from_chunks(chunks()),
    "parquet": from_parquet,
    "csv": from_csv,
    "dask": from_dask,
    "counts": counted,
    "sum": lambda _: (
        bc.CalibrationData.from_frame(FRAME[:77], **COLUMNS)
        + bc.CalibrationData.from_frame(FRAME[77:], **COLUMNS)
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(table, source, tmp_path):
    again = SOURCES[source](tmp_path)
    assert again.roles == table.roles
    assert again.levels == table.levels
    assert again.cells == table.cells
    assert cases_of(again) == cases_of(table)
    assert same_clusters(again.clusters, table.clusters)
    if source != "counts":  # whose weights are counts by name
        assert again == table


def test_a_table_is_saved_with_its_roles(table, tmp_path):
    table.to_netcdf(tmp_path / "table.nc")
    again = bc.CalibrationData.from_netcdf(tmp_path / "table.nc")
    assert again == pickle.loads(pickle.dumps(table)) == table
    assert again.periods == table.periods
    assert same_clusters(again.clusters, table.clusters)
    dataset = table.to_xarray()
    with pytest.raises(InputError, match="not among its roles"):
        bc.CalibrationData.from_xarray(dataset.assign(group=("row", ["x"] * dataset.sizes["row"])))
    with pytest.raises(InputError, match="clusters or times are not those of the table"):
        bc.CalibrationData.from_xarray(dataset.assign(case_row=dataset["case_row"] + 10_000))


def test_levels_are_selected_and_the_other_roles_stay(table):
    mine = FRAME["site"] == "A"
    chosen = table.select(site="A")
    assert chosen == bc.CalibrationData.from_frame(FRAME[mine], **COLUMNS | {"site": None})
    assert chosen.roles == ("period", "sex", "age", "cluster", "stratum")
    both = table.select(site="A", period="2024-02", sex="m", age=1)
    cell = mine & (FRAME["period"] == "2024-02") & (FRAME["sex"] == "m") & (FRAME["age"] == 1)
    alone = bc.CalibrationData(OUTCOME[cell], SCORE[cell], cluster=ROLES["cluster"][cell],
                               stratum=ROLES["stratum"][cell])  # fmt: skip
    assert both == alone == table.select('["A", "2024-02", "m", "1"]')
    for wrong, message in (
        ({"ward": "A"}, "role must be one of"),
        ({"site": "D"}, "site must be one of"),
        ({}, "takes the name of a group"),
    ):
        with pytest.raises(InputError, match=message):
            table.select(**wrong)
    sparse = bc.CalibrationData([0, 1], [0.2, 0.4], site=["A", "B"], period=[1, 2])
    with pytest.raises(InputError, match="no case has site='A', period='2'"):
        sparse.select(site="A", period=2)


def test_pooling_forgets_groups_and_keeps_clusters(table):
    together = bc.CalibrationData(
        OUTCOME, SCORE, cluster=ROLES["cluster"], stratum=ROLES["stratum"]
    )
    assert table.pooled() == together
    assert same_clusters(table.pooled().clusters, together.clusters)
    assert not together.pooled().groups


def test_rows_on_the_grid_keep_their_clusters():
    score = np.random.default_rng(0).uniform(0.1, 0.9, 6000)
    y, site, cluster = np.arange(6000) % 2, np.arange(6000) % 2, np.arange(6000) // 3
    joint = bc.CalibrationData(y, score, cluster=cluster)
    split = bc.CalibrationData(y, score, cluster=cluster, site=site)
    assert joint.is_compressed
    assert same_clusters(split.pooled().clusters, joint.clusters)
    parts = [bc.CalibrationData(y[k], score[k], cluster=cluster[k])
             for k in (slice(0, 1500), slice(1500, None))]  # fmt: skip
    assert not parts[0].is_compressed
    assert same_clusters((parts[0] + parts[1]).clusters, joint.clusters)


def test_clusters_of_one_name_are_one_in_a_sum():
    first = bc.CalibrationData([0, 1], [0.2, 0.3], cluster=["p1", "p2"])
    second = bc.CalibrationData([1, 0], [0.2, 0.3], cluster=["p2", "p3"])
    assert (first + second).clusters.size == 3
    with pytest.raises(InputError, match="one table has clusters and the other has none"):
        first + bc.CalibrationData([0, 1], [0.2, 0.3])
    layered = [bc.CalibrationData([0, 1, 1], [0.2, 0.3, 0.4], cluster=[1, 2, 3], stratum=s)
               for s in (["x", "x", "x"], ["y", "y", "y"])]  # fmt: skip
    with pytest.raises(InputError, match="a cluster lies in several strata"):
        layered[0] + layered[1]


def test_sampling_weights_of_clusters_follow_the_selected_cases():
    weight = np.linspace(0.5, 2.5, N)
    data = bc.CalibrationData(OUTCOME, SCORE, weight, site=ROLES["site"], cluster=ROLES["cluster"])
    mine = ROLES["site"] == "A"
    alone = bc.CalibrationData(OUTCOME[mine], SCORE[mine], weight[mine],
                               cluster=ROLES["cluster"][mine])  # fmt: skip
    assert data.select("A").clusters.trials.sum() == pytest.approx(alone.effective_size)
    np.testing.assert_allclose(
        data.select("A").clusters.square_trials, alone.clusters.square_trials
    )


def test_roles_of_two_tables_must_be_the_same():
    plain, sites = bc.CalibrationData([0], [0.2]), bc.CalibrationData([0], [0.2], site=["A"])
    for first, second in ((plain, sites), (sites, plain)):
        with pytest.raises(InputError, match="has groups by site and the other has none"):
            first + second
    months = [bc.CalibrationData([0], [0.2], period=[month]) for month in ("2024-03", "2024-01")]
    assert (months[0] + months[1]).levels["period"] == ("2024-01", "2024-03")
    with pytest.raises(InputError, match="period holds numbers"):
        months[0] + bc.CalibrationData([0], [0.2], period=[1])
    other = bc.CalibrationData([0], [0.2], period=["2024-01"], site=["A"])
    more = bc.CalibrationData([0], [0.2], subgroup={"sex": ["f"]}, site=["A"])
    with pytest.raises(InputError, match="groups by period"):
        other + more


def test_chunks_have_the_same_roles():
    first = {"y_true": [0, 1], "y_prob": [0.2, 0.3], "site": ["A", "B"]}
    second = {"y_true": [0, 1], "y_prob": [0.2, 0.3]}
    for parts, message in (
        ([first, second], "chunk 1: this chunk has no site, and those before had some"),
        ([second, first], "chunk 1: this chunk has site, and those before had none"),
        ([first | {"ward": [1, 2]}], "chunk 0 has 'ward'. Its columns are called"),
        ([first | {"site": ["A", None]}], r"chunk 0: site\[1\] is missing"),
        ([{"y_true": [0]}], "chunk 0 lacks y_true or y_prob"),
    ):
        with pytest.raises(InputError, match=message):
            bc.CalibrationData.from_chunks(parts)


def test_a_site_is_one_column_and_subgroups_are_named():
    labels = ["A", "B", "A", "B"]
    y, s = [0, 1, 0, 1], [0.2, 0.3, 0.4, 0.6]
    for columns in ({"x": labels}, pd.DataFrame({"x": labels})):
        assert bc.CalibrationData(y, s, subgroup=columns).subgroups == ("x",)
        with pytest.raises(InputError, match="site is a table of columns"):
            bc.CalibrationData(y, s, site=columns)
    with pytest.raises(InputError, match="subgroup must be a data frame, or a mapping"):
        bc.CalibrationData(y, s, subgroup=labels)
    with pytest.raises(InputError, match="column called 'site', which is a role"):
        bc.CalibrationData(y, s, subgroup={"site": labels, "sex": labels})
    with pytest.raises(InputError, match="stratum was given without cluster"):
        bc.CalibrationData(y, s, stratum=labels)


def test_a_categorical_column_keeps_its_order_from_a_frame():
    age = pd.Categorical(["80+", "<60", "<60", "60-79"], ["<60", "60-79", "80+"], ordered=True)
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.3, 0.4, 0.6], "age": age})
    read = bc.CalibrationData.from_frame
    assert read(frame, outcome="y", prob="p", subgroup=["age"]).levels["age"] == tuple(
        age.categories
    )
    by_period = read(frame, outcome="y", prob="p", period="age")
    assert by_period.levels["period"] == ("<60", "60-79", "80+")
    polars = pytest.importorskip("polars")
    kind = polars.Enum(list(age.categories))
    other = polars.DataFrame(frame.assign(age=frame["age"].astype(str)).to_dict("list"))
    other = other.with_columns(polars.col("age").cast(kind))
    assert read(other, outcome="y", prob="p", period="age") == by_period


IMPUTED = np.clip(SCORE + np.array([[0.0], [0.02], [-0.02]]), 0.01, 0.99)


def imputed(**roles):
    long = {name: np.tile(values, 3) for name, values in roles.items()}
    return bc.CalibrationData(
        np.tile(OUTCOME, 3), IMPUTED.ravel(), imputation=np.repeat([1, 2, 10], N), **long
    )


def test_every_imputation_is_a_table_and_all_are_stacked():
    data = imputed(site=ROLES["site"], cluster=ROLES["cluster"])
    assert data.roles == ("imputation", "site", "cluster")
    assert data.levels["imputation"] == ("1", "2", "10")
    assert data.groups == ("A", "B", "C")
    assert (data.n, data.events) == pytest.approx((N, OUTCOME.sum()))
    each = [bc.CalibrationData(OUTCOME, row, site=ROLES["site"], cluster=ROLES["cluster"])
            for row in IMPUTED]  # fmt: skip
    assert list(data.imputations) == each
    assert data.select(imputation=10) == each[2]
    assert data.select(imputation=2, site="A") == each[1].select("A")
    assert data.select(site="B") == imputed_sites(ROLES["site"] == "B")
    assert data.pooled().imputations[1] == each[1].pooled()
    assert data == bc.CalibrationData.from_imputations(each, [1, 2, 10])
    assert bc.CalibrationData.from_xarray(data.to_xarray()) == data
    assert (data + data).imputations[0] == each[0] + each[0]
    for door in (data.one_group, lambda: bc.estimators.ece(data)):
        with pytest.raises(InputError, match="holds 3 imputations of its cases"):
            door()


def imputed_sites(kept):
    each = [bc.CalibrationData(OUTCOME[kept], row[kept], cluster=ROLES["cluster"][kept])
            for row in IMPUTED]  # fmt: skip
    return bc.CalibrationData.from_imputations(each, [1, 2, 10])


def test_imputations_must_be_of_the_same_cases():
    with pytest.raises(InputError, match="holds one imputation, '7'"):
        bc.CalibrationData(OUTCOME, SCORE, imputation=[7] * N)
    other = OUTCOME.copy()
    other[0] = 1 - other[0]
    tables = [bc.CalibrationData(y, SCORE) for y in (OUTCOME, other)]
    assert bc.CalibrationData.from_imputations(tables).has_imputed_outcomes
    with pytest.raises(InputError, match="imputation '1' has 240 cases and imputation '2' has 239"):
        bc.CalibrationData.from_imputations([tables[0], bc.CalibrationData(OUTCOME[1:], SCORE[1:])])
    with pytest.raises(InputError, match="several imputations already"):
        bc.CalibrationData.from_imputations([imputed(), imputed()])


def test_scores_of_cases_not_yet_observed(table):
    for data in (table, imputed()):
        unseen = data.without_outcomes()
        assert not unseen.has_outcomes
        assert unseen.n == data.n
        assert "no outcomes" in repr(unseen)
        assert bc.CalibrationData.from_xarray(unseen.to_xarray()) == unseen != data
        for read in ("complete", "one_group", "to_arrays"):
            with pytest.raises(InputError, match="this table has no outcomes"):
                getattr(unseen, read)()
        with pytest.raises(InputError, match="this table has no outcomes"):
            unseen + data
    assert not table.without_outcomes().select(site="A").has_outcomes
    assert not table.without_outcomes().pooled().has_outcomes


def test_cases_that_have_levels_are_not_made_one_site(table):
    with pytest.raises(InputError, match=r"the table has site.*Take data\.pooled"):
        table.of_site("B")
    assert table.pooled().of_site("B").levels == {"site": ("B",)}
