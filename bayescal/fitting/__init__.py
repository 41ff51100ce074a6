"""The doors: fit, compare, update, load, build_model; and imputations, mixed over any of them."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
