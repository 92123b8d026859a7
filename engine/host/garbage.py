"""Garbage collection of reference cycles: between steps, in portions of bounded size.

Does: bound every collection, freeze its survivors, collect all objects while the engine is idle. Does not: free objects
outside cycles, which reference counts do at once; or change a process that is not an engine's own.

By default Python collects all objects whenever the number of live objects has grown by a quarter, within a step. After
some thousand schemas that is a million objects: a fifth of a second on an idle core, and seconds on an overloaded
machine, during which the process sends no beat. Requests and grammars leave no cycles
(`tests/engine/test_left_behind.py`, `Language.release`), so frozen objects are seldom garbage, and collecting them when
the engine is idle is soon enough.
"""

import gc
import sys
from typing import Final

# Allocations minus deallocations between two collections of the youngest generation, a quarter of a millisecond each.
_YOUNG: Final = 1_000
# The number of those collections after which the survivors are collected and frozen: 20,000 objects, some 5 ms. Python
# does so itself within a step that allocates more.
_ROUNDS: Final = 20
_ROUNDS_IDLE: Final = 8
# Python itself never collects the oldest generation.
_NEVER: Final = 1_000_000_000
# The number of objects added since the last full collection, relative to the number then, that triggers another one.
_GROWTH_IDLE: Final = 1.0
# Memory blocks per object that a collection looks at: 3.2 in an engine. To count frozen objects takes 55 ms of 400,000.
_BLOCKS_EACH: Final = 3
# The trigger of an engine that is never idle: additional memory blocks in use since the last full collection, some 600
# MiB. Grammar caches filled to their default bound hold half as many (5,600 per MiB), so the rest is garbage.
_GROWTH_BUSY: Final = 6_000_000


class GarbageCollector:
    """The garbage collection of one process, for the thread that steps.

    `most_more`: memory blocks that may be added before a full collection, even while the engine is busy.
    """

    def __init__(self, most_more: int = _GROWTH_BUSY) -> None:
        self._most_more = most_more
        self._all = 0  # objects after the last full collection, about
        self._blocks = 0  # memory blocks in use then
        self._added = 0  # objects frozen since then; some of them are freed
        self._measured = 0  # `_added` when the blocks were last counted

    def start(self) -> None:
        """Freeze all present objects, and collect from now on. To be called once everything is loaded.

        What the process froze before, if anything, stays: it is no garbage.
        """
        gc.set_threshold(_YOUNG, _ROUNDS, _NEVER)
        self._collect_thawed()
        gc.enable()

    def between_steps(self, *, idle: bool) -> None:
        """Collect if it is due. `idle`: no request is served, so that a long collection delays none."""
        _, rounds, portions = gc.get_count()
        if rounds + portions * _ROUNDS < (_ROUNDS_IDLE if idle else _ROUNDS):
            return
        gc.collect(1)  # the oldest generation: survivors of such collections within the last step
        # Counted within one call, so that no other thread runs while the list exists: a tuple that another thread is
        # building must not get a second reference (`_PyTuple_Resize` raises SystemError then).
        self._added += sum(map(len, map(gc.get_objects, (2,))))
        gc.freeze()
        if self._is_overgrown() or (idle and self._added > self._all * _GROWTH_IDLE):
            self._collect_all()

    def _is_overgrown(self) -> bool:
        """Whether much more memory is in use than after the last full collection; measured seldom."""
        if self._added - self._measured < self._all:
            return False
        self._measured = self._added
        return sys.getallocatedblocks() > self._blocks + self._most_more

    def _collect_all(self) -> None:
        gc.unfreeze()
        self._collect_thawed()

    def _collect_thawed(self) -> None:
        gc.collect()
        gc.freeze()
        self._blocks = sys.getallocatedblocks()
        self._all, self._added, self._measured = self._blocks // _BLOCKS_EACH, 0, 0
