"""Offloads free blocks shortly before their eviction, so that no step waits for the copy.

Does: offload the blocks that are allocated next, while steps run. Does not: copy (`offload`), or allocate.

A step that overwrites blocks of a GPU would wait until their contents are copied out: 20 ms for a prompt of 8,192
tokens of a model with 8 billion parameters. Read a step earlier, they are out by then.
"""

from .offload import Offload
from .pool import BlockPool
from .prefix import PrefixCache


class EarlyOffload:
    """Offloads ahead of allocation: the next `_clean` blocks to be allocated hold nothing to offload."""

    def __init__(
        self, pool: BlockPool, prefix: PrefixCache | None, offload: Offload | None
    ) -> None:
        self._pool = pool
        self._prefix = prefix
        self._offload = offload
        self._most = 0 if offload is None else offload.most_early
        self._clean = 0

    def shared(self, count: int) -> None:
        """Count blocks that prefix hits took from the free list: each may have been among those allocated next."""
        self._clean = max(0, self._clean - count)

    def allocated(self, count: int) -> None:
        """Count blocks that were allocated; offload the next ones if fewer than half of the most are clean."""
        if not self._most:  # nothing is offloaded
            return
        self.shared(count)
        most = min(self._most, self._pool.free)
        if 2 * self._clean < most and self._offload is not None and self._prefix is not None:
            self._offload.offload_early(self._prefix.chains(self._pool.next(most)))
            self._clean = most
