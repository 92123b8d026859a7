"""A draft head in EAGLE-3's form (Li et al. 2025) as a decoder of one layer.

Does: compute rows of the head, from the embedding of a token and the state before it. Does not: load weights
(`head_files`), or choose which state a row gets (`run/head_executor.py`).

Row `i` of a sequence has the embedding of token `i + 1`, and either the merged streams of token `i`, which the target
computed, or the output of row `i - 1`. Its logits are those of token `i + 2`. So the sequence of the head is that of
the target without its first token, and everything that computes steps of a decoder computes those of a head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from intaglio.kernels.contracts import Epilogue, Kernels, Logits, Ragged, RmsNorm, Weight
from torch import Tensor

from ..errors import InternalError
from .decoder import Decoder, GroupPlaces, ImageStates
from .layers import StepContext

UNDRAFTED: Final = -1e4
"""The logit of a token that the head does not predict: legal, if no other is."""


@dataclass(slots=True, eq=False)
class HeadRows:
    """The rows of the next step of a head, all of one sequence, and what the last step gave.

    `states` [N, hidden]: what each row has beside its token. Keys before position `first`, a multiple of the block
    size, do not exist. `embedded` are the embeddings of the step that is computed. `output` [1, hidden] is the residual
    stream after the last row.
    """

    states: Tensor | None = None
    first: int = 0
    embedded: Tensor | None = None
    output: Tensor | None = None


@dataclass(frozen=True, slots=True)
class HeadInput:
    """Queries, keys and values, as a `Weight` of the residual stream: of normed embedding and normed stream together.

    `hidden_norm` is None where the stream is normed already.
    """

    weight: Weight
    embedding_norm: RmsNorm
    hidden_norm: RmsNorm | None
    rows: HeadRows
    kernels: Kernels

    @property
    def inputs(self) -> int:
        return self.weight.inputs // 2

    @property
    def outputs(self) -> int:
        return self.weight.outputs

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None or self.rows.embedded is None:
            raise InternalError(
                "the input of a draft head norms by itself, after its tokens are embedded"
            )
        embedded = self.kernels.rms_norm(self.rows.embedded, self.embedding_norm)
        hidden = x if self.hidden_norm is None else self.kernels.rms_norm(x, self.hidden_norm)
        return self.weight.matmul(torch.cat((embedded, hidden), -1), None, epilogue)


@dataclass(frozen=True, slots=True)
class DraftVocabulary:
    """The output head, as a `Weight` with logits for all `outputs` tokens; it computes those of `tokens` [D]."""

    weight: Weight
    tokens: Tensor
    outputs: int

    @property
    def inputs(self) -> int:
        return self.weight.inputs

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if not isinstance(epilogue, Logits | None):
            raise InternalError("logits are not gated or added")
        found = self.weight.matmul(x, norm)
        whole = found.new_full((found.shape[0], self.outputs), UNDRAFTED)
        return whole.index_copy_(1, self.tokens, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHead(Decoder):
    """The head. `merge` makes a state of the streams of a token; `start_norm`: see `HeadSpec.normed_residual`."""

    rows: HeadRows
    merge: Weight
    start_norm: RmsNorm | None

    def step(
        self,
        ragged: Ragged,
        positions: Tensor,
        slots: Tensor,
        cache_shape: Sequence[int],
        adapters: Tensor | None = None,
        others: Sequence[GroupPlaces] = (),
    ) -> StepContext:
        """See `Decoder`. Keys before `HeadRows.first` are left out."""
        first = self.rows.first
        if first:
            ragged = replace(
                ragged,
                context_lengths=ragged.context_lengths - first,
                block_tables=ragged.block_tables[:, first // cache_shape[2] :].contiguous(),
            )
        return Decoder.step(self, ragged, positions, slots, cache_shape, adapters, others)

    def hidden(
        self,
        tokens: Tensor,
        caches: Sequence[Tensor],
        step: StepContext,
        logits_indices: Tensor | None = None,
        out: Tensor | None = None,  # noqa: ARG002 - the stream begins with states
        images: ImageStates | None = None,  # noqa: ARG002 - a head reads text
        written: Callable[[int], None] | None = None,  # noqa: ARG002 - no tier keeps its blocks
    ) -> Tensor:
        """See `Decoder`. The states of the last row, whether it has logits or not, once for each row of logits."""
        rows, count = self.rows, tokens.shape[0]
        rows.embedded = torch.index_select(self.embedding, 0, tokens)
        states = rows.states
        if states is None:
            states = rows.embedded.new_zeros((count, self.layers[0].attention.qkv.inputs))
        last = states.shape[0] - 1
        residual = torch.zeros_like(states[:1]).repeat(count, 1)
        residual[: last + 1] = states
        if self.start_norm is not None:
            residual = self.kernels.rms_norm(residual, self.start_norm)
        shape = (1,) if logits_indices is None else logits_indices.shape
        at = torch.full(shape, last, dtype=torch.int64)
        result = self.layers[0].run(residual, caches[0], step, at)
        rows.output = result[:1].clone()
        return result
