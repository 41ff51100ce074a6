from . import simulate as simulate
from ._coverage import coverage as coverage
from ._coverage import coverage_table as coverage_table
from ._sbc import sbc as sbc
from .consistency import Consistency as Consistency
from .consistency import check_consistency as check_consistency
from .ranks import uniformity as uniformity
