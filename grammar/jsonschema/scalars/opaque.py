"""What no automaton can tell, or only one far too large: atoms that are judged at the end of their value (tier C).

Does: name them. Does not: judge (`evaluate`).
"""

from functools import lru_cache

from ...contract.errors import ConstraintTooLarge
from ...leaves import formats
from ...leaves.numbers import NumberSpec, number
from ..logic.atoms import Format, MultipleOf
from ..logic.formula import Atom
from .number_formulas import decimal


@lru_cache(maxsize=4096)
def opaque(atom: Atom) -> bool:
    """Whether the automaton of an atom about strings or numbers is missing or lets too much through."""
    if isinstance(atom, Format):
        return formats.check(atom.name) is not None
    if isinstance(atom, MultipleOf):
        try:
            number(NumberSpec(multiple_of=(decimal(atom.step),)))
        except ConstraintTooLarge:
            return True
    return False
