"""What the documentation says that ArviZ can and cannot do with a tree."""

import pytest

import bayescal as bc

arviz_stats = pytest.importorskip("arviz_stats")


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)


@pytest.fixture(scope="module")
def one(cases):
    return bc.fit(*cases, curve="beta", random_state=1)


@pytest.fixture(scope="module")
def average(cases):
    return bc.compare(*cases, random_state=1).posterior


@pytest.fixture(scope="module")
def identity(cases):
    return bc.fit(*cases, curve="identity", random_state=1)


def test_summary(one, average, identity):
    for post in (one, average):
        assert "shift" in arviz_stats.summary(post.tree, kind="stats").index
    with pytest.raises(TypeError):
        arviz_stats.summary(identity.tree, kind="stats")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_leave_one_out_up_to_5000_patients(one, average):
    for post in (one, average):
        assert arviz_stats.loo(post.tree).n_data_points == 200
    many = bc.simulate.sample("clinical-middle-overconfident", 5001, random_state=1)
    with pytest.raises(TypeError, match="log likelihood"):
        arviz_stats.loo(bc.fit(*many, curve="beta", random_state=1).tree)


@pytest.mark.filterwarnings("ignore")
def test_power_scaling(one, average):
    assert "shift" in arviz_stats.psense_summary(one.tree).index
    assert "log_prior" not in average.tree.children


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_predictive_plots(one, average, identity):
    arviz_plots = pytest.importorskip("arviz_plots")
    for post in (one, average, identity):
        assert arviz_plots.plot_ppc_pava(post.tree, backend="none") is not None
        assert arviz_plots.plot_ppc_pit(post.tree, backend="none") is not None
