from .comparison import CurveComparison as CurveComparison
from .loo import LeaveOneOut as LeaveOneOut
