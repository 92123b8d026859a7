"""The choice of a step's tokens on a GPU: masks beside the forward pass, then head, pick and moves by CUDA graph.

Does: own what the choice reads (states, masks, one packed buffer of what sequences ask for) at fixed addresses, capture
it by number of rows, and bring picks back beside the next pass. Does not: say what sequences ask for
(`sampler`) or walk grammars (`residents`).

What does not need the hidden states has a stream of its own: it begins when the choice before it is done, and the next
one waits for it. What was picked goes to two pinned buffers in turn: a step is read before the one after the next is
begun.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...grammar.api import words
from ...kernels.contracts import Draw, Drawn, PickArgs
from ..errors import InternalError
from ..model.decoder import Decoder
from .beside import Beside
from .choice import Choice, Walks, completed
from .compute import sent
from .graphs import pick_sizes
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
        self.fields = [field.numpy() for field in _unpacked(self.buffer)]
        self.copied = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def fill(self, choice: Choice, states: Ints, nobody: int) -> None:
        """Wait for the last copy, which was long ago, and write what the next one brings."""
        self.copied.synchronize()
        keys, temperature, mask_rows, walk_rows, of = self.fields
        count = choice.keys.shape[0]
        keys[:count] = choice.keys
        temperature[:count] = choice.temperature
        mask_rows[:count] = choice.mask_rows
        np.copyto(walk_rows[:count], choice.walk_rows)
        walk_rows[:count][choice.walk_rows < 0] = nobody
        of[: states.size], of[states.size : count] = states, 0


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
    """A pinned buffer for tokens and statuses, and when it was filled last."""

    def __init__(self, most: int) -> None:
        self.buffer = torch.zeros(2 * most, dtype=torch.int64, pin_memory=True)
        self.done = torch.cuda.Event()  # type: ignore[no-untyped-call]


class Chooser:
    """Chooses for up to `len(kept)` rows among `vocab` tokens; `kept` int32 remembers what was picked.

    `states` [any, hidden]: where a pass of the model leaves its rows before `choose`.
    """

    def __init__(
        self, decoder: Decoder, vocab: int, states: Tensor, kept: Tensor, walks: Walks | None
    ) -> None:
        device, most = kept.device, len(kept)
        self._decoder, self._vocab, self._kept, self._walks = decoder, vocab, kept, walks
        self._sizes = pick_sizes(most)
        self._states = states
        self._masks = torch.zeros(
            (2 * most, words(decoder.spec.vocab_size)), dtype=torch.int32, device=device
        )
        self._asked = _Asked(most, device)
        given = None if walks is None else walks.beside
        self._beside = Beside(device) if given is None else given
        self._fetched = [_Fetched(most) for _ in range(2)]
        self._choices: dict[tuple[int, bool], tuple[torch.cuda.CUDAGraph, Drawn]] = {}
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

    def choose(self, choice: Choice, states: Ints) -> Callable[[], Drawn]:
        """See `Compute`; `states` are the rows of the states chosen from, the other rows choose from any."""
        count, walking = choice.keys.shape[0], choice.walks
        self._prepare(choice, states, count, walking=walking)
        self._beside.awaited()
        captured = self._choices.get((count, walking)) if choice.is_plain else None
        if captured is None:
            drawn = self._choose(count, choice, walking=walking)
        else:
            graph, drawn = captured
            graph.replay()
        return self._fetch(drawn)

    def _prepare(self, choice: Choice, states: Ints, count: int, *, walking: bool) -> None:
        """Wishes and masks, beside the forward pass."""
        if walking and self._walks is None:
            raise InternalError("this executor makes no masks")
        with self._beside.begun():
            self._asked.ask(choice, states, self._nobody, self._beside.stream)
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

    def _choose(self, count: int, choice: Choice | None, *, walking: bool) -> Drawn:
        """Head, pick, and what follows the picks. `choice` None: a plain one."""
        wishes = self._asked.wishes
        args = PickArgs(
            self._vocab,
            self._masks,
            wishes.mask_rows[:count],
            draw=Draw(wishes.temperature[:count], wishes.keys[:count]),
        )
        if choice is not None:
            args = completed(args, choice, lambda array: sent(array, self._kept.device))
        hidden = self._states.index_select(0, wishes.states[:count])
        logits = self._decoder.logits(hidden, args.legal)
        drawn = self._decoder.kernels.pick(logits, args)
        self._kept[:count].copy_(drawn.tokens)
        if walking:
            assert self._walks is not None
            self._walks.advance(wishes.walk_rows[:count], drawn.tokens)
        return drawn

    def _fetch(self, drawn: Drawn) -> Callable[[], Drawn]:
        """Start to bring `drawn` to the host; the function waits for it."""
        count = drawn.tokens.shape[0]
        self._fetched.reverse()
        done = self._fetched[0].done
        tokens, status = self._fetched[0].buffer[: 2 * count].view(2, count)
        tokens.copy_(drawn.tokens, non_blocking=True)
        status.copy_(drawn.status, non_blocking=True)
        others = [
            _to_host(drawn.logprobs),
            _to_host(drawn.top_tokens),
            _to_host(drawn.top_logprobs),
        ]
        done.record(self._beside.caller)
        self._beside.choice_ends(done)

        def wait() -> Drawn:
            done.synchronize()
            return Drawn(tokens, status, *others)

        return wait


def _to_host(tensor: Tensor | None) -> Tensor | None:
    """A copy in pinned memory, under way."""
    if tensor is None:
        return None
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return host.copy_(tensor, non_blocking=True)
