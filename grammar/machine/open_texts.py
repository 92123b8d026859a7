"""What the frames of a stack remember: the texts that were said before in the objects and arrays that are open.

Does: find the versions of memories in use, and the texts that have begun and are compared with them. Does not: decide
what that means for tokens (`doubts`, `corrections`).
"""

from collections.abc import Hashable, KeysView
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from .byte_step import BEGUN, MEMORY, PARENT, SITE
from .lazy_tables import AS_WRITTEN, FLAGS, JUDGED, REMEMBERS
from .seen_texts import Memories

_KINDS: Final = REMEMBERS | AS_WRITTEN | JUDGED
_FRAME: Final = 3  # numbers in a row of `_remembered`
_WRITTEN: Final = 2
_OTHERWISE: Final = 1


@kernel
def _remembers(frames: Ints, depth: int) -> bool:
    return bool((frames[:depth, MEMORY] > 0).any())


@kernel
def _remembered(sites: Ints, frames: Ints, depth: int) -> Ints:
    """A row for each frame: (its memory, that of its caller if its text is compared with it or 0, how it is)."""
    found = np.zeros((depth, _FRAME), np.int32)
    for frame in range(depth):
        found[frame, 0] = frames[frame, MEMORY]
        flags = sites[frames[frame, SITE], FLAGS]
        if frame == 0 or flags & REMEMBERS == 0:
            continue
        found[frame, 1] = max(frames[frames[frame, PARENT], MEMORY], 0)
        if flags & _KINDS == REMEMBERS | AS_WRITTEN:
            found[frame, 2] = _WRITTEN
        elif flags & _KINDS == REMEMBERS:
            found[frame, 2] = _OTHERWISE
    return found


class OpenText(NamedTuple):
    """A text that has begun: its frame, where, and the version of the memories that it is compared with."""

    frame: int
    begun: int
    version: int


@dataclass(slots=True, eq=False)
class Recall:
    """Holds for one stack; once made it stays right, however memories grow or are cut back behind it.

    `versions`: the versions in use, `keys` those of each and maybe of some that grew from it. `written`: open texts
    that are compared byte by byte, `otherwise`: by a function. `answers`: what was found for all masks of this stack.
    """

    versions: tuple[int, ...]
    keys: tuple[KeysView[Hashable], ...]
    written: tuple[OpenText, ...]
    otherwise: tuple[OpenText, ...]
    answers: dict[Hashable, list[int]] = field(default_factory=dict)

    def keys_of(self, text: OpenText) -> KeysView[Hashable]:
        """The keys that a text is compared with, and maybe some that came later."""
        return self.keys[self.versions.index(text.version)]


def recall(sites: Ints, frames: Ints, depth: int, memories: Memories) -> Recall | None:
    """What a stack remembers; None: nothing."""
    if len(memories) == 1 or not _remembers(frames, depth):
        return None
    rows = _remembered(sites, frames, depth).tolist()
    versions = tuple({memory for memory, _, _ in rows if memory > 0})
    begun = [
        (kind, OpenText(frame, frames.item(frame, BEGUN), version))
        for frame, (_, version, kind) in enumerate(rows)
        if version and kind
    ]
    return Recall(
        versions,
        tuple(map(memories.keys, versions)),
        tuple(text for kind, text in begun if kind == _WRITTEN),
        tuple(text for kind, text in begun if kind == _OTHERWISE),
    )
