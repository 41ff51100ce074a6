"""Known truths to simulate from, and whether an estimate is as of a calibrated model."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
