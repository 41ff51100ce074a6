"""From a table to a posterior: of one family by either engine, or of all of them averaged."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
