"""The benchmark of robust effects: its truths, and a part of a page that says what was stored."""

from __future__ import annotations

import json

import numpy as np
import pytest

import benchmark_pages
import robust_part
import sites_robust


def test_unlike_sites_have_their_size_and_the_others_their_spread():
    rng = np.random.default_rng(1)
    at = sites_robust.sites_of(sites_robust.CELLS["normal .33"], 4000, rng)
    np.testing.assert_allclose(at.std(axis=0), (0.33, 0.165), rtol=0.04)
    heavy = sites_robust.sites_of(sites_robust.CELLS["heavy tails"], 4000, rng)
    assert np.abs(heavy[:, 0]).max() > 8 * 0.12
    _, _, site = sites_robust.cases(at[:20], rng, 3)
    assert np.bincount(site)[:3].tolist() == [150, 150, 150]
    assert np.ptp(np.bincount(site)[3:]) > 50


def test_a_score_is_the_width_and_what_is_missed():
    draws = np.linspace(0, 1, 1001)[:, None, None]
    assert sites_robust.score_of(draws, np.array([[0.5]]))[0] == pytest.approx(0.95)
    missed = sites_robust.score_of(draws, np.array([[1.0]]))[0]
    assert missed == pytest.approx(0.95 + 40 * 0.025)


def test_the_part_says_what_was_stored_and_where_normal_effects_are_better(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark_pages, "RESULTS", tmp_path)
    assert robust_part.robust_part() == []
    mean = {"truth": 0.91, "pooled.error": 0.002}
    for how, shift in (("robust", 0.0), ("normal", 0.1)):
        mean |= {f"{how}.unlike.{name}": 0.92 - shift for name in robust_part.NUMBERS}
        mean |= {f"{how}.{name}.score": 0.2 + shift for name in ("unlike", "rest", "average")}
        mean |= {f"{how}.near": 0.8 - shift, f"{how}.new.tce": 0.9, f"{how}.error": 0.001}
        mean[f"{how}.new.score"] = 0.4 - shift
    mean |= {"robust.found": 0.77, "robust.false": 0.03}
    cell = {"cell": "one unlike", "unlike": 1, "runs": 40, "mean": mean}
    (tmp_path / "sites_robust.json").write_text(json.dumps({"cells": [cell]}), "utf-8")
    told = "\n".join(robust_part.robust_part())
    assert "From 40 data sets a cell" in told
    assert "| 0.92 | 0.82 |" in told
    assert "| 0.91 | 0.80 | 0.70 | 0.90 | 0.90 |" in told
    assert "next (0.400 for 0.300)" in told
    assert "rest (0.200 for 0.300)" not in told
