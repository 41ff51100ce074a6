from .posterior import MultilevelPosterior as MultilevelPosterior
from .term import by as by
from .term import walk as walk
