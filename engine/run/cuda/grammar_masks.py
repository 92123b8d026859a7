"""Masks made on the device from grammar tables: the executor's side of `engine.grammars.device_constraints`.

Does: hold the tables of the grammars in use and the state of every sequence in its grammar, and make the masks of a
step from them. Does not: know matchers; it replays a text once, and then advances by its own samples.

On a GPU `replay` and `walk` are called within `streams.sampling_inputs`, so masks are made while the model computes;
`advance` is called on the stream that computes.

Imported only where there is a GPU: it needs Triton.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import accumulate

import numpy as np
import torch
from intaglio.grammar.api import DeviceTables, Vocabulary
from intaglio.kernels.grammar.arena import ArenaLimits, GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import HOST, GrammarStates, GrammarWalker
from torch import Tensor

from ...errors import InternalError
from ...plan import Replay
from ..compute import sent
from .streams import StreamSet


class DeviceGrammarMasks:
    """The grammars of one device, and the sequences constrained by them. For one thread.

    Rows are those of `SlotState`, at most `most_rows`.
    """

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
        self._states = GrammarStates(most_rows + 1, device)
        self.padding_row = most_rows
        self._states.slots[self.padding_row] = HOST
        self.streams = StreamSet(device) if device.type == "cuda" else None
        if self.streams is not None:
            torch.cuda.synchronize()  # other streams read the tensors made above

    @torch.inference_mode()
    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `GrammarHolder`."""
        with nullcontext() if self.streams is None else self.streams.sampling_inputs:
            slot = self._arena.load(key, tables)
        if slot is None:
            return False
        self._arena.acquire(slot)
        return True

    def drop(self, key: str) -> None:
        """See `GrammarHolder`."""
        self._arena.release(self._slot(key))

    def walk(self, rows: Tensor, out: Tensor) -> None:
        """See `GrammarMasker`."""
        self._walker.walk(self._states, rows, out)

    def advance(self, rows: Tensor, tokens: Tensor) -> None:
        """See `GrammarMasker`."""
        self._walker.advance(self._states, rows, tokens)

    def replay(self, replays: Sequence[tuple[int, Replay]]) -> None:
        """See `GrammarMasker`. All texts are copied to the device at once, and replayed there in one launch."""
        if not replays:
            return
        slots = [self._slot(one.grammar) if one.reset else -1 for _, one in replays]
        numbers = [row for row, _ in replays]
        numbers += slots
        numbers += [0 if slot < 0 else self._arena.start(slot) for slot in slots]
        numbers += [one.undo_last for _, one in replays]
        numbers += accumulate((len(one.text) for _, one in replays), initial=0)
        size = len(numbers)
        # Texts are aligned to 16 bytes: Triton compiles another kernel for pointers that are not.
        numbers += [0] * (-size % 4)
        data = b"".join([one.text for _, one in replays])
        packed = np.array(numbers, np.int32).tobytes() + data + bytes(-len(data) % 4)
        there = sent(np.frombuffer(packed, np.int32).copy(), self._device)
        letters = there[len(numbers) :].view(torch.uint8)
        self._walker.replay(self._states, there[:size], letters)

    @torch.inference_mode()
    def warm_up(self, width: int) -> None:
        """Launch every kernel once: masks of few and of many rows of `width` tokens have their own kernels."""
        for count in sorted({1, self.padding_row}):
            rows = torch.arange(count, dtype=torch.int32, device=self._device)
            out = torch.zeros((count, -(-width // 32)), dtype=torch.int32, device=self._device)
            self.walk(rows, out)
            self.advance(rows, torch.zeros(count, dtype=torch.int64, device=self._device))
        self.replay([(0, Replay("", b" ", undo_last=True))])
        if self.streams is not None:
            torch.cuda.synchronize()

    def check(self) -> None:
        """Check that no entry of the arena is lost. Raises `RuntimeError`."""
        self._arena.check()

    def _slot(self, key: str) -> int:
        slot = self._arena.find(key)
        if slot is None:
            raise InternalError(f"grammar {key} is not on the device")
        return slot
