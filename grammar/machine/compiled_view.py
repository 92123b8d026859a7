"""The arrays of a cursor as its usual compiled call takes them, and as Python reads them fastest.

Does: hold views of the arrays, and their addresses. Does not: change them, or know what they mean (`cursor`).
"""

from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import machine_code_of
from . import text_step as t
from .byte_step import SITE
from .forced_bytes import force
from .machine import Machine, newest_addresses


class CompiledView:
    """Views of a note and an array of frames, until another array of frames takes its place.

    `advance`, `force`: the machine code of these loops; `held`: the addresses that `advance` takes. `noted`: the note,
    of which an item is read in 0.04 us, of the array itself in twice that. `framed`: the frames as bytes.
    `joined`: see `forces_none`.
    """

    __slots__ = ("_arrays", "advance", "force", "framed", "held", "joined", "noted")

    def __init__(self, machine: Machine, note: Longs, frames: Ints, joined: Bytes) -> None:
        newest = newest_addresses(machine)
        self._arrays = note, frames, newest  # keeps them alive
        self.joined = joined
        self.advance = machine_code_of(t.advance)
        self.force = machine_code_of(force)
        self.held = machine_code_of(t.addresses_for)(note, frames, newest, joined)
        self.noted = note.data
        self.framed = frames.data.cast("B")

    def site_of(self, frame: int) -> int:
        """The call site of a frame."""
        return self._arrays[1].item(frame, SITE)
