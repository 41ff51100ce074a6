from .table import CalibrationData as CalibrationData
from .times import Survival as Survival
