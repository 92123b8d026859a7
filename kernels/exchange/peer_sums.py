"""The sum of a tensor over the GPUs of one host, added to the residual by the same kernel.

Does: write rows into the memory of the other GPUs, wait for theirs, add them up in the order of ranks, norm the sum if
asked to, and add it to the residual. Does not: map the memory (the caller does). Reference:
`reference_exchange.add_sum`.

A row has, in every inbox, two regions for each sender. A sender writes its row there; the receiver
reads the region until no element of it is absent, adds, and marks all elements absent again. So the data are their own
flags (Lamport 1977): no fence, no barrier, and each row travels once. Absent is the bit pattern of -0.0 in 16 bits,
and that pattern twice in 32 bits, where it is a number near 1e-41; senders write 0.0 for both. As in NVIDIA's
TensorRT-LLM the regions alternate: a sender that writes to a region has received, by the region of the call before, a
row which the receiver sent after it had emptied this one.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import AddTo
from ..runtime.launch import overlap, processors
from ..runtime.precompile import only_compiles

REGIONS = 2
ROW_BYTES = 16 << 10
"""The longest row: 8,192 elements of 16 bits."""
ROWS_OF_TWO = 8192
ROWS_OF_MORE = 512
"""Between two ranks each row travels once, as in any sum. Each further rank gets it as well, where a library's sum
divides it: rows of `ranks` ranks number up to this over `ranks - 1`."""
ABSENT = {2: -0x8000, 4: -0x7FFF8000}
"""The pattern of an absent element as a signed integer, by the bytes of an element."""
EARLY_ROWS = 64
"""Rows up to which the kernel that made the terms is one of this package, and lets this one start early."""


def most_exchanged(ranks: int) -> int:
    """The most rows that `ranks` ranks exchange by this kernel."""
    return ROWS_OF_TWO if ranks == 2 else max(1, ROWS_OF_MORE // (ranks - 1))


def inbox_bytes(ranks: int) -> int:
    """The bytes that one rank receives rows in: of each row, the regions of all other ranks."""
    return most_exchanged(ranks) * REGIONS * (ranks - 1) * ROW_BYTES


def empty(inbox: Tensor) -> None:
    """Mark all elements of `inbox` absent, whatever their size."""
    inbox.view(torch.int16).fill_(ABSENT[2])


@dataclass(frozen=True, slots=True)
class PeerBuffers:
    """The memory by which several ranks exchange rows, as rank `rank` sees it.

    `inboxes` [ranks] int64: addresses of `inbox_bytes` bytes on the device of each rank, all absent. `counts`
    [most_exchanged(ranks)] int32, zeros: the calls that had a row. `ended` [1] int32: not 0 once no rank must be waited
    for.
    """

    rank: int
    inboxes: Tensor
    counts: Tensor
    ended: Tensor

    def take(self, terms: Tensor) -> bool:
        """Whether `add_sum` exchanges such `terms` [N, width]."""
        rows, width = terms.shape
        size = terms.element_size()
        return size in ABSENT and rows <= self.counts.shape[0] and width * size <= ROW_BYTES


@triton.jit
def _words(
    terms_ptr: tl.tensor,
    row: tl.tensor,
    at: tl.tensor,
    there: tl.tensor,
    WIDTH: tl.constexpr,
    WORD: tl.constexpr,
    ABSENT: tl.constexpr,
) -> tl.tensor:
    """The elements `at` of a row of this rank where `there`, as integers that are not absent."""
    words = tl.load(terms_ptr + row * WIDTH + at, mask=there, other=0.0).to(WORD, bitcast=True)
    return tl.where(words == ABSENT, 0, words)


@triton.jit(do_not_specialize=["rows"])
def _add_sum(
    terms_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    residual_ptr: tl.tensor,
    inboxes_ptr: tl.tensor,
    counts_ptr: tl.tensor,
    ended_ptr: tl.tensor,
    rows: tl.tensor,
    eps: tl.tensor,
    RANK: tl.constexpr,
    RANKS: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    REGION: tl.constexpr,
    WORD: tl.constexpr,
    ABSENT: tl.constexpr,
    NORMED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """A program sends the next of its rows before it waits for one. REGION: the elements of a region."""
    if EARLY:
        gdc_launch_dependents()
    first, programs = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    inside = at < WIDTH
    inbox = tl.load(inboxes_ptr + RANK).to(tl.pointer_type(WORD))
    element = residual_ptr.dtype.element_ty
    if EARLY:
        gdc_wait()
    for step in range(-1, tl.cdiv(rows - first, programs)):
        ahead = first + (step + 1) * programs
        there = at < tl.where(ahead < rows, WIDTH, 0)
        words = _words(terms_ptr, ahead, at, there, WIDTH, WORD, ABSENT)
        count = tl.load(counts_ptr + tl.minimum(ahead, rows - 1))
        region = (ahead * 2 + count % 2) * (RANKS - 1)
        for rank in tl.static_range(RANKS):
            if rank != RANK:
                target = tl.load(inboxes_ptr + rank).to(tl.pointer_type(WORD))
                sent_to = target + (region + RANK - (rank < RANK)) * REGION + at
                tl.store(sent_to, words, mask=there)
        if step >= 0:
            row = first + step * programs
            count = tl.load(counts_ptr + row)
            region = (row * 2 + count % 2) * (RANKS - 1)
            residual_at = residual_ptr + row * WIDTH + at
            residual = tl.load(residual_at, mask=inside, other=0.0).to(tl.float32)
            own = _words(terms_ptr, row, at, inside, WIDTH, WORD, ABSENT)
            total = tl.zeros((BLOCK,), tl.float32)
            for rank in tl.static_range(RANKS):
                words = own
                if rank != RANK:
                    here = inbox + (region + rank - (rank > RANK)) * REGION + at
                    words = tl.load(here, mask=inside, other=0, volatile=True)
                    missing = tl.max((words == ABSENT).to(tl.int32), 0)
                    while missing != 0:
                        words = tl.load(here, mask=inside, other=0, volatile=True)
                        missing = tl.max((words == ABSENT).to(tl.int32), 0)
                        if tl.load(ended_ptr, volatile=True) != 0:
                            missing = 0
                    tl.store(here, tl.full((BLOCK,), ABSENT, WORD), mask=inside)
                total += words.to(element, bitcast=True).to(tl.float32)
            if NORMED:
                weight = tl.load(norm_ptr + at, mask=inside, other=0.0).to(tl.float32)
                total = total * tl.rsqrt(tl.sum(total * total, 0) / WIDTH + eps) * weight
            tl.store(residual_at, (residual + total).to(element), mask=inside)
            tl.store(counts_ptr + row, count + 1)


def add_sum(terms: Tensor, onto: AddTo, buffers: PeerBuffers) -> None:
    """Add the sum over all ranks of `terms` [N, width], which `buffers` take, to the residual, as `onto` says.

    `terms` is contiguous and in the dtype of the residual. Every rank calls this, in the same order, with equal shapes.
    Sums are made in float32, in the order of ranks: all ranks get the same bits, and a row's do not depend on others.
    """
    rows, width = terms.shape
    size = terms.element_size()
    block = triton.next_power_of_2(width)
    programs = min(rows, processors(terms.device))
    launch: Any = _add_sum[(programs,)]
    if only_compiles():  # a rank that has the kernel must not wait for one that has not
        launch = partial(_add_sum.warmup, grid=(programs,))
    launch(
        terms,
        terms if onto.norm is None else onto.norm.weight,
        onto.residual,
        buffers.inboxes,
        buffers.counts,
        buffers.ended,
        rows,
        0.0 if onto.norm is None else onto.norm.eps,
        RANK=buffers.rank,
        RANKS=buffers.inboxes.shape[0],
        WIDTH=width,
        BLOCK=block,
        REGION=ROW_BYTES // size,
        WORD=tl.int16 if size == 2 else tl.int32,
        ABSENT=ABSENT[size],
        NORMED=onto.norm is not None,
        num_warps=min(max(block // 512, 1), 8),
        **overlap(terms, early=rows <= EARLY_ROWS),
    )
