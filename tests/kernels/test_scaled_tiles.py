"""Products of two factors of 8 bits, interpreted, against float64: both types, every epilogue, odd numbers of rows."""

import random

import pytest
import torch
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING
from intaglio.kernels.quantised.activations import RoundedRows
from intaglio.kernels.quantised.packed_codes import packed
from intaglio.kernels.quantised.scaled_tiles import (
    ScaledTilesShape,
    scaled_tiles,
    scaled_tiles_shape,
)

from tests.kernels.test_activations import in_bytes_order
from tests.kernels.test_skinny_codes import expected, randn
from tests.support.drawn_codes import FLOAT, drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


@pytest.mark.parametrize("bits", [8, FLOAT])
def test_products_of_both_types(bits: int) -> None:
    dice = random.Random(bits)
    for after in (NOTHING, ADDED, *GATED.values()):
        rows, inputs, outputs = (
            dice.randint(1, 90),
            dice.randint(3, 30) * 8,
            2 * dice.randint(3, 70),
        )
        codes = drawn_codes(outputs, inputs, bits)
        form = packed([codes])
        assert form is not None
        rounded = (randn(rows, inputs) * 30).clamp(-100, 100).round()
        dtype = torch.int8 if bits else torch.float8_e4m3fn
        rounded = rounded.to(dtype).float()
        order = in_bytes_order(inputs, form.padded, form.part)
        wide = torch.nn.functional.pad(rounded, (0, form.padded - inputs))[:, order]
        scales = randn(rows, seed=3).abs() / 100
        bias = randn(outputs, seed=1)
        onto = randn(rows, outputs // (1 if after.activation is None else 2), seed=2)
        x = rounded * scales.unsqueeze(1)
        right = expected(x, codes.dense(torch.float32), bias, onto, after)
        given = RoundedRows(wide.to(dtype), scales)
        scaled_tiles(given, form, bias, onto, after=after, shape=ScaledTilesShape(32, 32, 32, 2, 1))
        torch.testing.assert_close(onto.double(), right, atol=1e-4, rtol=1e-4)


def test_tiles_divide_the_inputs() -> None:
    for inputs in (60, 128, 300, 1000):
        form = packed([drawn_codes(4, inputs, 8)])
        assert form is not None
        for rows in (9, 64, 65, 128, 129, 8192):
            for after in (NOTHING, *GATED.values()):
                assert form.padded % scaled_tiles_shape(rows, form, after).block_in == 0
