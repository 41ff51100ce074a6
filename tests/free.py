"""What a fit of several curves says by itself, as another sampler does of the same model."""

from dataclasses import replace

from bayescal.multilevel.curves import Curves


def given_free(post):
    """The posterior without exact calibration: its draws alone, as those of NUTS."""
    stats = {name: value for name, value in post._free.stats.items() if name != "log_evidence"}
    return type(post)([Curves(replace(post._free, stats=stats))])
