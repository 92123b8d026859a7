"""The engine's interface to the hardware that computes: one device in this process, or several behind it.

Does: state the protocol. Does not: hold an implementation.
"""

from typing import Protocol, TypeVar

from intaglio.grammar.api import DeviceTables, MaskRows

from .plan import Masks, Plan, SampledBatch

Handle = TypeVar("Handle")


class GrammarHolder(Protocol):
    """Holds the tables of grammars with masks made on the device. Called by the thread that steps."""

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """Hold a grammar for one more sequence; False if there is no room, or this executor makes no masks."""
        ...

    def drop(self, key: str) -> None:
        """Release a grammar for one sequence. Steps started for that sequence may still be computed."""
        ...


class Executor(GrammarHolder, Protocol[Handle]):
    """Computes plans, in order. `Handle` stands for a started pass and is opaque to the engine.

    For every plan, `forward`, `sample` and `sampled` are called in this order. `forward` and `sample` of the next plan
    may be called before `sampled` of this one; `Work` marks the tokens that only the executor knows then.
    """

    @property
    def makes_masks(self) -> bool:
        """Whether it can make masks itself, from the grammars that it holds."""
        ...

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """Memory for `count` mask rows of `width` tokens, all bits 0, in memory that is fast to copy to the device."""
        ...

    def forward(self, plan: Plan) -> Handle:
        """Start to compute `plan`, which has works, and return at once where the device allows it.

        First the sequences in `plan.released` are forgotten, then those in `plan.admitted` are added, then the works
        are computed.
        """
        ...

    def sample(self, handle: Handle, masks: Masks) -> None:
        """Start to sample a token for each row of logits of the plan, legal under its mask row.

        `masks.rows` may be read during this call only.
        """
        ...

    def sampled(self, handle: Handle) -> SampledBatch:
        """Wait for the tokens of a plan after `sample`: one `SampledToken` for each work with logits, in order."""
        ...
