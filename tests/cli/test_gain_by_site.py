"""`bayescal gain --site`: the gain at each site, of the average one and of the next."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.cli.app import main

COLUMNS = ("--outcome", "y", "--before", "p", "--after", "q")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    x = rng.normal(-1, 1, 600)
    y = (rng.random(600) < expit(x + 0.5)).astype(int)
    frame = pd.DataFrame({"y": y, "p": expit(x), "q": expit(x + 0.5)})
    frame["clinic"] = np.repeat([f"C{k}" for k in range(5)], 120)
    path = tmp_path_factory.mktemp("sites") / "both.csv"
    frame.to_csv(path, index=False)
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(part) for part in arguments])
    streams = capsys.readouterr()
    return stop.value.code, " ".join(streams.out.split()), " ".join(streams.err.split())


@pytest.mark.slow
def test_every_site_and_population_has_a_row(capsys, table, tmp_path):
    record = tmp_path / "gain.json"
    options = (*COLUMNS, "--site", "clinic", "--seed", 1, "--json", record)
    code, out, err = run(capsys, "gain", table, *options)
    assert (code, err) == (0, "")
    assert "Method: curves of all sites, fitted together." in out
    frame = pd.read_csv(table)
    gains = bc.recalibration_gain(
        frame["y"], frame["p"], frame["q"], site=frame["clinic"], random_state=1
    )
    expected = gains.table()
    told = json.loads(record.read_text())
    assert told["site"] == "clinic"
    rows = pd.DataFrame(told["brier_by_curve"]).set_index("curve")
    assert list(rows.index) == list(expected.index)
    np.testing.assert_allclose(rows["estimate"], expected["estimate"])
    assert np.isnan(rows["cases"].astype(float)).sum() == 2
    for title in ("A new site", "C4", "The average of 5 sites"):
        assert f" {title} " in out


def test_folds_and_sites_do_not_go_together(capsys, table):
    options = ("--outcome", "y", "--prob", "p", "--folds", 3, "--site", "clinic")
    code, out, err = run(capsys, "gain", table, *options)
    assert code == 2
    assert "--site goes with --before and --after" in out + err
