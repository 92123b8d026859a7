"""The spelling of strings.

Does: spell names and constants in one way; choose the spelling of all other strings: every spelling of JSON if the
automaton stays small, else the usual one of JSON writers. Does not: build automata.
"""

import json

from ...automata import Dfa, Spelling

# States over code points up to which every spelling is admitted: it multiplies them by up to ten.
FREELY_SPELLED = 40


def spell(text: str) -> bytes:
    """The one spelling of a name or a constant."""
    return json.dumps(text, ensure_ascii=False).encode()


def spelling_of(chars: Dfa) -> Spelling:
    """The spelling of the texts of an automaton over code points."""
    return Spelling.JSON if chars.states <= FREELY_SPELLED else Spelling.JSON_CANONICAL
