"""Sampling on a GPU: masks are made during the forward pass; head, sampling and grammar advance are a CUDA graph.

Does: own the inputs of sampling (states, masks, one packed buffer of options by row) at fixed addresses, capture the
graphs by number of rows, and copy sampled tokens to the host during the next pass. Does not: lay out options
(`sampler`), walk grammars (`grammar_masks`), or order streams (`streams`).

Sampled tokens go to two pinned buffers alternately: a step is read before the step after the next one starts.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from intaglio.grammar.api import words
from intaglio.kernels.sampling_contracts import Draw, SampleArgs, Sampled
from torch import Tensor

from ...errors import InternalError
from ...model.decoder import Decoder
from ..compiled_loops import compiled
from ..compute import sent
from ..sampling_inputs import GrammarMasker, SamplingInputs, completed
from ..slots import Ints
from .graphs import pick_sizes
from .streams import StreamSet
from .token_packing import Words

_FIELDS = 8  # int32 a row: two words of 64 bits, temperature, row of the masks, of the walks, of the states


class _Columns(NamedTuple):
    """Views of one packed buffer, by row: int64 [most, 2], float32 [most], int32 [most] three times."""

    keys: Tensor
    temperature: Tensor
    mask_rows: Tensor
    walk_rows: Tensor
    states: Tensor


def _unpacked(buffer: Tensor) -> _Columns:
    most = buffer.shape[0] // _FIELDS
    keys, temperature, *others = torch.split_with_sizes(buffer, [4 * most, *[most] * 4])
    words64 = keys.view(torch.int64).view(most, 2)
    return _Columns(words64, temperature.view(torch.float32), *others)


class _Staging:
    """A pinned buffer, and the event of its last copy."""

    def __init__(self, size: int) -> None:
        self.buffer = torch.zeros(size, dtype=torch.int32, pin_memory=True)
        self._columns = [field.numpy() for field in _unpacked(self.buffer)]
        self.copied = torch.cuda.Event()

    def fill(self, inputs: SamplingInputs, states: Ints, padding_row: int) -> None:
        """Wait for the last copy, which has long finished, and write the inputs of the next one."""
        self.copied.synchronize()
        keys, temperature, *numbers = self._columns
        count = inputs.keys.shape[0]
        keys[:count] = inputs.keys
        temperature[:count] = inputs.temperature
        _fill_rows(inputs.mask_rows, inputs.walk_rows, states, padding_row, *numbers)


@compiled
def _fill_rows(
    masked: Words,
    walked: Words,
    states: Ints,
    padding_row: int,
    mask_rows: Words,
    walk_rows: Words,
    state_rows: Words,
) -> None:
    for i in range(masked.size):
        mask_rows[i] = masked[i]
        walk_rows[i] = walked[i] if walked[i] >= 0 else padding_row
        state_rows[i] = states[i] if i < states.size else 0


class _DeviceColumns:
    """Sampling options by row, on the device, at fixed addresses."""

    def __init__(self, most: int, device: torch.device) -> None:
        size = _FIELDS * most
        self.buffer = torch.zeros(size, dtype=torch.int32, device=device)
        self.columns = _unpacked(self.buffer)
        self._staging = [_Staging(size) for _ in range(2)]

    def copy_from(
        self, inputs: SamplingInputs, states: Ints, padding_row: int, stream: torch.cuda.Stream
    ) -> None:
        """Copy the options at once, on `stream`, which is the current one."""
        self._staging.reverse()
        staging = self._staging[0]
        staging.fill(inputs, states, padding_row)
        self.buffer.copy_(staging.buffer, non_blocking=True)
        staging.copied.record(stream)


class _Fetched:
    """A pinned buffer for tokens and statuses, its parts by number of rows, and the event of its last copy."""

    def __init__(self, most: int, sizes: Iterable[int]) -> None:
        buffer = torch.zeros(2 * most, dtype=torch.int32, pin_memory=True)
        self.parts = {size: buffer[: 2 * size] for size in sizes}
        self.done = torch.cuda.Event()


class SamplingGraphs:
    """Samples from `vocab` tokens by rows of hidden states.

    `samples` int32 [2 * most] keeps the last tokens and statuses. `states` [any, hidden] has the hidden states of the
    last pass when `sample` is called.
    """

    def __init__(
        self,
        decoder: Decoder,
        vocab: int,
        states: Tensor,
        samples: Tensor,
        streams: StreamSet,
        masker: GrammarMasker | None,
    ) -> None:
        device, most = samples.device, len(samples) // 2
        self._decoder, self._vocab, self.masker = decoder, vocab, masker
        self._sizes = pick_sizes(most)
        self._states = states
        self._masks = torch.zeros(
            (2 * most, words(decoder.spec.vocab_size)), dtype=torch.int32, device=device
        )
        self._on_device = _DeviceColumns(most, device)
        self._streams = streams
        # By number of rows: tokens, then statuses.
        self._samples = {size: samples[: 2 * size].view(2, size) for size in self._sizes}
        self._fetched = [_Fetched(most, self._sizes) for _ in range(2)]
        self._sampling_graphs: dict[tuple[int, bool], tuple[torch.cuda.CUDAGraph, Sampled]] = {}
        self._walk_graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def rows(self, count: int) -> int:
        """The number of rows, padding included, that are sampled for `count` rows."""
        return self._sizes[bisect_left(self._sizes, count)]

    def capture(self) -> None:
        """Capture sampling with a mask, a temperature and a draw only, for every number of rows.

        Each graph is run once before: a compilation on first use cannot be captured.
        """
        pool = torch.cuda.graph_pool_handle()
        self._on_device.columns.mask_rows.fill_(-1)
        self._on_device.columns.walk_rows.fill_(self._padding_row)
        for size in reversed(self._sizes):
            for walking in {False, self.masker is not None}:
                self._sample(size, None, walking=walking)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    drawn = self._sample(size, None, walking=walking)
                self._sampling_graphs[size, walking] = graph, drawn
            if self.masker is not None:
                self._walk(size)
                torch.cuda.synchronize()
                walk = torch.cuda.CUDAGraph()
                with torch.cuda.graph(walk, pool=pool):
                    self._walk(size)
                self._walk_graphs[size] = walk

    def release(self) -> None:
        """Destroy the graphs; those that still run end first."""
        for graph, _ in self._sampling_graphs.values():
            graph.reset()
        for graph in self._walk_graphs.values():
            graph.reset()

    def run_sizes(self) -> None:
        """Run on padding everything that `capture` captures."""
        self._on_device.columns.mask_rows.fill_(-1)
        self._on_device.columns.walk_rows.fill_(self._padding_row)
        for size in self._sizes:
            for walking in {False, self.masker is not None}:
                self._sample(size, None, walking=walking)
            if self.masker is not None:
                self._walk(size)

    def sample(self, inputs: SamplingInputs, states: Ints) -> Callable[[], Sampled]:
        """See `Compute`; `states` are the indexes of the hidden states to sample from, arbitrary for padding."""
        count, walking = inputs.keys.shape[0], inputs.walks
        self._prepare(inputs, states, count, walking=walking)
        self._streams.wait_for_inputs()
        self._streams.wait_for_fetches()
        captured = self._sampling_graphs.get((count, walking)) if inputs.is_plain else None
        if captured is None:
            drawn = self._sample(count, inputs, walking=walking)
        else:
            graph, drawn = captured
            graph.replay()
        self._streams.sampling_ends()
        return self._fetch(count, drawn)

    def _prepare(self, inputs: SamplingInputs, states: Ints, count: int, *, walking: bool) -> None:
        """Copy the options and make the masks, during the forward pass."""
        if walking and self.masker is None:
            raise InternalError("this executor makes no masks")
        with self._streams.sampling_inputs as stream:
            self._on_device.copy_from(inputs, states, self._padding_row, stream)
            if len(inputs.masks):
                given, width = inputs.masks.shape
                target = self._masks[count : count + given, :width]
                target.copy_(torch.from_numpy(inputs.masks), non_blocking=True)
            if self.masker is not None and walking:
                self.masker.replay(inputs.replays)
                walk = self._walk_graphs.get(count)
                self._walk(count) if walk is None else walk.replay()

    @property
    def _padding_row(self) -> int:
        return 0 if self.masker is None else self.masker.padding_row

    def _walk(self, count: int) -> None:
        assert self.masker is not None
        self.masker.walk(self._on_device.columns.walk_rows[:count], self._masks[:count])

    def _sample(self, count: int, inputs: SamplingInputs | None, *, walking: bool) -> Sampled:
        """Launch the head, sampling and the grammar advance. `inputs` None: a mask, a temperature and a draw only."""
        columns = self._on_device.columns
        args = SampleArgs(
            self._vocab,
            self._masks,
            columns.mask_rows[:count],
            draw=Draw(columns.temperature[:count], columns.keys[:count]),
        )
        if inputs is not None:
            args = completed(args, inputs, lambda array: sent(array, self._states.device))
        hidden = self._states.index_select(0, columns.states[:count])
        drawn = self._decoder.sample(hidden, args)
        tokens, status = self._samples[count]
        tokens.copy_(drawn.tokens)
        status.copy_(drawn.status)
        if walking:
            assert self.masker is not None
            self.masker.advance(columns.walk_rows[:count], drawn.tokens)
        return drawn

    def _fetch(self, count: int, drawn: Sampled) -> Callable[[], Sampled]:
        """Start to copy the sampled tokens to the host; the function returned waits for them."""
        self._fetched.reverse()
        fetched = self._fetched[0]
        there = fetched.parts[count]
        with self._streams.fetching as stream:
            there.copy_(self._samples[count].view(-1), non_blocking=True)
            reported = drawn.logprobs, drawn.top_tokens, drawn.top_logprobs, drawn.masked
            others = [_to_host(tensor, stream) for tensor in reported]
            fetched.done.record(stream)

        def wait() -> Sampled:
            fetched.done.synchronize()
            return Sampled(there[:count], there[count:], *others)

        return wait


def _to_host(tensor: Tensor | None, stream: torch.cuda.Stream) -> Tensor | None:
    """A copy in pinned memory, in progress on `stream`."""
    if tensor is None:
        return None
    tensor.record_stream(stream)
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return host.copy_(tensor, non_blocking=True)
