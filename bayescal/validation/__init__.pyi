from . import simulate as simulate
from .consistency import Consistency as Consistency
from .consistency import check_consistency as check_consistency
from .interval_coverage import coverage as coverage
from .interval_coverage import coverage_table as coverage_table
from .ranks import uniformity as uniformity
from .simulation_based import sbc as sbc
