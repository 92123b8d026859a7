"""Norm, rotation, gate, linear and KV write against their definitions in float64."""

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import RopeRows
from intaglio.kernels.dispatch import choose


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("outputs", "inputs"), [(1, 1), (33, 64), (96, 512), (64, 513), (40, 1300)]
)
@pytest.mark.parametrize("bias", [False, True])
def test_linear_equals_the_product(outputs: int, inputs: int, bias: bool) -> None:
    weight, x = randn(outputs, inputs), randn(7, inputs, seed=1)
    offset = randn(outputs, seed=2) if bias else None
    packed = reference.ReferenceWeight(weight, offset)
    assert (packed.outputs, packed.inputs) == (outputs, inputs)
    expected = x.double() @ weight.double().T + (0 if offset is None else offset.double())
    got = packed.matmul(x)
    torch.testing.assert_close(got.double(), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("inputs", [64, 384, 1152])
def test_a_row_of_a_product_does_not_depend_on_its_company(inputs: int) -> None:
    """To the last bit with MKL on its maker's processors; the tolerance is for other libraries and processors."""
    packed, x = reference.ReferenceWeight(randn(320, inputs)), randn(130, inputs, seed=1)
    whole = packed.matmul(x)
    for first, end in [(0, 2), (3, 20), (64, 130)]:
        part = packed.matmul(x[first:end])
        torch.testing.assert_close(part, whole[first:end], atol=5e-4, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_norm_equals_its_definition(dtype: torch.dtype) -> None:
    x, weight = randn(5, 96).to(dtype), randn(96, seed=1).to(dtype)
    wide = x.double()
    expected = wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double()
    got = reference.rms_norm(x, weight, 1e-6)
    assert got.dtype == dtype
    limit = 1e-6 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(got.double(), expected, atol=limit, rtol=limit)


def test_norm_of_heads_takes_a_strided_view_and_leaves_it_alone() -> None:
    fused, weight = randn(4, 10, 16), randn(6, 16, seed=1)
    before = fused.clone()
    got = reference.rms_norm(fused[:, :6], weight, 1e-6)
    torch.testing.assert_close(got, reference.rms_norm(before[:, :6].contiguous(), weight, 1e-6))
    assert torch.equal(fused, before)


def test_rotation_turns_each_pair_by_its_angle() -> None:
    x, angles = randn(5, 3, 8), randn(5, 4, seed=1)
    cos, sin = angles.cos(), angles.sin()
    rows = RopeRows(torch.cat((cos, cos), -1)[:, None], torch.cat((-sin, sin), -1)[:, None])
    pairs = torch.complex(x[..., :4].double(), x[..., 4:].double())
    turned = pairs * torch.polar(torch.ones_like(angles).double(), angles.double())[:, None]
    expected = torch.cat((turned.real, turned.imag), -1)
    torch.testing.assert_close(reference.rope(x, rows).double(), expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gate_equals_its_definition(dtype: torch.dtype) -> None:
    x = (randn(6, 2 * 33) * 4).to(dtype)
    left, right = x.double().chunk(2, -1)
    limit = 1e-5 if dtype == torch.float32 else 0.1
    expected = left * left.sigmoid() * right
    torch.testing.assert_close(reference.gate(x).double(), expected, atol=limit, rtol=limit)


def test_gate_of_large_inputs_is_finite() -> None:
    x = torch.tensor([[-200.0, 200.0, 1.0, 1.0]])
    assert torch.equal(reference.gate(x), torch.tensor([[0.0, 200.0]]))


def test_kv_write_touches_its_slots_only() -> None:
    cache = torch.zeros(2, 5, 4, 2, 8)
    keys, values = randn(3, 2, 8), randn(3, 2, 8, seed=1)
    slots = torch.tensor([17, 4, 11])
    reference.kv_write(cache, keys, values, slots)
    flat = cache.view(2, 20, 2, 8)
    assert torch.equal(flat[0, slots], keys)
    assert torch.equal(flat[1, slots], values)
    others = [slot for slot in range(20) if slot not in slots.tolist()]
    assert not flat[:, others].any()


def test_a_device_without_kernels_is_refused() -> None:
    with pytest.raises(ValueError, match="meta"):
        choose(torch.device("meta"))
