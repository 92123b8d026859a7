"""The places on the device for adapters, and the running sequences that use them.

Does: assign places in LRU order, and keep those that running sequences use. Does not: copy matrices (`run`).
"""

from collections import Counter, OrderedDict

from ..errors import InternalError
from ..plan import NO_ADAPTER, AdapterLoad


class AdapterSlots:
    """`count` places, each for one adapter, which is identified by the digest of its files."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count - 1, -1, -1))
        self._count = count
        self._places: OrderedDict[str, int] = OrderedDict()  # the least recently used first
        self._used: dict[int, str] = {}
        self._users: Counter[str] = Counter()
        self._loads: dict[int, str] = {}

    @property
    def held(self) -> int:
        """The number of places with an adapter."""
        return len(self._places)

    def hold(self, seq_id: int, digest: str) -> bool:
        """Give the adapter of a sequence a place until `release`; False if sequences use all places."""
        place = self._places.get(digest)
        if place is None:
            place = self._take()
            if place is None:
                return False
            self._places[digest] = place
            self._loads[place] = digest
        self._places.move_to_end(digest)
        self._used[seq_id] = digest
        self._users[digest] += 1
        return True

    def place(self, seq_id: int) -> int:
        """The place of the adapter of a running sequence; `NO_ADAPTER` if it has none."""
        digest = self._used.get(seq_id)
        return NO_ADAPTER if digest is None else self._places[digest]

    def release(self, seq_id: int) -> None:
        """Note that a sequence runs no more; its adapter stays until its place is needed."""
        digest = self._used.pop(seq_id, None)
        if digest is None:
            return
        self._users[digest] -= 1
        if self._users[digest]:
            return
        del self._users[digest]
        place = self._places[digest]
        if self._loads.get(place) == digest:  # it was never copied, and may be in memory no more
            del self._loads[place], self._places[digest]
            self._free.append(place)

    def take_loads(self) -> tuple[AdapterLoad, ...]:
        """The adapters to be copied before the next step, each once."""
        loads = tuple(AdapterLoad(place, digest) for place, digest in self._loads.items())
        self._loads.clear()
        return loads

    def check(self, running: set[int]) -> None:
        """Check that only running sequences use places, and that each place is free or has one adapter.

        Raises:
            InternalError: that is not the case.
        """
        if not self._used.keys() <= running:
            raise InternalError("a sequence that does not run uses an adapter")
        if Counter(self._used.values()) != self._users:
            raise InternalError("the users of adapters are miscounted")
        if sorted([*self._free, *self._places.values()]) != list(range(self._count)):
            raise InternalError("a place for adapters is lost, or has two of them")

    def _take(self) -> int | None:
        if self._free:
            return self._free.pop()
        for digest in self._places:
            if digest not in self._users:
                return self._places.pop(digest)
        return None
