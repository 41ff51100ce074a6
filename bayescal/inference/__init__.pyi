from .comparison import CurveComparison as CurveComparison
from .evidence import EValue as EValue
from .evidence import e_value as e_value
from .loo import LeaveOneOut as LeaveOneOut
from .lower_bound import LowerBound as LowerBound
from .lower_bound import tce_lower_bound as tce_lower_bound
