"""The formulas, options and scalars that all parts of one compiled schema share.

Does: build and hold them. Does not: refer back to the objects, arrays and rules that use them.
"""

from dataclasses import dataclass

from ..logic.formula import Pool
from ..logic.residual import Restriction
from ..read.writing_options import Options
from ..writing.byte_cost import Punctuation
from .finite import FiniteValues
from .scalar_leaves import ScalarLeaves
from .string_formulas import StringAutomata


@dataclass(frozen=True, slots=True)
class Shared:
    """Formulas, options and scalars of one schema."""

    pool: Pool
    options: Options
    punctuation: Punctuation
    restriction: Restriction
    strings: StringAutomata
    scalars: ScalarLeaves
    finite: FiniteValues

    @classmethod
    def of(cls, pool: Pool, options: Options) -> "Shared":
        """The shared parts of a schema with the formulas of `pool`."""
        restriction, strings = Restriction(pool), StringAutomata()
        return cls(
            pool,
            options,
            Punctuation(options),
            restriction,
            strings,
            ScalarLeaves(pool, options, restriction, strings),
            FiniteValues(pool, restriction, strings, options.extra_properties),
        )

    def release(self) -> None:
        """Break the reference cycles between the parts. None of them may be used afterwards."""
        self.pool.release()
        for part in (self.restriction, self.strings, self.scalars, self.finite):
            vars(part).clear()
