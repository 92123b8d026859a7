"""Grammars beside the logits: the executor's side of `engine.residents`.

Does: hold the tables of the grammars in use, where every sequence stands in its grammar, and make the masks of a step
from them. Does not: know matchers; where a sequence stands it is told once, and then follows its own picks.

What does not need the logits, and that is all but the last move, has a stream of its own: masks are made while the
model computes, and only the pick waits for both.

Loaded only where there is a GPU: it needs Triton.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from ...grammar.api import DeviceTables, Vocabulary
from ...kernels.grammar_arena import ArenaLimits, GrammarArena
from ...kernels.grammar_tokens import lay_out
from ...kernels.grammar_walk import GrammarStates, GrammarWalker
from ..errors import InternalError
from ..plan import Resident
from .compute import Array, sent
from .rows import Ints


class Residents:
    """The residents of one device. Rows are those of `SequenceRows`, `most_rows` at most. One thread calls."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        device: torch.device,
        most_rows: int,
        limits: ArenaLimits | None = None,
    ) -> None:
        table = lay_out(vocabulary.tokens, vocabulary.end_ids, vocabulary.width, device)
        self._device = device
        self._arena = GrammarArena(device, limits)
        self._walker = GrammarWalker(self._arena, table, most_rows)
        self._states = GrammarStates(most_rows, device)
        self._walked: tuple[Tensor, Tensor] | None = None
        on_gpu = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if on_gpu else None  # type: ignore[no-untyped-call]
        self._advanced = torch.cuda.Event() if on_gpu else None  # type: ignore[no-untyped-call]

        if on_gpu:
            torch.cuda.synchronize()  # what was made above, other streams read

    @torch.inference_mode()
    def enter(self, key: str, tables: DeviceTables) -> bool:
        """See `engine.residents.Residence`."""
        with self._beside():
            slot = self._arena.load(key, tables)
        if slot is None:
            return False
        self._arena.acquire(slot)
        return True

    def leave(self, key: str) -> None:
        """See `engine.residents.Residence`."""
        self._arena.release(self._slot(key))

    def walk(self, rows: Ints, places: Ints, residents: Sequence[Resident], out: Tensor) -> None:
        """Bring `residents`, of `rows` [N], to where they stand, and write their masks to `out` [N, words] int32.

        `places` [N]: which rows of the logits are theirs. The caller's stream waits for the masks, and they wait for
        what was computed up to the last `advance`, not for what came after it.
        """
        with self._beside():
            self._tell(rows, residents)
            here = self._sent(rows.astype(np.int32))
            self._walker.walk(self._states, here, out)
            self._walked = here, self._sent(places)
        if self._stream is not None:
            torch.cuda.current_stream().wait_stream(self._stream)

    def _tell(self, rows: Ints, residents: Sequence[Resident]) -> None:
        """Bring the sequences to where they stand."""
        back = [i for i, one in enumerate(residents) if one.back]
        if back:
            self._walker.back(self._states, self._sent(rows[back].astype(np.int32)))
        anew = [i for i, one in enumerate(residents) if one.anew]
        if anew:
            slots = [self._slot(residents[i].grammar) for i in anew]
            starts = [self._arena.start(slot) for slot in slots]
            self._states.begin(
                self._sent(rows[anew]),
                self._sent(np.array(slots, dtype=np.int32)),
                self._sent(np.array(starts, dtype=np.int32)),
            )
        told = [i for i, one in enumerate(residents) if one.text]
        if told:
            texts = [residents[i].text for i in told]
            ends = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
            data = np.frombuffer(b"".join(texts), np.uint8).copy()
            at = self._sent(rows[told].astype(np.int32))
            self._walker.follow(self._states, at, self._sent(ends), self._sent(data))

    def advance(self, tokens: Tensor) -> None:
        """Move those of the last walk along what was picked for them: `tokens` int64, one a row of the logits."""
        if self._walked is None:
            raise InternalError("residents advance without a walk")
        rows, places = self._walked
        self._walked = None
        self._walker.advance(self._states, rows, tokens.index_select(0, places))
        if self._advanced is not None:
            self._advanced.record()

    @torch.inference_mode()
    def warm_up(self, width: int) -> None:
        """Run every launch once: masks of few and of many rows of `width` tokens are kernels of their own."""
        most = len(self._states.slots)
        for count in sorted({1, most}):
            rows = np.arange(count)
            out = torch.zeros((count, -(-width // 32)), dtype=torch.int32, device=self._device)
            self.walk(rows, rows, [Resident("", b"")] * count, out)
            self.advance(torch.zeros(count, dtype=torch.int64, device=self._device))
        none = self._sent(np.zeros(1, dtype=np.int32))
        self._walker.follow(self._states, none, self._sent(np.array([0, 1], np.int32)), none.byte())
        self._walker.back(self._states, none)
        if self._stream is not None:
            torch.cuda.synchronize()

    def check(self) -> None:
        """No entry of the arena is lost. Raises `RuntimeError`."""
        self._arena.check()

    def _slot(self, key: str) -> int:
        slot = self._arena.find(key)
        if slot is None:
            raise InternalError(f"grammar {key} is not here")
        return slot

    def _beside(self) -> AbstractContextManager[object]:
        """The stream of all that needs no logits; after it, what the last picks changed may be read and written."""
        if self._stream is None or self._advanced is None:
            return nullcontext()
        self._stream.wait_event(self._advanced)
        return torch.cuda.stream(self._stream)

    def _sent(self, array: Array) -> Tensor:
        return sent(array, self._device)
