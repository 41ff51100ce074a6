"""Whatever comes in: a right answer in finite numbers, or a ValueError that teaches."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bayescal as bc
from bayescal.model.curves import CURVES
from bayescal.model.priors import PRESETS

NASTY = [0.0, 1.0, 1e-300, 5e-324, 1 - 2**-53, 1e-12, 1 - 1e-12, 0.5, 0.5 + 1e-15, 0.1]
scores = st.one_of(st.sampled_from(NASTY), st.floats(0, 1))
tables = st.integers(1, 20).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
        st.lists(scores, min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 1.0, 2.5, 1000.0]), min_size=n, max_size=n),
    )
)


outcomes = st.sampled_from(["drawn", "separated", "reversed", "no event", "only events"])
edges = st.sampled_from([None, 5e-324, 1e-12, 1e-4, 0.02, 0.3, 0.49])


def outcomes_of(kind, y, s):
    """Outcomes as they were drawn, or parted by a score, or of one class."""
    above = (s > np.median(s)).astype(int)
    alike = {"separated": above, "reversed": 1 - above, "no event": 0 * above}
    return alike.get(kind, np.ones_like(above) if kind == "only events" else np.asarray(y))


def no_nan_is_told(post):
    """And clusters of which nothing can be learned are not called ok."""
    data, clusters = post.data, post.problem.clusters
    one_class = data.events in (0, data.n)
    if one_class and clusters is not None and not clusters.are_single:
        assert post.diagnostics["verdict"] != "ok"
        assert post.design.effective_n <= clusters.size
    known = [value for value in post.diagnostics.values() if not isinstance(value, str)]
    assert not np.isnan(known).any() or post.diagnostics["verdict"] != "ok"
    assert "nan" not in repr(post).replace("(", " ").split()


def check(y, s, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", bc.errors.EdgeWarning)
        warnings.simplefilter("ignore", bc.errors.DiagnosticWarning)
        warnings.simplefilter("ignore", bc.errors.WeightWarning)
        post = bc.fit(y, s, engine="importance", draws=200, random_state=0, **options)
        no_nan_is_told(post)
        for population in ("bootstrap", "sample", "beta"):
            table = post.summary(population=population)
            assert np.isfinite(table.to_numpy()).all(), table
            assert table.loc[["tce", "e50", "e90", "emax"]].to_numpy().min() >= 0
            assert table.loc[["tce", "e50", "e90", "emax"]].to_numpy().max() <= 1
        curve = post.curve([0, 1e-9, 0.3, 1]).to_numpy()
        assert ((curve >= 0) & (curve <= 1)).all()
        for group in post.tree.children.values():
            for variable in group.data_vars.values():
                values = variable.to_numpy()
                if variable.name == "pareto_k":
                    assert not np.isnan(values).any()
                else:
                    assert np.isfinite(values).all(), variable.name


@pytest.mark.slow
@given(table=tables, curve=st.sampled_from(list(CURVES)), prior=st.sampled_from(list(PRESETS)))
def test_any_small_table_has_a_finite_posterior(table, curve, prior):
    y, s, _ = table
    check(y, s, curve=curve, prior=prior)


@pytest.mark.slow
@given(table=tables)
def test_weights_of_any_kind(table):
    y, s, weight = table
    if not any(weight):
        with pytest.raises(ValueError, match="zero everywhere"):
            bc.fit(y, s, sample_weight=weight)
    else:
        check(y, s, sample_weight=weight)


@pytest.mark.slow
@given(
    table=tables,
    kind=outcomes,
    clusters=st.integers(1, 6),
    edge=edges,
    curve=st.sampled_from([name for name in CURVES if name != "pieces"]),
)
def test_separated_clusters_of_any_kind(table, kind, clusters, edge, curve):
    y, s, _ = table
    y = outcomes_of(kind, y, np.array(s))
    check(y, s, curve=curve, edge=edge, **clustered(y, clusters))


def clustered(y, clusters):
    """So many clusters, if there are two at least."""
    label = np.arange(len(y)) % clusters
    return {"cluster": label} if label.any() else {}


def check_average(y, s, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", bc.errors.EdgeWarning)
        warnings.simplefilter("ignore", bc.errors.DiagnosticWarning)  # families are left out
        compared = bc.compare(y, s, draws=200, random_state=0, **options)
        assert 0 <= compared.prob_calibrated <= 1
        no_nan_is_told(compared.posterior)
        assert np.isfinite(compared.posterior.summary().to_numpy()).all()


@pytest.mark.slow
@given(table=tables, kind=outcomes, clusters=st.integers(1, 6), edge=edges)
def test_the_average_of_any_small_table(table, kind, clusters, edge):
    """That of 200 separated cases in clusters did not come back."""
    y, s, _ = table
    y = outcomes_of(kind, y, np.array(s))
    check_average(y, s, edge=edge, **clustered(y, clusters))


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([60, 2500]),
    ends=st.sampled_from([0.0, 0.003, 0.2]),
    kind=outcomes,
    clusters=st.sampled_from([1, 7, 40]),
    edge=edges,
)
@example(seed=0, n=60, ends=0.0, kind="separated", clusters=7, edge=None)
@example(seed=0, n=60, ends=0.0, kind="only events", clusters=40, edge=0.3)
@example(seed=0, n=2500, ends=0.2, kind="drawn", clusters=1, edge=0.02)
@example(seed=0, n=2500, ends=0.003, kind="separated", clusters=7, edge=0.49)
def test_the_average_of_any_table(seed, n, ends, kind, clusters, edge):
    """Of few scores and of more than 2048, which a table does not keep; edges go beyond some."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(size=n)
    y = (rng.uniform(size=n) < s).astype(int)
    s[: int(ends * n)] = rng.integers(0, 2, int(ends * n))
    y = outcomes_of(kind, y, s)
    check_average(y, s, edge=edge, **clustered(y, clusters))


@given(st.lists(st.one_of(st.floats(), st.none(), st.text(max_size=3), st.booleans()), max_size=6))
def test_anything_else_is_a_valueerror(values):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.errors.EdgeWarning)
            bc.fit(values, values, engine="importance", draws=100, random_state=0)
    except ValueError:
        return
    assert all(0 <= value <= 1 for value in values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "score",
    [np.full(60, 0.3), np.full(60, 1e-300), np.tile([0.0, 1.0], 30), np.linspace(0, 1, 60)],
    ids=["equal", "tiny", "zeros and ones", "spread"],
)
@pytest.mark.parametrize("outcome", [np.zeros(60), np.ones(60), np.arange(60) % 2])
def test_degenerate_data(score, outcome):
    check(outcome, score)


@pytest.mark.slow
def test_sure_scores_that_are_wrong_cost_something_finite():
    score = np.concatenate([np.zeros(20), np.ones(20), np.linspace(0.2, 0.8, 60)])
    outcome = np.concatenate([np.ones(20), np.zeros(20), np.arange(60) % 2])
    post = bc.fit(outcome, score, random_state=0)
    assert float(post.functional("calibration_slope").median()) < 0.2
    assert np.isfinite(post.diagnostics["log_evidence"])
    calibrated = bc.fit(outcome, score, curve="identity", random_state=0)
    assert np.isfinite(calibrated.diagnostics["log_evidence"])
