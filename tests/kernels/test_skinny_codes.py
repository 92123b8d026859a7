"""Products of some rows and codes, interpreted, against float64: every form, split, epilogue, and odd sizes."""

import random

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import AddTo, Epilogue, Gate
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING, After
from intaglio.kernels.quantised.packed_codes import packed
from intaglio.kernels.quantised.skinny_codes import (
    SkinnyCodesShape,
    skinny_codes,
    skinny_codes_shape,
)

from tests.support.drawn_codes import FLOAT, drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

FORMS = [
    (4, 32, torch.bfloat16),
    (4, 128, torch.float16),
    (4, 64, torch.float32),
    (3, None, torch.float32),
    (8, 32, torch.bfloat16),
    (8, None, torch.float32),
    (FLOAT, 128, torch.float32),
    (FLOAT, None, torch.float32),
]


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def expected(
    x: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor, onto: torch.Tensor, after: After
) -> torch.Tensor:
    epilogue: Epilogue | None = None
    if after.activation is not None:
        epilogue = Gate(after.activation)
    elif after.added:
        epilogue = AddTo(onto.double())
    return reference.ReferenceWeight(matrix.double(), bias.double()).matmul(
        x.double(), None, epilogue
    )


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("bits", "group", "kept"), FORMS)
def test_products_of_every_form(
    bits: int, group: int | None, kept: torch.dtype, symmetric: bool
) -> None:
    dice = random.Random(f"{bits}{group}{symmetric}")
    for after in (NOTHING, ADDED, *GATED.values()):
        rows, inputs = dice.randint(1, 40), dice.randint(3, 40) * 8
        outputs = 2 * dice.randint(3, 30)
        codes = drawn_codes(outputs, inputs, bits, group, symmetric=symmetric, kept=kept)
        form = packed([codes])
        assert form is not None
        x, bias = randn(rows, inputs), randn(outputs, seed=1)
        onto = randn(rows, outputs // (1 if after.activation is None else 2), seed=2)
        counters = torch.zeros(64, dtype=torch.int32)
        right = expected(x, codes.dense(torch.float32), bias, onto, after)
        shape = SkinnyCodesShape(16, dice.choice((16, 32)), dice.choice((1, 2, 3)), 2, 1)
        skinny_codes(x, form, bias, onto, counters, after=after, shape=shape)
        torch.testing.assert_close(onto.double(), right, atol=1e-4, rtol=1e-4)
        assert not counters.any()


def test_rows_need_not_be_adjacent() -> None:
    codes = drawn_codes(20, 96, 4, 32)
    form, wide = packed([codes]), randn(5, 200)
    assert form is not None
    out, counters = torch.full((5, 20), float("nan")), torch.zeros(8, dtype=torch.int32)
    skinny_codes(wide[:, 7:103], form, None, out, counters)
    right = wide[:, 7:103].double() @ codes.dense(torch.float32).double().T
    torch.testing.assert_close(out.double(), right, atol=1e-4, rtol=1e-4)


def test_a_shape_has_programs_for_all_processors_and_fits_the_memory() -> None:
    for bits, group in ((4, 128), (8, None)):
        for outputs, inputs in ((6144, 4096), (64, 14336), (28672, 64)):
            form = packed(
                [drawn_codes(outputs, inputs, bits, min(group, inputs) if group else None)]
            )
            assert form is not None
            for rows in (1, 17, 64):
                shape = skinny_codes_shape(torch.empty(rows, inputs), form, NOTHING)
                chunks = form.padded // (2 * form.part)
                assert 1 <= shape.splits <= chunks
                assert rows <= shape.block_rows <= 64
                assert 2 <= shape.stages <= 6
