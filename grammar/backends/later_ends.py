"""The end of an output, derived from one that was found some tokens ago.

Does: go on along that end, or join what was written since with the rest of it, before a new end is searched. Does not:
spell ends in tokens (`token_spelling`).
"""

from collections.abc import Sequence

from ..base.parts import Parts
from ..completion.joined_end import joined_end
from ..machine.cursor import Cursor
from ..machine.text_reader import Step
from .generation import EndText, Generation
from .known_answers import KnownAnswers


def find_end(
    cursor: Cursor,
    generation: Generation,
    places: Sequence[KnownAnswers | None],
    steps: Sequence[Step],
) -> Parts[EndText | None]:
    """An end derived from the end found some tokens ago, else from a search.

    `places`: by the number of tokens, what is known, with the ends found before; `steps`: the moves of these tokens.
    """
    place, known, end = len(places), None, None
    while place and known is None:
        place -= 1
        at_place = places[place]
        known = None if at_place is None else at_place.end
    if known is not None:
        text, at = known
        written = bytes(cursor.output[steps[place][0] :])
        if text.startswith(written, at):
            return text, at + len(written)
        end = yield from joined_end(cursor, generation.graph, text[at:])
    if end is None:
        end = yield from generation.end(cursor)
    return None if end is None else (end, 0)
