from .data import CalibrationData as CalibrationData
from .sources import readers as readers
from .survival import Survival as Survival
