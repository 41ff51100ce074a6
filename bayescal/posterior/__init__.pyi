from . import functionals as functionals
from . import population as population
from .posterior import CalibrationPosterior as CalibrationPosterior
from .several import Several as Several
