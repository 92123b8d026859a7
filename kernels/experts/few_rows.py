"""The experts of few rows in two launches. Reference: `reference_experts`.

Does: norm a row, choose its experts by their logits, multiply by their matrices, and add the weighted sum to the row.
Does not: compute logits, read codes, or join rows that chose the same expert (`expert_product`).

The launches of a layer depend on each other, and with one row each of them is short. So each program of the first
product chooses by itself. A probability and its expert are one number there, so that each choice is one maximum. The
second product holds the weights of all experts of a row in one tile, adds them up in one order,
and adds the residual.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import MixtureRule, RmsNorm
from ..linear.epilogue import activated, load_tile
from ..runtime.launch import overlap
from ..runtime.tuples import Pair
from .expert_matrices import ExpertMatrices

MOST_ROWS = 4
"""The most rows. Each reads its experts by itself: of 128, four rows with 8 choose 29 on average, and read 32."""

MOST_EXPERTS = 128
"""The most experts among which a program chooses: one for each of its threads."""

RAISED = tl.constexpr(1 << 32)
LOWEST = tl.constexpr(-(1 << 62))
"""Factor of a probability's bits, and the number in place of a chosen expert's."""

GATE_OUTPUTS, GATE_BYTES = 8, 1024
"""Outputs of a tile of gate and up, and bytes of its inputs. A multiprocessor has registers for three such
programs; 768 outputs of 8 experts are two full waves on 132."""

DOWN_OUTPUTS, DOWN_BYTES = 4, 512
"""The same for down; the tile has these outputs of all experts of a row. 2048 outputs are one wave."""


@triton.jit
def _choice(
    logits_at: tl.tensor,
    slot: tl.tensor,
    EXPERTS: tl.constexpr,
    BLOCK: tl.constexpr,
    PER_TOKEN: tl.constexpr,
    RENORMALISED: tl.constexpr,
) -> Pair:
    """The expert in place `slot` of a row's order, best first, and its share. The same order as that of `route`."""
    expert = tl.arange(0, BLOCK)
    inside = expert < EXPERTS
    x = tl.load(logits_at + expert, mask=inside, other=float("-inf")).to(tl.float32)
    x = tl.where(x == x, x, -1e30)  # for a row of NaN, any experts will do
    power = tl.exp(x - tl.max(x, 0))
    part = tl.where(inside, power / tl.sum(power, 0), -1.0)
    bits = part.to(tl.int32, bitcast=True).to(tl.int64)
    # Ordered like the probabilities; of equal ones, the expert with the lower number is higher.
    left = bits * RAISED + (BLOCK - 1 - expert)
    found, share, total = slot, 0.0, 0.0
    for i in tl.static_range(PER_TOKEN):
        best = tl.max(left, 0)
        value = (best >> 32).to(tl.int32).to(tl.float32, bitcast=True)
        found = tl.where(slot == i, BLOCK - 1 - (best & (BLOCK - 1)).to(tl.int32), found)
        share = tl.where(slot == i, value, share)
        total += value
        left = tl.where(left == best, LOWEST, left)
    if RENORMALISED:
        share = share / total
    # Infinite logits have no order; an address must be inside all the same.
    return tl.minimum(found, EXPERTS - 1), share


@triton.jit
def _few_gate_up(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    logits_ptr: tl.tensor,
    matrix_ptr: tl.tensor,
    chosen_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    out_ptr: tl.tensor,
    eps: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    EXPERTS: tl.constexpr,
    BLOCK: tl.constexpr,
    PER_TOKEN: tl.constexpr,
    RENORMALISED: tl.constexpr,
    NORMED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """One program for a tile of outputs and a row's expert; that of the first tile stores which expert it is."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    pair = tl.program_id(1)
    row = pair // PER_TOKEN
    expert, share = _choice(
        logits_ptr + row * EXPERTS, pair % PER_TOKEN, EXPERTS, BLOCK, PER_TOKEN, RENORMALISED
    )
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    k = tl.arange(0, BLOCK_IN)
    matrix_row = expert.to(tl.int64) * (2 * OUTPUTS) + tl.minimum(output, OUTPUTS - 1)
    at = matrix_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    gate = load_tile(at, None, k, INPUTS, BLOCK_IN)
    up = load_tile(at + OUTPUTS * INPUTS, None, k, INPUTS, BLOCK_IN)
    y = tl.zeros((BLOCK_OUT, BLOCK_IN), tl.float32)
    z = tl.zeros((BLOCK_OUT, BLOCK_IN), tl.float32)
    squares = tl.zeros((BLOCK_IN,), tl.float32)
    for start in tl.static_range(0, INPUTS, BLOCK_IN):
        here = start + k
        x = tl.load(x_ptr + row * INPUTS + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        if NORMED:
            squares += x * x
            x = x * tl.load(norm_ptr + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        y += gate.to(tl.float32) * x[None, :]
        z += up.to(tl.float32) * x[None, :]
        if start + BLOCK_IN < INPUTS:
            ahead = at + start + BLOCK_IN
            after = here + BLOCK_IN
            gate = load_tile(ahead, None, after, INPUTS, BLOCK_IN)
            up = load_tile(ahead + OUTPUTS * INPUTS, None, after, INPUTS, BLOCK_IN)
    scale = 1.0
    if NORMED:
        scale = tl.rsqrt(tl.sum(squares, 0) / INPUTS + eps)
    product = activated(tl.sum(y, 1) * scale, ACTIVATION) * (tl.sum(z, 1) * scale)
    to = out_ptr + pair * OUTPUTS + output
    tl.store(to, product.to(out_ptr.dtype.element_ty), mask=output < OUTPUTS)
    if tl.program_id(0) == 0:
        tl.store(chosen_ptr + pair, expert)
        tl.store(shares_ptr + pair, share)


@triton.jit
def _few_down(
    x_ptr: tl.tensor,
    matrix_ptr: tl.tensor,
    chosen_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    residual_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    EXPERTS: tl.constexpr,
    PER_TOKEN: tl.constexpr,
    SLOTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """One program for a tile of outputs and a row. SLOTS: PER_TOKEN, up to a power of two."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(1)
    member = tl.arange(0, SLOTS * BLOCK_OUT)
    slot = member // BLOCK_OUT
    used = slot < PER_TOKEN
    pair = row * PER_TOKEN + tl.minimum(slot, PER_TOKEN - 1)
    # While kernels are compiled ahead, the first product may not have run: any number may stand there.
    expert = tl.minimum(tl.maximum(tl.load(chosen_ptr + pair), 0), EXPERTS - 1)
    share = tl.load(shares_ptr + pair, mask=used, other=0.0)
    k = tl.arange(0, BLOCK_IN)
    output = tl.minimum(tl.program_id(0) * BLOCK_OUT + member % BLOCK_OUT, OUTPUTS - 1)
    matrix_row = expert.to(tl.int64) * OUTPUTS + output
    at = matrix_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    x_at = x_ptr + (pair * INPUTS)[:, None] + k[None, :]
    loaded = used if SLOTS != PER_TOKEN else None
    weight = load_tile(at, loaded, k, INPUTS, BLOCK_IN)
    acc = tl.zeros((SLOTS * BLOCK_OUT, BLOCK_IN), tl.float32)
    for start in tl.static_range(0, INPUTS, BLOCK_IN):
        x = load_tile(x_at + start, loaded, start + k, INPUTS, BLOCK_IN)
        acc += weight.to(tl.float32) * x.to(tl.float32)
        if start + BLOCK_IN < INPUTS:
            ahead = start + BLOCK_IN
            weight = load_tile(at + ahead, loaded, ahead + k, INPUTS, BLOCK_IN)
    product = tl.where(used, tl.sum(acc, 1) * share, 0.0)
    total = tl.sum(tl.reshape(product, (SLOTS, BLOCK_OUT)), 0)
    written = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = written < OUTPUTS
    to = residual_ptr + row * OUTPUTS + written
    total += tl.load(to, mask=inside, other=0.0).to(tl.float32)
    tl.store(to, total.to(residual_ptr.dtype.element_ty), mask=inside)


def takes(rule: MixtureRule, gate_up: ExpertMatrices, down: ExpertMatrices) -> bool:
    """Whether `add_few` computes such experts: unquantised ones without biases, with a plain gate."""
    plain = all(part.scales is None and part.biases is None for part in (gate_up, down))
    simple = not rule.of_chosen and rule.clamp is None and rule.grouped is None
    return plain and simple and gate_up.experts <= MOST_EXPERTS


def add_few(
    residual: Tensor,
    norm: RmsNorm | None,
    logits: Tensor,
    rule: MixtureRule,
    gate_up: ExpertMatrices,
    down: ExpertMatrices,
) -> None:
    """Add the outputs of experts for the normed rows of contiguous `residual` [N, hidden] to it.

    `logits` [N, experts] are contiguous.
    """
    rows, pairs = residual.shape[0], residual.shape[0] * rule.per_token
    chosen = residual.new_empty(pairs, dtype=torch.int32)
    shares = residual.new_empty(pairs, dtype=torch.float32)
    inner = residual.new_empty((pairs, down.inputs))
    size = residual.element_size()
    _few_gate_up[(triton.cdiv(down.inputs, GATE_OUTPUTS), pairs)](
        residual,
        residual if norm is None else norm.weight,
        logits,
        gate_up.values,
        chosen,
        shares,
        inner,
        0.0 if norm is None else norm.eps,
        OUTPUTS=down.inputs,
        INPUTS=gate_up.inputs,
        EXPERTS=gate_up.experts,
        BLOCK=triton.next_power_of_2(gate_up.experts),
        PER_TOKEN=rule.per_token,
        RENORMALISED=rule.renormalised,
        NORMED=norm is not None,
        ACTIVATION=rule.gate.activation.value,
        BLOCK_OUT=GATE_OUTPUTS,
        BLOCK_IN=GATE_BYTES // size,
        num_warps=4,
        **overlap(residual),
    )
    _few_down[(triton.cdiv(down.outputs, DOWN_OUTPUTS), rows)](
        inner,
        down.values,
        chosen,
        shares,
        residual,
        OUTPUTS=down.outputs,
        INPUTS=down.inputs,
        EXPERTS=down.experts,
        PER_TOKEN=rule.per_token,
        SLOTS=triton.next_power_of_2(rule.per_token),
        BLOCK_OUT=DOWN_OUTPUTS,
        BLOCK_IN=DOWN_BYTES // size,
        num_warps=8,
        **overlap(residual),
    )
