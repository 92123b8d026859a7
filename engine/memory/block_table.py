"""The block table of one sequence: of one block group without a window, or with a part for each of several groups.

Does: say which blocks a step needs, and which are behind the windows of all later steps. Does not: allocate or free
them (`manager`).
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, Protocol

from ..errors import InternalError
from .block_groups import BlockGroups
from .pool import NULL_BLOCK

NEVER: Final = 1 << 62


class BlockTable(Protocol):
    """A step that computes no token past `room`, after fewer than `drop_at` computed ones, changes nothing here."""

    room: int
    drop_at: int

    @property
    def parts(self) -> Sequence[list[int]]:
        """The blocks in each group, in the order of the tokens; `NULL_BLOCK` before a window."""
        ...

    @property
    def blocks(self) -> list[int]:
        """The blocks of all parts, each in the order of the tokens."""
        ...

    def drop(self, computed: int, /) -> Sequence[int]:
        """Take out the blocks that steps after `computed` tokens do not read, in the order in which to free them."""
        ...

    def missing(self, end: int) -> int:
        """The number of blocks that the table lacks for the tokens up to `end`, and for those reserved."""
        ...

    def extend(self, blocks: tuple[int, ...], end: int, /) -> tuple[tuple[int, ...], ...]:
        """Append the blocks that were `missing` for the tokens up to `end`.

        These by group; only those of the first group where the others get none.
        """
        ...

    def check(self, computed: int) -> None:
        """Check that the blocks of the tokens that later steps see are there. Raises `InternalError`."""
        ...


class PlainTable:
    """The table of a model without windows: it grows, and keeps all its blocks. See `BlockTable`."""

    __slots__ = ("_size", "blocks", "drop_at", "room")

    def __init__(self, block_size: int, blocks: Sequence[int]) -> None:
        self.blocks = list(blocks)
        self.room = len(blocks) * block_size
        self.drop_at = NEVER
        self._size = block_size

    @property
    def parts(self) -> tuple[list[int]]:
        """See `BlockTable`."""
        return (self.blocks,)

    def drop(self, _computed: int, /) -> tuple[int, ...]:
        """See `BlockTable`. Later steps read all blocks."""
        return ()

    def missing(self, end: int) -> int:
        """See `BlockTable`."""
        return -(-end // self._size) - len(self.blocks)

    def extend(self, blocks: tuple[int, ...], _end: int, /) -> tuple[tuple[int, ...]]:
        """See `BlockTable`."""
        self.blocks += blocks
        self.room += len(blocks) * self._size
        return (blocks,)

    def check(self, computed: int) -> None:
        """See `BlockTable`."""
        if self.room < computed or NULL_BLOCK in self.blocks:
            raise InternalError(f"{computed} tokens computed, more than its blocks hold")


class WindowTable:
    """The table of several groups, or of one with a window. See `BlockTable`.

    `parts[g]` are the blocks in group `g`, in the order of the tokens; `NULL_BLOCK` before a window.

    `reserved` is the number of tokens for which the table was opened: each part keeps enough blocks to compute them.
    """

    __slots__ = ("_begins", "_groups", "_reserved", "drop_at", "parts", "room")

    def __init__(
        self, groups: BlockGroups, parts: Sequence[Sequence[int]], reserved: int, computed: int
    ) -> None:
        self.parts = [list(part) for part in parts]
        self._groups = groups
        self._reserved = reserved
        self._begins = [groups.begin(group, computed) for group in range(groups.count)]
        self._note()

    @property
    def blocks(self) -> list[int]:
        """See `BlockTable`."""
        return [block for part in self.parts for block in part if block != NULL_BLOCK]

    def drop(self, computed: int, /) -> list[int]:
        """See `BlockTable`."""
        dropped: list[int] = []
        if computed < self.drop_at:
            return dropped
        for group, part in enumerate(self.parts):
            begin, first = self._groups.begin(group, computed), self._begins[group]
            if begin > first:
                dropped += reversed(part[first:begin])
                part[first:begin] = [NULL_BLOCK] * len(part[first:begin])
                self._begins[group] = begin
        return dropped

    def missing(self, end: int) -> int:
        """See `BlockTable`."""
        return sum(self.counts(end))

    def counts(self, end: int) -> list[int]:
        """What is `missing` by group."""
        groups, size = self._groups, self._groups.block_size
        return [
            max(
                0, -(-end // size) - len(part), groups.end(group, self._reserved, begin) - len(part)
            )
            for group, (part, begin) in enumerate(zip(self.parts, self._begins, strict=True))
        ]

    def extend(self, blocks: tuple[int, ...], end: int, /) -> tuple[tuple[int, ...], ...]:
        """See `BlockTable`."""
        added = split(blocks, self.counts(end))
        for part, new in zip(self.parts, added, strict=True):
            part += new
        self._note()
        return added if any(added[1:]) else added[:1]

    def check(self, computed: int) -> None:
        """See `BlockTable`."""
        for group, part in enumerate(self.parts):
            begin, end = (
                self._groups.begin(group, computed),
                -(-computed // self._groups.block_size),
            )
            if len(part) < end or NULL_BLOCK in part[begin:end]:
                raise InternalError(
                    f"{computed} tokens computed, more than its blocks hold in group {group}"
                )
            if any(part[: self._begins[group]]) or NULL_BLOCK in part[self._begins[group] :]:
                raise InternalError(
                    f"the null blocks of group {group} are not those before its window"
                )

    def _note(self) -> None:
        """Note when the table changes next."""
        groups, size = self._groups, self._groups.block_size
        self.room = min([len(part) for part in self.parts]) * size
        self.drop_at = NEVER
        for window, begin in zip(groups.windows, self._begins, strict=True):
            if window is not None:
                self.drop_at = min(self.drop_at, (begin + 1) * size + window)


def block_table(
    groups: BlockGroups, parts: Sequence[Sequence[int]], reserved: int, computed: int
) -> BlockTable:
    """The table of a sequence that starts with these blocks and `computed` tokens; see `WindowTable`."""
    if groups.windows == (None,):
        return PlainTable(groups.block_size, parts[0])
    return WindowTable(groups, parts, reserved, computed)


def split(blocks: Sequence[int], counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The first `counts[0]` of the blocks, the next `counts[1]`, ..."""
    if len(counts) == 1:
        return (tuple(blocks),)
    return tuple([tuple(blocks[a:b]) for a, b in pairwise(accumulate(counts, initial=0))])
