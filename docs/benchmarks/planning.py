"""Do studies of the planned size reach their goal as often as `plan` says?"""

from __future__ import annotations

from typing import Any

import numpy as np

import bayescal as bc
from record import Row, run

ASKED = "Do studies of the size that `plan` gives reach their goal as often as was asked for?"
ASSURANCE, PREVALENCE = 0.8, 0.2
SPREAD = bc.simulate.scores(prevalence=PREVALENCE, c_statistic=0.75)
TRUTHS: dict[str, Any] = {
    shape: bc.simulate.clinical(PREVALENCE, shape) for shape in ("calibrated", "overconfident")
}
GOALS: dict[str, dict[str, Any]] = {
    "slope, width 0.35": {"of": "calibration_slope", "width": 0.35},
    "O/E, width 0.3": {"of": "observed_expected", "width": 0.3},
    "TCE, width 0.06": {"of": "tce", "width": 0.06},
    "conclude: close enough, 0.05": {"conclude": "close enough", "limit": 0.05},
    "conclude: miscalibrated, 0.03": {"conclude": "miscalibrated", "limit": 0.03},
}
ANALYSES = ("curve", "average")
ICC, CLUSTER, CLUSTERED = 0.05, 20, ("slope, width 0.35", "O/E, width 0.3")


def reached(goal: dict[str, Any], post: Any) -> bool:
    """Whether the posterior of one study reaches the goal."""
    if "conclude" in goal:
        below = post.prob_below(goal["limit"])
        return bool((below if goal["conclude"] == "close enough" else 1 - below) >= 0.975)
    lower, upper = post.interval(goal["of"])
    return bool(upper - lower <= goal["width"])


def analysed(y: Any, s: Any, analysis: str, seed: int, **more: Any) -> Any:
    curve = {"curve": "beta", "engine": "importance"} if analysis == "curve" else {}
    return bc.fit(y, s, draws=1000, random_state=seed, **curve, **more)


def share(hits: list[bool]) -> dict[str, Any]:
    mean = float(np.mean(hits))
    return {"share": mean, "±": float(np.sqrt(max(mean * (1 - mean), 0.01) / len(hits)))}


def goals(seed: int, repeats: int) -> list[Row]:
    """Goals of a study of independent patients

    The size with which four studies in five should reach the goal, and the share of new studies
    of that size that do, with its standard error: under the truth that was assumed, and under the
    other one. 20 % events.
    """
    rows = []
    for shape in TRUTHS:
        other = next(name for name in TRUTHS if name != shape)
        for title, goal in GOALS.items():
            if goal.get("conclude") == {"calibrated": "miscalibrated"}.get(shape, "close enough"):
                continue  # what is not true is concluded of no size
            for analysis in ANALYSES[: 1 if repeats <= 2 else 2]:
                planned = bc.plan(
                    truth=TRUTHS[shape],
                    assurance=ASSURANCE,
                    analysis=analysis,
                    random_state=1,
                    n_jobs=1,
                    n_simulations=max(50, 2 * repeats),
                    **goal,
                )
                row = {"goal": title, "assumed": shape, "analysis": analysis, "n": planned.n}
                row["± of n"] = planned.monte_carlo_error
                for name, actual in ((shape, "assumed"), (other, "other")):
                    hits = []
                    for index in range(repeats):
                        rng = np.random.default_rng([seed, 1, len(rows), index])
                        y, s = TRUTHS[name].sample(planned.n, rng)
                        hits.append(reached(goal, analysed(y, s, analysis, index)))
                    row |= {f"{what}, truth {actual}": v for what, v in share(hits).items()}
                print(" ", row, flush=True)
                rows.append(row)
    return rows


def clusters(seed: int, repeats: int) -> list[Row]:
    """Patients in clusters

    Planned with `icc=` and `cluster_size=`: the design effect. Outcomes of a cluster share a
    uniform number with a probability that gives the intracluster correlation of 0.05.
    """
    truth, rows = TRUTHS["overconfident"], []
    for title in CLUSTERED:
        goal = GOALS[title]
        planned = bc.plan(
            truth=truth,
            assurance=ASSURANCE,
            analysis="curve",
            random_state=1,
            n_jobs=1,
            n_simulations=max(50, 2 * repeats),
            icc=ICC,
            cluster_size=CLUSTER,
            **goal,
        )
        hits = []
        for index in range(repeats):
            rng = np.random.default_rng([seed, 2, len(rows), index])
            count = -(-planned.n // CLUSTER)
            cluster = np.repeat(np.arange(count), CLUSTER)
            _, s = truth.sample(cluster.size, rng)
            shared = rng.random(cluster.size) < np.sqrt(ICC)
            u = np.where(shared, rng.random(count)[cluster], rng.random(cluster.size))
            y = (u < truth.curve(s)).astype(int)
            hits.append(reached(goal, analysed(y, s, "curve", index, cluster=cluster)))
        rows.append({"goal": title, "ICC": ICC, "of a cluster": CLUSTER, "n": planned.n})
        rows[-1] |= share(hits)
    return rows


PARTS = {goals: 100, clusters: 100}


def main(arguments: Any = None) -> None:
    run("planning", ASKED, PARTS, 57_004, arguments)


if __name__ == "__main__":
    main()
