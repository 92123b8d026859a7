"""An executor that keeps what a draft head reads: the streams of the last computed tokens of a few sequences.

Does: divide the streams of a step among its sequences, and forget them with the sequence. Does not: compute anything;
the executor inside does, and its decoder copies the streams (`model/layer_streams.py`).
"""

from dataclasses import dataclass, field
from typing import Any, Final

import torch
from intaglio.grammar.api import DeviceTables, MaskRows
from torch import Tensor

from ..executor import Executor
from ..model.layer_streams import LayerStreams
from ..plan import Masks, Plan, SampledBatch, Work

MOST_ROWS: Final = 1024
"""The most tokens of a sequence with streams: of a longer prompt, a head reads the end."""


@dataclass(slots=True)
class _Held:
    """The streams of one sequence: consecutive `parts`, of the tokens from `begin` on."""

    begin: int
    parts: list[Tensor] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.begin + sum([len(part) for part in self.parts])

    def cut(self, end: int) -> None:
        """Drop the streams of the tokens from `end` on."""
        surplus = self.end - end
        while surplus > 0:
            last = self.parts.pop()
            if len(last) > surplus:
                self.parts.append(last[:-surplus])
            surplus -= len(last)

    def drop(self, begin: int) -> None:
        """Drop the streams of the tokens before `begin`."""
        while self.parts and self.begin < begin:
            first = self.parts[0]
            dropped = min(len(first), begin - self.begin)
            self.begin += dropped
            self.parts[:1] = [first[dropped:]] if dropped < len(first) else []


class KeptStreams:
    """An executor; see `Executor`. It keeps the streams of at most `most` sequences, the first ones that have none."""

    def __init__(self, executor: Executor[Any], streams: LayerStreams, most: int) -> None:
        self._executor = executor
        self._streams = streams
        self._most = most
        self._held: dict[int, _Held] = {}

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._executor.makes_masks

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `Executor`."""
        return self._executor.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `Executor`."""
        self._executor.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return self._executor.mask_buffer(count, width)

    def forward(self, plan: Plan) -> Any:
        """See `Executor`."""
        for seq_id in plan.released:
            self._held.pop(seq_id, None)
        handle = self._executor.forward(plan)
        rows, at = self._streams.take(), 0
        for work in plan.works:
            part = rows[at : at + len(work.tokens)]
            at += len(part)
            if work.seq_id in self._held or len(self._held) < self._most:
                # The copy lets the rows of the other sequences go.
                self._keep(work, part if len(plan.works) == 1 else part.clone())
        return handle

    def sample(self, handle: Any, masks: Masks) -> None:
        """See `Executor`."""
        self._executor.sample(handle, masks)

    def sampled(self, handle: Any) -> SampledBatch:
        """See `Executor`."""
        return self._executor.sampled(handle)

    def held(self, seq_id: int) -> range:
        """The positions of a sequence with streams. The last ones may be those of rejected drafts."""
        found = self._held.get(seq_id)
        return range(0) if found is None else range(found.begin, found.end)

    def rows(self, seq_id: int, positions: range) -> Tensor:
        """The streams [len(positions), layers * hidden] of positions that are `held`."""
        found = self._held[seq_id]
        joined = found.parts[0] if len(found.parts) == 1 else torch.cat(found.parts)
        return joined[positions.start - found.begin : positions.stop - found.begin]

    def forget_before(self, seq_id: int, position: int) -> None:
        """Drop the streams of a sequence before `position`."""
        if seq_id in self._held:
            self._held[seq_id].drop(position)

    def _keep(self, work: Work, part: Tensor) -> None:
        held = self._held.get(work.seq_id)
        if held is None or not held.begin <= work.start <= held.end:
            held = self._held[work.seq_id] = _Held(work.start)
        held.cut(work.start)
        held.parts.append(part)
        held.drop(held.end - MOST_ROWS)
