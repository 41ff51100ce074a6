"""What the methods rest on: how a text cites it, and its DOI."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["REFERENCES", "Reference", "cited"]


class Reference(NamedTuple):
    """A publication.

    Attributes
    ----------
    text : str
        Authors, year, title and journal.
    """

    text: str
    doi: str


# Publications by their citation, such as "Rubin, 1981".
REFERENCES: dict[str, Reference] = {
    "Dong et al., 2025": Reference(
        "Dong J, Jiang Z, Pan D, Yu H (2025). Combining priors with experience: confidence "
        "calibration based on binomial process modeling. AAAI Conference on Artificial "
        "Intelligence; arXiv:2412.10658.",
        "10.48550/arXiv.2412.10658",
    ),
    "Hoeting et al., 1999": Reference(
        "Hoeting JA, Madigan D, Raftery AE, Volinsky CT (1999). Bayesian model averaging: a "
        "tutorial. Statistical Science 14, 382-417.",
        "10.1214/ss/1009212519",
    ),
    "Rubin, 1981": Reference(
        "Rubin DB (1981). The Bayesian bootstrap. The Annals of Statistics 9, 130-134.",
        "10.1214/aos/1176345338",
    ),
    "Rubin, 1987": Reference(
        "Rubin DB (1987). Multiple Imputation for Nonresponse in Surveys. Wiley, New York.",
        "10.1002/9780470316696",
    ),
    "Zhou and Reiter, 2010": Reference(
        "Zhou X, Reiter JP (2010). A note on Bayesian inference after multiple imputation. The "
        "American Statistician 64, 159-163.",
        "10.1198/tast.2010.09109",
    ),
    "Ribatet, Cooley and Davison, 2012": Reference(
        "Ribatet M, Cooley D, Davison AC (2012). Bayesian inference from composite likelihoods, "
        "with an application to spatial extremes. Statistica Sinica 22, 813-845.",
        "10.5705/ss.2009.248",
    ),
    "Broecker and Smith, 2007": Reference(
        "Broecker J, Smith LA (2007). Increasing the reliability of reliability diagrams. Weather "
        "and Forecasting 22, 651-661.",
        "10.1175/WAF993.1",
    ),
    "Vehtari, Gelman and Gabry, 2017": Reference(
        "Vehtari A, Gelman A, Gabry J (2017). Practical Bayesian model evaluation using "
        "leave-one-out cross-validation and WAIC. Statistics and Computing 27, 1413-1432.",
        "10.1007/s11222-016-9696-4",
    ),
    "Cox, 1958": Reference(
        "Cox DR (1958). Two further applications of a model for binary regression. Biometrika 45, "
        "562-565.",
        "10.1093/biomet/45.3-4.562",
    ),
    "Austin and Steyerberg, 2019": Reference(
        "Austin PC, Steyerberg EW (2019). The Integrated Calibration Index (ICI) and related "
        "metrics for quantifying the calibration of logistic regression models. Statistics in "
        "Medicine 38, 4051-4065.",
        "10.1002/sim.8281",
    ),
    "Collins, Ogundimu and Altman, 2016": Reference(
        "Collins GS, Ogundimu EO, Altman DG (2016). Sample size considerations for the external "
        "validation of a multivariable prognostic model: a resampling study. Statistics in "
        "Medicine 35, 214-226.",
        "10.1002/sim.6787",
    ),
    "Van Calster et al., 2019": Reference(
        "Van Calster B, McLernon DJ, van Smeden M, Wynants L, Steyerberg EW (2019). Calibration: "
        "the Achilles heel of predictive analytics. BMC Medicine 17, 230.",
        "10.1186/s12916-019-1466-7",
    ),
    "Van Calster et al., 2025": Reference(
        "Van Calster B, Collins GS, Vickers AJ, Wynants L, Kerr KF, Barreñada L, et al. (2025). "
        "Evaluation of performance measures in predictive artificial intelligence models to "
        "support medical decisions: overview and guidance. The Lancet Digital Health 7, 100916.",
        "10.1016/j.landig.2025.100916",
    ),
    "Collins et al., 2024": Reference(
        "Collins GS, Moons KGM, Dhiman P, et al. (2024). TRIPOD+AI statement: updated guidance for "
        "reporting clinical prediction models that use regression or machine learning methods. BMJ "
        "385, e078378.",
        "10.1136/bmj-2023-078378",
    ),
    "Vickers and Elkin, 2006": Reference(
        "Vickers AJ, Elkin EB (2006). Decision curve analysis: a novel method for evaluating "
        "prediction models. Medical Decision Making 26, 565-574.",
        "10.1177/0272989X06295361",
    ),
    "Kass and Raftery, 1995": Reference(
        "Kass RE, Raftery AE (1995). Bayes factors. Journal of the American Statistical "
        "Association 90, 773-795.",
        "10.1080/01621459.1995.10476572",
    ),
}

_CITATION = re.compile("|".join(re.escape(words) for words in REFERENCES))


def cited(text: str) -> list[str]:
    """The references that a text cites, in the order in which it does.

    Returns
    -------
    list of str
        Keys of `REFERENCES`.

    Examples
    --------
    >>> from bayescal.report.references import cited
    >>> cited("By the Bayesian bootstrap (Rubin, 1981).")
    ['Rubin, 1981']
    """
    return list(dict.fromkeys(_CITATION.findall(text)))
