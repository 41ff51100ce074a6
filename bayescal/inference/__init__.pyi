from ._compare import CurveComparison as CurveComparison
from ._compare import compare as compare
from ._fit import ENGINES as ENGINES
from ._fit import fit as fit
from ._update import update as update
from .loo import LeaveOneOut as LeaveOneOut
from .scaling.power import prior_sensitivity as prior_sensitivity
from .sites.sensitivity import heterogeneity_sensitivity as heterogeneity_sensitivity
