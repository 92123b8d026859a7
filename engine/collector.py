"""When Python looks for cycles of objects that nothing refers to any more: between steps, and among what is new.

Does: keep full collections out of steps, set what survives one aside, look at all of it again once much was added.
Does not: free what is in no cycle, which the counts of references do at once; or touch a process that is not ours.

Left to itself, a full collection comes whenever a quarter was added to what lives, in the middle of whatever runs, and
goes through all of it: rows, tables and grammars that are kept are a million objects after some thousand schemas, and
the step it falls into takes a tenth of a second longer.
"""

import gc
from typing import Final

# Allocations, less what was freed, from one look at the youngest objects to the next: a quarter of a millisecond.
_YOUNG: Final = 1_000
# Such looks after which the survivors are looked at together and set aside; 12 ms where there is other work.
_ROUNDS: Final = 50
_ROUNDS_IDLE: Final = 8
# Python looks by itself after so many, should a step allocate without an end.
_OVERDUE: Final = 1_000
# What may have been added, as a part of all that was found before, until everything is looked at.
_GROWTH: Final = 1.0
_GROWTH_IDLE: Final = 0.25


class Collector:
    """The policy of one process, for the thread that steps."""

    def __init__(self) -> None:
        self._all = 0  # objects that were there when everything was looked at
        self._added = 0  # set aside since then; some of them are gone

    def start(self) -> None:
        """Once everything is loaded: what there is now stays."""
        gc.set_threshold(_YOUNG, _OVERDUE, gc.get_threshold()[2])
        self._look_at_all()

    def between_steps(self, *, idle: bool) -> None:
        """Collect if it is time to. `idle`: nothing waits, so it is time earlier."""
        _, rounds, overdue = gc.get_count()
        rounds += overdue * _OVERDUE
        if rounds < (_ROUNDS_IDLE if idle else _ROUNDS):
            return
        gc.collect()
        # Counted within one call, so that no other thread runs while the list is there: a tuple that another is just
        # making must not be referred to (`_PyTuple_Resize` calls that a bad argument).
        self._added += sum(map(len, map(gc.get_objects, (2,))))
        gc.freeze()
        if self._added > self._all * (_GROWTH_IDLE if idle else _GROWTH):
            self._look_at_all()

    def _look_at_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._all, self._added = gc.get_freeze_count(), 0
