"""Device functions and epilogue options that the matrix-product kernels share.

Does: load a tile of weights, with zeros for inputs past the end and for unneeded rows; prefetch the tiles that follow;
compute activations; describe the fused part of an epilogue; add up partial sums of programs; store results. Does not:
multiply.
"""

from typing import NamedTuple

import triton
import triton.language as tl

from ..contracts import Activation
from ..runtime.launch import prefetch
from ..runtime.tuples import appended

LONGEST_OUTPUT = 8192
"""Inputs of the product after attention, at most: a longer row is that of a feed-forward layer."""


class After(NamedTuple):
    """The part of an epilogue that a kernel fuses: a gate, or (`added`) an addition to the contents of the output."""

    activation: Activation | None = None
    added: bool = False

    @property
    def name(self) -> str | None:
        """The activation's name for `activated`."""
        return None if self.activation is None else self.activation.value

    def after_attention(self, inputs: int) -> bool:
        """Whether attention precedes the product of so many inputs: memory is idle while one token is attended."""
        return self.added and inputs <= LONGEST_OUTPUT


NOTHING = After()
ADDED = After(added=True)
GATED = {activation: After(activation) for activation in Activation}


@triton.jit
def activated(x: tl.tensor, ACTIVATION: tl.constexpr) -> tl.tensor:
    """The activation of float32 `x`; ACTIVATION is the value of a `contracts.Activation`."""
    tl.static_assert(ACTIVATION == "silu" or ACTIVATION == "gelu_tanh")
    z = x
    if ACTIVATION == "gelu_tanh":
        # 1.5957... is twice the square root of 2 / pi: 1 + tanh(z) = 2 * sigmoid(2 * z). Below -80 a sigmoid is 0.
        z = tl.maximum(1.5957691216057308 * x * (1 + 0.044715 * x * x), -80.0)
    return x * tl.sigmoid(z)


@triton.jit
def load_tile(
    at: tl.tensor,
    loaded: tl.tensor,
    k: tl.tensor,
    INPUTS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
) -> tl.tensor:
    """Inputs `k` [BLOCK_IN] of the rows at `at` [rows, BLOCK_IN]; zeros past the end.

    `loaded` [rows]: the rows to load, the others are zeros; None: all rows.
    """
    there = None
    if INPUTS % BLOCK_IN != 0:
        there = (k < INPUTS)[None, :]
    if loaded is not None:
        there = loaded[:, None] if there is None else there & loaded[:, None]
    return tl.load(at) if there is None else tl.load(at, mask=there, other=0.0)


@triton.jit
def fetch_rest(
    matrix_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    STRIDE: tl.constexpr,
    BEGIN: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    AT_ONCE: tl.constexpr,
) -> None:
    """Prefetch the rows of this program from element BEGIN on into the L2 cache, without waiting.

    A row has STRIDE elements. AT_ONCE: lines of a step, a power of 2. Compiled code only.
    """
    LINE: tl.constexpr = 1024 // matrix_ptr.dtype.element_ty.primitive_bitwidth
    LINES: tl.constexpr = (STRIDE - BEGIN + LINE - 1) // LINE
    if LINES > 0:
        for begin in tl.static_range(0, BLOCK_OUT * LINES, AT_ONCE):
            at = tl.minimum(begin + tl.arange(0, AT_ONCE), BLOCK_OUT * LINES - 1)
            row = tl.minimum(tl.program_id(0) * BLOCK_OUT + at // LINES, OUTPUTS - 1)
            prefetch(matrix_ptr + BEGIN + row.to(tl.int64) * STRIDE + at % LINES * LINE)


@triton.jit
def _within(ROWS: tl.constexpr, COLUMNS: tl.constexpr) -> tl.tensor:
    """Offsets of the elements of a contiguous tile [ROWS, COLUMNS]."""
    return tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]


@triton.jit
def sum_splits(
    sums: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    SLOT: tl.constexpr,
    SPLITS: tl.constexpr,
) -> tl.tensor:
    """Store `sums`, a tuple of tiles; the last program of these outputs gets the sums over all splits.

    Returns the sums and whether this program is the last. SLOT: the number of elements that a program stores.
    """
    base = partial_ptr + tl.program_id(0).to(tl.int64) * (SPLITS * SLOT)
    at = base + tl.program_id(1) * SLOT
    for i in tl.static_range(len(sums)):
        tl.store(at + _within(sums[i].shape[0], sums[i].shape[1]), sums[i])
        at += sums[i].shape[0] * sums[i].shape[1]
    tl.debug_barrier()
    last = tl.atomic_add(arrived_ptr + tl.program_id(0), 1, sem="acq_rel") == SPLITS - 1
    tl.debug_barrier()
    if last:
        totals = ()
        for i in tl.static_range(len(sums)):
            total = tl.zeros(sums[i].shape, tl.float32)
            for split in tl.static_range(SPLITS):
                left = base + split * SLOT + _within(sums[i].shape[0], sums[i].shape[1])
                total += tl.load(left, cache_modifier=".cg")
            totals = appended(totals, total)
            base += sums[i].shape[0] * sums[i].shape[1]
        sums = totals
        tl.store(arrived_ptr + tl.program_id(0), 0)
    return sums, last


@triton.jit
def store_rows(
    y: tl.tensor,
    z: tl.tensor,
    member: tl.tensor,
    rows: tl.tensor,
    output: tl.tensor,
    inside: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
) -> None:
    """Store rows `member` of outputs `output` where `inside`: `y` [members, outputs], gated with `z` if GATED."""
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)[None, :]
    if GATED:
        if BIASED:
            at = bias_ptr + OUTPUTS + output
            z += tl.load(at, mask=inside, other=0.0).to(tl.float32)[None, :]
        y = activated(y, ACTIVATION) * z
    used = (member < rows)[:, None] & inside[None, :]
    out_at = out_ptr + member[:, None].to(tl.int64) * OUTPUTS + output[None, :]
    if ADDED:
        y += tl.load(out_at, mask=used, other=0.0).to(tl.float32)
    tl.store(out_at, y.to(out_ptr.dtype.element_ty), mask=used)
