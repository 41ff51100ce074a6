"""The benchmark of several sites: its rivals against R, and a page that says what was stored."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

import benchmark_pages
import sites
import sites_distances
import sites_page
import sites_rivals
import sites_sbc
import terms_sbc
import variance_coverage
import variance_page

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def impact(shared_data):
    with (shared_data / "data/clinical/impact_tbi_iecv.csv").open() as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row["outcome"]) for row in rows])
    x = logit(np.array([float(row["score"]) for row in rows]))
    return y, x, np.array([row["study"] for row in rows])


@pytest.fixture(scope="module")
def mixed(impact):
    y, x, study = impact
    return sites_rivals.MixedModel(y, np.column_stack([np.ones_like(x), x]), study).fit()


def oracle(folder: Path, name: str) -> list[dict[str, float]]:
    with (folder / "oracles/sites" / name).open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_the_mixed_model_is_that_of_lme4(mixed):
    """Slope .982, its standard deviation .145, log likelihood -4899.4."""
    assert mixed.converged
    assert mixed.log_likelihood == pytest.approx(-4899.42, abs=0.01)
    assert mixed.fixed[1] == pytest.approx(0.982, abs=5e-4)
    assert np.sqrt(mixed.between[1, 1]) == pytest.approx(0.145, abs=5e-4)


def test_the_interval_of_the_mixed_model_is_that_of_its_fixed_effects(mixed):
    """At one half .440 to .552, where a package prints .295 to .698."""
    sd = np.sqrt(mixed.covariance[0, 0])
    ends = expit(mixed.fixed[0] + np.array([-1.96, 1.96]) * sd)
    np.testing.assert_allclose(ends, (0.440, 0.552), atol=5e-4)
    wider = np.sqrt(mixed.covariance[0, 0] + mixed.between[0, 0])
    ends = expit(mixed.fixed[0] + np.array([-1.96, 1.96]) * wider)
    np.testing.assert_allclose(ends, (0.295, 0.698), atol=0.004)


def test_a_random_intercept_is_that_of_lme4(impact):
    """Calibration-in-the-large -.0007 (standard error .0902), standard deviation .331."""
    y, x, study = impact
    fit = sites_rivals.MixedModel(y, np.ones((y.size, 1)), study, x).fit()
    assert fit.fixed[0] == pytest.approx(-0.0007, abs=5e-5)
    assert np.sqrt(fit.covariance[0, 0]) == pytest.approx(0.0902, abs=5e-5)
    assert np.sqrt(fit.between[0, 0]) == pytest.approx(0.331, abs=5e-4)


def test_two_stage_pooling_is_that_of_rms_and_metafor(impact, shared_data):
    rows = oracle(shared_data, "impact_mac2_splines.csv")
    y, x, study = impact
    at = logit(np.array([row["x"] for row in rows]))
    estimate, variance = sites_rivals.by_site(y, x, study, at)
    assert len(estimate) == 15
    meta = sites_rivals.meta_analysis(estimate, variance)
    np.testing.assert_allclose(expit(meta.mean), [row["curve"] for row in rows], rtol=1e-5)
    np.testing.assert_allclose(meta.between, [row["tau2"] for row in rows], rtol=3e-4)
    np.testing.assert_allclose(np.sqrt(meta.variance), [row["se"] for row in rows], rtol=1e-4)
    half = 2.160369 * np.sqrt(meta.between + meta.variance)  # t of 13 degrees of freedom
    np.testing.assert_allclose(expit(meta.mean + half), [row["pi_up"] for row in rows], rtol=2e-4)


def test_a_site_without_an_estimate_is_left_out():
    rng = np.random.default_rng(1)
    x, site = rng.normal(size=300), np.repeat(np.arange(3), 100)
    y = (rng.random(300) < expit(x)).astype(int)
    y[site == 1] = 0
    assert len(sites_rivals.by_site(y, x, site, np.zeros(1))[0]) == 2


def test_equal_sites_have_no_variance_between_them():
    estimate = np.full((6, 2), 0.3)
    meta = sites_rivals.meta_analysis(estimate, np.full((6, 2), 0.01))
    np.testing.assert_array_equal(meta.between, 0)
    np.testing.assert_allclose(meta.variance, 0.01 / 6)


def test_an_interval_score_is_a_proper_one():
    """Of intervals round the mean of a normal law the one with the right tails scores best."""
    true = np.random.default_rng(1).standard_normal((20_000, 1))
    scores = [sites.interval_score(np.array([-z]), np.array([z]), true) for z in (1.5, 1.96, 2.5)]
    assert min(scores) == scores[1]


def test_rivals_and_fits_see_the_same_cases():
    one, other = (sites.draw(5, 0.15, "calibrated", 3) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(
        one.score, sites.draw(5, 0.15, "calibrated", 4).score[: one.score.size]
    )


def test_truths_of_the_ranks_are_evaluated_as_their_draws_are():
    """Truths from the prior, and the quantities of a fit to their own outcomes, are finite."""
    experiment = sites_sbc.hierarchy()
    rng = np.random.default_rng(1)
    truth = experiment.truth(rng)
    points, facts = experiment.posterior(experiment.observe(truth, rng), 50, 1)
    values = experiment.evaluate(np.vstack([truth, points]))
    assert values.shape == (51, len(experiment.quantities))
    assert np.isfinite(values).all()
    assert facts["pareto_k"] < 0.7


@pytest.mark.parametrize("name", ["factors", "robust factors", "periods"])
def test_truths_of_terms_are_evaluated_as_their_draws_are(name):
    """As for sites; and a truth without effects is that of every group."""
    experiment = terms_sbc.experiments()[name]
    rng = np.random.default_rng(1)
    truth = experiment.truth(rng)
    points, facts = experiment.posterior(experiment.observe(truth, rng), 50, 1)
    values = experiment.evaluate(np.vstack([truth, points]))
    assert values.shape == (51, len(experiment.quantities))
    assert np.isfinite(values).all()
    assert facts["pareto_k"] < 0.7
    assert not experiment.evaluate(0 * truth[None]).round(12).any()


def test_statements_of_calibrated_sites_are_counted():
    row = sites_distances.one_run("calibrated", 5, 3)
    table = sites_distances.table_of([row], "site")
    assert sum(count for *_, count in table["bins"]) == 5 * len(sites_distances.LIMITS)
    by_nuts = row | {"prob_calibrated": None}
    rows = {f"{kind}, 5 sites": [by_nuts, row] for kind in sites_distances.KINDS}
    told = sites_distances.summarised(rows)
    exact = row["prob_calibrated"]["every_site"]
    assert told["by_nuts"] == len(rows)
    assert told["cells"]["calibrated, 5 sites"]["every_site"] == exact
    assert all(true == 1 for _, true, _ in table["bins"])
    assert table["cover"] == 1


def test_the_known_gain_of_variances_is_that_of_many_cases():
    law, _ = variance_coverage.LAWS["normal, bends in v"]
    rng = np.random.default_rng(1)
    v = np.exp(variance_coverage.WIDTH * rng.standard_normal(1_000_000))
    squared, after = law(v) * rng.standard_normal(v.size) ** 2, variance_coverage.recalibrated(v)
    gain = np.mean(squared / v + np.log(v) - squared / after - np.log(after))
    assert variance_coverage.true_gain(law) == pytest.approx(gain, abs=0.01)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(benchmark_pages, "RESULTS", tmp_path)
    monkeypatch.setattr(sites_page, "PAGES", tmp_path)
    return tmp_path


def stored_run(good: float, score: float) -> dict[str, float]:
    row = {f"{who}.{name}": good for who in sites_page.WHO for name in sites_page.NUMBERS}
    row |= {f"spread.{name}": 1.0 for name in ("shift", "log_slope", "correlation")}
    row |= {"average.interval_score": score, "new.interval_score": score, "any": 0.25}
    return row | {"error.hierarchical": 0.002, "error.unpooled": 0.004, "error.pooled": 0.001}


def stored_rival(two_stage: float, mixed: float) -> dict[str, float]:
    row = {f"two_stage.{who}.interval_score": two_stage for who in ("average", "new")}
    row |= {f"mixed.{who}.interval_score": mixed for who in ("average", "new")}
    return row | {"left_out": 1.0, "mixed_converged": 1.0, "mixed_singular": 1.0}


def test_the_page_names_cells_that_fall_short_and_rivals_that_win(folder: Path):
    assert sites_page.sites_page() == ""
    cell = {"truth": "miscalibrated", "sites": 5}
    calm, apart = cell | {"truth": "calibrated", "spread": 0.0}, cell | {"spread": 0.33}
    record = [
        calm | sites.summarised([stored_run(1.0, 0.5)] * 4),
        apart | sites.summarised([stored_run(0.5, 0.5)] * 4),
    ]
    rivals = [
        calm | sites.summarised([stored_rival(0.7, 0.3)] * 4),
        apart | sites.summarised([stored_rival(0.7, 0.6)] * 6),
    ]
    bins = [[0.2, 0.25, 40], [0.99, 1.0, 10]]
    row = {"cover": 0.94, "width": 0.05, "bins": bins}
    of_view = {"average": row, "new": row, "site": row}
    distances = {
        "sets": {"off, 5 sites": 34},
        "cells": {"off, 5 sites": of_view | {"every_site": 0.01, "average_site": 0.03}},
        "kinds": {"off": of_view},
        "limits": [0.01, 0.02],
    }
    (folder / "sites_distances.json").write_text(json.dumps(distances), "utf-8")
    (folder / "sites.json").write_text(json.dumps({"cells": record}), "utf-8")
    (folder / "sites_rivals.json").write_text(json.dumps({"cells": rivals}), "utf-8")
    text = sites_page.sites_page()
    lost = text.split("## Where we lose")[1].split("##")[0]
    assert "in 6 of 12 cells and numbers" in lost
    assert "slope of a new site (miscalibrated, 5 sites, sd 0.33): 0.50" in lost
    assert "2.0 with 5 sites" in lost
    assert "above the pooled one in miscalibrated, 5 sites, sd 0.33: 2.00 and 1.00" in lost
    assert "above the unpooled" not in lost
    assert "curve of a new site: mixed model is better in 1 of 2 cells" in lost
    assert "two-stage pooling is" not in lost
    assert "20.0% are left out" in text
    assert "0.25 with 5 sites" in text
    assert "| off, 5 sites | 34 | 0.94 | 0.94 | 0.94 | 0.05 | 0.05 | 0.05 | 0.01 | 0.03 |" in text
    assert "| off |  |  | 0.20 > 0.25 (40) |  |  |  |  | 0.99 > 1.00 (10) |" in text
    assert (folder / "sites.png").is_file()


def test_the_page_of_variances_names_what_falls_short(folder: Path):
    assert variance_page.variance_page() == ""
    shared = {"runs": 400, "below": 0.02, "above": 0.03, "width": 0.5}
    cells = [
        {"errors": errors, "n": 50, "method": method, "coverage": coverage} | shared
        for errors, method, coverage in (
            ("normal", "bootstrap", 0.95),
            ("normal", "gaussian", 0.91),
            ("heavy", "bootstrap", 0.85),
            ("heavy", "gaussian", 0.93),
        )
    ]
    (folder / "variance_coverage.json").write_text(json.dumps({"cells": cells}), "utf-8")
    text = variance_page.variance_page()
    assert "Monte Carlo errors: heavy, n = 50, bootstrap: 0.85." in text
    assert "| normal | 50 | 0.95 | 0.91 | 0.50 | 0.50 |" in text


def test_what_pages_state_of_sites_and_variances_was_stored():
    cells = benchmark_pages.stored("sites")["cells"]
    text = " ".join((DOCS / "how-to" / "sites.md").read_text("utf-8").split())
    kinds = ("hierarchical", "unpooled", "pooled")
    means = [np.mean([cell["mean"][f"error.{kind}"] for cell in cells]) for kind in kinds]
    told = (
        "curve is {:.4f}. It is {:.4f} if each hospital is fitted alone, and {:.4f} with one curve"
    )
    assert told.format(*means) in text
    variance = {
        (cell["errors"], cell["n"], cell["method"]): f"{cell['coverage']:.2f}"[1:]
        for cell in benchmark_pages.stored("variance_coverage")["cells"]
    }
    text = " ".join((DOCS / "how-to" / "variance.md").read_text("utf-8").split())
    for errors in ("normal, a line in v", "Student-t, a line in v"):
        for method in ("bootstrap", "gaussian"):
            values = [variance[errors, n, method] for n in (50, 100, 500)]
            assert "{}, {} and {}".format(*values) in text, (errors, method)


def test_the_page_of_the_model_quotes_what_is_said_of_distances():
    record = json.loads((sites_distances.RESULTS / "sites_distances.json").read_text("utf-8"))
    page = " ".join((DOCS / "model.md").read_text("utf-8").split())
    kinds, sets = record["kinds"], record["sets"]
    three = kinds["calibrated, mixed, off"]
    covered = [f"{three[who]['cover']:.2f}"[1:] for who in ("site", "average", "new")]
    number = sum(n for cell, n in sets.items() if not cell.startswith("some"))
    assert f"In {number} simulated populations of these three kinds" in page
    assert f"covered {covered[0]}, {covered[1]} and {covered[2]}." in page
    some = sum(n for cell, n in sets.items() if cell.startswith("some"))
    assert f"In {some} populations in which half of the sites" in page
    assert (
        f"those of a site covered {kinds['some']['site']['cover']:.2f}".replace("0.", ".") in page
    )
    gaps = [
        abs(stated - true)
        for kind in ("mixed", "off")
        for who in ("site", "new")
        for stated, true, _ in kinds[kind][who]["bins"]
    ]
    assert f"were within {max(gaps):.2f} of the share".replace("0.", ".") in page
    half = [abs(a - b) for who in ("site", "new") for a, b, _ in kinds["some"][who]["bins"]]
    assert f"are exact they were off by up to {max(half):.2f}".replace("0.", ".") in page


def test_the_page_of_the_model_has_the_stored_fits_of_several_terms():
    page = (DOCS / "model.md").read_text("utf-8")
    stored = json.loads((sites_distances.RESULTS / "several_terms.json").read_text("utf-8"))
    shown = 0
    for name, row in stored["rows"].items():
        for title in (name, f"{name} and their interaction"):
            if f"| {title} | {row['groups']} |" in page:
                seconds = f"{row['seconds']:.{1 if row['seconds'] < 10 else 0}f}"
                ends = f"| {title} | {row['groups']} | {seconds} | {row['pareto_k']:.2f} |"
                assert ends in page
                shown += 1
        if "numbers" in row:
            scale = max(1 - row["least_ratio_of_sd"], row["largest_ratio_of_sd"] - 1)
            told = rf"\b{row['numbers']} numbers\b[^;]*?\b{row['largest_difference']:.3f}\b"
            assert re.search(rf"{told}[^;.]*?\b{100 * scale:.0f} %", page, re.S), name
    assert shown == 5
    speed = json.loads((sites_distances.RESULTS / "sites_speed.json").read_text("utf-8"))["rows"]
    large = speed["500 sites x 24 periods of 20"]
    k = large["diagnostics"]["pareto_k"]
    assert f"| 12000 | {large['fit_cpu_seconds']:.0f} | {k:.2f} |" in page
    assert f"it took {large['megabytes'] / 1000:.1f} GB" in page
