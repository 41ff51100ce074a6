from .data import CalibrationData as CalibrationData
