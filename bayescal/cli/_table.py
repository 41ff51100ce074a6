"""A posterior as a table and in words, for readers who are not statisticians."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bayescal._base.text import cases_and_events, percent
from bayescal.assessment.performance import mean_score
from bayescal.assessment.words import numbers
from bayescal.cli._terminal import new_table
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.data import CalibrationData
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["about_clusters", "describe_cases", "describe_error", "describe_method", "summary_table"]

NORMS = {1.0: "", 2.0: " (root mean square, p = 2)", float("inf"): " (largest, p = inf)"}


def summary_table(summary: pd.DataFrame, p: float = 1, *, narrow: bool = False) -> Table:
    """A table of functionals: what each is, its estimate and interval, and its ideal value.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `CalibrationPosterior.summary`.
    p : float
        Norm of its row "tce".
    narrow : bool
        Stack the columns, for a terminal too narrow to stand them side by side.

    Returns
    -------
    rich.table.Table
    """
    level = f"{percent(summary.attrs['ci_prob'])} interval"
    table = new_table()
    if narrow:
        table.add_column(f"Measure: estimate ({level}); ideal")
    else:
        table.add_column("Measure")
        for heading in ("Estimate", level, "Ideal"):
            table.add_column(heading, justify="right", no_wrap=True)
    for name, row in summary.iterrows():
        label, ideal = _label(str(name), p)
        if caution := summary.attrs["cautions"].get(str(name)):
            label = f"{label} ({caution})"
        middle, low, high = numbers(row)
        cells = [label, middle, f"{low} to {high}", ideal]
        if narrow:
            cells = [f"{label}:\n{middle} ({low} to {high}); {ideal}"]
        table.add_row(*map(Text, cells), style="bold" if name == "tce" else None)
    for name, why in summary.attrs["undefined"].items():
        label, ideal = _label(name, p)
        cells = [label, NOT_DEFINED, why, ideal]
        if narrow:
            cells = [f"{label}:\n{NOT_DEFINED} ({why}); {ideal}"]
        table.add_row(*map(Text, cells))
    cautions = [FUNCTIONALS[str(name)].caution for name in summary.index]
    told = "; ".join(text for text in cautions if text)
    table.caption = f"{told[:1].upper()}{told[1:]}." if told else None
    return table


def describe_cases(data: CalibrationData) -> str:
    """How many cases and events there are, and what was predicted of them."""
    mean = mean_score(data)
    return f"{cases_and_events(data.n, data.events, data.effective_size)}; mean score {mean:#.3g}"


def describe_error(summary: pd.DataFrame, p: float = 1) -> str:
    """The true calibration error in one sentence."""
    middle, low, high = numbers(summary.loc["tce"])
    meaning = ""
    if p == 1:
        points = f"{100 * float(middle):.3g} percentage points"
        meaning = f" On average, a prediction is off by about {points}."
    return (
        f"The true calibration error{NORMS.get(p, f' (p = {p:g})')} is {middle} "
        f"({percent(summary.attrs['ci_prob'])} credible interval {low} to {high}).{meaning}"
    )


def describe_method(post: CalibrationPosterior) -> str:
    """How the numbers were computed, and whether the computation can be trusted."""
    diagnostics, problem = post.diagnostics, post.problem
    if not problem.curve.coordinates:
        check = "nothing to estimate"
    elif problem.curve.per_score and not post.is_average:
        check = "exact: independent risks of closed form"
    elif problem.curve.in_cells:
        check = "exact sums over partitions of the scores"
    elif post.engine == "importance":
        check = (
            f"importance sampling, Pareto k-hat {float(diagnostics['pareto_k']):.2f} (limit 0.7)"
        )
    else:
        check = f"NUTS, r-hat {float(diagnostics['r_hat']):.3f} (limit 1.01)"
        check += f" and {float(diagnostics['divergences']):.0f} divergences"
    verdict = "ok" if diagnostics["verdict"] == "ok" else "not good enough, see the note"
    return (
        f"Method: {problem.curve.name} curve, {problem.prior.name} prior; {check}: {verdict}. "
        f"{about_clusters(post)}Seed {problem.seed} repeats these numbers."
    )


def about_clusters(post: CalibrationPosterior) -> str:
    """How many clusters there are and what their cases are worth, in a sentence; or nothing."""
    return "" if post.design is None else f"Cases come in {post.design}. "


def _label(name: str, p: float) -> tuple[str, str]:
    """A functional's label, and its value when calibration is perfect."""
    functional = FUNCTIONALS[name]
    label = functional.label[0].upper() + functional.label[1:]
    if name == "tce":
        label += NORMS.get(p, f" (p = {p:g})")
    return label, f"{functional.calibrated:g}"
