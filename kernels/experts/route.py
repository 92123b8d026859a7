"""The choice of experts for each row, and the sum of their outputs. Reference: `reference_experts`.

Does: softmax and the highest probabilities of a row in one program; add the outputs of a row's experts. Does not:
multiply (`expert_product`).
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import MixtureRule
from ..runtime.launch import overlap

BLOCK = 1024
"""Outputs of a program that adds."""


@triton.jit
def _route(
    logits_ptr: tl.tensor,
    stride: tl.tensor,
    chosen_ptr: tl.tensor,
    shares_ptr: tl.tensor,
    EXPERTS: tl.constexpr,
    BLOCK: tl.constexpr,
    PER_TOKEN: tl.constexpr,
    SLOTS: tl.constexpr,
    RENORMALISED: tl.constexpr,
    OF_CHOSEN: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """One program a row. Of equal probabilities the expert with the lower number is chosen.

    OF_CHOSEN: see `MixtureRule`.
    """
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, BLOCK)
    slot = tl.arange(0, SLOTS)
    inside = expert < EXPERTS
    logits = tl.load(logits_ptr + row * stride + expert, mask=inside, other=float("-inf"))
    x = logits.to(tl.float32)
    x = tl.where(x == x, x, -1e30)  # for a row of NaN, any experts will do
    power = tl.exp(x - tl.max(x, 0))
    TAKEN: tl.constexpr = float("-inf") if OF_CHOSEN else -1.0
    left = tl.where(inside, x if OF_CHOSEN else power / tl.sum(power, 0), TAKEN)
    chosen = tl.zeros((SLOTS,), tl.int32)
    shares = tl.zeros((SLOTS,), tl.float32)
    for i in tl.static_range(PER_TOKEN):
        best = tl.max(left, 0)
        at = tl.min(tl.where(left == best, expert, BLOCK), 0)
        chosen = tl.where(slot == i, at, chosen)
        shares = tl.where(slot == i, best, shares)
        left = tl.where(expert == at, TAKEN, left)
    if OF_CHOSEN:
        power = tl.where(slot < PER_TOKEN, tl.exp(shares - tl.max(x, 0)), 0.0)
        shares = (power / tl.sum(power, 0)).to(logits.dtype).to(tl.float32)
    elif RENORMALISED:
        shares = shares / tl.sum(shares, 0)
    tl.store(chosen_ptr + row * PER_TOKEN + slot, chosen, mask=slot < PER_TOKEN)
    tl.store(shares_ptr + row * PER_TOKEN + slot, shares, mask=slot < PER_TOKEN)


@triton.jit
def _combine(
    parts_ptr: tl.tensor,
    out_ptr: tl.tensor,
    WIDTH: tl.constexpr,
    PER_TOKEN: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < WIDTH
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(PER_TOKEN):
        part = tl.load(parts_ptr + (row * PER_TOKEN + i) * WIDTH + at, mask=inside, other=0.0)
        total += part.to(tl.float32)
    tl.store(out_ptr + row * WIDTH + at, total.to(out_ptr.dtype.element_ty), mask=inside)


def route(logits: Tensor, rule: MixtureRule) -> tuple[Tensor, Tensor]:
    """(experts int32 [N, per_token], best first; their shares float32) for `logits` [N, experts]."""
    rows, experts = logits.shape
    chosen = torch.empty((rows, rule.per_token), dtype=torch.int32, device=logits.device)
    shares = torch.empty((rows, rule.per_token), dtype=torch.float32, device=logits.device)
    _route[(rows,)](
        logits,
        logits.stride(0),
        chosen,
        shares,
        EXPERTS=experts,
        BLOCK=triton.next_power_of_2(experts),
        PER_TOKEN=rule.per_token,
        SLOTS=triton.next_power_of_2(rule.per_token),
        RENORMALISED=rule.renormalised,
        OF_CHOSEN=rule.of_chosen,
        num_warps=1,
        **overlap(logits),
    )
    return chosen, shares


def combine(parts: Tensor) -> Tensor:
    """The sums of contiguous `parts` [N, per_token, width] over the experts of each row, added in float32."""
    rows, per_token, width = parts.shape
    out = torch.empty((rows, width), dtype=parts.dtype, device=parts.device)
    _combine[(triton.cdiv(width, BLOCK), rows)](
        parts,
        out,
        WIDTH=width,
        PER_TOKEN=per_token,
        BLOCK=BLOCK,
        num_warps=4,
        **overlap(parts),
    )
    return out
