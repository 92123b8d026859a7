"""Products of up to eight rows and codes, interpreted, against float64: every form, norm, epilogue, and odd sizes."""

import random

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import RmsNorm
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING
from intaglio.kernels.quantised.narrow_codes import (
    NARROW_ROWS,
    NarrowCodesShape,
    narrow_codes,
    narrow_codes_shape,
)
from intaglio.kernels.quantised.packed_codes import packed

from tests.kernels.test_skinny_codes import FORMS, expected, randn
from tests.support.drawn_codes import drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("bits", "group", "kept"), FORMS)
def test_products_of_every_form(
    bits: int, group: int | None, kept: torch.dtype, symmetric: bool
) -> None:
    dice = random.Random(f"{bits}{group}{symmetric}")
    for after in (NOTHING, ADDED, *GATED.values()):
        rows, inputs = dice.choice((1, 1, 3, NARROW_ROWS)), dice.randint(3, 60) * 8
        outputs = 2 * dice.randint(3, 30)
        codes = drawn_codes(outputs, inputs, bits, group, symmetric=symmetric, kept=kept)
        form = packed([codes])
        assert form is not None
        x, bias = randn(rows, inputs), randn(outputs, seed=1)
        onto = randn(rows, outputs // (1 if after.activation is None else 2), seed=2)
        norm = RmsNorm(randn(inputs, seed=3), 1e-5) if rows == 1 and dice.random() < 0.7 else None
        y = x if norm is None else reference.rms_norm(x, norm.weight, norm.eps)
        right = expected(y, codes.dense(torch.float32), bias, onto, after)
        shape = NarrowCodesShape(dice.choice((1, 2, 4)), dice.choice((16, 32)), 2, 1)
        narrow_codes(x, form, bias, onto, norm=norm, after=after, shape=shape)
        torch.testing.assert_close(onto.double(), right, atol=1e-4, rtol=1e-4)


def test_a_slice_has_a_chunk_at_least() -> None:
    for inputs in (32, 300, 4096):
        form = packed([drawn_codes(16, inputs, 4, 32)])
        assert form is not None
        shape = narrow_codes_shape(torch.empty(1, inputs), form)
        assert 1 <= shape.slices < 2 * form.padded // (2 * form.part)
