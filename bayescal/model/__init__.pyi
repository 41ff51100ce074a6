from . import curves as curves
from . import priors as priors
from .pymc import build_model as build_model
