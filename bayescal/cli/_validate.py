"""`bayescal validate`: is the machinery right, on this computer, for a sample of this size?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from rich.table import Table

__all__ = ["validate"]

TRUTHS = {
    "clinical-middle-overconfident": "over-confident",
    "clinical-low-shifted": "risks too low",
    "D1": "classifier D1",
}
RIVAL = "ece_basic"


def validate(
    curve: Annotated[
        str,
        typer.Option(help="Family of curves: beta, logistic, spline, ...; or their average."),
    ] = "beta",
    prior: Annotated[
        str, typer.Option(help="Prior on the curve: neutral or clinical.")
    ] = "neutral",
    n: Annotated[int, typer.Option("--n", min=5, help="Cases in each simulated data set.")] = 100,
    simulations: Annotated[
        int, typer.Option(min=20, help="Number of simulated data sets, for each of the two checks.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 2,
) -> None:
    """Check the posterior by simulation: are the draws right, and what is the coverage?"""
    from functools import partial

    from bayescal._base.errors import InputError
    from bayescal.cli._terminal import output, say
    from bayescal.model.curves import AVERAGE, as_curve
    from bayescal.model.priors import as_prior

    chosen = as_prior(prior)
    averaged = curve == AVERAGE.name
    family = AVERAGE if averaged else as_curve(curve)
    if averaged and chosen.name != "neutral":
        raise InputError("the average is validated under its own prior, --prior neutral.")
    from bayescal.validation import coverage, coverage_table, sbc, uniformity
    from bayescal.validation.intervals import family as posterior_of

    console = output()
    title = f"{family.name} curve, {chosen.name} prior, {n} cases, {simulations} simulations"
    say(console, title, "bold")
    ranks = sbc(
        curve if averaged else family,
        chosen,
        n=n,
        n_simulations=simulations,
        random_state=seed,
        n_jobs=jobs,
    )
    say(console, "")
    say(console, describe_ranks(ranks, uniformity(ranks)))
    ours = partial(posterior_of, curve=family, prior=chosen)
    methods = {AVERAGE.name: AVERAGE.name} if averaged else {family.name: ours}
    intervals = coverage(
        list(TRUTHS),
        [n],
        methods | {RIVAL: RIVAL},
        n_simulations=simulations,
        random_state=seed,
        n_jobs=jobs,
    )
    table = coverage_table(intervals)
    say(console, "")
    say(console, "95 % intervals of the true calibration error (TCE), on known populations:")
    console.print(interval_table(table, family.name))
    say(console, describe_coverage(table, family.name))


def describe_ranks(ranks: xr.Dataset, verdict: pd.DataFrame) -> str:
    """The verdict of simulation-based calibration in plain words."""
    size = ranks.sizes["simulation"]
    unreliable = int((ranks["pareto_k"] > 0.7).sum())
    note = (
        f" In {unreliable} of {size} fits importance sampling was unreliable (Pareto k-hat above "
        "0.7); bayescal.fit would have sampled these with NUTS."
        if unreliable
        else ""
    )
    strayed = verdict.index[~verdict["inside"].to_numpy()].astype(str).to_list()
    how = (
        f"{size} truths were drawn from the prior, outcomes from each, and a posterior fitted to "
        "the outcomes."
    )
    if strayed:
        sentence = (
            f"{how} The truths do NOT rank evenly among the posterior draws, for "
            f"{', '.join(strayed)}: the posterior is probably computed wrongly. If it is correct, "
            "this happens in at most 1 % of checks. Repeat the check with another --seed and more "
            "--simulations."
        )
    else:
        sentence = (
            f"{how} The truths rank evenly among the posterior draws, for all {len(verdict)} "
            f"quantities checked ({', '.join(map(str, verdict.index))}): there is no sign that the "
            "posterior is computed wrongly."
        )
    return sentence + note


def describe_coverage(table: pd.DataFrame, curve: str) -> str:
    """What the coverage table says, and what it cannot say."""
    ours = table.xs(curve, level="method")
    low = ours[ours["coverage_upper"] < 0.95].reset_index()
    short = [TRUTHS[name] for name in low["truth"]]
    if short:
        sentence = (
            f"The {curve} intervals cover less than the stated 95 % for: {', '.join(short)} "
            "(clear of chance at 99 %)."
        )
    else:
        sentence = f"No {curve} interval covers clearly less than the stated 95 % here."
    return (
        f"{sentence} Score is the mean interval score: width plus a penalty for missing; lower is "
        "better. Intervals of a prior-based posterior need not cover every fixed population at "
        "exactly 95 %."
    )


def interval_table(table: pd.DataFrame, curve: str) -> Table:
    """Coverage by population and method, for a terminal."""
    from bayescal.cli._terminal import new_table

    shown = new_table()
    for heading in ("Population", "Method"):
        shown.add_column(heading)
    for heading in ("TCE", "Covered (99 % CI)", "Width", "Score"):
        shown.add_column(heading, justify="right", no_wrap=True)
    names = {curve: curve, RIVAL: "bootstrap ECE"}
    for _, row in table.reset_index().iterrows():
        interval = f"({row['coverage_lower']:.2f}-{row['coverage_upper']:.2f})"
        shown.add_row(
            TRUTHS[row["truth"]],
            names[row["method"]],
            f"{row['true_value']:.3f}",
            f"{row['coverage']:.2f} {interval}",
            f"{row['mean_width']:.3f}",
            f"{row['mean_interval_score']:.3f}",
        )
    return shown
