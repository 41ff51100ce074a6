"""NUTS in the place of the fast engine: said in one line, quiet itself, and with an end."""

import warnings

import numpy as np
import pytest

import bayescal as bc

SCORE = np.round(np.random.default_rng(0).uniform(0.05, 0.95, 200), 3)
SEPARATED = (SCORE > 0.5).astype(int)
PRIOR = {"shift": 1.0, "log_slope": 0.5, "asymmetry": 1.0, "centre": 0.5}
"""Under it, the proposals of importance sampling are poor."""


def fit(**options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        post = bc.fit(
            SEPARATED, SCORE, random_state=0, **{"curve": "beta", "prior": PRIOR} | options
        )
    return post, [str(warning.message) for warning in caught]


def test_a_line_says_so_and_the_draws_are_kept_if_time_runs_out(monkeypatch):
    import bayescal.inference.curve as nuts

    seen = []

    def late(model, **options):
        seen.append(options)
        raise bc.errors.OutOfTimeError("NUTS had not ended after 9 s.")

    monkeypatch.setattr(nuts, "sample_nuts", late)
    post, told = fit()
    assert post.engine == "importance"
    assert "Pareto k-hat is above 0.7" in post.diagnostics["verdict"]
    assert len(told) == 2
    assert "NUTS samples instead, which takes longer: at most 120 s" in told[0]
    assert told[1] == ("NUTS had not ended after 9 s. The draws are those of importance sampling.")
    fit(sampler={"seconds": 7})
    assert [options["sampler"].seconds for options in seen] == [120, 7]
    assert not any(options["sampler"].progressbar for options in seen)
    with pytest.raises(bc.errors.OutOfTimeError, match="9 s"):
        fit(engine="nuts")
    assert seen[-1]["sampler"].seconds is None


def test_groups_keep_their_draws_as_well(monkeypatch):
    import bayescal.multilevel.nuts as several

    def late(*_):
        raise bc.errors.OutOfTimeError("NUTS had not ended after 9 s.")

    monkeypatch.setattr("bayescal.posterior.words.BAD_K", -9.0)
    monkeypatch.setattr(several, "sample_terms_nuts", late)
    label = np.arange(200) % 3
    for groups in ({"site": label}, {"subgroup": {"a": label, "b": np.arange(200) % 2}}):
        post, told = fit(**groups, curve="intercept", draws=400)
        assert post.engine == "importance"
        assert len(told) == 2
        assert "at most 120 s" in told[0]
        assert "The draws are those of importance sampling." in told[1]


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("library", ["nutpie", "pymc"])
def test_time_runs_out_in_either_sampler_without_a_word(library, monkeypatch, capfd):
    import bayescal.core.versions as versions

    if library == "nutpie":
        pytest.importorskip("nutpie")
    monkeypatch.setattr(versions, "has_nutpie", lambda: library == "nutpie")
    post, told = fit(sampler={"seconds": 0.05, "tune": 100_000, "cores": 1})
    assert post.engine == "importance"
    assert [text[:20] for text in told] == ["importance sampling ", "NUTS had not ended a"]
    sampled, _ = fit(curve="intercept", engine="nuts", sampler={"cores": 1, "tune": 300})
    assert sampled.engine == "nuts"
    assert capfd.readouterr() == ("", "")
