"""Products of one row and codes of 8 bits, interpreted, against float64."""

import random

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import RmsNorm
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING
from intaglio.kernels.quantised.gemv_codes import GemvCodesShape, gemv_codes, serves_one_row
from intaglio.kernels.quantised.packed_codes import packed

from tests.kernels.test_skinny_codes import expected, randn
from tests.support.drawn_codes import FLOAT, drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(("bits", "symmetric"), [(8, True), (8, False), (FLOAT, True)])
def test_one_row_of_every_kind(bits: int, symmetric: bool, normed: bool) -> None:
    dice = random.Random(f"{bits}{symmetric}{normed}")
    for after in (NOTHING, ADDED, *GATED.values()):
        outputs, inputs = 2 * dice.randint(1, 20), dice.randint(2, 60) * 8
        codes = drawn_codes(outputs, inputs, bits, None, symmetric=symmetric)
        form = packed([codes])
        assert form is not None
        assert serves_one_row(form)
        x, bias = randn(1, inputs), randn(outputs, seed=1)
        onto = randn(1, outputs // (1 if after.activation is None else 2), seed=2)
        norm = RmsNorm(randn(inputs, seed=3), 1e-5) if normed else None
        y = x if norm is None else reference.rms_norm(x, norm.weight, norm.eps)
        right = expected(y, codes.dense(torch.float32), bias, onto, after)
        gemv_codes(x, form, bias, onto, norm=norm, after=after, shape=GemvCodesShape(4, 64, 1))
        torch.testing.assert_close(onto.double(), right, atol=1e-4, rtol=1e-4)


def test_4_bits_and_groups_are_left_to_the_other_kernel() -> None:
    for bits, group in ((4, None), (4, 32), (8, 32), (FLOAT, 128)):
        form = packed([drawn_codes(4, 256, bits, group)])
        assert form is not None
        assert not serves_one_row(form)
