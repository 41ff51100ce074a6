"""The lists that end each page of a paper: errors, limits that the paper states, open questions.

    python docs/_scripts/papers_page.py

writes them into the pages. Numbers are those of the stored results. An *error* is what a reader can
check by algebra or by one command; a *limit* is an assumption or a restriction that the paper names
itself; an *open question* is what neither the paper nor its code settles.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(DOCS / "benchmarks" / "papers"), str(DOCS / "benchmarks")]

RESULTS = DOCS / "benchmarks" / "results" / "papers"
FIRST = "## Errors in the paper"


class Error(NamedTuple):
    """Where it is, what is printed, what is meant, and what shows it."""

    where: str
    printed: str
    meant: str
    shown: str


class Lists(NamedTuple):
    """The three lists of a paper."""

    errors: list[Error]
    limits: list[str]
    questions: list[str]


def stored(name: str) -> Any:
    """The stored results of a paper."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def short(value: float, digits: int = 4) -> str:
    """Without the zero before the point."""
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def blasiok() -> Lists:
    """Of Błasiok & Nakkiran."""
    import errata

    mis, numbers = stored("blasiok")["misprints"], errata.blasiok()
    weak = stored("blasiok")["theorem_22"]
    condition = stored("theorems")["lemma_17"]["constant_of_logit"]
    return Lists(
        [
            Error(
                "Theorem 22",
                "dCE ≤ wCE",
                "dCE / 2 ≤ wCE",
                f"{short(weak['distance'])} and {short(weak['weak'])}, above",
            ),
            Error(
                "section 1.1",
                r"$\mu(f) := E[f \mid y]$",
                r"$E[y \mid f]$",
                "it would be no function of $f$",
            ),
            Error(
                "section 1.1",
                r"the curve is $\delta_1 / (\delta_1 + \delta_2)$, of densities of $f$ given $y$",
                r"$\delta_0$ for $\delta_2$, and each density times the share of its outcome",
                f"eight evenly spaced cases, two of them events: the curve is {mis['curve']:.4f} "
                f"at .7, that ratio {mis['ratio_of_densities_of_mass_1']:.4f}",
            ),
            Error(
                "equation 2",
                "two expressions of the reflected kernel as one",
                "the first; where a point is 0 or 1, the second counts its one image twice",
                f"from .3, at 0, with σ = .2: {numbers['equation 2 at 0, first']:.4f} and "
                f"{numbers['equation 2 at 0, second']:.4f}; at .4 both are equal. This is where "
                "half of the mass in Figure 5 goes",
            ),
            Error(
                "Corollary 18",
                r"$\ln(u / (1 - v))$",
                r"$\ln(u / (1 - u))$",
                f"of .3 and .5: {numbers['corollary 18, printed distance of .3 and .5']:.4f} for "
                f"{numbers['corollary 18, meant']:.4f}",
            ),
            Error(
                "Corollary 18, proof",
                "the derivative of the logit is at most $C = 4$",
                "it is at least 4, and has no bound",
                f"$1 / (t (1 - t))$ is {numbers['corollary 18, derivative at 1/2']:.0f} at 1/2 and "
                f"{numbers['corollary 18, derivative at .01']:.1f} at .01",
            ),
            Error(
                "Corollary 18, proof",
                "the condition of Theorem 16 with $c = 1$",
                f"with $c = 1$ and a factor {condition:g}, or with $c = 2$",
                r"at ε = 1/2 the logit has slope 4, and $ε^{-1}$ is 2",
            ),
            Error(
                "Lemma 23, proof",
                r"$\int K(t, t_0)\, dt = 0$",
                "1, as in the lemma",
                f"a density: {numbers['lemma 23, integral of the kernel']:.4f}",
            ),
            Error(
                "Claim 12",
                r"$2 \sigma$ in the exponent of the kernel",
                r"$2 \sigma^2$",
                r"at $\sigma = 1/4$ its integral is "
                f"{mis['kernel_of_claim_12_at_a_quarter']:.4f}",
            ),
            Error(
                "section 5.3",
                r"$\mathrm{smECE}_{K,h} = \int \hat r \hat\delta$",
                r"$\int \lvert \hat r \rvert \hat\delta$",
                "scores .2 and .8 with outcomes of a fair coin: "
                f"{mis['signed_error_of_section_5_3']:.4f}, where SmoothECE is "
                f"{mis['smooth_ece_of_that_law']:.4f}",
            ),
            Error(
                "Theorem 19",
                r"$d_h = \max(\lvert h(u) - h(v) \rvert, 2)$",
                "the minimum",
                f"a point is {mis['point_to_itself_in_theorem_19']:.4f} from itself",
            ),
            Error(
                "section 6",
                "ResNet32",
                "ResNet34, as under Figure 3",
                "the file is called resnet34.csv",
            ),
            Error(
                "Figure 5, left",
                "a bar of zero from .2 to .3",
                ".085",
                "forecasts are 1 less those of no rain, so that .2 is .19999999999999996 and falls "
                "into the bin below; none is left from .2 to .3",
            ),
            Error(
                "Figure 5, right",
                ".132",
                ".134",
                "half the mass of scores of 0 and 1 is lost, above",
            ),
        ],
        [
            '**Two classes.** "We focus on binary calibration in this work."',
            "**The constants** of Theorems 15, 16 and 19 are left out by the sign ≲.",
            "**The band** of a diagram is of the smoothed curve, not of the true one.",
        ],
        [
            "Whether 1/2 is the best constant on the left of Theorem 7: the least ratio that was "
            f"seen is {stored('blasiok')['theorem_7']['least_smooth_over_distance']:.3f}.",
        ],
    )


def dong() -> Lists:
    """Of Dong et al."""
    known = stored("dong")["errata"]
    reductions = known["reductions"]
    each = [f"{value:.1%}"[:-1] for name, value in reductions.items() if name != "mean"]
    jump = stored("theorems")["theorem_1"]["jumps"][-1]
    moment = stored("theorems")["equation_14"]
    return Lists(
        [
            Error(
                "section 5.3",
                "50.15 % less on average than the second place",
                f"{reductions['mean']:.1%}".replace("%", " %"),
                f"the entries of Table 1 give {', '.join(each[:-1])} and {each[-1]} % "
                "(`dong_printed.reductions`)",
            ),
            Error(
                "Table 4",
                "P = 1.77e-15 in every row, under 100 runs",
                f"of 50 runs; with 100 it is {known['p_value_of_100']:.1e}",
                "the exact two-sided P of Wilcoxon's signed-rank test of 50 pairs that all favour "
                f"one side is 2^-49 = {known['p_value_of_50']:.3e} "
                "(`dong_printed.p_value_if_all_won`)",
            ),
            Error(
                "Table 4, Figure 1",
                "D1",
                "a score law of Beta(1.1233, .1147)",
                f"the error of Table 2's D1 is {short(known['tce']['D1'])}, that of the code's "
                f"{short(known['tce']['D1-code'])}",
            ),
            Error(
                "appendix B.4",
                "D3 about 10 %",
                f"{short(known['tce']['D3'])}",
                "an integral, `simulate.truth`",
            ),
            Error(
                "Theorem 1",
                "the fitted curve is Lipschitz in the data",
                "not where two minima of equation 9 tie",
                f"data that are {jump['away']:.1e} apart have curves that are {jump['curves']:.3f} "
                "apart: see [Theorems](theorems.md)",
            ),
            Error(
                "equation 15",
                "equation 14 where every case is by itself",
                "another distance: it may move the events of a score without the others",
                f"half events at .5, moved to .4 and .6: {short(moment['example_by_shares'], 1)} "
                f"and {short(moment['example_by_cases'], 1)}",
            ),
            Error(
                "equation 45",
                "beta log S",
                "beta log(1 - S)",
                "as printed the system has rank "
                f"{known['equation_45']['printed']}, not {known['equation_45']['meant']} "
                "(`dong_printed.ranks_of_equation_45`)",
            ),
            Error(
                "equation 48",
                "Hoeffding's inequality of both sides without a factor 2",
                "with it: ln(2/δ) in Theorem 4",
                "one outcome of probability 1/2 is 1/2 off with probability 1; the printed bound "
                f"is {short(known['equation_48']['printed_bound'], 3)} "
                "(`dong_printed.hoeffding_in_equation_48`)",
            ),
            Error(
                "equation 50",
                "ε, and a probability of 1 - δ",
                "L ε, with L the Lipschitz constant, and 1 - 3 δ",
                "three scores that keep to a bound with probability 1 - δ each do so together "
                "with 1 - 3 δ",
            ),
            Error(
                "equations 8, 9",
                "equivalent",
                "only where one curve passes through every bin",
                "a sum of probabilities and a sum of squares; see `estimators.fit_bpm_curve`",
            ),
            Error(
                "equation 51",
                "a sum of 1001 terms over 1000",
                "over 1001",
                "i runs from 0 to 1000",
            ),
        ],
        [
            "**Theorem 3.** The estimate is consistent if the true curve is of the fitted family, "
            "the first of its assumptions. On D3 it is not.",
            "**Theorem 2** and Corollary 1 assume that the curve is Lipschitz in the data.",
            '**Cost.** The average over schemes "increases computational cost", and how to choose '
            "the three bins of Theorem 4 is left to others.",
            '**Scope.** "we only focus on the confidence calibration in the closed-set '
            'classification problem".',
        ],
        [
            "To what cases each map of Table 1 was fitted; see *What follows*. That TPM was fitted "
            "to the cases that judge it is a reading of the numbers, not known.",
            "Which population the panel D3 of Figure 5 shows.",
            "In what order the sweep met cases with equal scores, on which its value for TPM "
            "depends.",
            "Why the released code leaves out the constraint of equations 11 and 12.",
        ],
    )


def gruber() -> Lists:
    """Of Gruber & Buettner."""
    import errata

    made, numbers = stored("gruber"), errata.gruber()
    threshold, kernel = made["threshold"], made["kernel"]
    bad = made["simulated"]["models"]["bad"]
    halves = made["released_simulation"]
    first = made["simulated"]["models"]["perfect"]["simulated"][0]["mean"]
    released = stored("gruber_released")
    few = released["falls"]["100"]["ETS"]["15b d TCE_2"]["root"]
    spread, pool = few["se"] * few["sets"] ** 0.5, released["pool"]
    errors = {n: spread / (20_000 / n) ** 0.5 for n in (8, 64)}
    return Lists(
        [
            Error(
                "Theorem 3.1, Proposition D.2",
                "TCE ≥ KS, with Definition C.2",
                "KS over all cases together",
                ".10 and 0, above",
            ),
            Error(
                "section 5, on Figure 1",
                "the fall of RBS approximates that of CE_2",
                "that of the Brier score is that of CE_2 squared",
                f"{bad['rbs_improvement']:.4f} and {bad['ce_2']:.4f}, above",
            ),
            Error(
                "appendix E.1.1",
                "accuracy is kept if P(Y = 1 given f < .5) < P(Y = 1 given f ≥ .5)",
                "if the first is below .5 and the second is not",
                f"scores .4 and .8 with risks {short(threshold['below'], 1)} and "
                f"{short(threshold['above'], 1)}: accuracy {threshold['accuracy_before']:.2f} "
                f"before, {threshold['accuracy_after']:.2f} after",
            ),
            Error(
                "appendix E.1.1, equation 46",
                "the first line is estimated by the precision, the second by the false omission "
                "rate",
                "the other way round",
                "scores .3 and .8 with risks .1 and .9: "
                f"{numbers['first line of equation 46, below .5']:g} is its false omission rate "
                f"and {numbers['second line of equation 46, from .5 on']:g} its precision",
            ),
            Error(
                "section 4, below Lemma 4.1",
                "the calibration term of the Brier score equals CE_2",
                "CE_2 squared",
                f"of the same two scores the term is {numbers['calibration term']:.4f}, and CE_2 "
                f"is {numbers['CE_2']:.4f}",
            ),
            Error(
                "equation 54",
                "$Q(P_i)$",
                "$Q(X_i)$",
                "$Q$ maps cases, as the line above it says",
            ),
            Error(
                "section 5, on the improvement of calibration",
                "Fig. 2",
                "Fig. 1",
                "Figure 2 has the simulated models",
            ),
            Error(
                "section 4",
                "the squared KCE is a *strictly* proper calibration error",
                "proper, as in appendix F",
                "truths .2 and .8: a constant .5 has the SKCE of the truth, 0, and a Brier score "
                f"of {kernel['constant, Brier']:.2f} for {kernel['truth, Brier']:.2f}",
            ),
            Error(
                "caption of Figure 5",
                "the other *estimators* are lower bounds",
                "the errors that they estimate",
                f"ECE {first:.4f} of a calibrated model with 100 cases",
            ),
            Error(
                "Figure 9, released code",
                "recalibrated variances of test cases",
                "they are those of the validation cases",
                "DSS 3.03 for 2.83 at step 2000",
            ),
            Error(
                "appendix G.1",
                "accuracy ≈ 87.6 %",
                f"of classes 0 to 49; {halves['second_half']:.1%} where the figure is",
                f"{halves['first_half']:.3f} and {halves['second_half']:.3f}, above",
            ),
            Error(
                "appendix G.5",
                "five seeds, and three repetitions",
                "five",
                "the released notebooks train five networks",
            ),
            Error("appendix G.5.1", "100 + 100 + 173 of 372 instances", "", "the sum is 373"),
            Error(
                "appendix G.5.2",
                r"$\mathcal N(0, .5 + X_6)$",
                "its square as the variance",
                "the released code",
            ),
        ],
        [
            '**Bounds, not errors.** "there does not exist an unbiased estimator of a proper '
            'calibration error", so that an upper bound is estimated.',
            "**Injective maps.** Proposition 4.5, and so every improvement by scores, is of "
            "injective maps of the probabilities.",
            '**Roots.** RBS is "asymptotically unbiased" only; in the squared space there is an '
            "unbiased estimator (appendix G.4).",
        ],
        [
            "Why the debiased estimate in Figure 1, of ETS and 100 cases, is .0465 there and .0516 "
            f"here. The measure as released gives {short(few['mean'])} ± {short(few['se'])}. A "
            "likely cause, which is not known to be the cause: the released code sets the random "
            "seed once and then draws the test sets in a pool of processes, each of which starts "
            "with a copy of the same generator, so that every process draws the same sets. Of "
            f"{pool['draws']} sets that {pool['workers']} processes draw so, {pool['distinct']} "
            "are different (`gruber_released.workers`). With 8 processes the 20 000 sets of the "
            f"paper would be 2500, and the standard error of this point {short(errors[8])}; with "
            f"64, some 300, and {short(errors[64])}. Curves of several estimates would move "
            "together, and the standard errors in Figures 1, 3 and 5 to 7 would be too small. How "
            "many processes there were is not recorded.",
            "Which bandwidth the kernel estimate of CE_1 in Figures 1 and 3 has; ours is that of "
            "maximum likelihood.",
        ],
    )


def torabian() -> Lists:
    """Of Torabian & Urner."""
    theory, theorems = stored("torabian")["theory"], stored("theorems")
    counts, example = theory["counts_of_cells"], theory["example_1"]
    seventh, loss = theory["observation_7"], theory["threshold"]
    two = theorems["theorem_2"]
    wrong = theorems["section_3"]["broken"]["theorem 2, only if, with a risk of 1/2"]
    return Lists(
        [
            Error(
                "Theorem 2",
                "only if two different risks are on one side of 1/2",
                "also if a risk is exactly 1/2",
                f"risks .3 and .5 of equal weight: the constant {short(two['score'], 1)} is "
                "calibrated and has the least 0/1 loss, as the risk has; "
                f"{wrong} of {theorems['section_3']['populations']:,} random populations "
                "([Theorems](theorems.md))",
            ),
            Error(
                "Figure 3",
                "the weights 3 · 1/4 + 19/80 + 5 · 1/80, and 4.08",
                f"15/80, and {counts['3, with 15/80']['count']:.2f}; or five small cells of 1/400, "
                f"and {counts['3, with five cells of 1/400']['count']:.2f}",
                f"they add to {counts['3, as printed']['sum']:.2f} (`counts_of_cells`); the text "
                "of appendix A calls the same count 4.28, which is that of Figure 5",
            ),
            Error(
                "Observation 7, tau",
                "g is monotone if η(c) < η(b) < η(a) < η(d)",
                "if η(c) < η(d) < η(b) < η(a)",
                "g(a) = g(b) = .6 > g(d) = .55: tau of g is "
                f"{seventh['printed: c < b < a < d, g']:.2f}, and with the other order "
                f"{seventh['mended: c < d < b < a, g']:g} (`observation_7`)",
            ),
            Error(
                "0/1 loss",
                "an event where f ≥ θ in section 2, where f > θ in section 5",
                "one of the two",
                "a constant score of 1/2, and events in six of ten cases: "
                f"{short(loss['section_2'], 1)} and {short(loss['section_5'], 1)} (`threshold`)",
            ),
            Error(
                "Table 1, PC",
                "a merge may leave PC as it was",
                "it always falls",
                "1/PC grows by twice the product of the two weights",
            ),
            Error(
                "section 5",
                "infinitely many scores of PS, IR and PCT",
                "of PS and PCT",
                "isotonic regression is a step function: 21 distinct scores in 200 cases "
                "(`torabian_methods.py`)",
            ),
            Error(
                "Example 1",
                "PDE sees what ECE hides",
                "and what is not there",
                "if the scores .35 and .65 are right the true error is "
                f"{example['truth_if_calibrated']:g}, and PDE is "
                f"{short(example['pde_if_calibrated'], 2)} again (`example_1`)",
            ),
        ],
        [
            "**Interpretable cells.** That cells mean something to a human is "
            '"not a property that is quantifiable by means of a mathematical definition"; only '
            "their number is measured.",
            "**Appendix C** needs the regression function, so that it is of generated data.",
        ],
        [
            "By what rule of ties Table 3 counts winners; its calibration columns rank by the "
            "number of distinct scores (above).",
            "Which generators appendix C has. It judges metrics by the mean of |f - η|, the error "
            "of approximating η, which is larger than the calibration error (the table of our "
            "posterior has both): a perfect estimate of calibration error is biased downwards "
            "there, and an estimate with noise looks better than it is.",
            "What a rising PDE says in appendix D. Over pure leaves PDE is the 0/1 loss itself "
            "(both are the share of cases of the other class), so that the two curves must meet as "
            "a tree grows, and do: their largest trees differ by at most .048 "
            "(`torabian_trees.py`).",
        ],
    )


PAPERS = {"blasiok": blasiok, "dong": dong, "gruber": gruber, "torabian": torabian}


def written(lists: Lists) -> str:
    """The three lists in Markdown."""
    lines = [FIRST, "", "| where | printed | meant | what shows it |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(error)} |" for error in lists.errors]
    for title, items in (
        ("## Limits that the paper states", lists.limits),
        ("## Open questions", lists.questions),
    ):
        lines += ["", title, "", *(f"* {item}" for item in items)]
    return "\n".join(lines) + "\n"


def page_with_lists(name: str, page: str) -> str:
    """The page of a paper, which ends with the lists."""
    return page[: page.index(FIRST)] + written(PAPERS[name]())


def main() -> None:
    for name in PAPERS:
        path = DOCS / "papers" / f"{name}.md"
        path.write_text(page_with_lists(name, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
