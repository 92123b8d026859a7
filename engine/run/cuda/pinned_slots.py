"""Contents of KV blocks in pinned memory of the host, from and to which a device copies by itself.

Does: hand out slots of one pinned buffer. Does not: copy.
"""

from collections import deque
from typing import NamedTuple

import torch
from torch import Tensor

from .copy_streams import CopyDevice, Mark


class Slot(NamedTuple):
    """Memory for one content: row `number` of the pinned memory. The copy into it ends at `arrived`; None for none."""

    number: int
    arrived: Mark | None


class Slots:
    """Pinned memory for `count` contents of `size` bytes each. `take` and `give` may be called from any thread."""

    def __init__(self, count: int, size: int, device: CopyDevice) -> None:
        """Raises `ConfigError` if the system does not pin so much memory."""
        self.memory = torch.empty((count, size), dtype=torch.uint8)
        self._device = device
        device.pin(self.memory)
        self.size = size
        self._free = deque(Slot(number, None) for number in range(count))

    def take(self) -> Slot | None:
        """A free slot, into which a copy may be in progress; None if there is none."""
        try:
            return self._free.popleft()
        except IndexError:
            return None

    def take_most(self, count: int) -> list[Slot]:
        """Up to `count` free slots, by number, into which copies may be in progress."""
        taken = [slot for slot in (self.take() for _ in range(count)) if slot is not None]
        return sorted(taken, key=_number)

    def give(self, slot: Slot) -> None:
        """Take a slot back."""
        self._free.append(slot)

    def row(self, slot: Slot) -> Tensor:
        """The memory of a slot."""
        return self.memory[slot.number]

    def close(self) -> None:
        """Unpin the memory, from which nothing may be copied any more."""
        self._free.clear()
        self._device.unpin(self.memory)


class PinnedContent:
    """A `Content` in a slot, which is free again when no reference to this object is left."""

    __slots__ = ("_slots", "slot")

    def __init__(self, slot: Slot, slots: Slots) -> None:
        self.slot, self._slots = slot, slots

    def __del__(self) -> None:
        self._slots.give(self.slot)

    @property
    def nbytes(self) -> int:
        """See `Content`."""
        return self._slots.size

    def tobytes(self) -> bytes:
        """See `Content`."""
        if self.slot.arrived is not None:
            self.slot.arrived.join()
        return bytes(self._slots.row(self.slot).numpy())


def _number(slot: Slot) -> int:
    return slot.number
