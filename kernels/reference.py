"""Reference implementation of each kernel in plain torch: the CPU back end, and the oracle in tests of fused kernels.

Does: linear layers, normalisation, rotation, gate, KV write and copy. Does not: attention (`reference_attention`), the
logits pipeline (`reference_logits`).
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu, silu

from .contracts import (
    Activation,
    AddTo,
    Epilogue,
    Gate,
    Logits,
    LowRank,
    Places,
    QKNorm,
    RmsNorm,
    RopeRows,
)

PART = 512

GELU_CUBIC = 0.044715
GELU_SCALE = 2 * math.sqrt(2 / math.pi)
"""`gelu_tanh(x) = x * sigmoid(GELU_SCALE * (x + GELU_CUBIC * x**3))`."""


class ReferenceWeight:
    """An unquantised matrix as `parts`, transposed slices of at most `PART` inputs each: `parts[i]` [inputs, outputs].

    On a CPU this layout is several times faster than the original one for 4 to 16 rows. The split fixes the order of
    summation: BLAS splits long sums by itself, differently for different numbers of rows, and a sequence's logits would
    then depend on its batch. Measured with MKL in float32: with two rows or more, each row has the same bits at any
    number of rows on Intel processors; on AMD processors the last bits differ.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None = None) -> None:
        """Copy `matrix` [outputs, inputs]; keep `bias` [outputs]."""
        self.outputs, self.inputs = matrix.shape
        starts = range(0, self.inputs, PART)
        self.parts = tuple(matrix[:, at : at + PART].t().contiguous() for at in starts)
        self.bias = bias

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`; summed part by part in order."""
        if norm is not None:
            x = rms_norm(x, norm.weight, norm.eps)
        return finish(self._product(x), epilogue)

    def _product(self, x: Tensor) -> Tensor:
        first, *rest = self.parts
        if not rest:
            return torch.mm(x, first) if self.bias is None else torch.addmm(self.bias, x, first)
        width = first.shape[0]
        out = torch.mm(x[:, :width], first)
        for i, part in enumerate(rest, start=1):
            out.addmm_(x[:, i * width : i * width + part.shape[0]], part)
        return out if self.bias is None else out.add_(self.bias)


def finish(product: Tensor, epilogue: Epilogue | None) -> Tensor:
    """`product` [N, outputs], which may be overwritten, after `epilogue`. Illegal logits are computed as well."""
    match epilogue:
        case Gate(activation):
            return gate(product, activation)
        case AddTo(residual, None):
            return residual.add_(product)
        case AddTo(residual, RmsNorm() as norm):
            return residual.add_(rms_norm(product, norm.weight, norm.eps))
        case Logits(softcap=cap) if cap is not None:
            return product.div_(cap).tanh_().mul_(cap)
    return product


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Zhang and Sennrich 2019; the mean square is computed in float32 for any dtype of `x`."""
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True).add_(eps))
    return (wide * scale).to(x.dtype).mul_(weight)


def rope(x: Tensor, rows: RopeRows) -> Tensor:
    """Su et al. 2021, half-split: `x * cos + roll(x) * sin`, with the sign in `rows.sin`."""
    return (x * rows.cos).addcmul_(torch.roll(x, x.shape[-1] // 2, -1), rows.sin)


def sigmoid(x: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`, in float32 for any dtype of `x`.

    A row has the same bits in a call of any size: torch's `sigmoid` rounds differently at the end of a thread's share.
    """
    return x.float().neg().exp_().add_(1).reciprocal_().to(x.dtype)


def gate(x: Tensor, activation: Activation = Activation.SILU) -> Tensor:
    """The activated first half of `x` [N, 2n] times the second half (Shazeer 2020).

    In float32 both activations are computed as `x / (1 + exp(-z))`: torch's `silu` rounds differently at the end of a
    thread's share of the rows.
    """
    left, right = x.chunk(2, dim=-1)
    gelu_tanh = activation is Activation.GELU_TANH
    if x.dtype == torch.float32:
        z = (
            left.square().mul_(GELU_CUBIC).add_(1).mul_(left).mul_(GELU_SCALE)
            if gelu_tanh
            else left
        )
        return (left * right).div_(z.neg().exp_().add_(1))
    activated = gelu(left, approximate="tanh") if gelu_tanh else silu(left)
    return activated.mul_(right)


def kv_write(cache: Tensor, keys: Tensor, values: Tensor, slots: Tensor) -> None:
    """Scatter rows into `cache` [2, num_blocks, block_size, kv_heads, head_dim], or [1, ...] without values."""
    for plane, rows in zip(cache, (keys, values), strict=False):
        plane.view(-1, *cache.shape[3:]).index_copy_(0, slots, rows)


def rope_and_store(fused: Tensor, places: Places, norms: QKNorm | None, cache: Tensor) -> Tensor:
    """Norm and rotate queries and keys, store keys and values, return the queries."""
    planes, kv_heads = cache.shape[0], cache.shape[3]
    heads = fused.shape[1] - planes * kv_heads
    qk = fused[:, : heads + kv_heads]
    if norms is not None:
        # One pass over queries and keys, each head with its own weight.
        weight = torch.cat((norms.query.expand(heads, -1), norms.key.expand(kv_heads, -1)))
        qk = rms_norm(qk, weight, norms.eps)
    rows = RopeRows(
        places.cos.index_select(0, places.positions).unsqueeze(1),
        places.sin.index_select(0, places.positions).unsqueeze(1),
    )
    rotated = places.cos.shape[-1]
    if rotated == fused.shape[-1]:
        qk = rope(qk, rows)
    else:
        qk[..., -rotated:] = rope(qk[..., -rotated:], rows)
    count = places.slots.shape[0]
    keys, values, slots = qk[:count, heads:], fused[:count, heads + kv_heads :], places.slots
    stored = slots >= 0
    if not bool(stored.all()):
        keys, values, slots = keys[stored], values[stored], slots[stored]
    kv_write(cache, keys, values, slots.long())
    return qk[:, :heads]


def add_low_rank(product: Tensor, x: Tensor, factors: LowRank, places: Tensor) -> None:
    """Hu et al. 2021, adapter by adapter. A single row is doubled and sums are split, as in `ReferenceWeight`."""
    rank = factors.up.shape[2]
    for place in sorted(set(places[places >= 0].tolist())):
        rows = (places == place).nonzero().view(-1)
        given = x.index_select(0, rows if rows.numel() > 1 else rows.expand(2))
        low = given.new_zeros((given.shape[0], factors.down.shape[1]))
        for at in range(0, x.shape[1], PART):
            low.addmm_(given[:, at : at + PART], factors.down[place, :, at : at + PART].t())
        begin = 0
        for i, end in enumerate(factors.ends):
            added = low[:, i * rank : (i + 1) * rank] @ factors.up[place, begin:end].t()
            product[rows, begin:end] += added[: rows.numel()]
            begin = end
