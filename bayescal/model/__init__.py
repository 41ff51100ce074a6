"""A calibration curve is a basis and a prior: the families, their priors, and the PyMC model."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
