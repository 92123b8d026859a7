"""The block table of one sequence, with a part for each block group.

Does: say which blocks a step needs, and which are behind the windows of all later steps. Does not: allocate or free
them (`manager`).
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from ..errors import InternalError
from .block_groups import BlockGroups
from .pool import NULL_BLOCK

NEVER: Final = 1 << 62


class BlockTable:
    """`parts[g]` are the blocks in group `g`, in the order of the tokens; `NULL_BLOCK` before a window.

    `reserved` is the number of tokens for which the table was opened: each part keeps enough blocks to compute them.
    A step that computes no token past `room`, after fewer than `drop_at` computed ones, changes nothing here.
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
        """The blocks of all parts, each in the order of the tokens."""
        if self.drop_at == NEVER and len(self.parts) == 1:
            return self.parts[0]
        return [block for part in self.parts for block in part if block != NULL_BLOCK]

    def drop(self, computed: int) -> list[int]:
        """Take out the blocks that steps after `computed` tokens do not read, in the order in which to free them."""
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

    def missing(self, end: int) -> list[int]:
        """The number of blocks that each part lacks for the tokens up to `end`, and for those reserved."""
        groups, size = self._groups, self._groups.block_size
        return [
            max(
                0, -(-end // size) - len(part), groups.end(group, self._reserved, begin) - len(part)
            )
            for group, (part, begin) in enumerate(zip(self.parts, self._begins, strict=True))
        ]

    def extend(self, blocks: Sequence[int], counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Append `counts[g]` of the blocks to part `g`; these by group."""
        added = split(blocks, counts)
        if len(added) == 1 and self.drop_at == NEVER:  # the usual table, in less time
            self.parts[0] += added[0]
            self.room += len(added[0]) * self._groups.block_size
            return added
        for part, new in zip(self.parts, added, strict=True):
            part += new
        self._note()
        return added

    def check(self, computed: int) -> None:
        """Check that the blocks of the tokens that later steps see are there. Raises `InternalError`."""
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


def split(blocks: Sequence[int], counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The first `counts[0]` of the blocks, the next `counts[1]`, ..."""
    if len(counts) == 1:
        return (tuple(blocks),)
    return tuple([tuple(blocks[a:b]) for a, b in pairwise(accumulate(counts, initial=0))])
