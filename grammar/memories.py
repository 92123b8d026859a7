"""Sets of texts that only grow, in versions that can be taken back: what has been said before in an object or array.

Does: tell whether a key is new to a version, and make the version with it. Does not: know what the keys are.
"""

from collections.abc import Hashable, Iterator
from itertools import islice


class Memories:
    """Versions by number, 0 the empty set. A version shares its dictionary with the one it grew from."""

    def __init__(self) -> None:
        self._versions: list[tuple[dict[Hashable, int], int]] = [({}, 0)]
        self._owned: set[int] = set()

    def __len__(self) -> int:
        return len(self._versions)

    def add(self, number: int, key: Hashable) -> tuple[bool, int]:
        """(whether version `number` has the key already, the version that has it)."""
        known, size = self._versions[number]
        if known.get(key, size) < size:
            return True, number
        if number == 0 or id(known) not in self._owned or len(known) > size:
            known = dict(islice(known.items(), size))
            self._owned.add(id(known))
        known[key] = size
        self._versions.append((known, size + 1))
        return False, len(self._versions) - 1

    def keys(self, number: int) -> Iterator[Hashable]:
        """The keys of a version, oldest first."""
        known, size = self._versions[number]
        return islice(known, size)

    def cut(self, length: int) -> None:
        """Forget the versions from number `length` on."""
        while len(self._versions) > length:
            known, size = self._versions.pop()
            if id(known) in self._owned and len(known) == size:
                known.popitem()
                if not known:
                    self._owned.discard(id(known))

    def fork(self) -> "Memories":
        """An independent copy; dictionaries are copied when either side next grows them."""
        twin = Memories()
        twin._versions = list(self._versions)
        self._owned.clear()
        return twin
