"""Exhausted beginnings of array items: all texts that complete them are in the array already (`uniqueItems`).

Does: find the exhausted beginnings of one array, so that masks and `Cursor.read` refuse them and no output runs into a
dead end. An array of Booleans that holds `true` takes no second item that begins with `t`; one of integers up to 1000
that holds `100` and `1000` takes none that begins with `100`. Does not: examine property names, which are leaves
(`dead_prefixes`), or items with few possible values, which are part of the state of a rule.

A beginning is exhausted if every byte that may follow is refused or leads to an exhausted beginning. A new item can
exhaust only beginnings of its own text, the longest first. So the search (`item_search`) goes back from the end of the
text and stops at the first beginning that can go on, which is mostly the first one it tries. Then come the other
spellings of the text.
"""

from collections.abc import Hashable, Iterator
from functools import cached_property, partial
from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints
from ..jit.kernel import kernel
from . import byte_step as w
from . import walk_state as n
from .escapes import plain, unfinished
from .item_search import ItemSearch, has_endless_strings, has_one_spelling, reached, state_after
from .lazy_tables import ENTRY, FLAGS, JUDGED, LEAF, REMEMBERS
from .member_orders import Value, has_orders, may_become, near, value_of, way_out
from .seen_texts import Exhausted, SeenValues
from .text_reader import TextReader
from .text_step import new_frames

_DIGIT, _LETTER = b"0", b"a"
_COLUMNS: Final = 2
_NOTHING: Final = Exhausted(frozenset(), (), (), ())
_NO_VALUES: Final = SeenValues((), {}, {})


class ItemInAnyOrder:
    """An open item with members in any order, as those of items seen before are."""

    def __init__(self, reader: TextReader, whole: bytes, frame: int, memory: int) -> None:
        """`whole`: the output with the item. `memory`: the version of the texts seen."""
        self.begun = whole[reader.frames.item(frame, w.BEGUN) :]
        self._place = reader, whole, frame
        self._memory = memory
        self._seen = _seen_values(reader, frame, memory)

    def near(self, text: bytes, values: tuple[Value, ...] | None = None) -> tuple[Value, ...]:
        """The seen values, or those among `values`, that the item may become from this beginning."""
        seen, (_, whole, _) = self._seen, self._place
        chosen = seen.values if values is None else values
        offset = len(whole) - len(self.begun)
        known = seen.apart.get(offset)
        if not chosen or (known is not None and text.startswith(known)):
            return ()
        found = tuple(near(text, chosen))
        if not found and values is None:
            seen.apart[offset] = text
        return found

    def is_exhausted(self, text: bytes, values: tuple[Value, ...]) -> bool:
        """Whether a beginning is legal, and only seen items complete it. `values`: those that it is `near` to."""
        known, ways = self._seen.exhausted, self._place[0].memories.ways_out
        key = self._dependencies, text
        if key not in known:
            way = ways.get(key)
            if way is None or may_become(way, values):
                way = self._way_out(text, values)
            known[key] = way is None
            for size in range(len(text), len(way or b"")):
                ways[self._dependencies, (way or b"")[:size]] = way or b""
        return known[key]

    def _way_out(self, text: bytes, values: tuple[Value, ...]) -> bytes | None:
        probe = self._probe
        if reached(probe, text) < len(text):
            return text
        search = ItemSearch(probe, (), set(), begins_exhausted)
        return way_out(text, values, search.any_move, partial(state_after, probe))

    @cached_property
    def _dependencies(self) -> Hashable:
        reader, _, frame = self._place
        return _dependencies(reader, reader.frames.item(frame, w.SITE))

    @cached_property
    def _probe(self) -> TextReader:
        reader, whole, frame = self._place
        probe = _at_item(reader, frame, whole)
        probe.frames[probe.depth - 2, w.MEMORY] = self._memory
        return probe


def _seen_values(reader: TextReader, frame: int, memory: int) -> SeenValues:
    """The values of the items seen; none where no order of members makes a difference."""
    known, place = reader.memories.values, reader.machine.sites[reader.frames.item(frame, w.SITE)]
    comparison = None if place is None else place.call.comparison
    if memory == 0 or comparison is None or not comparison.any_order:
        return _NO_VALUES
    if memory not in known:
        values = tuple(value_of(plain(each.text)) for each in reader.memories.texts(memory))
        known[memory] = SeenValues(values if any(map(has_orders, values)) else (), {}, {})
    return known[memory]


@kernel
def _open_items(tables: tuple[Ints, Ints], frames: Ints, top: int) -> Ints:
    """int32 [n, 2]: (frame, version of the seen texts) of the open items that are read by rules and must be unique.

    `tables`: `states` and `sites` of the machine.
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


def begins_exhausted(reader: TextReader, text: Bytes, after: int = -1) -> bool:
    """Whether an item that is open after `text`, which was read ahead, has an exhausted beginning.

    Only items that begin after the offset `after` of the output count.
    """
    if not reader.machine.special.unique_items:
        return False  # the usual case, in every mask: no array of unique items was reached
    found = _items(reader, int(reader.note[n.TOP]))
    if not len(found):
        return False
    whole = bytes(reader.output) + text.tobytes()
    for frame, memory in found.tolist():
        begun = reader.frames.item(frame, w.BEGUN)
        if begun <= after:
            continue
        if _exhausted(reader, whole, frame, memory).begins(whole[begun:]):
            return True
        item = ItemInAnyOrder(reader, whole, frame, memory)
        values = item.near(item.begun)
        if values and item.is_exhausted(item.begun, values):
            return True
    return False


def reads_unique_item(reader: TextReader) -> bool:
    """Whether an item of an array of unique items is open, or may come next in an open array."""
    unique = reader.machine.special.unique_items
    sites = reader.frames[: reader.depth, w.SITE]
    return bool(unique) and any(_sites_of_items(reader, site) for site in sites.tolist())


def special_spellings(reader: TextReader) -> bool:
    """Whether an item of an open array may be exhausted in some spellings only; see `has_endless_strings`."""
    known = reader.machine.special.endless_strings
    room = reader.depth
    for frame, site in enumerate(reader.frames[:room, w.SITE].tolist()):
        for item in _sites_of_items(reader, site):
            entry = reader.machine.tables.sites.item(item, ENTRY)
            if entry not in known:
                reader.make_room(1)
                reader.frames[room] = item, frame, 0, len(reader.output)
                known[entry] = has_endless_strings(_at_item(reader, room, bytes(reader.output)))
            if not known[entry]:
                return True
    return False


def open_beginnings(reader: TextReader) -> Iterator[tuple[int, Exhausted]]:
    """(offset of its first byte, its exhausted beginnings) of each open item that has some."""
    for frame, memory in _items(reader, reader.depth - 1).tolist():
        exhausted = _exhausted(reader, bytes(reader.output), frame, memory)
        if exhausted.shortest or exhausted.depends_on_spelling:
            yield reader.frames.item(frame, w.BEGUN), exhausted


def items_in_any_order(reader: TextReader) -> Iterator[ItemInAnyOrder]:
    """The open items that may become seen ones, with their members in any order."""
    for frame, memory in _items(reader, reader.depth - 1).tolist():
        item = ItemInAnyOrder(reader, bytes(reader.output), frame, memory)
        if item.near(item.begun):
            yield item


def has_any_order(reader: TextReader) -> bool:
    """Whether an item with members in any order is open, or may come next in an open array."""
    known, sites = reader.machine.special.reordered, reader.machine.sites
    room = reader.depth
    for frame, site in enumerate(reader.frames[:room, w.SITE].tolist()):
        for item in _sites_of_items(reader, site):
            if item not in known:
                place = sites[item]
                assert place is not None
                comparison = place.call.comparison
                reader.make_room(1)
                reader.frames[room] = item, frame, 0, len(reader.output)
                probe = _at_item(reader, room, bytes(reader.output))
                brackets = comparison is not None and comparison.any_order and b"{["
                known[item] = any(reached(probe, bytes([each])) for each in brackets or b"")
            if known[item]:
                return True
    return False


def beginnings_ahead(reader: TextReader) -> set[bytes]:
    """Exhausted beginnings of the items that may come next in the open arrays."""
    found: set[bytes] = set()
    room = reader.depth
    reader.make_room(1)
    for frame in np.flatnonzero(reader.frames[:room, w.MEMORY] > 0).tolist():
        memory = reader.frames.item(frame, w.MEMORY)
        for site in _sites_of_items(reader, reader.frames.item(frame, w.SITE)):
            reader.frames[room] = site, frame, 0, len(reader.output)
            found.update(_exhausted(reader, bytes(reader.output), room, memory).after(b""))
    return found


def _sites_of_items(reader: TextReader, site: int) -> tuple[int, ...]:
    """The known sites where the rule called at `site` reads items that must be unique, one for each entry."""
    machine = reader.machine
    place = machine.sites[site]
    rule = machine.root if place is None else place.call.callee
    return tuple(machine.special.unique_items.get(rule, {}).values())


def _items(reader: TextReader, top: int) -> Ints:
    tables = reader.machine.tables
    return _open_items((tables.states, tables.sites), reader.frames, top)


def _exhausted(reader: TextReader, whole: bytes, frame: int, memory: int) -> Exhausted:
    """The exhausted beginnings of the items read in a frame; `whole`: the output with the text read ahead."""
    memories = reader.memories
    key = _dependencies(reader, reader.frames.item(frame, w.SITE))
    unsearched: list[int] = []
    known: Exhausted | None = _NOTHING
    while memory:
        known = memories.exhausted.get(memory, {}).get(key)
        if known is not None:
            break
        unsearched.append(memory)
        memory, known = memories.parent(memory), _NOTHING
    if not unsearched:
        return known or _NOTHING
    probe: TextReader | None = None
    for version in reversed(unsearched):
        tried, text = memories.grown(memories.parent(version)), plain(memories.last(version).text)
        before, known = known or _NOTHING, tried.get((key, text))
        if known is None:
            probe = probe or _at_item(reader, frame, whole)
            probe.frames[probe.depth - 2, w.MEMORY] = version
            known = tried[key, text] = _with(probe, before, text)
        memories.exhausted.setdefault(version, {})[key] = known
    return known or _NOTHING


def _dependencies(reader: TextReader, site: int) -> Hashable:
    """The key of exhausted beginnings, apart from the items: entry, calling rule, and whether repeats are refused."""
    place = reader.machine.sites[site]
    assert place is not None
    entry = reader.machine.tables.sites.item(site, ENTRY)
    return entry, place.caller, place.refuses_twin(0)


def _at_item(reader: TextReader, frame: int, whole: bytes) -> TextReader:
    """A copy of a reader at the beginning of the item of a frame; `whole`: the output with the text read ahead."""
    kept, fresh = new_frames(reader.frames, frame, reader.depth)
    probe = reader.fork()
    probe.take_frames(np.concatenate((reader.frames[:kept], fresh)))
    probe.depth = len(probe.frames)
    item = probe.frames[-1]
    probe.state = reader.machine.tables.sites.item(int(item[w.SITE]), ENTRY)
    item[w.MEMORY] = 0
    probe.output = bytearray(whole[: int(item[w.BEGUN])])
    return probe


def _with(probe: TextReader, known: Exhausted, text: bytes) -> Exhausted:
    """The exhausted beginnings with one more item, plain text, which `probe` has among its seen texts."""
    longer = text + _DIGIT, text[:-1] + _LETTER
    likely = longer if text[-1:].isdigit() else longer[::-1]
    ends_freely = any(
        each not in known.all and reached(probe, each) == len(each) for each in likely
    )
    if ends_freely and has_one_spelling(probe, text):
        return known  # most numbers and strings end here
    found = set(known.all)
    memory = probe.frames.item(probe.depth - 2, w.MEMORY)
    seen = (each.text for each in probe.memories.texts(memory))
    search = ItemSearch(probe, seen, found, begins_exhausted)
    if not ends_freely:
        size = reached(probe, text)
        if size < len(text) - 1:
            return known  # the text is not legal here
        while size > 0:
            if unfinished(text[:size]) == size:  # an escape counts as a whole
                if search.goes_on(text[:size]):
                    break
                found.add(text[:size])
            size -= 1
    escaped, mixed = search.respelled(text, found - known.all)
    search.add_long_numbers(text)
    if len(found) == len(known.all) and not escaped and not mixed:
        return known
    return Exhausted(
        frozenset(found),
        tuple(sorted(each for each in found if found.isdisjoint(_beginnings_of(each)))),
        tuple(sorted(escaped.union(known.escaped))),
        tuple(sorted(mixed.union(known.mixed))),
    )


def _beginnings_of(text: bytes) -> Iterator[bytes]:
    return (text[:size] for size in range(1, len(text)))
