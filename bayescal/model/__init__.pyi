from . import curves as curves
from . import priors as priors
from .curve import Curve as Curve
from .curve import Frame as Frame
from .priors import Prior as Prior
from .problem import Problem as Problem
from .problem import prepare as prepare
