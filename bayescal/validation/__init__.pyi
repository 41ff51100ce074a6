from . import simulate as simulate
from .consistency import Consistency as Consistency
from .consistency import check_consistency as check_consistency
