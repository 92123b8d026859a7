"""The part of a cursor that the checks for dead ends use: a configuration, and speculative reads.

Does: let `dead_prefixes` and `exhaustion` be imported by `cursor`. Does not: read text (`cursor`).
"""

from typing import NamedTuple, Protocol, TypeAlias

from ..base.array_types import Bytes, Ints, Longs
from .machine import Machine
from .open_texts import OpenTexts
from .seen_texts import SeenTexts

Restacked: TypeAlias = tuple[int, bytes, bytes, OpenTexts | None, int]
"""What `undo` needs of one step that changed the stack or the seen texts.

The number of frames that stayed, and the frames above them, which were removed, as bytes; the stack and its open texts;
the number of versions of the seen texts, -1 if none was added.
"""
Step: TypeAlias = tuple[int, int, Restacked | None]
"""What `undo` needs of one step: the bytes of the output before it; the state; what else changed.

A tuple without names is made fastest.
"""


def and_left(moved: Restacked | None, left: Restacked) -> Restacked:
    """What `undo` needs of a step with `moved` after which the innermost frame was `left` as well."""
    if moved is None or moved[0] <= left[0]:
        return left if moved is None else moved
    return left[0], left[1] + moved[1], *moved[2:]


class Refused(NamedTuple):
    """A text refused because it was seen before, or by a judge: its frame, and the offset in the output of its end."""

    site: int
    parent: int
    memory: int
    begun: int
    until: int


class TextReader(Protocol):
    """A `Cursor`, without its own checks for dead ends. The attributes and methods are documented there."""

    machine: Machine
    state: int
    frames: Ints
    depth: int
    output: bytearray
    memories: SeenTexts
    note: Longs

    def fork(self) -> "TextReader":
        """An independent copy."""
        ...

    def take_frames(self, frames: Ints) -> None:
        """Replace the array of frames."""
        ...

    def make_room(self, frames: int) -> None:
        """Make room for `frames` more frames above the stack."""
        ...

    def reach(self, text: Bytes) -> tuple[int, Refused | None]:
        """Read ahead as far as `text` is legal, dead ends not considered."""
        ...

    def commit(self, text: Bytes, memories: int) -> Step:
        """Move to the configuration after the last read."""
        ...

    def undo(self, step: Step) -> None:
        """Take back the last commit."""
        ...
