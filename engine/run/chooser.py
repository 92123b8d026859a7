"""The choice of a step's tokens on a GPU: masks beside the forward pass, then head, pick and moves by CUDA graph.

Does: own what the choice reads (states, masks, one packed buffer of what sequences ask for) at fixed addresses, capture
it by number of rows, and bring picks back beside the next pass. Does not: say what sequences ask for
(`sampler`), walk grammars (`residents`), or order streams (`beside`).

What was picked goes to two pinned buffers in turn: a step is read before the one after the next is begun.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from ...grammar.api import words
from ...kernels.contracts import Draw, SampleArgs, Sampled
from ..errors import InternalError
from ..model.decoder import Decoder
from .beside import Beside
from .choice import Choice, Walks, completed
from .compiled import compiled
from .compute import sent
from .graphs import pick_sizes
from .pieces import Words
from .rows import Ints

_FIELDS = 8  # int32 a row: two words of 64 bits, temperature, row of the masks, of the walks, of the states


class _Wishes(NamedTuple):
    """Views of one packed buffer, by row: int64 [most, 2], float32 [most], int32 [most] three times."""

    keys: Tensor
    temperature: Tensor
    mask_rows: Tensor
    walk_rows: Tensor
    states: Tensor


def _unpacked(buffer: Tensor) -> _Wishes:
    most = buffer.shape[0] // _FIELDS
    keys, temperature, *others = torch.split_with_sizes(buffer, [4 * most, *[most] * 4])
    words64 = keys.view(torch.int64).view(most, 2)
    return _Wishes(words64, temperature.view(torch.float32), *others)


class _Staging:
    """A pinned buffer, and when it was copied last."""

    def __init__(self, size: int) -> None:
        self.buffer = torch.zeros(size, dtype=torch.int32, pin_memory=True)
        self._wishes = [field.numpy() for field in _unpacked(self.buffer)]
        self.copied = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def fill(self, choice: Choice, states: Ints, nobody: int) -> None:
        """Wait for the last copy, which was long ago, and write what the next one brings."""
        self.copied.synchronize()
        keys, temperature, *numbers = self._wishes
        count = choice.keys.shape[0]
        keys[:count] = choice.keys
        temperature[:count] = choice.temperature
        _fill_rows(choice.mask_rows, choice.walk_rows, states, nobody, *numbers)


@compiled
def _fill_rows(
    masked: Words,
    walked: Words,
    states: Ints,
    nobody: int,
    mask_rows: Words,
    walk_rows: Words,
    state_rows: Words,
) -> None:
    for i in range(masked.size):
        mask_rows[i] = masked[i]
        walk_rows[i] = walked[i] if walked[i] >= 0 else nobody
        state_rows[i] = states[i] if i < states.size else 0


class _Asked:
    """What sequences ask for, on the device, at addresses that stay."""

    def __init__(self, most: int, device: torch.device) -> None:
        size = _FIELDS * most
        self.buffer = torch.zeros(size, dtype=torch.int32, device=device)
        self.wishes = _unpacked(self.buffer)
        self._staging = [_Staging(size) for _ in range(2)]

    def ask(self, choice: Choice, states: Ints, nobody: int, stream: torch.cuda.Stream) -> None:
        """One copy, in the order of `stream`, which is the current one."""
        self._staging.reverse()
        staging = self._staging[0]
        staging.fill(choice, states, nobody)
        self.buffer.copy_(staging.buffer, non_blocking=True)
        staging.copied.record(stream)


class _Fetched:
    """A pinned buffer for tokens and statuses, its parts by number of rows, and when it was filled last."""

    def __init__(self, most: int, sizes: Iterable[int]) -> None:
        buffer = torch.zeros(2 * most, dtype=torch.int32, pin_memory=True)
        self.parts = {size: buffer[: 2 * size] for size in sizes}
        self.done = torch.cuda.Event()  # type: ignore[no-untyped-call]


class Chooser:
    """Chooses for rows of states among `vocab` tokens. `picks` int32 [2 * most] remembers what was picked.

    `states` [any, hidden]: where a pass of the model leaves its rows before `choose`.
    """

    def __init__(
        self,
        decoder: Decoder,
        vocab: int,
        states: Tensor,
        picks: Tensor,
        beside: Beside,
        walks: Walks | None,
    ) -> None:
        device, most = picks.device, len(picks) // 2
        self._decoder, self._vocab, self._walks = decoder, vocab, walks
        self._sizes = pick_sizes(most)
        self._states = states
        self._masks = torch.zeros(
            (2 * most, words(decoder.spec.vocab_size)), dtype=torch.int32, device=device
        )
        self._asked = _Asked(most, device)
        self._beside = beside
        # Of `size` rows: the tokens, then their statuses.
        self._picks = {size: picks[: 2 * size].view(2, size) for size in self._sizes}
        self._fetched = [_Fetched(most, self._sizes) for _ in range(2)]
        self._choices: dict[tuple[int, bool], tuple[torch.cuda.CUDAGraph, Sampled]] = {}
        self._walking: dict[int, torch.cuda.CUDAGraph] = {}

    def rows(self, wanted: int) -> int:
        """For how many rows `wanted` ones are chosen."""
        return self._sizes[bisect_left(self._sizes, wanted)]

    def capture(self) -> None:
        """Capture the choices that ask for nothing but a mask, a temperature and a draw, for every number of rows.

        Each is run before: what is compiled on first use cannot be captured.
        """
        pool = torch.cuda.graph_pool_handle()
        self._asked.wishes.mask_rows.fill_(-1)
        self._asked.wishes.walk_rows.fill_(self._nobody)
        for size in reversed(self._sizes):
            for walking in {False, self._walks is not None}:
                self._choose(size, None, walking=walking)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    drawn = self._choose(size, None, walking=walking)
                self._choices[size, walking] = graph, drawn
            if self._walks is not None:
                self._walk(size)
                torch.cuda.synchronize()
                walk = torch.cuda.CUDAGraph()
                with torch.cuda.graph(walk, pool=pool):
                    self._walk(size)
                self._walking[size] = walk

    def run_sizes(self) -> None:
        """Run all that `capture` captures, for nobody."""
        self._asked.wishes.mask_rows.fill_(-1)
        self._asked.wishes.walk_rows.fill_(self._nobody)
        for size in self._sizes:
            for walking in {False, self._walks is not None}:
                self._choose(size, None, walking=walking)
            if self._walks is not None:
                self._walk(size)

    def choose(self, choice: Choice, states: Ints) -> Callable[[], Sampled]:
        """See `Compute`; `states` are the rows of the states chosen from, the other rows choose from any."""
        count, walking = choice.keys.shape[0], choice.walks
        self._prepare(choice, states, count, walking=walking)
        self._beside.awaited()
        self._beside.fetch_awaited()
        captured = self._choices.get((count, walking)) if choice.is_plain else None
        if captured is None:
            drawn = self._choose(count, choice, walking=walking)
        else:
            graph, drawn = captured
            graph.replay()
        self._beside.choice_ends()
        return self._fetch(count, drawn)

    def _prepare(self, choice: Choice, states: Ints, count: int, *, walking: bool) -> None:
        """Wishes and masks, beside the forward pass."""
        if walking and self._walks is None:
            raise InternalError("this executor makes no masks")
        with self._beside.begun as stream:
            self._asked.ask(choice, states, self._nobody, stream)
            if len(choice.masks):
                given, width = choice.masks.shape
                target = self._masks[count : count + given, :width]
                target.copy_(torch.from_numpy(choice.masks), non_blocking=True)
            if self._walks is not None and walking:
                self._walks.tell(choice.told)
                walk = self._walking.get(count)
                self._walk(count) if walk is None else walk.replay()

    @property
    def _nobody(self) -> int:
        return 0 if self._walks is None else self._walks.nobody

    def _walk(self, count: int) -> None:
        assert self._walks is not None
        self._walks.walk(self._asked.wishes.walk_rows[:count], self._masks[:count])

    def _choose(self, count: int, choice: Choice | None, *, walking: bool) -> Sampled:
        """Head, pick, and what follows the picks. `choice` None: a plain one."""
        wishes = self._asked.wishes
        args = SampleArgs(
            self._vocab,
            self._masks,
            wishes.mask_rows[:count],
            draw=Draw(wishes.temperature[:count], wishes.keys[:count]),
        )
        if choice is not None:
            args = completed(args, choice, lambda array: sent(array, self._states.device))
        hidden = self._states.index_select(0, wishes.states[:count])
        logits = self._decoder.logits(hidden, args.legal)
        drawn = self._decoder.kernels.sample(logits, args)
        tokens, status = self._picks[count]
        tokens.copy_(drawn.tokens)
        status.copy_(drawn.status)
        if walking:
            assert self._walks is not None
            self._walks.advance(wishes.walk_rows[:count], drawn.tokens)
        return drawn

    def _fetch(self, count: int, drawn: Sampled) -> Callable[[], Sampled]:
        """Start to bring what was picked to the host; the function waits for it."""
        self._fetched.reverse()
        fetched = self._fetched[0]
        there = fetched.parts[count]
        with self._beside.fetching as stream:
            there.copy_(self._picks[count].view(-1), non_blocking=True)
            asked = drawn.logprobs, drawn.top_tokens, drawn.top_logprobs
            others = [_to_host(tensor, stream) for tensor in asked]
            fetched.done.record(stream)

        def wait() -> Sampled:
            fetched.done.synchronize()
            return Sampled(there[:count], there[count:], *others)

        return wait


def _to_host(tensor: Tensor | None, stream: torch.cuda.Stream) -> Tensor | None:
    """A copy in pinned memory, under way on `stream`."""
    if tensor is None:
        return None
    tensor.record_stream(stream)
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return host.copy_(tensor, non_blocking=True)
