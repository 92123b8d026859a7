"""Beginnings of items that can no longer be completed, since all texts that complete them were written before.

Does: find these beginnings for one array, so that masks and `Cursor.read` refuse them and no output runs into a dead
end: after `true`, the item `t`; after `100` and `1000` of the integers up to 1000, the item `100`. Does not: look at
names, which are leaves (`tails`), or at items that can have few values, which are part of the state of a rule.

A beginning is exhausted if every byte that may follow is refused or leads to an exhausted one. A new item can exhaust
only beginnings of its own text, the longest first, so the search goes up from its end and stops at the first that goes
on: mostly at once.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..base.array_types import Bytes, Ints
from ..jit.kernel import kernel
from . import byte_step as w
from . import walk_state as n
from .lazy_tables import ALPHABET, DEAD, ENTRY, FLAGS, JUDGED, LEAF, OUTCOME, REMEMBERS, ROW

if TYPE_CHECKING:  # cursors ask for what is exhausted
    from .cursor import Cursor

_ANY: Final = bytes(range(256))
_DIGIT, _LETTER = b"0", b"a"
_COLUMNS: Final = 2


class Exhausted(NamedTuple):
    """The exhausted beginnings of the items of one array: all of them, and those that begin with no other."""

    all: frozenset[bytes]
    shortest: tuple[bytes, ...]


_NOTHING: Final = Exhausted(frozenset(), ())


@kernel
def _open_items(tables: tuple[Ints, Ints], frames: Ints, top: int) -> Ints:
    """int32 [n, 2]: (frame, version of the memories) of open texts that rules read and that are compared with others.

    `tables`: states and sites of the machine.
    """
    states, sites = tables
    size, at = 0, top
    while at > 0:
        size += 1
        at = frames[at, w.PARENT]
    found = np.empty((size, _COLUMNS), np.int32)
    size, at = 0, top
    while at > 0:
        site, parent = frames[at, w.SITE], frames[at, w.PARENT]
        compared = sites[site, FLAGS] & (REMEMBERS | JUDGED) == REMEMBERS
        if compared and frames[parent, w.MEMORY] > 0 and states[sites[site, ENTRY], LEAF] < 0:
            found[size, 0], found[size, 1] = at, frames[parent, w.MEMORY]
            size += 1
        at = parent
    return found[:size].copy()


def begins_exhausted(cursor: "Cursor", text: Bytes) -> bool:
    """Whether an item that is open after `text`, which was read ahead, begins with an exhausted beginning."""
    found = _items(cursor, int(cursor.note[n.TOP]))
    if not len(found):
        return False
    whole = bytes(cursor.output) + text.tobytes()
    for frame, memory in found.tolist():
        begun = cursor.frames.item(frame, w.BEGUN)
        exhausted = _exhausted(cursor, whole, frame, memory)
        if any(whole.startswith(beginning, begun) for beginning in exhausted.shortest):
            return True
    return False


def open_beginnings(cursor: "Cursor") -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """(where it begins, its exhausted beginnings) of each open item."""
    for frame, memory in _items(cursor, cursor.depth - 1).tolist():
        exhausted = _exhausted(cursor, bytes(cursor.output), frame, memory)
        if exhausted.shortest:
            yield cursor.frames.item(frame, w.BEGUN), exhausted.shortest


def beginnings_ahead(cursor: "Cursor") -> set[bytes]:
    """Exhausted beginnings of items that may come next in the arrays that are open."""
    found: set[bytes] = set()
    room = cursor.depth
    cursor.make_room(1)
    for frame in np.flatnonzero(cursor.frames[:room, w.MEMORY] > 0).tolist():
        memory = cursor.frames.item(frame, w.MEMORY)
        for site in _sites_of_items(cursor, cursor.frames.item(frame, w.SITE)):
            cursor.frames[room] = site, frame, 0, len(cursor.output)
            found.update(_exhausted(cursor, bytes(cursor.output), room, memory).shortest)
    return found


def _sites_of_items(cursor: "Cursor", site: int) -> tuple[int, ...]:
    """The known sites at which the rule called at a site compares items, one for each entry."""
    machine = cursor.machine
    place = machine.sites[site]
    rule = machine.root if place is None else place.call.callee
    return tuple(machine.renewals.items.get(rule, {}).values())


def _items(cursor: "Cursor", top: int) -> Ints:
    tables = cursor.machine.tables
    return _open_items((tables.states, tables.sites), cursor.frames, top)


def _exhausted(cursor: "Cursor", whole: bytes, frame: int, memory: int) -> Exhausted:
    """Of the items read in a frame. Items that were read ahead do not count until they are committed."""
    memories, written = cursor.memories, len(cursor.output)
    entry = cursor.machine.tables.sites.item(cursor.frames.item(frame, w.SITE), ENTRY)
    todo: list[int] = []
    known: Exhausted | None = _NOTHING
    while memory:
        said = memories.last(memory)
        if said.until <= written:
            known = memories.exhausted.get(memory, {}).get(entry)
            if known is not None:
                break
            todo.append(memory)
        memory, known = memories.before(memory), _NOTHING
    if not todo:
        return known or _NOTHING
    probe = _at_item(cursor, frame, whole)
    for version in reversed(todo):
        probe.frames[probe.depth - 2, w.MEMORY] = version
        known = _with(probe, known or _NOTHING, memories.last(version).text)
        memories.exhausted.setdefault(version, {})[entry] = known
    return known or _NOTHING


def _at_item(cursor: "Cursor", frame: int, whole: bytes) -> "Cursor":
    """A copy of a cursor at the beginning of the item of a frame; `whole`: the output with what was read ahead."""
    kept, fresh = w.chain(cursor.frames, frame, cursor.depth)
    probe = cursor.fork()
    probe.frames = np.concatenate((cursor.frames[:kept], fresh))
    probe.depth = len(probe.frames)
    item = probe.frames[-1]
    probe.state = cursor.machine.tables.sites.item(int(item[w.SITE]), ENTRY)
    item[w.MEMORY] = 0
    probe.output = bytearray(whole[: int(item[w.BEGUN])])
    return probe


def _with(probe: "Cursor", known: Exhausted, text: bytes) -> Exhausted:
    """What is exhausted with one more item, which `probe` remembers."""
    if any(
        beginning not in known.all and _reached(probe, beginning) == len(beginning)
        for beginning in (text + _DIGIT, text[:-1] + _LETTER)
    ):
        return known  # as in most numbers and strings
    size = _reached(probe, text)
    if size < len(text) - 1:
        return known  # it cannot be read here
    found = set(known.all)
    while size > 0 and not _goes_on(probe, text[:size], found):
        found.add(text[:size])
        size -= 1
    if len(found) == len(known.all):
        return known
    shortest = (
        beginning for beginning in found if not found.intersection(_beginnings_of(beginning))
    )
    return Exhausted(frozenset(found), tuple(sorted(shortest)))


def _beginnings_of(text: bytes) -> Iterator[bytes]:
    return (text[:size] for size in range(1, len(text)))


def _reached(probe: "Cursor", text: bytes) -> int:
    memories = len(probe.memories)
    done, _ = probe.reach(np.frombuffer(text, np.uint8).copy())
    probe.memories.cut(memories)
    return done


def _goes_on(probe: "Cursor", beginning: bytes, exhausted: set[bytes]) -> bool:
    """Whether a byte may follow that leads to no exhausted beginning, or the item is over."""
    memories, depth = len(probe.memories), probe.depth
    text = np.frombuffer(beginning, np.uint8).copy()
    probe.reach(text)
    step = probe.commit(text, memories)
    try:
        return probe.depth < depth or any(
            beginning + byte not in exhausted and _reached(probe, byte)
            for byte in _following(probe)
        )
    finally:
        probe.undo(step)


def _following(probe: "Cursor") -> Iterator[bytes]:
    """The bytes that may be legal next, those that go on with the innermost text first."""
    machine, state = probe.machine, probe.state
    if machine.tables.states[state, ROW] < 0:
        machine.expand(state)
    tables = machine.tables
    classes = tables.alphabets[tables.states[state, ALPHABET]]
    moves = tables.cells[tables.states[state, ROW] + classes]
    on = moves > 0
    yield from (_ANY[byte : byte + 1] for byte in np.flatnonzero(on).tolist())
    ends = tables.states[state, OUTCOME] >= 0
    others = ~on if ends else ~on & (moves != DEAD)
    yield from (_ANY[byte : byte + 1] for byte in np.flatnonzero(others).tolist())
