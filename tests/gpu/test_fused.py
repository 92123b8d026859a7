"""Norm, gate, linears, rotation and copies on the device, against float64."""

from functools import partial

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.attention.rope_and_store import rope_and_store
from intaglio.kernels.contracts import Activation, AddTo, Gate, Places, QKNorm, RmsNorm
from intaglio.kernels.dispatch import choose

from tests.support.paged import relative_error

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}


def randn(*shape: int, seed: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def exact_norm(x: torch.Tensor, norm: RmsNorm) -> torch.Tensor:
    wide = x.double()
    scale = (wide.square().mean(-1, keepdim=True) + norm.eps).rsqrt()
    return wide * scale * norm.weight.double()


@pytest.mark.parametrize(
    ("dtype", "outputs", "inputs"),
    [
        (torch.bfloat16, 6144, 4096),
        (torch.bfloat16, 1024, 3072),
        (torch.bfloat16, 30000, 1024),
        (torch.float16, 896, 4864),
        (torch.float32, 34, 130),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 7, 17, 64, 65, 80, 96, 97, 300])
def test_linears(rows: int, outputs: int, inputs: int, dtype: torch.dtype) -> None:
    kernels = choose(DEVICE)
    x = randn(rows, inputs, seed=rows, dtype=dtype).to(DEVICE)
    weight = (randn(outputs, inputs, seed=1, dtype=torch.float32) * inputs**-0.5).to(DEVICE, dtype)
    norm = RmsNorm(randn(inputs, seed=2, dtype=dtype).to(DEVICE), 1e-5)
    bias = randn(outputs, seed=3, dtype=dtype).to(DEVICE) if rows % 2 else None
    offset = 0 if bias is None else bias.double()
    matrix = kernels.weight(weight, bias)
    plain = x.double() @ weight.double().T + offset
    normed = exact_norm(x, norm) @ weight.double().T + offset
    limit = TOLERANCE[dtype]
    assert relative_error(matrix.matmul(x), plain.cpu()) < limit
    assert relative_error(matrix.matmul(x, norm), normed.cpu()) < limit
    left, right = normed.chunk(2, -1)
    for activation, function in (
        (Activation.SILU, torch.nn.functional.silu),
        (Activation.GELU_TANH, partial(torch.nn.functional.gelu, approximate="tanh")),
    ):
        gated = function(left) * right
        got = matrix.matmul(x, norm, Gate(activation))
        assert relative_error(got, gated.cpu()) < 2 * limit
    residual = randn(rows, outputs, seed=4, dtype=dtype).to(DEVICE)
    post_norm = RmsNorm(randn(outputs, seed=5, dtype=dtype).to(DEVICE), 1e-5)
    for own, epilogue_norm in ((plain, None), (exact_norm(plain, post_norm), post_norm)):
        onto = residual.clone()
        matrix.matmul(x, epilogue=AddTo(onto, epilogue_norm))
        assert relative_error(onto, (residual.double() + own).cpu()) < 2 * limit


@pytest.mark.parametrize("rows", [1, 5, 700])
@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim", "normed"),
    [
        (32, 8, 128, False),
        (16, 8, 128, True),
        (14, 2, 64, False),
        (8, 1, 80, True),
        (4, 4, 256, True),
    ],
)
def test_rotation_norm_and_store(
    rows: int, heads: int, kv_heads: int, dim: int, normed: bool
) -> None:
    fused = randn(rows, heads + 2 * kv_heads, dim, seed=1, dtype=torch.float32)
    angles = randn(2000, dim // 2, seed=2, dtype=torch.float32)
    cos, sin = angles.cos(), angles.sin()
    generator = torch.Generator().manual_seed(rows)
    slots = torch.randperm(1600, generator=generator)[:rows].int()
    slots[rows // 2] = -1
    places = Places(
        torch.cat((cos, cos), -1),
        torch.cat((-sin, sin), -1),
        torch.randint(0, 2000, (rows,), generator=generator).int(),
        slots,
    )
    query, key = (randn(dim, seed=s, dtype=torch.float32) for s in (3, 4))
    norms = QKNorm(query, key, 1e-6) if normed else None
    cache = torch.zeros((2, 100, 16, kv_heads, dim))
    right = reference.rope_and_store(fused.clone(), places, norms, cache)
    there = Places(*(t.to(DEVICE) for t in (places.cos, places.sin, places.positions, slots)))
    norms = QKNorm(query.to(DEVICE), key.to(DEVICE), 1e-6) if normed else None
    stored = torch.zeros(cache.shape, device=DEVICE)
    got = rope_and_store(fused.to(DEVICE), there, norms, stored)
    assert relative_error(got, right.double()) < 1e-5
    assert relative_error(stored, cache.double()) < 1e-5
