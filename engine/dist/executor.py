"""What the engine asks of whatever computes: one device in this process, or many behind it.

Does: say the protocol. Does not: hold an implementation.
"""

from typing import Protocol, TypeVar

from ..plan import Masks, Picked, Plan

Handle = TypeVar("Handle")


class Executor(Protocol[Handle]):
    """Computes plans, one after the other. `Handle` stands for a pass under way and is opaque to the engine."""

    def forward(self, plan: Plan) -> Handle:
        """Start to compute `plan`, which has works, and return at once where the device allows it.

        First `plan.released` sequences are forgotten, then `plan.admitted` are learned, then the works are computed.
        """
        ...

    def sample(self, handle: Handle, masks: Masks) -> Picked:
        """Finish the pass and pick a token, legal under its mask row, for each work that wants logits, in plan order.

        `masks.rows` is lent for this call only.
        """
        ...
