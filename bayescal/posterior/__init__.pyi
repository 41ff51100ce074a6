from . import functionals as functionals
from . import population as population
from .imputed.combine import combine_imputations as combine_imputations
from .imputed.posterior import ImputedPosterior as ImputedPosterior
from .posterior import CalibrationPosterior as CalibrationPosterior
from .sites.hierarchical import HierarchicalPosterior as HierarchicalPosterior
from .sites.load import load as load
from .subgroups.posterior import SubgroupPosterior as SubgroupPosterior
