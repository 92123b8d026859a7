"""What text will probably reach, learned before it does.

Does: expand the states of a machine along the usual way (all members in the order of the schema, one item an array),
nearest first, for a bounded time. Does not: change what is legal; all that is not learned here is learned when text
reaches it.
"""

from collections import deque
from contextlib import suppress
from time import thread_time

from .errors import GrammarError
from .machine import Machine
from .tables import ALPHABET, CALLED, ENTRY, FIRST, LEAF, ROW, SIZE, UNRESOLVED


def look_ahead(machine: Machine, seconds: float) -> None:
    """Learn for at most so long of this thread's own time, and one step more.

    What cannot be learned is an error only for the text that reaches it.
    """
    until = thread_time() + seconds
    todo, met = deque([machine.start]), {machine.start}
    with suppress(GrammarError):
        while todo and thread_time() < until:
            for state in _following(machine, todo.popleft()):
                if state not in met:
                    met.add(state)
                    todo.append(state)


def _following(machine: Machine, state: int) -> list[int]:
    """The states of rules that a state leads to, where that is known in advance; it is expanded."""
    tables = machine.tables
    if tables.states[state, ROW] < 0:
        machine.expand(state)
        tables = machine.tables
    row = int(tables.states[state, ROW])
    classes = int(tables.alphabets[tables.states[state, ALPHABET]].max()) + 1
    found = []
    for move in tables.cells[row : row + classes].tolist():
        if move >= 0:
            found.append(move)
        elif move <= CALLED:
            found += _through(machine, CALLED - move)
    return [following for following in found if machine.tables.states[following, LEAF] < 0]


def _through(machine: Machine, site: int) -> list[int]:
    """The first state of a callee, and the state behind the end that is usual."""
    place = machine.sites[site]
    assert place is not None
    outcome = place.call.usual
    found = [int(machine.tables.sites[site, ENTRY])]
    if outcome is not None:
        number = machine.number(site, outcome)
        at = int(machine.tables.sites[site, FIRST]) + 2 * number
        if number >= machine.tables.sites[site, SIZE] or machine.tables.returns[at] == UNRESOLVED:
            machine.resolve(site, number, twin=False)
            at = int(machine.tables.sites[site, FIRST]) + 2 * number
        behind = int(machine.tables.returns[at])
        found += [behind] if behind >= 0 else []
    return found
