from .drift.posterior import DriftPosterior as DriftPosterior
from .factorised.sensitivity import heterogeneity_sensitivity as heterogeneity_sensitivity
from .factors.posterior import SubgroupPosterior as SubgroupPosterior
from .posterior.hierarchical import HierarchicalPosterior as HierarchicalPosterior
