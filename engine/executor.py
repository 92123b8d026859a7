"""The engine's view of the hardware that computes: one device in this process, or many behind it.

Does: state the protocol. Does not: hold an implementation.
"""

from typing import Protocol, TypeVar

from intaglio.grammar.api import DeviceTables, MaskRows

from .plan import Masks, Plan, SampledBatch

Handle = TypeVar("Handle")


class GrammarHolder(Protocol):
    """Holds the tables of grammars whose masks are made on the device. Called by the thread that steps."""

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """Hold a grammar for one more sequence; False if there is no room, or this executor makes no masks."""
        ...

    def drop(self, key: str) -> None:
        """One sequence of a grammar fewer. Steps begun for it may still be computed."""
        ...


class Executor(GrammarHolder, Protocol[Handle]):
    """Computes plans, in order. `Handle` stands for a pass that was begun and is opaque to the engine.

    For every plan, `forward`, `sample` and `picked` are called in this order. `forward` and `sample` of the next plan
    may be called before `picked` of this one; `Work` marks the tokens that only the executor knows then.
    """

    @property
    def makes_masks(self) -> bool:
        """Whether it can make masks itself, of grammars that it holds."""
        ...

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """Memory for `count` mask rows of `width` tokens that reaches the device fastest, nothing allowed."""
        ...

    def forward(self, plan: Plan) -> Handle:
        """Start to compute `plan`, which has works, and return at once where the device allows it.

        First `plan.released` sequences are forgotten, then `plan.admitted` are learned, then the works are computed.
        """
        ...

    def sample(self, handle: Handle, masks: Masks) -> None:
        """Start to pick a token for each row of logits of the plan, legal under its mask row.

        `masks.rows` is lent for this call only.
        """
        ...

    def picked(self, handle: Handle) -> SampledBatch:
        """Wait for the picks of a plan that `sample` was called for: one for each work with logits, in order."""
        ...
