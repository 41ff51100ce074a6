from .comparison import CurveComparison as CurveComparison
from .loo import LeaveOneOut as LeaveOneOut
from .lower_bound import LowerBound as LowerBound
from .lower_bound import tce_lower_bound as tce_lower_bound
