"""The inputs of a pass on the device, at fixed addresses, filled by one copy.

Does: lay out the buffer and its views for every captured size, write a batch to pinned memory and start the copy. Does
not: compute, or know graphs.

The buffer begins with the tokens sampled last, so that one lookup serves tokens that the host knows and tokens that
only the device knows. Then come five numbers for each token, field by field, the slots in further block groups, and
then the arrays by sequence: the `Few` of a captured size, or the `Many` of any other batch.

Nothing is overwritten too early: inputs are copied after the previous pass has read its own, and from two pinned
buffers alternately; a buffer is written again after its last copy, which has long finished by then.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...plan import NO_ADAPTER
from ..batch import Batch
from ..compiled_loops import compiled
from ..slots import Ints
from .streams import StreamSet
from .token_packing import Words, cut, pack

TOKENS, SOURCES, ROPE_POSITIONS, SLOTS, ADAPTERS = range(5)
FIELDS = 5
NOWHERE = -1


class Packing(NamedTuple):
    """The tokens of a pack, the packs that a device runs at once, and the least size of a batch that is packed.

    A batch gets one round of packs more than the fewest packs take, since a larger number of smaller packs may end
    earlier.
    """

    most: int
    at_once: int
    least: int

    def packs(self, size: int) -> int | None:
        """The number of packs for a captured size; None if that size is not packed."""
        if size < self.least:
            return None
        fewest = -(-size // self.most)
        return (-(-fewest // self.at_once) + 1) * self.at_once


class Few(NamedTuple):
    """Views of a captured batch of `size` tokens: tensors on the device, or arrays of pinned memory.

    `fields` [FIELDS or more, size]; from `FIELDS` on, the slots in the other block groups. `grown_at` int64 and `grown`
    int32 [size or more]: entries of the block tables that are written first, by flat index. `owners` and `lengths`
    [size]: rows and context lengths of `size` sequences. Either `starts` [size + 1] of these sequences, or, where every
    token is a sequence, `order` and `leads` [packs, most] and `shared` [packs] of the packs (see `token_packing`); the
    other fields are None.
    """

    fields: Any
    grown_at: Any
    grown: Any
    owners: Any
    lengths: Any
    starts: Any
    order: Any
    leads: Any
    shared: Any


class Many(NamedTuple):
    """Views of a batch of any size, on the device.

    `fields` as in `Few`; indices of the tokens with logits [S or more]; starts [S + 1], context lengths [S] and rows
    [S] of its S sequences.
    """

    fields: Tensor
    logits_indices: Tensor
    starts: Tensor
    lengths: Tensor
    rows: Tensor


class _Staging:
    """A pinned buffer, its views by captured size, and the event of its last copy."""

    def __init__(self, length: int) -> None:
        self.pinned = torch.zeros(length, dtype=torch.int32, pin_memory=True)
        self.words: Words = self.pinned.numpy()
        self.few: dict[int, Few] = {}
        self.parts: dict[int, Tensor] = {}
        self.copied = torch.cuda.Event()


class Inputs:
    """The inputs of batches of up to `most_tokens` tokens and of the `captured` sizes.

    `tables` [groups, rows, blocks]: the host's block tables.
    """

    def __init__(
        self,
        streams: StreamSet,
        most_tokens: int,
        captured: Iterable[int],
        tables: Words,
        block_size: int,
        packing: Packing,
    ) -> None:
        self._streams, self._tables, self._block_size = streams, tables[0], block_size
        self._packing = packing
        self._groups = len(tables)
        rows, captured = tables.shape[1], list(captured)
        self._front = 2 * rows
        ends = {size: self._few_length(size) for size in captured}
        length = max(*ends.values(), self._fields * most_tokens + 4 * rows + 1)
        device = streams.caller.device
        self.buffer = torch.zeros(self._front + length, dtype=torch.int32, device=device)
        self.samples = self.buffer[: self._front]
        self.nowhere = tables[0].size  # past the last entry of the first group's block tables
        there = self.buffer[self._front :]
        self.few = {size: self._few(there, torch.int64, size) for size in captured}
        self._targets = {size: there[:end] for size, end in ends.items()}
        self._staging = [_Staging(length) for _ in range(2)]
        for staging in self._staging:
            staging.few = {size: self._few(staging.words, np.int64, size) for size in captured}
            staging.parts = {size: staging.pinned[:end] for size, end in ends.items()}

    @property
    def _fields(self) -> int:
        """The fields of a token: an odd number, so that the words of 64 bits begin at an even word."""
        return FIELDS + self._groups // 2 * 2

    @property
    def _grown(self) -> int:
        """Entries for each token of a captured size: one new block, and in a group with a window an old one."""
        return 2 * self._groups - 1

    def clear(self, size: int) -> None:
        """Fill the inputs with `size` tokens of padding, of which nothing is stored."""
        self.buffer.zero_()
        self.few[size].fields[SLOTS : ADAPTERS + 1].fill_(NOWHERE)
        self.few[size].fields[FIELDS:].fill_(NOWHERE)

    def fill_few(self, batch: Batch, size: int) -> bool:
        """Copy a batch, padded to a captured size.

        Returns whether the new entries of block tables fit, and were copied as well: those of decode steps do.
        """
        staging = self._next()
        to = staging.few[size]
        self._fill(batch, to.fields)
        grown: int = batch.grown.shape[1]
        room: int = to.grown.size
        fits = grown <= room
        to.grown_at[:] = self.nowhere
        if fits and grown:
            to.grown_at[:grown], to.grown[:grown] = batch.grown
        if to.order is None:
            cut(batch, self._packing.most, to.owners, to.lengths, to.starts)
        else:
            count = batch.tokens.size
            to.owners[:count], to.lengths[:count] = batch.owners, batch.positions + 1
            to.owners[count:] = to.lengths[count:] = 0
            packs = to.order, to.leads, to.shared
            pack(batch, self._tables, self._block_size, self._packing.at_once, *packs)
        self._send(self._targets[size], staging.parts[size], staging.copied)
        return fits

    def fill_many(self, batch: Batch) -> Many:
        """Copy a batch as it is."""
        staging = self._next()
        count, logits, sequences = batch.tokens.size, batch.logits_indices.size, batch.rows.size
        begin = self._fields * count
        self._fill(batch, staging.words[:begin].reshape(self._fields, count))
        lengths = max(sequences, logits), sequences + 1, sequences, sequences
        ends = np.cumsum((begin, *lengths)).tolist()
        parts = [staging.words[a:b] for a, b in pairwise(ends)]
        parts[0][:logits], parts[0][logits:] = batch.logits_indices, 0
        parts[1][:], parts[2][:], parts[3][:] = batch.starts, batch.lengths, batch.rows
        there = self.buffer[self._front :]
        self._send(there[: ends[-1]], staging.pinned[: ends[-1]], staging.copied)
        tail = torch.split_with_sizes(there[begin : ends[-1]], lengths)
        return Many(there[:begin].view(self._fields, count), *tail)

    def _next(self) -> _Staging:
        self._staging.reverse()
        staging = self._staging[0]
        staging.copied.synchronize()
        return staging

    def _fill(self, batch: Batch, fields: Words) -> None:
        _fill_tokens(
            batch.tokens, batch.sources, batch.rope_positions, batch.slots, self._front, fields
        )
        fields[ADAPTERS] = NO_ADAPTER
        if batch.adapters is not None:
            fields[ADAPTERS, : batch.tokens.size] = batch.adapters
        fields[FIELDS:] = NOWHERE
        others = len(batch.other_slots)
        if others:
            fields[FIELDS : FIELDS + others, : batch.tokens.size] = batch.other_slots

    def _send(self, target: Tensor, source: Tensor, copied: torch.cuda.Event) -> None:
        with self._streams.inputs as stream:
            target.copy_(source, non_blocking=True)
            copied.record(stream)
        self._streams.wait_for_inputs()

    def _few_length(self, size: int) -> int:
        packs = self._packing.packs(size)
        last = size + 1 if packs is None else (2 * self._packing.most + 1) * packs
        return (self._fields + 3 * self._grown + 2) * size + last

    def _few(self, words: Any, int64: Any, size: int) -> Few:
        """The views of a captured size over the first words of a tensor or an array."""
        packs = self._packing.packs(size)
        ends = [0]
        # In this order, the words of 64 bits begin at an even word.
        for words_each in (self._fields, self._grown, 1, 1, 2 * self._grown):
            ends.append(ends[-1] + words_each * size)
        fields, grown, owners, lengths, grown_at = (words[a:b] for a, b in pairwise(ends))
        common = fields.reshape(self._fields, size), grown_at.view(int64), grown
        rest = words[ends[-1] : self._few_length(size)]
        if packs is None:
            return Few(*common, owners, lengths, rest, None, None, None)
        held = packs * self._packing.most
        order, leads = (rest[at : at + held].reshape(packs, -1) for at in (0, held))
        return Few(*common, owners, lengths, None, order, leads, rest[2 * held :])


@compiled
def _fill_tokens(
    tokens: npt.NDArray[np.int32],
    sources: Ints,
    rope_positions: Ints,
    slots: Ints,
    front: int,
    fields: Words,
) -> None:
    """Fill the first four of `fields`, with `size` columns, for all tokens and for the padding after them."""
    for i in range(fields.shape[1]):
        fields[TOKENS, i] = fields[ROPE_POSITIONS, i] = 0
        fields[SOURCES, i], fields[SLOTS, i] = front + i, NOWHERE
    for i in range(tokens.size):
        if sources[i] < 0:
            fields[TOKENS, i] = tokens[i]
        else:
            fields[SOURCES, i] = sources[i]
        fields[ROPE_POSITIONS, i], fields[SLOTS, i] = rope_positions[i], slots[i]
