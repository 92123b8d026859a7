"""Finite automata over bytes or code points, the leaves of every grammar.

Does: export the public names of the package. Does not: know JSON, patterns or tokens.
"""

from .algebra import (
    combine,
    complement,
    difference,
    everything,
    intersection,
    union,
    union_all,
)
from .automaton_limits import DEFAULT, AutomatonLimits
from .construct import literal, nothing, trie, words
from .dfa import BYTES, CODE_POINTS, REFUSED, Dfa, canonical
from .encode import Spelling, encode, spelled
from .nfa import Nfa, NfaFragment, concatenation

__all__ = [
    "BYTES",
    "CODE_POINTS",
    "DEFAULT",
    "REFUSED",
    "Dfa",
    "AutomatonLimits",
    "Nfa",
    "NfaFragment",
    "Spelling",
    "canonical",
    "combine",
    "complement",
    "concatenation",
    "difference",
    "encode",
    "everything",
    "intersection",
    "literal",
    "nothing",
    "spelled",
    "trie",
    "union",
    "union_all",
    "words",
]
