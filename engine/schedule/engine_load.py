"""The load of the engine, as a frozen message.

Does: carry numbers. Does not: count them (`scheduler`).
"""

from msgspec import Struct

from ..memory.offload import OffloadCounts
from .drafting import DraftCounts


class Load(Struct, frozen=True):
    """The numbers of sequences by state, of blocks, and of preemptions so far.

    `parked` sequences wait for a grammar; `unreported` is the number of changes that the next commit will report;
    `next_deadline` is a time of the engine's clock.
    """

    parked: int
    waiting: int
    running: int
    unreported: int
    blocks: int
    free_blocks: int
    preemptions: int
    next_deadline: float | None
    drafts: DraftCounts
    offloaded: OffloadCounts
