from .drift import DriftPosterior as DriftPosterior
from .factors import SubgroupPosterior as SubgroupPosterior
from .posterior import MultilevelPosterior as MultilevelPosterior
from .sites import HierarchicalPosterior as HierarchicalPosterior
from .term import by as by
from .term import walk as walk
