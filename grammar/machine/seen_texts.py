"""Texts seen in an open object or array, in versions that only grow and that can be cut back.

Does: tell whether the key of a text is new to a version, and make the version that has it too. Does not: compute keys.
"""

from collections.abc import Hashable, Iterator, KeysView
from itertools import islice
from typing import NamedTuple

from .escapes import is_respelled, plain, unfinished
from .member_orders import Value


class SeenText(NamedTuple):
    """A text written in an object or array.

    `until`: the offset in the output where it ended. `entry`: the state of the machine from which it was read; -1 at a
    call site with a judge: its rule keeps track of texts itself. `outcome`: the outcome it ended with. `over`:
    whether its own last byte ended it; a number ends only with the byte that follows.
    """

    text: bytes
    until: int
    entry: int
    outcome: int
    over: bool


class Exhausted(NamedTuple):
    """The exhausted beginnings of the items of one array (see `exhaustion`).

    `all` of them as plain text (see `escapes`), and the `shortest`: those that have no other one as their own
    beginning. `escaped`: (plain text before a character, the escape that is exhausted after it, or its beginning).
    `mixed`: plain texts that are exhausted if the string in which they end has been written with a needless escape.
    """

    all: frozenset[bytes]
    shortest: tuple[bytes, ...]
    escaped: tuple[tuple[bytes, bytes], ...]
    mixed: tuple[bytes, ...]

    def begins(self, text: bytes) -> bool:
        """Whether a text begins with one of them."""
        known = plain(text)
        if any(map(known.startswith, self.shortest)):
            return True
        at = unfinished(known)
        return any(
            known[:at] == before and known.startswith(end, at) for before, end in self.escaped
        ) or any(known.startswith(each) and is_respelled(text, len(each)) for each in self.mixed)

    def after(self, text: bytes) -> Iterator[bytes]:
        """The plain texts that make `text` begin with one of them, and such escapes."""
        known = plain(text)
        written = (before + end for before, end in self.escaped)
        for beginning in (*self.shortest, *written):
            if len(beginning) > len(known) and beginning.startswith(known):
                yield beginning[len(known) :]
        for beginning in self.mixed:
            if len(beginning) > len(known) and beginning.startswith(known):
                rest = beginning[len(known) :]
                if is_respelled(text + rest, len(beginning)):
                    yield rest

    @property
    def depends_on_spelling(self) -> bool:
        """Whether some texts begin with one of them only in some spellings."""
        return bool(self.escaped or self.mixed)


class SeenValues(NamedTuple):
    """The values of the texts of one version. `exhausted`: what is known of begun texts (see `exhaustion`).

    `apart`: by the offset of an item, a beginning of it that becomes none of the values.
    """

    values: tuple[Value, ...]
    exhausted: dict[tuple[Hashable, bytes], bool]
    apart: dict[int, bytes]


class SeenTexts:
    """Versions of a set of texts, by number; 0 is the empty set. A version shares a dictionary with its parent.

    `versions`, read-only for others: by number, a dictionary of texts, and how many of them the version has.
    `barred`: by version, the beginnings that are illegal now, because only a text of the version could complete them
    (see `dead_prefixes`). Versions without any have no entry, so this is mostly empty. `exhausted`: by version and by
    what it depends on besides, see `exhaustion`. `values`: by version, where members come in any order;
    `ways_out`: by what it depends on and a begun text, a beginning of it that once was none of a seen item. `added`:
    the texts added by what is read ahead that may bar beginnings, each with its version and the version from which that
    has grown, as (grown from, version, text).
    """

    def __init__(self) -> None:
        self.versions: list[tuple[dict[Hashable, tuple[int, SeenText]], int]] = [({}, 0)]
        self._owned: set[int] = set()
        self._parents = [0]
        self.barred: dict[int, tuple[bytes, ...]] = {}
        self.exhausted: dict[int, dict[Hashable, Exhausted]] = {}
        self.values: dict[int, SeenValues] = {}
        self.ways_out: dict[tuple[Hashable, bytes], bytes] = {}
        self.added: list[tuple[int, int, SeenText]] = []
        self._ahead: tuple[int, dict[tuple[Hashable, bytes], Exhausted]] = 0, {}

    def __len__(self) -> int:
        return len(self.versions)

    def add(self, number: int, key: Hashable, seen: SeenText) -> tuple[bool, int]:
        """(whether version `number` already has the key, the version that has it)."""
        versions = self.versions
        known, size = versions[number]
        place = known.get(key)
        if place is not None and place[0] < size:
            return True, number
        if number == 0 or id(known) not in self._owned or len(known) > size:
            known = dict(islice(known.items(), size)) if size else {}
            self._owned.add(id(known))
        known[key] = size, seen
        versions.append((known, size + 1))
        self._parents.append(number)
        return False, len(versions) - 1

    def inherit(self, number: int, grown: int) -> None:
        """Bar in the version `grown` the beginnings that are barred in its parent `number`."""
        if number in self.barred:
            self.barred[grown] = self.barred[number]

    def grown(self, number: int) -> dict[tuple[Hashable, bytes], Exhausted]:
        """What is exhausted by version `number` with one text more, by what it depends on and that text.

        Tokens that a mask tries add the same texts again and again. Kept for one version at a time.
        """
        if self._ahead[0] != number:
            self._ahead = number, {}
        return self._ahead[1]

    def texts(self, number: int) -> Iterator[SeenText]:
        """The texts of a version, oldest first."""
        known, size = self.versions[number]
        return (seen for _, seen in islice(known.values(), size))

    def parent(self, number: int) -> int:
        """The version from which a version other than 0 has grown."""
        return self._parents[number]

    def last(self, number: int) -> SeenText:
        """The text that a version other than 0 adds to its parent."""
        known, size = self.versions[number]
        return next(islice(known.values(), size - 1, size))[1]

    def under(self, number: int, key: Hashable) -> SeenText | None:
        """The text of a version that has this key; None if there is none."""
        known, size = self.versions[number]
        place, seen = known.get(key, (size, None))
        return seen if place < size else None

    def keys(self, number: int) -> KeysView[Hashable]:
        """The keys of a version, and possibly of versions that grew from it."""
        return self.versions[number][0].keys()

    def cut(self, length: int) -> None:
        """Remove the versions from number `length` on."""
        if self._ahead[0] >= length:
            self._ahead = 0, {}
        while len(self.versions) > length:
            known, size = self.versions.pop()
            self._parents.pop()
            self.barred.pop(len(self.versions), None)
            self.exhausted.pop(len(self.versions), None)
            self.values.pop(len(self.versions), None)
            if id(known) in self._owned and len(known) == size:
                known.popitem()
                if not known:
                    self._owned.discard(id(known))

    def fork(self) -> "SeenTexts":
        """An independent copy; each side copies a shared dictionary before it adds to it."""
        twin = SeenTexts()
        twin.versions = list(self.versions)
        twin._parents = list(self._parents)
        twin.barred = dict(self.barred)
        twin.exhausted = dict(self.exhausted)
        twin.values = dict(self.values)
        twin.ways_out = dict(self.ways_out)
        self._owned.clear()
        return twin
