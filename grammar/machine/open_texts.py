"""The open texts of a stack: texts that have begun and will be compared with texts seen in an open object or array.

Does: find them, and the versions of the seen texts in use. Does not: decide which tokens become illegal (`uniqueness`,
`mask_fixup`).
"""

from collections.abc import Hashable, KeysView
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from .byte_step import BEGUN, MEMORY, PARENT, SITE
from .lazy_tables import AS_WRITTEN, FLAGS, JUDGED, REMEMBERS
from .seen_texts import SeenTexts

_KINDS: Final = REMEMBERS | AS_WRITTEN | JUDGED
_FRAME: Final = 3  # columns of `_remembered`
# Kinds of comparison.
_WRITTEN: Final = 2  # byte by byte
_OTHERWISE: Final = 1  # by a function of the text


@kernel
def _remembers(frames: Ints, depth: int) -> bool:
    return bool((frames[:depth, MEMORY] > 0).any())


@kernel
def _remembered(sites: Ints, frames: Ints, depth: int) -> Ints:
    """A row for each frame: (its version, the caller's version if its text is compared with it, else 0; kind)."""
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
    """A text that has begun: its frame, its offset in the output, and the version with which it is compared."""

    frame: int
    begun: int
    version: int


@dataclass(slots=True, eq=False)
class OpenTexts:
    """The open texts of one stack. It stays correct when versions are added or cut back later.

    `versions`: the versions in use; `keys`: for each, its keys and possibly keys of versions that grew from it.
    `written`: open texts that are compared byte by byte; `otherwise`: by a function. `answers`: results that hold for
    all masks of this stack.
    """

    versions: tuple[int, ...]
    keys: tuple[KeysView[Hashable], ...]
    written: tuple[OpenText, ...]
    otherwise: tuple[OpenText, ...]
    answers: dict[Hashable, list[int]] = field(default_factory=dict)

    def keys_of(self, text: OpenText) -> KeysView[Hashable]:
        """The keys with which a text is compared, and possibly some later keys."""
        return self.keys[self.versions.index(text.version)]


def open_texts_of(sites: Ints, frames: Ints, depth: int, memories: SeenTexts) -> OpenTexts | None:
    """The open texts of a stack; None if the stack uses no seen texts."""
    if len(memories) == 1 or not _remembers(frames, depth):
        return None
    rows = _remembered(sites, frames, depth).tolist()
    versions = tuple({memory for memory, _, _ in rows if memory > 0})
    begun = [
        (kind, OpenText(frame, frames.item(frame, BEGUN), version))
        for frame, (_, version, kind) in enumerate(rows)
        if version and kind
    ]
    return OpenTexts(
        versions,
        tuple(map(memories.keys, versions)),
        tuple(text for kind, text in begun if kind == _WRITTEN),
        tuple(text for kind, text in begun if kind == _OTHERWISE),
    )
