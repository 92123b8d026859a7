"""The definition of each kernel in plain torch: the CPU back end, and what tests compare the fused kernels with.

Does: linear layers, normalisation, rotation, gate, KV write and copy. Does not: attention (`reference_attention`), the
logits pipeline (`reference_logits`).
"""

import torch
from torch import Tensor
from torch.nn.functional import silu

from .contracts import Packed, Places, QKNorm, RmsNorm, RopeRows

PART = 512


def pack(weight: Tensor) -> Packed:
    """Transpose `weight` [outputs, inputs] to [inputs, outputs] and cut it into parts of at most `PART` inputs.

    This layout is several times faster than the original one for 4 to 16 rows on a CPU. The cut fixes the order in
    which a product is summed: BLAS cuts long sums by itself, differently for different numbers of rows, and then a
    sequence's logits would depend on what it is batched with. Measured with MKL in float32: with two rows or more, each
    row has the same bits at any number of rows, on processors of its maker; on AMD's it differs in the last ones.
    """
    outputs, inputs = weight.shape
    parts = tuple(weight[:, at : at + PART].t().contiguous() for at in range(0, inputs, PART))
    return Packed(parts, inputs, outputs)


def linear(x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
    """`x` [N, inputs] times the packed matrix, plus `bias`; summed part by part in order."""
    first, *rest = weight.parts
    if not rest:
        return torch.mm(x, first) if bias is None else torch.addmm(bias, x, first)
    width = first.shape[0]
    out = torch.mm(x[:, :width], first)
    for i, part in enumerate(rest, start=1):
        out.addmm_(x[:, i * width : i * width + part.shape[0]], part)
    return out if bias is None else out.add_(bias)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Zhang and Sennrich 2019; the mean of squares is taken in float32 whatever the dtype of `x`."""
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True).add_(eps))
    return (wide * scale).to(x.dtype).mul_(weight)


def rope(x: Tensor, rows: RopeRows) -> Tensor:
    """Su et al. 2021, half-split: `x * cos + roll(x) * sin`, the sign being in `rows.sin`."""
    return (x * rows.cos).addcmul_(torch.roll(x, x.shape[-1] // 2, -1), rows.sin)


def gate(x: Tensor) -> Tensor:
    """SiLU of the first half times the second half (Shazeer 2020).

    In float32 it is spelt out: torch's `silu` rounds differently at the end of a thread's share of the rows.
    """
    left, right = x.chunk(2, dim=-1)
    if x.dtype == torch.float32:
        return (left * right).div_(left.neg().exp_().add_(1))
    return silu(left).mul_(right)


def kv_write(cache: Tensor, keys: Tensor, values: Tensor, slots: Tensor) -> None:
    """Scatter rows into `cache` [2, num_blocks, block_size, kv_heads, head_dim]."""
    flat = cache.view(2, -1, *cache.shape[3:])
    flat[0].index_copy_(0, slots, keys)
    flat[1].index_copy_(0, slots, values)


def norm_linear(x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
    """`linear` of the normed rows."""
    return linear(rms_norm(x, norm.weight, norm.eps), weight, bias)


def norm_gated(x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
    """`gate` of the linear of the normed rows."""
    return gate(norm_linear(x, norm, weight, bias))


def linear_add(x: Tensor, weight: Packed, bias: Tensor | None, residual: Tensor) -> None:
    """`residual += linear(x)`."""
    residual.add_(linear(x, weight, bias))


def rope_and_store(fused: Tensor, places: Places, norms: QKNorm | None, cache: Tensor) -> Tensor:
    """Norm and rotate queries and keys, store keys and values, return the queries."""
    kv_heads = cache.shape[3]
    heads = fused.shape[1] - 2 * kv_heads
    qk = fused[:, : heads + kv_heads]
    if norms is not None:
        # One pass over queries and keys together, each head with its weight.
        weight = torch.cat((norms.query.expand(heads, -1), norms.key.expand(kv_heads, -1)))
        qk = rms_norm(qk, weight, norms.eps)
    rows = RopeRows(
        places.cos.index_select(0, places.positions).unsqueeze(1),
        places.sin.index_select(0, places.positions).unsqueeze(1),
    )
    qk = rope(qk, rows)
    count = places.slots.shape[0]
    keys, values, slots = qk[:count, heads:], fused[:count, heads + kv_heads :], places.slots
    stored = slots >= 0
    if not bool(stored.all()):
        keys, values, slots = keys[stored], values[stored], slots[stored]
    kv_write(cache, keys, values, slots.long())
    return qk[:, :heads]


def kv_copy(caches: Tensor, sources: Tensor, targets: Tensor) -> None:
    """Copy blocks in every layer."""
    caches.index_copy_(2, targets.long(), caches.index_select(2, sources))
