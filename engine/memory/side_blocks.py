"""What the prefix cache knows of the block groups after the first: the blocks there that hold the tokens of a page.

Does: keep them by the page's block in the first group, and say how much of a prefix all groups have. Does not: compare
tokens (`prefix`), or own blocks (`pool`).
"""

from collections.abc import Iterable, Sequence, Set

from ..errors import InternalError
from .block_groups import BlockGroups
from .pool import NULL_BLOCK


class SideBlocks:
    """The blocks of the other groups, by the block of the first group with the same tokens.

    A group with a window may lack some: a prefix is complete if the group has the last ones.
    """

    def __init__(self, groups: BlockGroups) -> None:
        self._groups = groups
        self._beside: dict[int, list[int]] = {}
        self._first_of: dict[int, int] = {}

    def hold(self, first: int, others: Sequence[int]) -> None:
        """Note the blocks that hold what `first` holds, one for each other group; those known already stay."""
        known = self._beside.setdefault(first, [NULL_BLOCK] * len(others))
        for at, block in enumerate(others):
            if known[at] == NULL_BLOCK != block:
                known[at] = block
                self._first_of[block] = first

    def complete(self, blocks: Sequence[int]) -> int:
        """How many of the leading `blocks`, which hold a prefix in the first group, are a prefix in all groups."""
        groups, count = self._groups, 0
        runs = [0] * groups.count
        for index, block in enumerate(blocks, start=1):
            beside = self._beside.get(block)
            whole = True
            for group in range(1, groups.count):
                has = beside is not None and beside[group - 1] != NULL_BLOCK
                runs[group] = runs[group] + 1 if has else 0
                whole &= runs[group] >= index - groups.begin(group, index * groups.block_size)
            if whole:
                count = index
        return count

    def part(self, group: int, blocks: Sequence[int]) -> list[int]:
        """The blocks of another group beside `blocks`, which are known to have one there."""
        return [self._beside[block][group - 1] for block in blocks]

    def forget(self, block: int) -> None:
        """Forget a block of any group, and those beside a block of the first."""
        for other in self._beside.pop(block, ()):
            self._first_of.pop(other, None)
        first = self._first_of.pop(block, None)
        if first is not None:
            beside = self._beside[first]
            beside[beside.index(block)] = NULL_BLOCK

    def check(self, found: Set[int]) -> None:
        """Check that only blocks that can be found have blocks beside them. Raises `InternalError`."""
        known: Iterable[tuple[int, int]] = (
            (block, first)
            for first, beside in self._beside.items()
            for block in beside
            if block != NULL_BLOCK
        )
        if not self._beside.keys() <= found or dict(known) != self._first_of:
            raise InternalError("blocks of other groups are beside blocks that cannot be found")
