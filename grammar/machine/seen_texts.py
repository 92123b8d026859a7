"""Sets of texts that only grow, in versions that can be taken back: what has been said before in an object or array.

Does: tell whether a key is new to a version, and make the version with it and the text it came from. Does not: know
what the keys are.
"""

from collections.abc import Hashable, Iterator, KeysView
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # which asks what was said
    from .exhaustion import Exhausted


class SeenTexts(NamedTuple):
    """A text that was said in an object or array.

    `until`: where it ended, as an offset in the output. `entry`: the state of the machine from which it was read; -1
    where a judge was asked, whose caller keeps track of texts by itself. `outcome`: what it ended with. `over`: whether
    its own last byte ended it; a number ends with the byte that follows.
    """

    text: bytes
    until: int
    entry: int
    outcome: int
    over: bool


class Memories:
    """Versions by number, 0 the empty set. A version shares its dictionary with the one it grew from.

    `barred`: by version, beginnings that must not be written any more, since only a text of the version could complete
    them (see `tails`). Versions without any are left out, so mostly it is empty. `exhausted`: by version and the entry
    of the rule that reads the items, see `exhaustion`.
    """

    def __init__(self) -> None:
        self._versions: list[tuple[dict[Hashable, tuple[int, SeenTexts]], int]] = [({}, 0)]
        self._owned: set[int] = set()
        self._before = [0]
        self.barred: dict[int, tuple[bytes, ...]] = {}
        self.exhausted: dict[int, dict[int, Exhausted]] = {}

    def __len__(self) -> int:
        return len(self._versions)

    def add(self, number: int, key: Hashable, said: SeenTexts) -> tuple[bool, int]:
        """(whether version `number` has the key already, the version that has it)."""
        known, size = self._versions[number]
        if key in known and known[key][0] < size:
            return True, number
        if number == 0 or id(known) not in self._owned or len(known) > size:
            known = dict(islice(known.items(), size))
            self._owned.add(id(known))
        known[key] = size, said
        self._versions.append((known, size + 1))
        self._before.append(number)
        return False, len(self._versions) - 1

    def inherit(self, number: int, grown: int) -> None:
        """Let be barred in a version what is barred in the one it grew from."""
        if number in self.barred:
            self.barred[grown] = self.barred[number]

    def said(self, number: int) -> Iterator[SeenTexts]:
        """The texts of a version, oldest first."""
        known, size = self._versions[number]
        return (said for _, said in islice(known.values(), size))

    def before(self, number: int) -> int:
        """The version that a version but 0 has grown from."""
        return self._before[number]

    def last(self, number: int) -> SeenTexts:
        """The text by which a version but 0 has grown."""
        known, size = self._versions[number]
        return next(islice(known.values(), size - 1, size))[1]

    def under(self, number: int, key: Hashable) -> SeenTexts | None:
        """The text of a version that has a key; None: there is none."""
        known, size = self._versions[number]
        place, said = known.get(key, (size, None))
        return said if place < size else None

    def keys(self, number: int) -> KeysView[Hashable]:
        """The keys of a version, and maybe of some that grew from it."""
        return self._versions[number][0].keys()

    def cut(self, length: int) -> None:
        """Forget the versions from number `length` on."""
        while len(self._versions) > length:
            known, size = self._versions.pop()
            self._before.pop()
            self.barred.pop(len(self._versions), None)
            self.exhausted.pop(len(self._versions), None)
            if id(known) in self._owned and len(known) == size:
                known.popitem()
                if not known:
                    self._owned.discard(id(known))

    def fork(self) -> "Memories":
        """An independent copy; dictionaries are copied when either side next grows them."""
        twin = Memories()
        twin._versions = list(self._versions)
        twin._before = list(self._before)
        twin.barred = dict(self.barred)
        twin.exhausted = dict(self.exhausted)
        self._owned.clear()
        return twin
