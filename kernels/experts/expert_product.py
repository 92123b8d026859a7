"""Product of rows with the matrices of the experts they use. Reference: `reference_experts`.

Does: multiply the rows of each expert with its matrix, with a gate or the rows' shares; read no matrix of an expert
that no row uses. Does not: choose experts (`route`).

A *pair* is a row and one of its experts: pair `p` belongs to row `p // per_row`. A program computes one tile of outputs
for pairs of one expert. With few pairs it finds them by itself, in the list of all chosen experts; many pairs are
sorted by expert before, and each expert's pairs are divided into blocks. The host never waits, and the number of
programs depends on shapes alone; those without work end at once.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import Activation
from ..linear.epilogue import activated, load_tile
from ..runtime.launch import overlap, precision
from ..runtime.tuples import Pair
from .coded_sums import coded_sums
from .expert_matrices import ExpertMatrices

MOST_SCANNED = 1024
"""The most pairs that every program looks through."""


@triton.jit
def _sums(
    rows_at: tl.tensor,
    inside: tl.tensor,
    matrix_ptr: tl.tensor,
    output: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    GATED: tl.constexpr,
    PRECISION: tl.constexpr,
) -> Pair:
    """See `coded_sums`; for an unquantised matrix."""
    k = tl.arange(0, BLOCK_IN)
    x_at = rows_at[:, None] + k[None, :]
    weight_at = matrix_ptr + tl.minimum(output, OUTPUTS - 1)[:, None] * INPUTS + k[None, :]
    y = tl.zeros((output.shape[0], rows_at.shape[0]), tl.float32)
    z = y
    for start in tl.range(0, INPUTS, BLOCK_IN, num_stages=STAGES):
        x = tl.trans(load_tile(x_at + start, inside, start + k, INPUTS, BLOCK_IN))
        weight = load_tile(weight_at + start, None, start + k, INPUTS, BLOCK_IN)
        y = tl.dot(weight, x, y, input_precision=PRECISION)
        if GATED:
            at = weight_at + start + OUTPUTS * INPUTS
            weight = load_tile(at, None, start + k, INPUTS, BLOCK_IN)
            z = tl.dot(weight, x, z, input_precision=PRECISION)
    return y, z


@triton.jit
def _gated(
    gate: tl.tensor,
    up: tl.tensor,
    ACTIVATION: tl.constexpr,
    ALPHA: tl.constexpr,
    LIMIT: tl.constexpr,
) -> tl.tensor:
    """The gate of float32 sums; with a LIMIT that of `MixtureRule.clamp`."""
    if LIMIT > 0:
        gate = tl.minimum(gate, LIMIT)
        up = tl.minimum(tl.maximum(up, -LIMIT), LIMIT)
        product = (up + 1) * (gate * tl.sigmoid(gate * ALPHA))
    else:
        product = activated(gate, ACTIVATION) * up
    return product


@triton.jit
def _tile(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    values_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    biases_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    out_ptr: tl.tensor,
    expert: tl.tensor,
    pair: tl.tensor,
    inside: tl.tensor,
    output: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    PER_ROW: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ALPHA: tl.constexpr,
    LIMIT: tl.constexpr,
    PRECISION: tl.constexpr,
    FAST: tl.constexpr,
) -> None:
    """Outputs of some pairs of one expert."""
    GATED: tl.constexpr = ACTIVATION is not None
    TOTAL: tl.constexpr = 2 * OUTPUTS if GATED else OUTPUTS
    there = output < OUTPUTS
    rows_at = x_ptr + (pair // PER_ROW).to(tl.int64) * x_stride
    matrix = expert.to(tl.int64) * TOTAL
    if scales_ptr is None:
        y, z = _sums(
            rows_at, inside, values_ptr + matrix * INPUTS, output,
            OUTPUTS, INPUTS, BLOCK_IN, STAGES, GATED, PRECISION,
        )  # fmt: skip
    else:
        y, z = coded_sums(
            rows_at, inside, values_ptr + matrix * (INPUTS // 2), scales_ptr + matrix * (INPUTS // 32), output,
            OUTPUTS, INPUTS, BLOCK_IN, STAGES, GATED, PRECISION, FAST,
        )  # fmt: skip
    if biases_ptr is not None:
        bias_at = biases_ptr + matrix + output
        y += tl.load(bias_at, mask=there, other=0.0).to(tl.float32)[:, None]
        if GATED:
            z += tl.load(bias_at + OUTPUTS, mask=there, other=0.0).to(tl.float32)[:, None]
    if GATED:
        y = _gated(y, z, ACTIVATION, ALPHA, LIMIT)
    if shares_ptr is not None:
        y *= tl.load(shares_ptr + pair, mask=inside, other=0.0)[None, :]
    at = out_ptr + pair.to(tl.int64)[None, :] * OUTPUTS + output[:, None]
    tl.store(at, y.to(out_ptr.dtype.element_ty), mask=there[:, None] & inside[None, :])


@triton.jit(do_not_specialize=["pairs", "experts"])
def _scanned_experts(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    values_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    biases_ptr: tl.tensor,
    chosen_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    out_ptr: tl.tensor,
    pairs: tl.tensor,
    experts: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    PER_ROW: tl.constexpr,
    SCANNED: tl.constexpr,
    BY_PAIR: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_PAIRS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ALPHA: tl.constexpr,
    LIMIT: tl.constexpr,
    PRECISION: tl.constexpr,
    FAST: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """One program for a tile of outputs and an expert; BY_PAIR: that of a pair, unless an earlier pair has the same."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    every = tl.arange(0, SCANNED)
    chosen = tl.load(chosen_ptr + every, mask=every < pairs, other=-1)
    expert = tl.program_id(1)
    if BY_PAIR:
        candidate = expert
        # While kernels are compiled ahead, `route` may not have run: any number may stand there.
        expert = tl.minimum(tl.maximum(tl.load(chosen_ptr + candidate), 0), experts - 1)
        if tl.sum(((chosen == expert) & (every < candidate)).to(tl.int32), 0) > 0:
            return
    own = (chosen == expert).to(tl.int32)
    count = tl.sum(own, 0)
    place = tl.where(own > 0, tl.cumsum(own, 0) - 1, SCANNED)
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    for begin in range(0, count, BLOCK_PAIRS):
        member = begin + tl.arange(0, BLOCK_PAIRS)
        found = place[None, :] == member[:, None]
        pair = tl.sum(tl.where(found, every[None, :], 0), 1)
        _tile(
            x_ptr, x_stride, values_ptr, scales_ptr, biases_ptr, shares_ptr, out_ptr,
            expert, pair, member < count, output,
            OUTPUTS, INPUTS, PER_ROW, BLOCK_IN, STAGES, ACTIVATION, ALPHA, LIMIT, PRECISION, FAST,
        )  # fmt: skip


@triton.jit
def _sorted_experts(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    values_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    biases_ptr: tl.tensor,
    order_ptr: tl.tensor,
    starts_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    PER_ROW: tl.constexpr,
    EXPERTS: tl.constexpr,
    SPAN: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_PAIRS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ALPHA: tl.constexpr,
    LIMIT: tl.constexpr,
    PRECISION: tl.constexpr,
    FAST: tl.constexpr,
) -> None:
    """One program for a tile of outputs and a block of an expert's pairs. SPAN: EXPERTS, up to a power of two."""
    block = tl.program_id(1)
    each = tl.arange(0, SPAN)
    starts = tl.load(starts_ptr + each, mask=each < EXPERTS, other=0)
    ends = tl.load(starts_ptr + each + 1, mask=each < EXPERTS, other=0)
    blocks = (ends - starts + BLOCK_PAIRS - 1) // BLOCK_PAIRS
    if block >= tl.sum(blocks, 0):
        return
    expert = tl.sum((tl.cumsum(blocks, 0) <= block).to(tl.int32), 0)
    before = tl.sum(tl.where(each < expert, blocks, 0), 0)
    begin = tl.sum(tl.where(each == expert, starts, 0), 0) + (block - before) * BLOCK_PAIRS
    end = tl.sum(tl.where(each == expert, ends, 0), 0)
    member = begin + tl.arange(0, BLOCK_PAIRS)
    inside = member < end
    pair = tl.load(order_ptr + member, mask=inside, other=0)
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    _tile(
        x_ptr, x_stride, values_ptr, scales_ptr, biases_ptr, shares_ptr, out_ptr, expert, pair, inside, output,
        OUTPUTS, INPUTS, PER_ROW, BLOCK_IN, STAGES, ACTIVATION, ALPHA, LIMIT, PRECISION, FAST,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of N rows. `chosen` [N * per_token] int32.

    If they are sorted, `order` has their numbers by expert, and `starts` [experts + 1] each expert's first place in it.
    """

    chosen: Tensor
    order: Tensor | None = None
    starts: Tensor | None = None


def paired(chosen: Tensor, experts: int, most_scanned: int = MOST_SCANNED) -> Pairs:
    """The pairs of `chosen` [N, per_token] int32, sorted if they are many."""
    flat = chosen.view(-1)
    if flat.shape[0] <= most_scanned:
        return Pairs(flat)
    ordered, order = flat.sort(stable=True)
    bounds = torch.arange(experts + 1, dtype=torch.int32, device=flat.device)
    return Pairs(flat, order, torch.searchsorted(ordered, bounds, out_int32=True))


@dataclass(frozen=True, slots=True)
class PairGate:
    """The gate of a product: see `MixtureRule`."""

    activation: Activation
    clamp: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ProductShape:
    """Outputs, pairs and inputs of a tile, pipeline stages, warps."""

    block_out: int
    block_pairs: int
    block_in: int
    stages: int
    warps: int


def product_shape(
    x: Tensor, pairs: Pairs, matrices: ExpertMatrices, *, gated: bool
) -> ProductShape:
    """Tiles that hold an expert's share of the pairs, if these are evenly distributed."""
    inner = max(16, 256 // x.element_size())
    if matrices.scales is not None:
        return _coded_shape(pairs, matrices.experts, gated=gated)
    if pairs.order is not None:
        return ProductShape(64 if gated else 128, 128, inner // 2, 3, 8)
    return ProductShape(32, _share(pairs, matrices.experts), inner, 4, 4)


def _coded_shape(pairs: Pairs, experts: int, *, gated: bool) -> ProductShape:
    """Tiles for MXFP4, as measured on an H200 for experts of 2880 inputs; all fit in float32."""
    count = pairs.chosen.shape[0]
    if pairs.order is not None:
        if gated:
            return ProductShape(64, 64, 64, 3, 4)
        few = count <= 128 * experts
        return ProductShape(128, 64 if few else 128, 64, 3, 8 if few else 4)
    if gated:
        return ProductShape(32 if count < experts else 64, _share(pairs, experts), 128, 3, 4)
    return ProductShape(64, _share(pairs, experts), 256 if count < experts else 128, 2, 4)


def _share(pairs: Pairs, experts: int) -> int:
    """The pairs of a tile that is to hold all pairs of an expert, where they are few and not sorted."""
    share = triton.next_power_of_2(triton.cdiv(2 * pairs.chosen.shape[0], experts))
    return min(64, max(16, int(share)))


def expert_product(
    x: Tensor,
    matrices: ExpertMatrices,
    pairs: Pairs,
    out: Tensor,
    *,
    per_row: int,
    gate: PairGate | None = None,
    shares: Tensor | None = None,
    shape: ProductShape | None = None,
) -> None:
    """Into row `p` of contiguous `out`: row `p // per_row` of `x` times the matrix of the expert of pair `p`.

    With `gate` the outputs are gate and up, and `out` is half as wide. With `shares` [pairs] float32, row `p` is
    multiplied by `shares[p]`. Sums are float32.
    """
    written = matrices.outputs if gate is None else matrices.outputs // 2
    shape = product_shape(x, pairs, matrices, gated=gate is not None) if shape is None else shape
    count, experts = pairs.chosen.shape[0], matrices.experts
    alpha, limit = (0.0, 0.0) if gate is None or gate.clamp is None else gate.clamp
    options = {
        "OUTPUTS": written,
        "INPUTS": matrices.inputs,
        "PER_ROW": per_row,
        "BLOCK_OUT": shape.block_out,
        "BLOCK_PAIRS": shape.block_pairs,
        "BLOCK_IN": shape.block_in,
        "STAGES": shape.stages,
        "ACTIVATION": None if gate is None else gate.activation.value,
        "ALPHA": alpha,
        "LIMIT": limit,
        "PRECISION": precision(x.dtype),
        "FAST": overlap(x)["EARLY"],
        "num_warps": shape.warps,
    }
    tiles = triton.cdiv(written, shape.block_out)
    given = x, x.stride(0), matrices.values, matrices.scales, matrices.biases
    if pairs.order is None:
        _scanned_experts[(tiles, min(count, experts))](
            *given,
            pairs.chosen,
            shares,
            out,
            count,
            experts,
            SCANNED=max(16, triton.next_power_of_2(count)),
            BY_PAIR=count < experts,
            **options,
            **overlap(x),
        )
        return
    most_blocks = min(count, triton.cdiv(count, shape.block_pairs) + experts)
    _sorted_experts[(tiles, most_blocks)](
        *given,
        pairs.order,
        pairs.starts,
        shares,
        out,
        EXPERTS=experts,
        SPAN=triton.next_power_of_2(experts),
        **options,
    )
