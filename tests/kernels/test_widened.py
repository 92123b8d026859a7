"""Products of bfloat16 in float32, for CPUs without bfloat16 instructions."""

import pytest
import torch
from intaglio.engine.model.schemes.int8 import Int8Weight, rounded
from intaglio.kernels.contracts import AddTo, RmsNorm, Weight
from intaglio.kernels.dispatch import choose
from intaglio.kernels.linear import packed, widened
from intaglio.kernels.linear.widened import VECTORS, WidenedWeight
from intaglio.kernels.reference import ReferenceWeight

SHAPES = [(1, 1), (33, 64), (2000, 512), (64, 513), (900, 1300)]
BFLOAT16 = 2**-8  # the relative error of one rounding


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=[False, True], ids=["without instructions", "with instructions"])
def instructions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(widened, "multiplies_bfloat16", lambda: request.param)
    return bool(request.param)


@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("rows", [1, VECTORS, VECTORS + 1, 70])
@pytest.mark.parametrize("bias", [False, True])
def test_a_product_has_one_rounding(outputs: int, inputs: int, rows: int, bias: bool) -> None:
    matrix, x = randn(outputs, inputs).bfloat16(), randn(rows, inputs, seed=1).bfloat16()
    offset = randn(outputs, seed=2).bfloat16() if bias else None
    weight = WidenedWeight(matrix, offset)
    assert (weight.outputs, weight.inputs) == (outputs, inputs)
    right = x.double() @ matrix.double().T + (0 if offset is None else offset.double())
    got = weight.matmul(x)
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.double(), right, atol=2e-2, rtol=BFLOAT16)


def test_norm_and_residual_are_those_of_other_weights() -> None:
    matrix, x = randn(48, 64).bfloat16(), randn(9, 64, seed=1).bfloat16()
    norm = RmsNorm(randn(64, seed=2).bfloat16(), 1e-6)
    residuals = [randn(9, 48, seed=3).bfloat16() for _ in range(2)]
    weights: list[Weight] = [WidenedWeight(matrix), ReferenceWeight(matrix)]
    for weight, residual in zip(weights, residuals, strict=True):
        weight.matmul(x, norm, AddTo(residual))
    torch.testing.assert_close(*residuals, atol=3e-2, rtol=2 * BFLOAT16)


def test_weights_of_bfloat16_are_widened_where_the_processor_has_no_instructions(
    instructions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "is_available", lambda: False)
    kernels = choose(torch.device("cpu"))
    assert isinstance(kernels.weight(randn(4, 4).bfloat16()), WidenedWeight) is not instructions
    assert isinstance(kernels.weight(randn(4, 4)), ReferenceWeight)


@pytest.mark.parametrize("rows", [1, 9, 17, 70])
def test_weights_of_int8_are_multiplied_right_on_all_processors(
    rows: int, instructions: bool
) -> None:
    matrix, x = randn(96, 640).bfloat16(), randn(rows, 640, seed=1).bfloat16()
    values, scales = rounded(matrix)
    weight = Int8Weight(values, scales, None, choose(torch.device("cpu")))
    right = x.double() @ (values.double() * scales.double().unsqueeze(1)).T
    few = 3 if instructions else 1  # sums of two slices in bfloat16 are rounded between
    torch.testing.assert_close(weight.matmul(x).double(), right, atol=0.1, rtol=few * BFLOAT16)


def test_a_product_keeps_the_dtype_of_the_rows(instructions: bool) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        got = widened.product(randn(5, 64).to(dtype), randn(8, 64, seed=1).bfloat16())
        assert got.dtype == dtype
