"""The least bytes and operations of a step of a model, from its specification.

Does: count what the arithmetic needs, whatever kernels do it. Does not: measure, or know devices. Every step reads all
weights once (all experts, too; the embedding table only where it is the output head), and the keys and values of each
sequence once; a multiplication with a matrix takes two operations per element and token, attention four per pair of
tokens, head and dimension.
"""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from .family import EMBEDDING

if TYPE_CHECKING:
    from .spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes that are moved and floating-point operations."""

    bytes: float
    operations: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCosts:
    """The costs of a model, in bytes and floating-point operations.

    `weight_bytes` are read in every step. `token_operations` are those of the matrices of layers for one token,
    `head_operations` those of the output head for one sampled row, `pair_operations` those of attention for one token
    and one token before it.
    """

    parameters: int
    weight_bytes: int
    kv_bytes_per_token: int
    token_operations: int
    head_operations: int
    pair_operations: int

    @classmethod
    def of(
        cls, spec: "ModelSpec", element_bytes: int = 2, kv_element_bytes: int = 2
    ) -> "ModelCosts":
        """The costs of a model of this specification. `element_bytes` is for weights that are not quantised."""
        # Not above: it imports torch, and a process that serves an API does without.
        from .expected_tensors import expected_shapes, stored_bytes

        shapes, stored = expected_shapes(spec), stored_bytes(spec, element_bytes)
        head = spec.vocab_size * spec.hidden
        matrices = sum(
            prod(shape)
            for name, shape in shapes.items()
            if len(shape) > 1 and not name.endswith("bias")
        )
        matrices -= head * (1 if spec.tied else 2)
        matrices -= _unused(spec)
        unread = 0 if spec.tied else stored[EMBEDDING + ".weight"]
        return cls(
            parameters=sum(prod(shape) for shape in shapes.values()),
            weight_bytes=sum(stored.values()) - unread,
            kv_bytes_per_token=spec.kv_block_bytes(1, kv_element_bytes),
            token_operations=2 * matrices,
            head_operations=2 * head,
            pair_operations=2 * spec.layers * spec.heads * (spec.head_dim + _value_dim(spec)),
        )

    def decode(self, sequences: float, context: float) -> Cost:
        """One step that adds a token to each of `sequences`, with `context` tokens before it."""
        each = self.token_operations + self.head_operations + self.pair_operations * context
        kept = self.kv_bytes_per_token * (context + 1) * sequences
        return Cost(self.weight_bytes + kept, each * sequences)

    def prefill(self, tokens: float, cached: float = 0.0) -> Cost:
        """The prompt of one sequence in one step: `tokens` computed after `cached` ones."""
        pairs = tokens * (cached + (tokens + 1) / 2)
        operations = (
            self.token_operations * tokens + self.pair_operations * pairs + self.head_operations
        )
        kept = self.kv_bytes_per_token * (tokens + cached)
        return Cost(self.weight_bytes + kept, operations)


def _value_dim(spec: "ModelSpec") -> int:
    """The elements that attention sums for each head."""
    return spec.head_dim if spec.latent is None else spec.latent.rank


def _unused(spec: "ModelSpec") -> int:
    """The elements of the matrices of experts that a token does not use."""
    experts = spec.experts
    if experts is None:
        return 0
    unused = sum(experts.layers) * (experts.count - experts.rule.per_token)
    return unused * 3 * experts.ffn * spec.hidden


def checkpoint_costs(folder: Path, element_bytes: int = 2, kv_element_bytes: int = 2) -> ModelCosts:
    """The costs of the model in a folder; its weights are not read.

    Raises:
        ModelError: the folder has no checkpoint of a supported model.
    """
    from .spec import read_spec  # imports torch, too

    return ModelCosts.of(read_spec(folder), element_bytes, kv_element_bytes)
