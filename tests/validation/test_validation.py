"""Validation: it passes what is right, catches what is wrong, and repeats itself exactly."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.cli import main
from bayescal.errors import InputError
from bayescal.model.priors import Normal, Prior
from bayescal.model.problem import prepare
from bayescal.validation import batches, coverage, coverage_table, sbc, uniformity
from bayescal.validation.experiment import AverageOfFamilies, OneFamily
from bayescal.validation.interval_coverage import interval_score
from bayescal.validation.intervals import INTERVALS, POSTERIORS, family
from bayescal.validation.ranks import _band, _boundaries, _stays_inside, _tails, rank_bands
from bayescal.validation.simulation_based import sbc_of

DRAWS = 255


def everything(data: bc.CalibrationData, rng: np.random.Generator) -> tuple[float, float]:
    return 0.0, 1.0


def noise(data: bc.CalibrationData, rng: np.random.Generator) -> tuple[float, float]:
    """Depends on the data and on the generator, and costs nothing."""
    middle = abs(data.events / data.n - float(data.score.mean()))
    width = 0.05 * rng.random()
    return middle - width, middle + width


def dataset_of(rank: np.ndarray, draws: int = DRAWS) -> xr.Dataset:
    return xr.Dataset(
        {"rank": (("simulation", "quantity"), rank)},
        {"quantity": [f"q{column}" for column in range(rank.shape[1])]},
        {"draws": json.dumps(draws)},
    )


# Uniformity: an exact band


@pytest.mark.parametrize(("size", "draws"), [(40, 7), (300, 255)])
def test_band_holds_as_often_as_it_says(size, draws) -> None:
    lower, upper = _band(size, draws, 0.9)
    steps = np.random.default_rng(0).multinomial(size, np.full(draws + 1, 1 / (draws + 1)), 20_000)
    walks = np.cumsum(steps, axis=1)[:, :-1]
    coverage_of_band = ((lower <= walks) & (walks <= upper)).all(axis=1).mean()
    exact = _stays_inside(lower, upper, size)
    assert exact >= 0.9
    assert coverage_of_band == pytest.approx(exact, abs=4 * np.sqrt(0.09 / 20_000))


def test_probability_of_staying_inside_is_exact() -> None:
    """Two ranks, two places: count the multinomial outcomes by hand."""
    # Both counts must be 1: one rank is 0, none is 1, one is 2.
    ones = np.array([1, 1])
    assert _stays_inside(ones, ones, 2) == pytest.approx(2 / 9)
    assert _stays_inside(np.zeros(2, int), np.full(2, 2), 2) == pytest.approx(1)


def test_a_wider_tail_has_wider_boundaries() -> None:
    table = _tails(100, 31)
    inner, outer = _boundaries(table, 0.1), _boundaries(table, 0.001)
    assert (outer[0] <= inner[0]).all()
    assert (inner[1] <= outer[1]).all()


def test_level_is_uniform_when_ranks_are() -> None:
    rng = np.random.default_rng(1)
    result = uniformity(dataset_of(rng.integers(DRAWS + 1, size=(200, 400))))
    assert abs((result["level"] <= 0.1).mean() - 0.1) < 0.06
    assert result["inside"].all()
    assert set(result["joint_level"]) <= set(np.minimum(400 * result["level"], 1))


@pytest.mark.parametrize("distort", [lambda u: u**1.6, lambda u: 0.5 + 0.6 * (u - 0.5)])
def test_uneven_ranks_are_caught(distort) -> None:
    rng = np.random.default_rng(2)
    u = rng.random((500, 2))
    u[:, 1] = distort(u[:, 1])
    result = uniformity(dataset_of(np.floor(u * (DRAWS + 1)).astype(int)))
    assert result["inside"].to_list() == [True, False]
    assert result.loc["q1", "joint_level"] < 0.01 < result.loc["q0", "level"]


def test_uniformity_refuses_what_holds_no_ranks() -> None:
    with pytest.raises(InputError, match="holds no ranks"):
        uniformity(xr.Dataset())
    with pytest.raises(InputError, match="prob must lie"):
        uniformity(dataset_of(np.zeros((5, 1), int)), ci_prob=99)


# Simulation-based calibration


@pytest.fixture(scope="module")
def logistic() -> xr.Dataset:
    return sbc("logistic", n=60, n_simulations=150, random_state=3, n_jobs=1)


def test_the_engine_passes(logistic) -> None:
    verdict = uniformity(logistic)
    assert verdict["inside"].all()
    assert list(verdict.index[:3]) == ["shift", "log_slope", "tce"]
    assert verdict.attrs["ci_prob"] == 0.99
    assert logistic["rank"].min() >= 0
    assert logistic["rank"].max() <= DRAWS
    assert logistic["pareto_k"].max() < 0.7


def test_attributes_say_how_it_was_made(logistic) -> None:
    printed = {name: json.loads(value) for name, value in logistic.attrs.items()}
    assert (printed["curve"], printed["n"], printed["draws"], printed["seed"]) == (
        "logistic",
        60,
        DRAWS,
        3,
    )
    assert Prior.from_dict(printed["prior"]) == bc.priors.PRESETS["neutral"]


@pytest.mark.slow
def test_a_wrong_prior_is_caught() -> None:
    """Truths from a prior twice as wide as the one that is fitted."""
    wide = Prior(shift=Normal(0, 2), log_slope=Normal(0, 1))

    class Mistaken(OneFamily):
        def truth(self, rng):
            return replace(right, problem=replace(right.problem, prior=wide)).truth(rng)

    score = np.linspace(0.05, 0.95, 20)
    data = bc.CalibrationData(np.zeros(20), score)
    problem = prepare(data, curve="logistic", prior=Prior(), random_state=0)
    right = OneFamily(problem, data.score, data.trials)
    run = partial(
        sbc_of, n_simulations=150, draws=DRAWS, seed=1, n_jobs=1, progress=False, path=None
    )
    assert uniformity(run(right))["inside"].all()
    assert not uniformity(run(Mistaken(problem, data.score, data.trials)))["inside"].all()


def test_exact_calibration_ranks_at_random() -> None:
    """All draws tie with the truth, and ties are broken evenly."""
    result = sbc("identity", n=20, n_simulations=100, random_state=0, n_jobs=1)
    assert uniformity(result)["inside"].all()


@pytest.mark.slow
def test_the_average_passes_and_its_probabilities_average_to_the_prior() -> None:
    result = sbc("average", n=40, n_simulations=150, random_state=7, n_jobs=1)
    assert uniformity(result)["inside"].all()
    assert result["quantity"].to_numpy()[0] == "tce"
    assert result["family"].to_numpy().tolist() == [
        "identity",
        "logistic",
        "noise",
        "beta",
        "lapse",
        "spline",
        "pieces",
    ]
    probability = result["posterior_prob"]
    np.testing.assert_allclose(probability.sum("family"), 1)
    error = probability.std("simulation") / np.sqrt(150)
    assert (abs(probability.mean("simulation") - result["prior_prob"]) < 4 * error).all()


def test_stretches_take_part_in_the_average() -> None:
    """Truths and draws of `pieces` leave the diagonal, in the cells that the average has."""
    data = bc.CalibrationData(np.arange(200) % 3 == 0, np.linspace(0.05, 0.95, 200))
    curve = bc.curves.average_of(bc.curves.averaged_families())
    problem = prepare(data, curve=curve, prior=Prior(), random_state=0)
    experiment = AverageOfFamilies(problem, data.score, data.trials, {"pieces": 1.0})
    rng = np.random.default_rng(1)
    truths = np.array([experiment.truth(rng) for _ in range(40)])
    drawn, _ = experiment.posterior(data, 40, 1)
    for u in (truths, drawn):
        distance = experiment.evaluate(u)[:, 0]
        assert np.mean(distance > 0.001) > 0.5


@pytest.mark.slow
def test_an_average_with_the_wrong_weights_is_caught() -> None:
    """Truths with calibration at even odds, posteriors that give it one in ten."""

    class Mistaken(AverageOfFamilies):
        def truth(self, rng):
            even = replace(self, weights={"identity": 0.5, "beta": 0.5})
            return AverageOfFamilies.truth(even, rng)

    data = bc.CalibrationData(np.zeros(60), np.linspace(0.05, 0.95, 60))
    problem = prepare(data, curve=bc.curves.AVERAGE, prior=Prior(), random_state=0)
    wrong = Mistaken(problem, data.score, data.trials, {"identity": 0.1, "beta": 0.9})
    result = sbc_of(
        wrong, n_simulations=150, draws=DRAWS, seed=1, n_jobs=1, progress=False, path=None
    )
    assert not uniformity(result)["inside"].all()


def test_ranks_do_not_depend_on_jobs_or_on_where_a_run_stopped(logistic, tmp_path) -> None:
    again = partial(sbc, "logistic", n=60, random_state=3)
    first = again(n_simulations=50, n_jobs=2, path=tmp_path)
    longer = again(n_simulations=75, n_jobs=1, path=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    np.testing.assert_array_equal(first["rank"], logistic["rank"][:50])
    np.testing.assert_array_equal(longer["rank"], logistic["rank"][:75])


def test_scores_may_be_given() -> None:
    ones = [0.0, 0.2, 0.2, 0.7, 1.0]
    result = sbc(
        "beta", "clinical", scores=ones, n_simulations=3, draws=15, random_state=0, n_jobs=1
    )
    assert json.loads(result.attrs["n"]) == 5
    assert "g(0.2)" in result["quantity"].to_numpy()
    named = sbc("intercept", scores="D3", n=9, n_simulations=2, random_state=0, n_jobs=1)
    assert json.loads(named.attrs["n"]) == 9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"draws": 5000}, "draws must be at most 4000"),
        ({"n_simulations": 0}, "n_simulations must be a whole number"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"scores": [0.2, 1.2]}, r"scores\[1\] = 1.2"),
        ({"scores": "D9"}, "name must be one of"),
    ],
)
def test_sbc_says_no(wrong, message) -> None:
    with pytest.raises(InputError, match=message):
        sbc("intercept", **({"n": 10, "n_simulations": 2, "n_jobs": 1} | wrong))


# Coverage


def test_interval_score_by_hand() -> None:
    lower, upper = np.array([0.1, 0.1, 0.3]), np.array([0.3, 0.15, 0.4])
    scores = interval_score(lower, upper, 0.2, 0.95)
    np.testing.assert_allclose(scores, [0.2, 0.05 + 40 * 0.05, 0.1 + 40 * 0.1])


def test_one_function_may_give_several_intervals() -> None:
    def pair(data, rng):
        return {"wide": (0.0, 1.0), "narrow": (0.2, data.n / 1000)}

    methods = {"point": lambda data, rng: (0.5, 0.5), "pair": pair}
    run = partial(coverage, ["D3"], [300, 400], random_state=0, n_jobs=1)
    result = run(methods, n_simulations=30)
    assert result["method"].to_numpy().tolist() == ["point", "wide", "narrow"]
    np.testing.assert_array_equal(result["upper"].loc[{"method": "wide"}], 1)
    np.testing.assert_array_equal(result["upper"].loc[{"method": "narrow", "size": 400}], 0.4)
    np.testing.assert_array_equal(result["lower"].loc[{"method": "point"}], 0.5)
    with pytest.raises(InputError, match="'wide' more than once"):
        run({"pair": pair, "wide": pair}, n_simulations=2)


@pytest.mark.slow
def test_families_together_give_what_each_method_gives_alone() -> None:
    run = partial(
        coverage, ["clinical-low-shifted"], [150], n_simulations=4, random_state=2, n_jobs=1
    )
    together = run(["families"])
    for name in ("average", "beta", "spline"):
        alone = run([name])
        for end in ("lower", "upper"):
            result = (made[end].loc[{"method": name}] for made in (alone, together))
            np.testing.assert_allclose(*result, atol=0.006)


def test_table_by_hand() -> None:
    ends = np.array([[0.0, 0.2], [0.1, 0.3], [0.05, 0.06], [0.2, 0.25]])
    dims = ("truth", "size", "method", "target", "run")
    exact = {"true_value": (("truth", "target"), [[0.15]])}
    dataset = xr.Dataset(
        {end: (dims, ends[:, i].reshape(1, 1, 1, 1, 4)) for i, end in enumerate(("lower", "upper"))}
        | exact,
        {"truth": ["T"], "size": [9], "method": ["m"], "target": ["tce"]},
        {"ci_prob": "0.9"},
    ).transpose("run", ...)
    (row,) = coverage_table(dataset).to_dict("records")
    assert row["coverage"] == 0.5
    assert (row["misses_below"], row["misses_above"]) == (0.25, 0.25)
    assert row["mean_width"] == pytest.approx(0.115)
    assert row["mean_interval_score"] == pytest.approx((0.46 + 20 * (0.09 + 0.05)) / 4)
    # Clopper-Pearson, 2 of 4 at 99 %: published tables give .0294 to .9706.
    assert row["coverage_lower"] == pytest.approx(0.0294, abs=5e-5)
    assert row["coverage_upper"] == pytest.approx(0.9706, abs=5e-5)


def test_everything_is_always_covered() -> None:
    result = coverage(
        ["D3", "calibrated"], [20, 30], {"all": everything}, n_simulations=12, n_jobs=1
    )
    table = coverage_table(result)
    assert list(table.index.names) == ["truth", "size", "target", "method"]
    assert (table["coverage"] == 1).all()
    assert (table["mean_interval_score"] == 1).all()
    assert table["coverage_lower"].to_numpy() == pytest.approx(0.005 ** (1 / 12))


def test_coverage_does_not_depend_on_jobs_methods_or_resumption(tmp_path) -> None:
    again = partial(coverage, ["D3", "D1"], random_state=5)
    full = again([20, 40], {"noise": noise, "all": everything}, n_simulations=60, n_jobs=1)
    part = again([40], {"noise": noise}, n_simulations=30, n_jobs=2, path=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    resumed = again([40, 20], {"noise": noise}, n_simulations=60, n_jobs=1, path=tmp_path)
    np.testing.assert_array_equal(part["lower"], full["lower"].sel({"size": [40]})[:, :, :30, :1])
    for end in ("lower", "upper"):
        np.testing.assert_array_equal(
            resumed[end].sel({"size": [20, 40]}), full[end].sel({"method": ["noise"]})
        )


def test_progress_hears_of_all_runs(tmp_path) -> None:
    heard: list[tuple[int, int]] = []
    options = {"n_simulations": 30, "random_state": 0, "n_jobs": 1, "path": tmp_path}
    for _ in range(2):
        coverage(["D3"], [20], ["ece_basic"], progress=lambda *runs: heard.append(runs), **options)
    assert heard[-1] == (30, 30)
    assert [done for done, _ in heard] == [0, 25, 30, 30]
    assert {total for _, total in heard} == {30}


def test_finished_batches_are_not_done_again(tmp_path) -> None:
    calls = []

    def counted(data, rng):
        calls.append(1)
        return noise(data, rng)

    run = partial(coverage, ["D3"], [20], {"m": counted}, random_state=1, n_jobs=1, path=tmp_path)
    first = run(n_simulations=30)
    assert len(calls) == 30
    xr.testing.assert_identical(run(n_simulations=30), first)
    assert len(calls) == 30
    run(n_simulations=50)
    assert len(calls) == 30 + 25  # the last batch was a short one, and is done in full
    run(n_simulations=30, ci_prob=0.5)
    assert len(calls) == 55 + 30


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b"x" * 99])
def test_a_damaged_batch_is_done_again(tmp_path, damage) -> None:
    run = partial(coverage, ["D3"], [20], {"m": noise}, n_simulations=20, random_state=1, n_jobs=1)
    first = run(path=tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(damage(kept.read_bytes()))
    xr.testing.assert_identical(run(path=tmp_path), first)
    xr.testing.assert_identical(run(path=tmp_path), first)
    assert list(tmp_path.iterdir()) == [kept]


def test_an_interrupted_run_leaves_whole_files_only(tmp_path) -> None:
    def breaks(data, rng):
        breaks.left -= 1
        if not breaks.left:
            raise KeyboardInterrupt
        return 0.0, 1.0

    breaks.left = 40
    run = partial(
        coverage, ["D3"], [20], {"m": breaks}, n_simulations=60, random_state=1, path=tmp_path
    )
    with pytest.raises(KeyboardInterrupt):
        run(n_jobs=1)
    assert len(list(tmp_path.iterdir())) == 1
    breaks.left = 1000
    assert run(n_jobs=1).sizes["run"] == 60
    assert breaks.left == 1000 - 35


def test_our_posterior_is_that_of_fit() -> None:
    y_true, y_prob = bc.simulate.sample("D1", 80, random_state=4)
    data = bc.CalibrationData(y_true, y_prob)
    post = family(data, np.random.default_rng(7), curve="beta", prior="clinical")
    fitted = bc.fit(data, curve="beta", prior="clinical", random_state=np.random.default_rng(7))
    xr.testing.assert_identical(post.tce(), fitted.tce())


@pytest.mark.parametrize("name", INTERVALS)
def test_methods_give_intervals(name) -> None:
    for truth, n in (("clinical-low-shifted", 150), ("D1", 30)):
        data = bc.CalibrationData(*bc.simulate.sample(truth, n, random_state=2))
        made = INTERVALS[name](data, np.random.default_rng(0), 0.95)
        for lower, upper in made.values() if isinstance(made, dict) else [made]:
            assert 0 <= lower <= upper <= 1
            assert (upper > lower) == (name != "identity")


EVERY_TARGET = (*bc.functionals.FUNCTIONALS, "tce_2", "curve", "net_benefit@0.2", "curve@25%")


@pytest.mark.parametrize("name", ["average", "logistic"])
def test_intervals_of_every_target_are_those_that_are_printed(name) -> None:
    run = partial(coverage, ["clinical-low-shifted"], [150], [name], n_simulations=1, n_jobs=1)
    made = run(target=EVERY_TARGET, random_state=3, ci_prob=0.9).squeeze(drop=True)
    population = bc.simulate.truth("clinical-low-shifted")
    cell = ("clinical-low-shifted", 150, 0)
    data = bc.CalibrationData(*population.sample(150, batches.stream(3, "data", *cell)))
    post = POSTERIORS[name](data, batches.stream(3, "method", name, *cell))
    printed = post.summary(0.9)

    def ends(target: str) -> list[float]:
        return [float(made[end].sel(target=target)) for end in ("lower", "upper")]

    for functional in printed.index:
        stated = printed.loc[functional, ["lower", "upper"]].to_list()
        assert ends(functional) == pytest.approx(stated, rel=1e-12)
    assert ends("tce_2") == pytest.approx(list(post.interval("tce", 0.9, p=2)), rel=1e-12)
    band = post.curve([population.score_quantile(0.3)]).quantile([0.05, 0.95])
    assert ends("curve@30%") == pytest.approx(band.to_numpy().tolist(), rel=1e-12)
    benefit = post.net_benefit([0.2])["model"].quantile([0.05, 0.95])
    assert ends("net_benefit@0.2") == pytest.approx(benefit.to_numpy().tolist(), rel=1e-12)


def test_true_values_are_those_of_the_population_and_emax_that_of_the_data() -> None:
    everywhere = {"all": lambda data, rng: bc.fit(data, curve="intercept", draws=100)}
    run = partial(coverage, ["clinical-low-shifted"], [150], everywhere, random_state=3, n_jobs=1)
    exact = run(target=EVERY_TARGET, n_simulations=3)["true_value"].squeeze(("truth", "size"))
    population = bc.simulate.truth("clinical-low-shifted")
    for name in bc.functionals.FUNCTIONALS:
        if name != "emax":
            assert exact.sel(target=name).to_numpy() == pytest.approx(population.functional(name))
    at = population.score_quantile(0.25)
    assert exact.sel(target="curve@25%")[0] == population.curve([at])[0]
    for index in range(3):
        rng = batches.stream(3, "data", "clinical-low-shifted", 150, index)
        score = population.sample(150, rng)[1]
        largest = np.abs(population.curve(score) - score).max()
        assert exact.sel(target="emax")[index] == pytest.approx(largest)


def test_a_target_has_the_same_intervals_alone_and_in_company() -> None:
    run = partial(coverage, ["D3"], [80], ["beta"], n_simulations=2, random_state=4, n_jobs=1)
    together = run(target=["observed_expected", "curve", "calibration_slope"])
    for name in ("observed_expected", "curve@90%", "calibration_slope"):
        xr.testing.assert_equal(run(target=name), together.sel(target=[name]))


def test_separated_outcomes_leave_the_logistic_rival_ignorant() -> None:
    data = bc.CalibrationData([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8])
    assert INTERVALS["logistic_ici"](data, np.random.default_rng(0), 0.95) == (0.0, 1.0)


def test_bootstrap_bins_keep_equal_scores_together() -> None:
    """One score only: the ECE of a resample is |rate - score|, whatever the bins."""
    data = bc.CalibrationData.from_counts([0.3], [200], [100])
    lower, upper = INTERVALS["ece_percentile"](data, np.random.default_rng(0), 0.95)
    margin = 1.96 * np.sqrt(0.25 / 200)
    assert (lower, upper) == pytest.approx((0.2 - margin, 0.2 + margin), abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"methods": ["magic"]}, "methods must be one of"),
        ({"methods": []}, "methods is empty"),
        ({"methods": {}}, "methods is empty"),
        ({"sizes": [20, 20]}, "sizes holds 20 more than once"),
        ({"truths": []}, "truths is empty"),
        ({"target": "ece"}, "target must be among"),
        ({"target": "tce_0.5"}, "target must be among"),
        ({"target": "tce_x"}, "target must be among"),
        ({"target": "curve@0.5"}, "target must be among"),
        ({"target": "curve@150%"}, r"'curve@150%': the share of scores must lie strictly between"),
        ({"target": "net_benefit@1"}, "the threshold must lie strictly between"),
        ({"target": ["tce", "tce"]}, "target holds 'tce' more than once"),
        ({"target": []}, "target is empty"),
        ({"target": "observed_expected"}, "methods: 'ece_basic' gives intervals of 'tce' alone"),
        (
            {"target": ["observed_expected", "calibration_slope"], "methods": {"all": everything}},
            "'all' gave an interval",
        ),
        ({"n_simulations": 0}, "n_simulations must be"),
        ({"ci_prob": 95}, "ci_prob must lie"),
    ],
)
def test_coverage_says_no(wrong, message) -> None:
    with pytest.raises(InputError, match=message):
        coverage(**({"truths": ["D3"], "sizes": [20], "n_simulations": 2, "n_jobs": 1} | wrong))


def test_a_file_is_no_folder(tmp_path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(InputError, match="is a file"):
        coverage(["D3"], [20], {"all": everything}, n_simulations=2, path=path)
    with pytest.raises(InputError, match="holds no intervals"):
        coverage_table(xr.Dataset())


def test_streams_differ_by_label_and_by_its_kind() -> None:
    first = {batches.stream(0, *labels).random() for labels in (("a", 1), ("a", "1"), ("a1",))}
    assert len(first) == 3


# Figure and command


def test_ranks_are_drawn_with_their_band(logistic) -> None:
    drawn = bc.plots.rank_ecdf(logistic)
    bands = rank_bands(logistic)
    assert [ax.get_title(loc="left") for ax in drawn] == list(bands.quantity)
    line = drawn[2].get_lines()[1]
    np.testing.assert_allclose(line.get_ydata(), bands.ecdf[2] - bands.fraction)
    assert bands.ecdf[:, 0].max() == 0
    assert bands.ecdf[:, -1].min() == 1


def test_ranks_outside_are_said_to_be() -> None:
    ax = Figure().subplots()
    dataset = dataset_of(np.arange(100)[:, None])
    assert bc.plots.rank_ecdf(dataset, ax) == [ax]
    assert ax.get_title(loc="left") == "q0: outside"
    with pytest.raises(InputError, match="axes holds 2"):
        bc.plots.rank_ecdf(dataset, Figure().subplots(1, 2))


def test_the_command_says_how_the_truths_rank(capsys) -> None:
    arguments = ["--curve", "intercept", "--n", "30", "--simulations", "25", "--jobs", "1"]
    with pytest.raises(SystemExit) as left:
        main(["validate", *arguments])
    out, err = capsys.readouterr()
    assert left.value.code == 0
    assert not err.strip()
    assert "The truths rank evenly among the posterior draws" in " ".join(out.split())
    assert "bootstrap ECE" in out
