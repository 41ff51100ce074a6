"""The tables of an assessment, by name: each is made once, and every reader draws the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from bayescal.assessment.findings import Findings
from bayescal.assessment.tables.decisions import (
    benefit_table,
    information_table,
    lost_table,
    updates_table,
)
from bayescal.assessment.tables.details import (
    diagnostics_table,
    estimators_table,
    families_table,
    val_prob_table,
)
from bayescal.assessment.tables.essentials import (
    classification_table,
    essentials_groups_table,
    essentials_levels_table,
)
from bayescal.assessment.tables.followed import followed_table
from bayescal.assessment.tables.groups import (
    groups_table,
    populations_table,
    spread_table,
    subgroups_table,
)
from bayescal.assessment.tables.measures import (
    curve_table,
    first_table,
    imputations_table,
    measures_table,
    near_table,
    stretches_table,
)
from bayescal.core.errors import check_choice
from bayescal.core.table import Table

__all__ = ["Tables"]


class Tables(Mapping[str, Table]):
    """The tables of an assessment that its data define; each is made when it is first read."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._made: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._made:
            check_choice(name, self._known, "name")
            made = self._known[name](self._findings)
            self._made[name] = made.worded(self._findings.worded)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"

    @property
    def _known(self) -> dict[str, Callable[[Findings], Table]]:
        f = self._findings
        known: dict[str, Callable[[Findings], Table]] = {
            "first": first_table,
            "measures": measures_table,
            "near": near_table,
            "curve": curve_table,
            "stretches": stretches_table,
            "estimators": estimators_table,
            "classification": classification_table,
            "updates": updates_table,
            "families": families_table,
            "diagnostics": diagnostics_table,
            "val_prob": val_prob_table,
        }
        if f.posterior.problem.of_times:
            del known["val_prob"]  # of outcomes that are known
            known["followed"] = followed_table
        if not f.has_estimators:
            del known["estimators"]
        is_imputed = len(f.posterior.imputations) > 1
        if f.thresholds:
            known["benefit"] = benefit_table
            known["lost"] = lost_table
        if f.thresholds and not is_imputed:
            known["information"] = information_table
        if is_imputed:
            known["imputations"] = imputations_table
        if f.data.groups:
            known["groups"] = groups_table
            known["essentials_groups"] = essentials_groups_table
        if f.several is not None:
            del known["families"]  # of one curve for all
            known = {"populations": populations_table} | known
        if f.has_sites:
            known["spread"] = spread_table
        if f.crossed is not None:
            known["levels"] = subgroups_table
            known["combinations"] = partial(subgroups_table, of="cells")
            known["essentials_levels"] = essentials_levels_table
        return known
