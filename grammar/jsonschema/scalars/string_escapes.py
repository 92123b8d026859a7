"""How strings are written.

Does: give names and constants their one spelling, and choose for all other strings: where that keeps their automaton
small every spelling JSON has, else the one a JSON writer would choose. Does not: build automata.
"""

import json

from ...automata import Dfa, Spelling

# States over code points up to which every spelling is taken: it multiplies them by up to ten.
FREELY_SPELLED = 40


def spell(text: str) -> bytes:
    """The one way a name or a constant is written."""
    return json.dumps(text, ensure_ascii=False).encode()


def spelling_of(chars: Dfa) -> Spelling:
    """How the texts of an automaton over code points are written."""
    return Spelling.JSON if chars.states <= FREELY_SPELLED else Spelling.JSON_CANONICAL
