from ._compare import compare as compare
from ._fit import ENGINES as ENGINES
from ._fit import fit as fit
from ._update import update as update
from .comparison.curves import CurveComparison as CurveComparison
from .comparison.imputed import ImputedComparison as ImputedComparison
from .loo import LeaveOneOut as LeaveOneOut
from .sites.sensitivity import heterogeneity_sensitivity as heterogeneity_sensitivity
