"""Several related curves: sites, factors and periods, each an effect round an average."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
