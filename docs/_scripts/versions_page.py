"""Which version made each table: a sentence for a page, and the page of all results."""

from __future__ import annotations

from functools import cache
from typing import Any

import provenance

SCRIPTS = {
    "cifar": ("cifar",),
    "clusters": (
        "cluster_coverage",
        "cluster_groups",
        "clusters_left_out",
        "consistency_clusters",
    ),
    "coverage": ("interval_coverage",),
    "drift": ("drift", "drift_now"),
    "ends": ("ends", "ends_drawn"),
    "gain": ("gain_coverage", "gain_clusters", "cross_fit_coverage"),
    "imputation": ("imputation_coverage",),
    "information": ("value_of_information",),
    "numbers": ("number_coverage",),
    "planning": ("planning", "planning_clusters", "planning_times"),
    "sites": (
        "sites",
        "sites_distances",
        "sites_rivals",
        "sites_robust",
        "sites_sbc",
        "sites_speed",
        "terms_sbc",
    ),
    "speed": ("speed", "nodes", "threads"),
    "subgroups": ("subgroups", "cells_robust", "classes"),
    "variance": ("variance_coverage",),
}
"""Benchmarks whose results a page shows, where that is not the one with the page's name."""


@cache
def state() -> tuple[dict[str, dict[str, Any]], dict[str, str], dict[str, str]]:
    """Records of all runs, why some are old, and how others were confirmed."""
    known, sources = provenance.records(), provenance.here()
    return known, provenance.stale(known, sources), provenance.confirmed(known, sources)


def described(name: str, record: dict[str, Any], old: bool, again: str = "") -> str:
    """One result: version, commit, date, and whether the code has changed."""
    made = (
        f"`{name}`: bayescal {record['version']}, commit {record['commit'][:9]}, {record['date']}"
    )
    parts = [f"{record['repeats']} repeats"] if record["repeats"] else []
    parts += [f"{record['seconds']:.0f} s"] if record["seconds"] else []
    if parts:
        made += f" ({', '.join(parts)})"
    if old:
        return f"{made}, **an earlier version of the code**"
    return f"{made}, {again or 'the present code'}"


def sentence(page: str) -> str:
    """The last paragraph of a page: which version made its numbers."""
    known, old, again = state()
    names = [name for name in SCRIPTS.get(page, (page,)) if name in known]
    if not names:
        return ""
    made = "; ".join(
        described(name, known[name], name in old, again.get(name, "")) for name in names
    )
    return f"\n\n**Version.** These numbers were stored by {made}. [All results](versions.md)\n"


def versions_page() -> str:
    """Every benchmark, the version that made its result, and whether that is the present one."""
    known, old, again = state()
    lines = [
        "# Which version made each result",
        "",
        "Each benchmark stores its result with a hash of the code that it uses: its own, and that "
        "of the modules of bayescal that it needs, without comments and without what none of them "
        "names. A result is *old* if this "
        "code has changed since. An old number is not necessarily wrong: most changes do not "
        "move it. It is computed again before a release. A result is *confirmed* if its code has "
        "changed, the first data sets of each cell were made again, and all of their numbers are "
        "what they were, to a millionth. Sets that another machine made may differ because a "
        "search ends elsewhere: then the earlier code makes them on this machine too, and these "
        "are compared. Where no data sets are stored, all numbers of a short run of the earlier "
        "code and of one of the present code must be the same.",
        "",
        f"{len(known.keys() - old.keys() - again.keys())} of {len(known)} results are of the "
        f"present code, and {len(again)} of an earlier one were confirmed.",
        "",
        "| benchmark | version | commit | date | repeats | random numbers | duration | code |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted(known):
        one = known[name]
        seconds = f"{one['seconds']:.0f} s" if one["seconds"] else "not recorded"
        repeats = one["repeats"] or "as the page says"
        code = "old" if name in old else again.get(name, "present")
        lines.append(
            f"| `{name}` | {one['version']} | {one['commit'][:9]} | {one['date']} | {repeats} "
            f"| {one['seeds']} | {seconds} | {code} |"
        )
    missing = sorted(set(old) - set(known))
    if missing:
        lines += ["", f"Without a stored result: {', '.join(f'`{name}`' for name in missing)}."]
    lines += [
        "",
        "`python docs/benchmarks/run.py --stale` lists what is old. "
        "`python docs/benchmarks/run.py` runs it again and goes on where it stopped; `--confirm` "
        "makes the first data sets or a short run again; `--quick` tries every script with few "
        "repeats and stores nothing.",
        "",
    ]
    return "\n".join(lines)
