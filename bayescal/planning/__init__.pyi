from ._plan import plan as plan
from ._riley import riley as riley
from .result import Plan as Plan
