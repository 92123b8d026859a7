"""When Python looks for cycles of unreachable objects: between steps, in portions of bounded size.

Does: bound every collection, set its survivors aside, collect everything while the engine is idle. Does not: free
objects outside cycles, which reference counts do at once; or touch a process that is not ours.

Left to itself, Python collects everything whenever a quarter was added to what lives, in the middle of a step. After
some thousand schemas that is a million objects: a fifth of a second on an idle core, and seconds on a starved machine,
in which the process sends no beat. Requests and grammars leave no cycles behind (`tests/engine/test_left_behind.py`,
`Language.release`), so what is set aside seldom holds garbage, and an idle moment is soon enough for it.
"""

import gc
import sys
from typing import Final

# Allocations, less what was freed, between two collections of the youngest objects: a quarter of a millisecond each.
_YOUNG: Final = 1_000
# Such collections after which the survivors are collected together and set aside: 20,000 objects, some 5 ms. Python
# does it by itself within a step that allocates more.
_ROUNDS: Final = 20
_ROUNDS_IDLE: Final = 8
# Python itself never collects everything.
_NEVER: Final = 1_000_000_000
# Objects added since everything was collected, relative to what was found then, until it is done again.
_GROWTH_IDLE: Final = 1.0
# The last resort of an engine that is never idle: memory blocks in use beyond those of that time, some 600 MiB. Caches
# of grammars that are filled to their default bound hold half as many (5,600 a MiB), so the rest is garbage.
_GROWTH_BUSY: Final = 6_000_000


class GarbageCollector:
    """The policy of one process, for the thread that steps.

    `most_more`: memory blocks that may be added before everything is collected even though the engine is busy.
    """

    def __init__(self, most_more: int = _GROWTH_BUSY) -> None:
        self._most_more = most_more
        self._all = 0  # objects found when everything was collected
        self._blocks = 0  # memory blocks in use then
        self._added = 0  # objects set aside since then; some of them are gone
        self._measured = 0  # of these, when the blocks were last counted

    def start(self) -> None:
        """Once everything is loaded: what there is now stays."""
        gc.set_threshold(_YOUNG, _ROUNDS, _NEVER)
        self._collect_all()

    def between_steps(self, *, idle: bool) -> None:
        """Collect if it is time to. `idle`: no request is served, so that a long collection delays none."""
        _, rounds, portions = gc.get_count()
        if rounds + portions * _ROUNDS < (_ROUNDS_IDLE if idle else _ROUNDS):
            return
        gc.collect(1)  # the oldest generation: survivors of such collections within the last step
        # Counted within one call, so that no other thread runs while the list is there: a tuple that another is just
        # making must not be referred to (`_PyTuple_Resize` calls that a bad argument).
        self._added += sum(map(len, map(gc.get_objects, (2,))))
        gc.freeze()
        if self._is_overgrown() or (idle and self._added > self._all * _GROWTH_IDLE):
            self._collect_all()

    def _is_overgrown(self) -> bool:
        """Whether much more memory is in use than when everything was collected; asked seldom."""
        if self._added - self._measured < self._all:
            return False
        self._measured = self._added
        return sys.getallocatedblocks() > self._blocks + self._most_more

    def _collect_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._all, self._added, self._measured = gc.get_freeze_count(), 0, 0
        self._blocks = sys.getallocatedblocks()
