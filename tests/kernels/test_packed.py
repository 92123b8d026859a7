"""Packed weights on CPUs with AVX2: against integer sums, and against the matrices themselves."""

from dataclasses import replace

import pytest
import torch
from intaglio.engine.model.schemes.int8 import rounded
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import AddTo, RmsNorm, Weight
from intaglio.kernels.dispatch import choose
from intaglio.kernels.linear import packed, widened
from intaglio.kernels.linear.packed import (
    COARSE,
    FINE,
    LARGEST,
    Grid,
    PackedFloat16,
    PackedInt8,
    PackedWeight,
    finest,
)
from intaglio.kernels.linear.widened import WidenedWeight
from intaglio.kernels.reference import ReferenceWeight
from torch import Tensor

CPU = torch.device("cpu")
SHAPES = [(1, 1), (33, 64), (2000, 512), (64, 513), (900, 1300)]
GRIDS = (COARSE, FINE) if packed.is_available() and finest() == FINE else (COARSE,)
needs_library = pytest.mark.skipif(not packed.is_available(), reason="needs FBGEMM and AVX2")


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def codes(matrix: Tensor, activations: bool = True) -> Codes:
    values, scales = rounded(matrix)
    return Codes(
        values, scales.float().unsqueeze(1), None, values.shape[1], 8, activations=activations
    )


def in_integers(x: Tensor, codes: Codes, grid: Grid) -> Tensor:
    """The product of the steps of `x` and the codes, summed as integers."""
    largest = x.abs().amax(1, keepdim=True)
    steps = (x * (grid.steps / largest)).round().long()
    sums = steps @ codes.values.long().T
    return sums.double() * codes.scales[:, 0].double() * (largest.double() / grid.steps)


@needs_library
@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("rows", [1, 2, 7, 70])
@pytest.mark.parametrize("grid", GRIDS)
def test_int8_products_are_sums_of_integers(
    outputs: int, inputs: int, rows: int, grid: Grid
) -> None:
    first, second = codes(randn(outputs, inputs)), codes(randn(3, inputs, seed=2))
    x = randn(rows, inputs, seed=1)  # of bfloat16 many quotients would be halves
    got = PackedInt8([first, second], grid)(x)
    right = torch.cat((in_integers(x, first, grid), in_integers(x, second, grid)), 1)
    torch.testing.assert_close(got.double(), right, atol=1e-5, rtol=1e-5)


@needs_library
@pytest.mark.parametrize("value", [-128, 127])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("grid", GRIDS)
def test_int8_products_of_the_largest_values_do_not_overflow(
    value: int, sign: float, grid: Grid
) -> None:
    values = torch.full((16, 4096), value, dtype=torch.int8)
    x = torch.full((5, 4096), sign * 3)
    got = PackedInt8([Codes(values, torch.ones(16, 1), None, 4096, 8)], grid)(x)
    torch.testing.assert_close(got, torch.full((5, 16), sign * 3 * value * 4096), rtol=1e-6, atol=0)


@needs_library
def test_a_row_of_int8_products_has_the_same_bits_in_any_company() -> None:
    product = PackedInt8([codes(randn(70, 640))])
    x = randn(40, 640, seed=1) * torch.logspace(-20, 20, 40).unsqueeze(1)
    x[3] = 0
    whole = product(x)
    for first, end in [(0, 1), (3, 4), (7, 10), (5, 40)]:
        assert torch.equal(product(x[first:end]), whole[first:end])
    assert whole[3].count_nonzero() == 0


@needs_library
@pytest.mark.parametrize("largest", [120.0, 300.0])
@pytest.mark.parametrize("grid", GRIDS)
def test_a_row_with_a_large_value_keeps_the_small_ones(largest: float, grid: Grid) -> None:
    block, x = codes(randn(70, 640)), randn(3, 640, seed=1)
    x[1, 17] = largest
    got, alone = PackedInt8([block], grid)(x), PackedInt8([block], grid)(x[1:2])
    right = x.double() @ block.dense(torch.float64).T
    error = (got - right).norm(dim=1) / right.norm(dim=1)
    assert 0.001 < float(error[0]) < 0.03
    assert float(error[1]) < 0.001
    assert torch.equal(got[1:2], alone)


@needs_library
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_stays_visible_and_in_its_row(bad: float) -> None:
    product = PackedInt8([codes(randn(70, 640))])
    x = randn(3, 640, seed=1)
    right = product(x)
    x[1, 17] = bad
    got = product(x)
    assert not got[1].isfinite().any()
    assert torch.equal(got[[0, 2]], right[[0, 2]])


@needs_library
@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("rows", [1, 2, 70])
def test_products_of_bfloat16_are_exact_to_float32(outputs: int, inputs: int, rows: int) -> None:
    matrix, x = randn(outputs, inputs).bfloat16(), randn(rows, inputs, seed=1)
    right = x.double() @ matrix.double().T
    torch.testing.assert_close(PackedFloat16(matrix)(x).double(), right, atol=1e-4, rtol=1e-5)


@needs_library
def test_norm_bias_and_residual_are_those_of_other_weights() -> None:
    matrix, bias = randn(48, 64).bfloat16(), randn(48, seed=4).bfloat16()
    x, norm = randn(9, 64, seed=1).bfloat16(), RmsNorm(randn(64, seed=2).bfloat16(), 1e-6)
    residuals = [randn(9, 48, seed=3).bfloat16() for _ in range(2)]
    weights: list[Weight] = [
        PackedWeight(PackedFloat16(matrix), bias),
        ReferenceWeight(matrix, bias),
    ]
    for weight, residual in zip(weights, residuals, strict=True):
        assert (weight.outputs, weight.inputs) == (48, 64)
        weight.matmul(x, norm, AddTo(residual))
    torch.testing.assert_close(*residuals, atol=3e-2, rtol=2**-7)


@pytest.mark.parametrize("instructions", [False, True])
@pytest.mark.parametrize("library", [False, True])
def test_weights_are_packed_where_bfloat16_has_no_instructions(
    instructions: bool, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library and not packed.is_available():
        pytest.skip("needs FBGEMM and AVX2")
    monkeypatch.setattr(widened, "multiplies_bfloat16", lambda: instructions)
    monkeypatch.setattr(packed, "is_available", lambda: library)
    kernels, matrix = choose(CPU), randn(8, 64).bfloat16()
    plain = ReferenceWeight if instructions else PackedWeight if library else WidenedWeight
    assert type(kernels.weight(matrix)) is plain
    coded = type(kernels.coded([codes(matrix)], None, torch.bfloat16))
    assert coded is (PackedWeight if library and not instructions else type(None))


def test_activations_are_rounded_where_the_format_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widened, "multiplies_bfloat16", lambda: False)
    kernels, exact = choose(CPU), codes(randn(8, 64), activations=False)
    assert kernels.coded([codes(randn(8, 64)), exact], None, torch.bfloat16) is None
    assert kernels.coded([codes(randn(8, 64))], None, torch.float32) is None


def test_codes_of_fewer_bits_keep_their_own_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widened, "multiplies_bfloat16", lambda: False)
    narrow = replace(codes(randn(8, 64)), bits=4)
    assert choose(CPU).coded([narrow], None, torch.bfloat16) is None


@pytest.mark.parametrize("value", [LARGEST * 4, float("inf"), float("nan")])
def test_a_matrix_beyond_float16_stays_as_it_is(
    value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(widened, "multiplies_bfloat16", lambda: False)
    matrix = torch.full((8, 64), value).bfloat16()
    assert type(choose(CPU).weight(matrix)) is WidenedWeight


@pytest.mark.skipif(not torch.cpu._is_avx2_supported(), reason="needs AVX2")
def test_this_version_of_torch_has_the_library() -> None:
    """A version without it would compute the embedded model in float32, at half the speed, and nothing would say so."""
    assert packed.is_available()
