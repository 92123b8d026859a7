"""What the engine asks of whatever computes: one device in this process, or many behind it.

Does: say the protocol. Does not: hold an implementation.
"""

from typing import Protocol, TypeVar

from ..plan import Masks, Picked, Plan

Handle = TypeVar("Handle")


class Executor(Protocol[Handle]):
    """Computes plans, in order. `Handle` stands for a pass under way and is opaque to the engine.

    A plan may be begun before the one before it was read: its works then hold `AHEAD` where a token was picked that only
    the executor knows. Of every plan `forward`, `sample` and `picked` are called in this order. `sample` of a plan follows
    `picked` of the plan before, or, where `can_sample_ahead` allows it, `sample`.
    """

    def forward(self, plan: Plan) -> Handle:
        """Start to compute `plan`, which has works, and return at once where the device allows it.

        First `plan.released` sequences are forgotten, then `plan.admitted` are learned, then the works are computed.
        """
        ...

    def can_sample_ahead(self, handle: Handle) -> bool:
        """Whether `sample` may be called before the plan before was read: no choice depends on what that picked."""
        ...

    def sample(self, handle: Handle, masks: Masks) -> None:
        """Start to pick a token, legal under its mask row, for each work that wants logits.

        `masks.rows` is lent for this call only.
        """
        ...

    def picked(self, handle: Handle) -> Picked:
        """Wait for the picks of a plan that `sample` was called for: one for each work that wants logits, in order."""
        ...
