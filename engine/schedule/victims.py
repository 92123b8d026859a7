"""Whom to preempt when memory runs out.

Does: choose. Does not: preempt. The way is recomputation: what was known stays known, what was computed is given up.
"""

from ..sequence import Sequence
from .queue import Ranked


def is_exempt(seq: Sequence, max_preemptions: int) -> bool:
    """Whether `seq` gave way often enough: it is admitted with all the room it may need, and keeps it to its end."""
    return seq.record.preemptions >= max_preemptions


def choose(running: Ranked, max_preemptions: int) -> Sequence | None:
    """The running sequence that gives way: the last in rank that is not exempt; None if all are.

    The first in rank is never chosen while another can be, so somebody always gets to the end; and nobody is chosen
    more than `max_preemptions` times. Together: no livelock.
    """
    for seq in reversed(running):
        if not is_exempt(seq, max_preemptions):
            return seq
    return None
