"""The smooth and the binned reliability diagram draw the numbers of their estimators."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.errors import InputError
from drawn import legend

CASES = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=2)


def test_the_curve_is_as_wide_as_the_density(ax):
    assert bc.plots.smooth_reliability(*CASES, ax, random_state=1) is ax
    shown = bc.estimators.smooth_reliability(*CASES, grid=np.linspace(0, 1, 401), random_state=1)
    (curve,) = [part for part in ax.collections if isinstance(part, LineCollection)]
    starts = np.array([piece[0] for piece in curve.get_segments()])
    np.testing.assert_allclose(np.interp(starts[:, 0], shown.score, shown.outcome), starts[:, 1])
    density = np.interp(starts[:, 0] + 1 / 800, shown.score, shown.density)
    assert np.corrcoef(density, curve.get_linewidths())[0, 1] > 0.9999


def test_the_band_and_the_edges_are_those_of_the_numbers(ax):
    bc.plots.smooth_reliability(*CASES, ax, ci_prob=0.8, random_state=1)
    shown = bc.estimators.smooth_reliability(
        *CASES, grid=np.linspace(0, 1, 401), ci_prob=0.8, random_state=1
    )
    (band,) = [part for part in ax.collections if part.get_label() == "80 % of bootstrap curves"]
    box = band.get_datalim(ax.transData)
    dense = shown.density >= 1e-3 * shown.density.max()
    assert (box.y0, box.y1) == pytest.approx((shown.lower[dense].min(), shown.upper[dense].max()))
    parts = (shown.event_density, -shown.non_event_density)
    for steps, part in zip(ax.patches, parts, strict=True):
        drawn = np.nan_to_num(steps.get_data().values)
        np.testing.assert_allclose(drawn, part / np.abs(part).max(), atol=1e-12)


def test_the_legend_gives_smooth_ece_with_its_interval(ax):
    bc.plots.smooth_reliability(*CASES, ax, random_state=1)
    known = bc.estimators.estimator_interval(
        *CASES, "smooth_ece", method="basic", n_resamples=200, random_state=1
    )
    (text,) = [text for text in legend(ax) if text.startswith("SmoothECE")]
    assert text == (
        f"SmoothECE {known.estimate:.2f} (95 % interval {known.lower:.2f} to {known.upper:.2f})"
    )


@pytest.mark.parametrize("name", ["smooth_reliability", "binned_reliability"])
@pytest.mark.parametrize("options", [{}, {"ci_prob": 0.5}])
def test_the_legend_lies_over_nothing_and_in_the_figure(name, options):
    ax = getattr(bc.plots, name)(*CASES, random_state=1, **options)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    others = [ax.get_window_extent(), ax.xaxis.label.get_window_extent()]
    others += [part.get_window_extent() for part in (*ax.patches, *ax.texts)]
    assert not any(box.overlaps(other) for other in others)
    assert box.y0 >= 0
    assert box.x0 >= 0
    assert box.x1 <= ax.figure.bbox.x1
    plt.close(ax.figure)


def test_limits_and_no_legend(ax):
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    bc.plots.smooth_reliability(y_true, y_prob, ax, limits=(0, 0.6), legend=False, random_state=1)
    assert ax.get_xlim() == ax.get_ylim() == (0, 0.6)
    assert ax.get_legend() is None


def test_a_table_draws_what_its_cases_draw(ax):
    bc.plots.smooth_reliability(bc.CalibrationData(*CASES), ax=ax, random_state=1)
    other = bc.plots.smooth_reliability(*CASES, Figure().subplots(), random_state=1)
    assert legend(ax) == legend(other)


def test_bars_are_the_means_of_the_bins(ax):
    assert bc.plots.binned_reliability(*CASES, ax, random_state=1) is ax
    shown = bc.estimators.binned_reliability(*CASES, random_state=1)
    bars = [patch.get_data() for patch in ax.patches]
    filled = shown.trials > 0
    np.testing.assert_allclose([bar.values[0] for bar in bars], shown.outcome[filled])
    np.testing.assert_allclose([bar.edges[0] for bar in bars], shown.edges[:-1][filled])
    darkest = max(ax.patches, key=lambda patch: patch.get_alpha())
    assert darkest.get_data().values[0] == shown.outcome[shown.trials.argmax()]
    assert f"ECE {shown.ece:.3f} ({shown.n_bins} bins, cross-validated)" in legend(ax)


def test_a_number_of_bins_is_taken_as_given(ax):
    bc.plots.binned_reliability(*CASES, ax, n_bins=4)
    assert any(text.endswith("(4 bins)") for text in legend(ax))
    with pytest.raises(InputError, match="cross-validated"):
        bc.plots.binned_reliability(*CASES, ax, n_bins="best")
