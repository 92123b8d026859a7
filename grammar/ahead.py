"""What text will probably reach, learned before it does.

Does: expand the states of a machine along the usual way (all members in the order of the schema, one item an array),
nearest first, for a bounded time. Does not: change what is legal; all that is not learned here is learned when text
reaches it.
"""

from collections import deque
from contextlib import suppress
from time import thread_time

from .errors import GrammarError
from .tables import CALLED, DEAD, ENTRY, LEAF
from .ways import Ways


def look_ahead(ways: Ways, seconds: float) -> None:
    """Learn for at most so long of this thread's own time, and one step more.

    What cannot be learned is an error only for the text that reaches it.
    """
    until = thread_time() + seconds
    todo, met = deque([ways.machine.start]), {ways.machine.start}
    with suppress(GrammarError):
        while todo and thread_time() < until:
            for state in _following(ways, todo.popleft()):
                if state not in met:
                    met.add(state)
                    todo.append(state)


def _following(ways: Ways, state: int) -> list[int]:
    """The states of rules that a state leads to, where that is known in advance; it is expanded."""
    found: list[int] = []
    for move, _ in ways.moves(state):
        found += _through(ways, CALLED - move) if move <= CALLED else [move]
    leaf_of = ways.machine.tables.states[:, LEAF]
    return [following for following in found if following >= 0 and leaf_of[following] < 0]


def _through(ways: Ways, site: int) -> list[int]:
    """The first state of a callee, and the move behind the end that is usual."""
    machine = ways.machine
    place = machine.sites[site]
    assert place is not None
    found = [machine.tables.sites.item(site, ENTRY)]
    if place.call.usual is not None:
        number = machine.number(site, place.call.usual)
        found.append(next(ways.after(site, number), DEAD))
    return found
