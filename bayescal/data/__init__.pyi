from .data import CalibrationData as CalibrationData
from .judged import Judged as Judged
from .sources import readers as readers
from .survival import Survival as Survival
