__version__: str

from . import errors as errors
from . import estimators as estimators
from . import plots as plots
from . import recalibrate as recalibrate
from . import scores as scores
from . import validation as validation
from .assessment import Assessment as Assessment
from .assessment import assess as assess
from .data import CalibrationData as CalibrationData
from .gain import RecalibrationGain as RecalibrationGain
from .gain import Recommendation as Recommendation
from .gain import cross_fit as cross_fit
from .gain import recalibration_gain as recalibration_gain
from .gain import recommend as recommend
from .inference import CurveComparison as CurveComparison
from .inference import compare as compare
from .inference import fit as fit
from .model import build_model as build_model
from .model import curves as curves
from .model import priors as priors
from .posterior import CalibrationPosterior as CalibrationPosterior
from .posterior import functionals as functionals
from .posterior import load as load
from .validation import Consistency as Consistency
from .validation import check_consistency as check_consistency
from .validation import simulate as simulate
