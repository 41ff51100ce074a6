from . import readers as readers
