"""What a fit of several curves says by itself, as another sampler does of the same model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayescal.multilevel.curves import Curves


def given_free(post: Any) -> Any:
    """The posterior without exact calibration: its draws alone, as those of NUTS."""
    stats = {name: value for name, value in post._free.stats.items() if name != "log_evidence"}
    return type(post)([Curves(replace(post._free, stats=stats))])
