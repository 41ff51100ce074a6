"""What a column can say of each case: the roles, declared once for every door.

Nothing heavy is imported, since options of the command line are made of them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["OF_TABLE", "ROLES", "Role"]


class Role(NamedTuple):
    """What a column says of each case, declared once for every door.

    Attributes
    ----------
    name : str
        The word for it, of arrays, of columns and of options.
    kind : {"outcomes", "probabilities", "numbers", "labels", "times"}
        How a column is read. Labels are taken verbatim; times are dates, numbers or texts in order.
    line : str
        What it is, in one sentence for documentation.
    missing : {"refused", "unknown"}
        What a missing value means: a mistake, or that it is not known of this case.
    several : bool
        Whether several columns may have it, by name.
    groups : bool
        Whether its levels are told apart: a curve may differ between them.
    """

    name: str
    kind: Literal["outcomes", "probabilities", "numbers", "labels", "times"]
    line: str
    missing: Literal["refused", "unknown"] = "refused"
    several: bool = False
    groups: bool = False

    @property
    def option(self) -> str:
        """Its option on a command line."""
        return f"--{self.name.replace('_', '-')}"


ROLES = {
    role.name: role
    for role in (
        Role("site", "labels", "The site of each case, such as its hospital.", groups=True),
        Role(
            "period",
            "times",
            "When each case was, such as its month: numbers, dates, texts such as '2024-03', or an "
            "ordered categorical; at most 60 periods.",
            groups=True,
        ),
        Role(
            "subgroup",
            "labels",
            "The subgroup of each case, such as sex; several are given by name.",
            several=True,
            groups=True,
        ),
        Role(
            "cluster",
            "labels",
            "The cluster of each case, such as a patient seen several times, when cases of one "
            "cluster are not independent and clusters are of no interest themselves.",
        ),
        Role("stratum", "labels", "The stratum from which the cluster of each case was drawn."),
        Role(
            "imputation",
            "labels",
            "The imputation that each row is of, one row a case and imputation; of arrays also a "
            "matrix in place of the scores, with a row for each imputation or draw of them.",
            groups=True,
        ),
        Role("sample_weight", "numbers", "Counts of cases, or sampling weights."),
    )
}
"""Roles by name, in the order of every door."""

OF_TABLE = {
    role.name: role
    for role in (
        Role(
            "outcome",
            "outcomes",
            "Whether each case had the event: 0/1 or boolean, shares in between, or labels with "
            "pos_label.",
            missing="unknown",
        ),
        Role("prob", "probabilities", "The predicted probability of the event, in [0, 1]."),
        Role("time", "numbers", "How long each case was followed, in place of an outcome."),
        Role("event", "labels", "What ended that time: 0 if the case left, 1 if by the event."),
        Role("entry", "numbers", "When each case came under observation, if after time 0."),
    )
}
"""What a frame or a file has beside: columns that arrays pass by position, or as a Survival."""
