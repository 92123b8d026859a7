"""Atoms that no automaton of acceptable size decides: they are judged at the end of the value (tier C).

Does: recognise them. Does not: judge (`logic.evaluate`).
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
    """Whether an atom about strings or numbers has no exact automaton."""
    if isinstance(atom, Format):
        return formats.check(atom.name) is not None
    if isinstance(atom, MultipleOf):
        try:
            number(NumberSpec(multiple_of=(decimal(atom.step),)))
        except ConstraintTooLarge:
            return True
    return False
