"""Rows rounded to 8 bits, interpreted, against plain torch."""

import numpy as np
import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import RmsNorm
from intaglio.kernels.quantised.activations import LARGEST, quantised_rows

from tests.kernels.test_skinny_codes import randn

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

FP8 = torch.float8_e4m3fn


def in_bytes_order(inputs: int, padded: int, part: int) -> list[int]:
    """The input of each byte of a row, `inputs` and more past the end: pairs of a chunk's two parts."""
    chunks = range(0, padded, 2 * part)
    return [c + i + half * part for c in chunks for i in range(part) for half in (0, 1)]


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(
    ("inputs", "padded", "part"), [(256, 256, 128), (100, 128, 32), (90, 128, 64)]
)
def test_integers_are_the_nearest(inputs: int, padded: int, part: int, normed: bool) -> None:
    x = randn(4, inputs) * torch.tensor([[1.0], [1e-6], [300.0], [0.0]])
    norm = RmsNorm(randn(inputs, seed=1), 1e-5) if normed else None
    y = (x if norm is None else reference.rms_norm(x, norm.weight, norm.eps)).double()
    found = quantised_rows(x, norm, torch.int8, padded=padded, part=part)
    rows, scales = found.values, found.scales
    order = in_bytes_order(inputs, padded, part)
    wide = torch.nn.functional.pad(y, (0, padded - inputs))[:, order]
    steps = wide / scales.double().unsqueeze(1)
    assert (rows.double() - steps).abs().max() <= 0.5 + 1e-4
    largest = y.abs().amax(1)
    right = torch.where(largest > 0, largest / 127, 1.0)
    torch.testing.assert_close(scales.double(), right, rtol=1e-5, atol=0)


def test_floats_that_the_type_has_are_kept() -> None:
    """Times a power of two; the interpreter rounds others wrongly at times."""
    x = exact_floats(3, 64)
    found = quantised_rows(x / 2**7, None, FP8, padded=64, part=32)
    assert torch.equal(found.scales, torch.full((3,), 2.0**-7))
    assert torch.equal(found.values.float(), x[:, in_bytes_order(64, 64, 32)])


def exact_floats(rows: int, inputs: int) -> torch.Tensor:
    """Numbers of E4M3 as float32, in each row the largest."""
    x = (randn(rows, inputs) * 80).to(FP8).float()
    x[:, 5] = LARGEST[FP8]
    return x


@pytest.mark.parametrize("dtype", LARGEST)
def test_scales_of_rows_that_are_not_finite_are_nan(dtype: torch.dtype) -> None:
    x = randn(4, 64)
    x[0, 3], x[2, 5], x[3, 1] = float("nan"), float("inf"), float("-inf")
    with np.errstate(invalid="ignore"):  # the interpreter computes with numpy, which warns
        found = quantised_rows(x, None, dtype, padded=64, part=32)
    assert found.scales.isnan().tolist() == [True, False, True, True]
