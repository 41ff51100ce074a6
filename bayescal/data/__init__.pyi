from .data import CalibrationData as CalibrationData
from .judged import Judged as Judged
from .survival import Survival as Survival
