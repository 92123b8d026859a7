"""Tables walked on the device along tokens that the host has followed; every mask against the host's.

Does: place many instances side by side, walk and advance them together, compare all words of every row on the device.
Does not: make tables or follow anything on the host (`followed`).
"""

from collections import Counter

import numpy as np
import torch
from intaglio.grammar.api import words
from intaglio.kernels.grammar.arena import GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import FREE, GrammarStates, GrammarWalker

from tests.support.followed import Followed, Outcome, kit, width_of


class Comparer:
    """Compares the device with the host.

    `differences` and `too_deep` (for the stacks of a device) name instance and token.
    """

    def __init__(self, *, tiny: bool, rows: int) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []
        self.too_deep: list[str] = []
        self._device = device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        known, width = kit(tiny=tiny).vocabulary, width_of(tiny=tiny)
        self._arena = GrammarArena(device)
        table = lay_out(known.tokens, known.end_ids, width, device)
        self._walker = GrammarWalker(self._arena, table, rows)
        self._states = GrammarStates(rows, device)
        self._rows = torch.arange(rows, dtype=torch.int32, device=device)
        self._out = torch.empty((rows, words(width)), dtype=torch.int32, device=device)
        self._queue: list[tuple[int, Followed]] = []

    def add(self, outcome: Outcome) -> None:
        """Add a schema's instances to the comparison, which may be deferred until `finish`."""
        if outcome.tables is None:
            return
        for instance in outcome.instances:
            slot = self._arena.load((outcome.name, outcome.form), outcome.tables)
            if slot is None:
                self.finish()
                slot = self._arena.load((outcome.name, outcome.form), outcome.tables)
            assert slot is not None
            self._arena.acquire(slot)
            self._queue.append((slot, instance))
            if len(self._queue) == len(self._rows):
                self.finish()

    def finish(self) -> None:
        """Compare the instances that are still waiting."""
        batch, self._queue = self._queue, []
        if not batch:
            return
        self._states.slots.fill_(FREE)
        for row, (slot, _) in enumerate(batch):
            self._states.place(row, slot, self._arena.start(slot), [])
        wrong, deep = (found.cpu().numpy() for found in self._walk([one for _, one in batch]))
        for row, (slot, one) in enumerate(batch):
            self._arena.release(slot)
            steps = len(one.which)
            known = ~deep[:steps, row]
            self.counts["masks"] += int(known.sum())
            self.counts["instances"] += 1
            if not known.all():
                self.too_deep.append(f"{one.name} at token {int(known.argmin())}")
            at = np.flatnonzero(wrong[:steps, row] & known)
            self.counts["differences"] += len(at)
            self.differences += [f"{one.name} at token {at[0]}"] if len(at) else []

    def _walk(self, batch: list[Followed]) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows that differ, rows whose stack was too small), both bool [steps, rows]."""
        steps, rows, device = max(len(one.which) for one in batch), len(self._rows), self._device
        which = np.zeros((steps, rows), np.int64)
        tokens = np.full((steps, rows), -1, np.int64)
        found = sum(len(one.rows) for one in batch)
        expected = torch.empty((found, self._out.shape[1]), dtype=torch.int32, device=device)
        before = 0
        for row, one in enumerate(batch):
            expected[before : before + len(one.rows)].copy_(torch.from_numpy(one.rows))
            which[: len(one.which), row] = before + one.which
            tokens[: len(one.tokens), row] = one.tokens
            before += len(one.rows)
        picks, at = torch.from_numpy(tokens).to(device), torch.from_numpy(which).to(device)
        wrong = torch.zeros((steps, rows), dtype=torch.bool, device=device)
        deep = torch.zeros_like(wrong)
        for step in range(steps):
            self._walker.walk(self._states, self._rows, self._out)
            wrong[step] = (self._out != expected[at[step]]).any(1)
            deep[step] = self._states.troubles != 0
            self._walker.advance(self._states, self._rows, picks[step])
        return wrong, deep
