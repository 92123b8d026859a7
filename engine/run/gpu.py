"""`Compute` on a GPU: inputs in fixed buffers, few tokens by CUDA graph, many by launches; the host never waits.

Does: pack a batch into one copy, keep block tables on the device, run the model. Does not: say what is computed
(`model`), capture (`graphs`), or choose tokens (`chooser`).

Why the buffers are never written too early: the inputs of two steps in turn come from two pinned buffers, and before
one is written again its last copy is waited for, which was long ago.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...grammar.api import MaskRows, words
from ...kernels.attention_decode import few_tokens
from ...kernels.attention_packed import packed_from
from ...kernels.contracts import Drawn, HostRagged, Packs, Places, Ragged
from ..errors import InternalError
from ..model.decoder import Decoder
from ..model.layers import StepContext
from .batch import Batch, cut, packs
from .choice import Array, Choice, Walks
from .chooser import Chooser
from .compute import sent
from .graphs import ForwardGraphs, sizes
from .kv import KVCache
from .rows import Ints

FEW = 8
"""Most tokens of one sequence in a graph. A few read the keys before them together, which more do faster elsewhere."""

TOKENS, SOURCES, POSITIONS, SLOTS, OWNERS, LENGTHS, WANTED, SHARED, LEADS, STARTS = range(10)
FIELDS = 10
NOWHERE = -1


class Inputs:
    """A batch on the device: one int32 buffer, filled by one copy.

    It begins with the tokens that were picked last, so that one lookup serves tokens that the host knows and tokens
    that only the device knows; then come `FIELDS` numbers for each token, field by field; then, for passes that are not
    captured, where the sequences start, their lengths and their rows. In captured passes these are fields, of as many
    sequences as tokens, and a sequence with more than `few` tokens counts as several; `STARTS` is one number longer.
    From `packed_from` tokens on every token is a sequence, and `STARTS` is their order in packs of `few`.
    """

    def __init__(
        self,
        device: torch.device,
        most_tokens: int,
        tables: npt.NDArray[np.int32],
        block_size: int,
        *,
        few: int,
        packed_from: int,
    ) -> None:
        self._tables, self._block_size = tables, block_size
        self._few, self._packed_from = few, packed_from
        max_running = tables.shape[0]
        size = FIELDS * most_tokens + 3 * max_running + 1
        self._staging = [torch.zeros(size, dtype=torch.int32, pin_memory=True) for _ in range(2)]
        self._copied = [torch.cuda.Event(), torch.cuda.Event()]  # type: ignore[no-untyped-call]
        self._stream = torch.cuda.current_stream(device)
        self._numbers = np.arange(most_tokens, dtype=np.int32)
        self.kept = max_running
        self.each = torch.arange(most_tokens + 1, dtype=torch.int32, device=device)
        self.buffer = torch.zeros(max_running + size, dtype=torch.int32, device=device)

    def fill(self, batch: Batch, sources: Ints, size: int, *, ragged: bool) -> None:
        """Copy `batch`, padded to `size` tokens that belong to nobody."""
        self._staging.reverse()
        self._copied.reverse()
        staging = self._staging[0]
        self._copied[0].synchronize()
        count, wanted, sequences = batch.tokens.size, batch.wanted.size, batch.rows.size
        fields = staging.numpy()[: FIELDS * size].reshape(FIELDS, size)
        if count < size:
            fields[:, count:] = 0
            fields[SLOTS, count:] = NOWHERE
        np.maximum(batch.tokens, 0, out=fields[TOKENS, :count])
        np.add(self._numbers[:size], self.kept, out=fields[SOURCES])
        np.copyto(fields[SOURCES, :count], sources, where=sources >= 0, casting="unsafe")
        fields[POSITIONS, :count] = batch.positions
        fields[SLOTS, :count] = batch.slots
        fields[WANTED, :wanted] = batch.wanted
        fields[WANTED, wanted:] = 0
        used = FIELDS * size
        if ragged:
            tail = staging.numpy()[used : used + 3 * sequences + 1]
            tail[: sequences + 1] = batch.starts
            tail[sequences + 1 : 2 * sequences + 1] = batch.lengths
            tail[2 * sequences + 1 :] = batch.rows
            used += tail.size
        elif self.packs(size):
            self._pack(batch, fields)
        else:
            used += 1
            self._cut(batch, fields, staging.numpy()[STARTS * size : used])
        target = self.buffer[self.kept : self.kept + used]
        target.copy_(staging[:used], non_blocking=True)
        self._copied[0].record(self._stream)

    def packs(self, size: int) -> bool:
        """Whether a captured pass of `size` tokens packs them."""
        return size >= self._packed_from

    def _cut(self, batch: Batch, fields: Array, begins: Array) -> None:
        starts, lengths, rows = cut(batch, self._few)
        fields[OWNERS, : rows.size], fields[LENGTHS, : rows.size] = rows, lengths
        fields[[OWNERS, LENGTHS], rows.size :] = 0
        begins[: starts.size], begins[starts.size :] = starts, batch.tokens.size

    def _pack(self, batch: Batch, fields: Array) -> None:
        count = batch.tokens.size
        order, shared, leads = packs(batch, self._tables, self._few, self._block_size)
        fields[OWNERS, :count], fields[LENGTHS, :count] = batch.owners, batch.positions + 1
        fields[STARTS, :count], fields[STARTS, count:] = order, NOWHERE
        fields[SHARED, : shared.size], fields[LEADS, :count] = shared, leads

    def field(self, which: int, size: int) -> Tensor:
        """One of the fields of a batch of `size` tokens."""
        begin = self.kept + which * size
        return self.buffer[begin : begin + size + (which == STARTS)]

    def tail(self, size: int, sequences: int) -> tuple[Tensor, Tensor, Tensor]:
        """Starts, lengths and rows of the sequences of a batch of `size` tokens."""
        begin = self.kept + FIELDS * size
        return (
            self.buffer[begin : begin + sequences + 1],
            self.buffer[begin + sequences + 1 : begin + 2 * sequences + 1],
            self.buffer[begin + 2 * sequences + 1 : begin + 3 * sequences + 1],
        )


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
        walks: Walks | None,
    ) -> None:
        """`vocab` tokens may be picked. Batches have `most_tokens` tokens at most; those of up to `captured` go by
        graph once `capture` ran.
        """
        device = decoder.embedding.device
        max_running = tables.shape[0]
        self._decoder = decoder
        self._cache = cache
        self._sizes = sizes(captured)
        group = decoder.spec.heads // decoder.spec.kv_heads
        self._inputs = Inputs(
            device,
            max(most_tokens, self._sizes[-1]),
            tables,
            cache.block_size,
            few=few_tokens(group),
            packed_from=packed_from(group, decoder.spec.kv_heads, device),
        )
        self._tables = torch.zeros(tables.shape, dtype=torch.int32, device=device)
        self._host_tables = tables
        self._graphs: ForwardGraphs | None = None
        kept, embedding = self._inputs.buffer[:max_running], decoder.embedding
        # Where a pass begins and, as layers add to it in place, ends.
        self._states = embedding.new_zeros((max(self._sizes[-1], max_running), embedding.shape[1]))
        self._wanted = np.zeros(0, dtype=np.int64)  # rows of the last pass
        self._chooser = Chooser(decoder, vocab, self._states, kept, walks)

    def capture(self) -> None:
        """Run every captured size once, then capture it."""
        self._run_sizes()
        torch.cuda.synchronize()
        self._graphs = ForwardGraphs(self._forward_few, self._sizes)
        self._chooser.capture()

    def run_sizes(self) -> None:
        """Run every size that `capture` captures, and what is chosen from them."""
        self._run_sizes()
        self._chooser.run_sizes()

    def _run_sizes(self) -> None:
        """Run every captured size once.

        All tokens are padding: nothing is stored. Whatever is compiled for a size is met here and not when the first
        batch of that size comes.
        """
        for size in reversed(self._sizes):
            self._inputs.buffer.zero_()
            self._inputs.field(SLOTS, size).fill_(NOWHERE)
            self._forward_few(size)

    def hidden(self, batch: Batch, sources: Ints) -> Tensor | None:
        """See `Compute`."""
        count, wanted = batch.tokens.size, batch.wanted.size
        if batch.grown.size:
            at, blocks = sent(batch.grown, self._tables.device)
            self._tables.view(-1).index_copy_(0, at, blocks.int())
        rows, graphs = self._chooser.rows(max(wanted, 1)), self._graphs
        if graphs is not None and count <= graphs.most and batch.longest <= FEW:
            size = graphs.padded(count)
            self._inputs.fill(batch, sources, size, ragged=False)
            graphs.replay(size)
            self._wanted = batch.wanted
        else:
            self._inputs.fill(batch, sources, count, ragged=True)
            hidden = self._forward_many(count, batch, min(rows, count))
            self._states[: hidden.shape[0]].copy_(hidden)
            self._wanted = np.arange(wanted)
        return self._states[:rows] if wanted else None

    def choose(self, hidden: Tensor, choice: Choice) -> Callable[[], Drawn]:
        """See `Compute`; `hidden` is what `hidden` returned last."""
        if hidden.data_ptr() != self._states.data_ptr():
            raise InternalError("tokens are chosen from other states than the last")
        return self._chooser.choose(choice, self._wanted)

    def mask_memory(self, count: int, width: int) -> MaskRows:
        """See `Compute`."""
        pinned = torch.zeros((count, words(width)), dtype=torch.int32, pin_memory=True)
        memory: MaskRows = pinned.numpy()
        return memory

    def _forward_few(self, size: int) -> Tensor:
        """Hidden states of `size` tokens, in up to as many sequences."""
        inputs = self._inputs
        starts, lengths = inputs.field(STARTS, size), inputs.field(LENGTHS, size)
        tables = self._tables.index_select(0, inputs.field(OWNERS, size))
        if inputs.packs(size):
            order = Packs(starts[:size], inputs.field(SHARED, size), inputs.field(LEADS, size))
            ragged = Ragged(inputs.each[: size + 1], lengths, tables, order)
        else:
            ragged = Ragged(starts, lengths, tables)
        return self._forward(size, ragged, out=self._states[:size])

    def _forward_many(self, size: int, batch: Batch, wanted: int) -> Tensor:
        """Hidden states [wanted, hidden] of those of `size` tokens of the sequences of `batch` that are wanted."""
        starts, lengths, rows = self._inputs.tail(size, batch.rows.size)
        width = -(-int(batch.lengths.max()) // self._cache.block_size)
        tables = self._tables[:, :width].index_select(0, rows)
        host = HostRagged(batch.starts, batch.lengths, batch.rows, self._host_tables)
        which = self._inputs.field(WANTED, size)[:wanted]
        return self._forward(size, Ragged(starts, lengths, tables, host=host), wanted=which)

    def _forward(
        self,
        size: int,
        ragged: Ragged,
        *,
        wanted: Tensor | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        inputs, decoder = self._inputs, self._decoder
        tokens = inputs.buffer.index_select(0, inputs.field(SOURCES, size))
        places = Places(
            decoder.rope.cos,
            decoder.rope.sin,
            inputs.field(POSITIONS, size),
            inputs.field(SLOTS, size),
        )
        shape = self._cache.layers[0].shape
        attention = decoder.kernels.attend(ragged, places, decoder.spec.heads, shape)
        step = StepContext(attention)
        return decoder.hidden(tokens, self._cache.layers, step, wanted, out)
