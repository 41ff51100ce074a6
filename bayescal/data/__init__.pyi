from .data import CalibrationData as CalibrationData
from .survival import Survival as Survival
