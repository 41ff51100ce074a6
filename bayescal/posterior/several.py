"""Several results side by side, such as those at several horizons: of one kind, with one table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.matrices import Risks

Result = TypeVar("Result")


class Several(dict[Any, Result]):
    """Results by key: posteriors, or comparisons, each that of a fit by itself.

    Independent fits have no joint law, so that nothing is said of all at once.

    Attributes
    ----------
    axis : str
        What the keys are, such as "horizon".
    notes : tuple of str
        How the risks were read off whole predicted curves; empty of columns of risks.
    """

    def __init__(
        self, results: Mapping[Any, Result], axis: str = "horizon", notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(results)
        self.axis, self.notes = axis, notes

    @classmethod
    def at_horizons(cls, results: Mapping[Any, Result], risks: Risks) -> Several[Result]:
        """Those at several horizons, of the risks by them."""
        return cls(results, "horizon", risks.notes)

    def __repr__(self) -> str:
        return f"Several({count(self.cases, 'case')}, {self.axis} {self._keys})"

    @property
    def _keys(self) -> str:
        return ", ".join(f"{key:g}" if isinstance(key, (int, float)) else str(key) for key in self)

    def at(self, key: Any) -> Result:
        """The result at one key.

        Raises
        ------
        InputError
            If there is none.
        """
        if not isinstance(key, Hashable) or key not in self:
            told = shortened(repr(key))
            raise InputError(f"{self.axis}={told} was not fitted. Those fitted are {self._keys}.")
        return self[key]

    @property
    def cases(self) -> float:
        """Number of cases, or the sum of their weights."""
        last: Any = self[list(self)[-1]]
        return float(last.data.n)

    def summary(
        self, names: Sequence[str] | None = None, ci_prob: float = 0.95, **options: Any
    ) -> pd.DataFrame:
        """Every functional at every key, as `CalibrationPosterior.summary` gives it.

        Parameters
        ----------
        names : sequence of str, optional
            Rows to compute, by names in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
            Probability of the interval.
        **options
            Passed to `CalibrationPosterior.summary`.

        Returns
        -------
        pandas.DataFrame
            Index: the key and the functional. Columns: estimate, mean, median, lower, upper.
        """
        import pandas as pd

        posts: Any = self.posterior.values()
        each = [post.summary(ci_prob, names=names, **options) for post in posts]
        table: pd.DataFrame = pd.concat(each, keys=list(self), names=[self.axis, "functional"])
        return table

    @cached_property
    def posterior(self) -> Several[Any]:
        """The posterior at each key."""
        each = {key: getattr(one, "posterior", one) for key, one in self.items()}
        return Several(each, self.axis, self.notes)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Of comparisons, the table of each, by key and family."""
        import pandas as pd

        comparisons: Any = self.values()
        each = [one.table for one in comparisons]
        table: pd.DataFrame = pd.concat(each, keys=list(self), names=[self.axis, "curve"])
        return table

    @cached_property
    def prob_calibrated(self) -> pd.Series:
        """Posterior probability of exact calibration, by key."""
        import pandas as pd

        results: Any = self.values()
        keys = pd.Index(list(self), name=self.axis)
        return pd.Series([one.prob_calibrated for one in results], keys, name="prob_calibrated")
