from .data import CalibrationData as CalibrationData
from .judged import Judged as Judged
