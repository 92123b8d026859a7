"""`Compute` on a GPU: inputs in fixed buffers, small batches by CUDA graph, large ones by launches; never waits.

Does: keep block tables on the device, run the model. Does not: lay out the inputs (`input_buffers`), define the model
(`model`), capture (`graphs`), or sample (`sampling_graphs`).
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from intaglio.grammar.api import DeviceTables, MaskRows, words
from intaglio.kernels.attention.shared_prefix import packed_from, packs_at_once
from intaglio.kernels.attention.split_kv import few_tokens
from intaglio.kernels.contracts import HostRagged, Packs, Ragged
from intaglio.kernels.sampling_contracts import Sampled
from torch import Tensor

from ...errors import InternalError
from ...model.decoder import Decoder, GroupPlaces, ImageStates
from ...plan import StepCosts
from ..batch import Batch
from ..compute import image_states, sent
from ..kv import KVCache
from ..sampling_inputs import GrammarMasker, SamplingInputs
from . import token_packing
from .graphs import ForwardGraphs, sizes
from .input_buffers import ADAPTERS, FIELDS, ROPE_POSITIONS, SLOTS, SOURCES, Inputs, Packing
from .sampling_graphs import SamplingGraphs
from .streams import StreamSet

FEW = 16
"""The most tokens of a sequence in a graph: a block, which is the most that the prefix cache leaves of a known prompt.

The kernels for prompts read the keys of more tokens faster, but the host takes longer to launch them, layer by layer,
than the device takes for most steps. With 8, nearly every step in which a known prompt starts ran by launches: 64
clients of an extraction were served at half the rate by a small model, and at 0.7 of it by an 8B model on an H200."""


class GpuCompute:
    """One model on one GPU, on its current stream."""

    def __init__(
        self,
        decoder: Decoder,
        cache: KVCache,
        tables: npt.NDArray[np.int32],
        *,
        vocab: int,
        most_tokens: int,
        captured: int,
        masker: GrammarMasker | None,
        streams: StreamSet | None,
    ) -> None:
        """`tables` [groups, rows, blocks]. `vocab` tokens may be sampled. Batches have at most `most_tokens` tokens;
        batches of up to `captured` tokens run by graph after `capture`. `masker` makes masks on the device, None for
        none; `streams` are those that it uses, None for new ones.
        """
        device = decoder.embedding.device
        groups, max_running, width = tables.shape
        self._decoder = decoder
        self._cache = cache
        self._sizes = sizes(captured)
        self._streams = StreamSet(device) if streams is None else streams
        self._inputs = Inputs(
            self._streams,
            max(most_tokens, self._sizes[-1]),
            self._sizes,
            tables,
            cache.block_size,
            _packing(decoder, device),
        )
        self._host_tables = tables
        # One extra row in each group, of which that of the first group is written to by entries of padding.
        self._tables = torch.zeros(
            (groups, max_running + 1, width), dtype=torch.int32, device=device
        )
        self._each = torch.arange(self._sizes[-1] + 1, dtype=torch.int32, device=device)
        self._graphs: ForwardGraphs | None = None
        embedding = decoder.embedding
        # The residual stream of a pass, from its start to its end: layers add to it in place.
        self._states = embedding.new_zeros((max(self._sizes[-1], max_running), embedding.shape[1]))
        self._logits_indices = np.zeros(0, dtype=np.int64)  # rows of the last pass
        self._sampling = SamplingGraphs(
            decoder, vocab, self._states, self._inputs.samples, self._streams, masker
        )
        # The memory of these buffers may be that of launches which have not ended: side streams wait for these too.
        self._streams.pass_ends()
        self._streams.sampling_ends()

    def capture(self) -> StepCosts:
        """Run every captured size once, capture it, and measure it.

        The tokens are padding, so the measured costs do not include attention.
        """
        token_packing.warm_up()
        self._run_sizes()
        torch.cuda.synchronize()
        graphs = self._graphs = ForwardGraphs(self._forward_few, self._sizes)
        if self._decoder.samples:
            self._sampling.capture()
        seconds = []
        for size in self._sizes:
            self._inputs.clear(size)
            seconds.append((size, graphs.seconds(size)))
        return StepCosts(tuple(seconds), FEW)

    def run_sizes(self) -> None:
        """Run every size that `capture` captures, with its sampling."""
        self._run_sizes()
        if self._decoder.samples:
            self._sampling.run_sizes()

    def _run_sizes(self) -> None:
        """Run every captured size once.

        All tokens are padding: nothing is stored. Kernels for a size are compiled here, before the first batch of that
        size.
        """
        for size in reversed(self._sizes):
            self._inputs.clear(size)
            self._forward_few(size)

    def hidden(self, batch: Batch) -> Tensor | None:
        """See `Compute`."""
        count, logits = batch.tokens.size, batch.logits_indices.size
        rows, graphs = self._sampling.rows(max(logits, 1)), self._graphs
        # A graph has one position for each token, and no states of images.
        is_few = batch.longest <= FEW and batch.images is None
        if graphs is not None and count <= graphs.most and is_few:
            size = graphs.padded(count)
            if not self._inputs.fill_few(batch, size):
                self._grow(batch)
            # Not captured: an exchange that is in a graph cannot be ended while the graph is there.
            self._decoder.receive(size, self._states[:size])
            graphs.replay(size)
            self._decoder.send(self._states[:size])
            self._logits_indices = batch.logits_indices
        else:
            self._grow(batch)
            hidden = self._forward_many(batch, min(rows, count))
            if self._decoder.samples:
                self._states[: hidden.shape[0]].copy_(hidden)
            self._logits_indices = np.arange(logits)
        self._streams.pass_ends()
        return self._states[:rows] if logits and self._decoder.samples else None

    def sample(self, hidden: Tensor, inputs: SamplingInputs) -> Callable[[], Sampled]:
        """See `Compute`; `hidden` is the last result of the method `hidden`."""
        if hidden.data_ptr() != self._states.data_ptr():
            raise InternalError("tokens are sampled from other states than those of the last pass")
        return self._sampling.sample(inputs, self._logits_indices)

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._sampling.masker is not None

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `GrammarHolder`."""
        masker = self._sampling.masker
        return masker is not None and masker.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `GrammarHolder`."""
        if self._sampling.masker is not None:
            self._sampling.masker.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        pinned = torch.zeros((count, words(width)), dtype=torch.int32, pin_memory=True)
        memory: MaskRows = pinned.numpy()
        return memory

    def close(self) -> None:
        """See `Compute`."""
        if self._graphs is not None:
            self._graphs.release()
        self._sampling.release()

    def _grow(self, batch: Batch) -> None:
        if batch.grown.size:
            at, blocks = sent(batch.grown, self._tables.device)
            self._tables.view(-1).index_copy_(0, at, blocks.int())

    def _forward_few(self, size: int) -> Tensor:
        """Hidden states of `size` tokens in up to `size` sequences.

        A stage after the first has received the states before its layers in `_states`; before the first batch,
        anything is there, as the kernels and their times do not depend on it.
        """
        few = self._inputs.few[size]
        self._tables.view(-1).index_copy_(0, few.grown_at, few.grown)
        groups = []
        for group, held in enumerate(self._tables):
            tables = held.index_select(0, few.owners)
            if few.order is None:
                groups.append(Ragged(few.starts, few.lengths, tables))
                continue
            # The prefixes that tokens share were found in the first group. A row has the same tables in each.
            shared = torch.zeros_like(few.shared) if group else few.shared
            packs = Packs(few.order.view(-1), shared, few.leads.view(-1))
            groups.append(Ragged(self._each[: size + 1], few.lengths, tables, packs))
        # Captured: whether a row has an adapter is data.
        adapters = few.fields[ADAPTERS]
        return self._forward(few.fields, groups, adapters, out=self._states[:size])

    def _forward_many(self, batch: Batch, logits: int) -> Tensor:
        """Hidden states [logits, hidden] of the tokens with logits; of a stage before the last, of all tokens."""
        there = self._inputs.fill_many(batch)
        width = -(-int(batch.lengths.max()) // self._cache.block_size)
        groups = []
        for on_host, held in zip(self._host_tables, self._tables, strict=True):
            tables = held[:, :width].index_select(0, there.rows)
            host = HostRagged(batch.starts, batch.lengths, batch.rows, on_host)
            groups.append(Ragged(there.starts, there.lengths, tables, host=host))
        adapters = None if batch.adapters is None else there.fields[ADAPTERS]
        device = self._tables.device
        rope_positions = None if batch.images is None else sent(batch.images.rope_positions, device)
        images = image_states(batch, device)
        picked = there.logits_indices[:logits]
        received = self._decoder.receive(batch.tokens.size)
        hidden = self._forward(
            there.fields,
            groups,
            adapters,
            logits_indices=picked,
            out=received,
            rope_positions=rope_positions,
            images=images,
        )
        self._decoder.send(hidden)
        return hidden

    def _forward(
        self,
        fields: Tensor,
        groups: Sequence[Ragged],
        adapters: Tensor | None,
        *,
        logits_indices: Tensor | None = None,
        out: Tensor | None = None,
        rope_positions: Tensor | None = None,
        images: ImageStates | None = None,
    ) -> Tensor:
        """Hidden states; `groups` are the sequences with their tables in each block group.

        `rope_positions` and `images` are those of a step with tokens of images.
        """
        decoder = self._decoder
        tokens = self._inputs.buffer.index_select(0, fields[SOURCES])
        shape = self._cache.layers[0].shape
        rope_positions = fields[ROPE_POSITIONS] if rope_positions is None else rope_positions
        others = [
            GroupPlaces(ragged, slots)
            for ragged, slots in zip(groups[1:], fields[FIELDS:], strict=False)
        ]
        step = decoder.step(groups[0], rope_positions, fields[SLOTS], shape, adapters, others)
        return decoder.hidden(tokens, self._cache.layers, step, logits_indices, out, images)


def _packing(decoder: Decoder, device: torch.device) -> Packing:
    heads, kv_heads = decoder.spec.heads, decoder.spec.kv_heads
    group = heads // kv_heads
    at_once, least = (of(group, kv_heads, device) for of in (packs_at_once, packed_from))
    return Packing(few_tokens(group), at_once, least)
