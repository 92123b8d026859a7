"""Products of one row and codes, interpreted, against float64: every form, norm, epilogue and measured tile."""

import random

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import RmsNorm
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING
from intaglio.kernels.quantised.codes_gemv import codes_gemv, reads_row
from intaglio.kernels.quantised.codes_gemv_shape import (
    MEASURED,
    MOST_SLICES,
    CodesGemvShape,
    MatrixSize,
    codes_gemv_shape,
    row_vectors,
)
from intaglio.kernels.quantised.packed_codes import CodeKind, PackedCodes, packed

from tests.kernels.test_skinny_codes import expected
from tests.support.drawn_codes import FLOAT, drawn_codes
from tests.support.paged import relative_error

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

LIMIT = 8e-3
FORMS = [
    (4, 32, True), (4, 64, False), (4, 128, True), (4, 128, False), (3, 64, False), (2, 256, True),
    (8, None, True), (FLOAT, None, True),
]  # fmt: skip


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)


@pytest.mark.parametrize(("bits", "group", "symmetric"), FORMS)
def test_products_of_every_form(bits: int, group: int | None, symmetric: bool) -> None:
    dice = random.Random(f"{bits}{group}{symmetric}")
    for after in (NOTHING, ADDED, *GATED.values()):
        inputs = max(2, dice.randint(1, 480) // (group or 8)) * (group or 8)
        outputs = 2 * dice.randint(3, 30)
        codes = drawn_codes(outputs, inputs, bits, group, symmetric=symmetric, kept=torch.bfloat16)
        form = packed([codes])
        assert form is not None
        x, bias = drawn(1, inputs, seed=0), drawn(outputs, seed=1)
        x[0, 3] *= 100
        assert reads_row(form, x)
        onto = drawn(1, outputs // (1 if after.activation is None else 2), seed=2)
        norm = RmsNorm(drawn(inputs, seed=3), 1e-5) if dice.random() < 0.7 else None
        y = x.float()
        if norm is not None:
            y = reference.rms_norm(y, norm.weight.float(), norm.eps)
        right = expected(y, codes.dense(torch.float32), bias.float(), onto.float(), after)
        tile = CodesGemvShape(dice.choice((1, 2, 4, 8)), 1)
        codes_gemv(x, form, bias, onto, norm=norm, after=after, shape=tile)
        assert relative_error(onto, right) < LIMIT


@pytest.mark.parametrize("bits", [4, 8, FLOAT])
def test_a_row_that_is_not_finite_stays_so(bits: int) -> None:
    form = packed([drawn_codes(16, 256, bits, 128 if bits == 4 else None)])
    assert form is not None
    x, out = drawn(1, 256, seed=0), torch.zeros((1, 16), dtype=torch.bfloat16)
    x[0, 77] = float("nan")
    codes_gemv(x, form, None, out)
    assert not out.isfinite().any()


def test_inputs_of_very_different_sizes() -> None:
    """Inputs are rounded relative to those that are multiplied with them, not to the largest of the row."""
    codes = drawn_codes(8, 1024, 8)
    form = packed([codes])
    assert form is not None
    x = drawn(1, 1024, seed=0)
    x[0, ::16] *= 1e-6
    x[0, 512:] *= 1e-4
    x[0, 7], x[0, 900] = 3000.0, 0.0
    out = torch.zeros((1, 8), dtype=torch.bfloat16)
    codes_gemv(x, form, None, out)
    right = x.double() @ codes.dense(torch.float32).double().T
    assert relative_error(out, right) < LIMIT
    codes_gemv(torch.zeros_like(x), form, None, out)
    assert not out.any()


def test_other_forms_are_left_to_other_kernels() -> None:
    x = drawn(1, 512, seed=0)
    for bits, group, symmetric in (
        (8, 128, True),
        (8, None, False),
        (4, None, True),
        (FLOAT, 128, True),
    ):
        form = packed([drawn_codes(16, 512, bits, group, symmetric=symmetric)])
        assert form is not None
        assert not reads_row(form, x)
    form = packed([drawn_codes(16, 512, 4, 128)])
    assert form is not None
    assert not reads_row(form, x.float())
    assert reads_row(form, x)


KINDS = {4: CodeKind.NIBBLE, 8: CodeKind.SIGNED, FLOAT: CodeKind.FLOAT}
CPU = torch.device("cpu")


def empty(outputs: int, inputs: int, bits: int) -> PackedCodes:
    """A matrix without values, in groups of 128 if it has 4 bits."""
    kind = KINDS[bits]
    codes = torch.empty((outputs, inputs // kind.in_word), dtype=torch.int16, device="meta")
    scales = torch.empty((inputs // 256, outputs) if bits == 4 else outputs, device="meta")
    return PackedCodes(codes, scales, None, inputs, 128, kind, torch.bfloat16, None, bits != 4)


@pytest.mark.parametrize("bits", [4, 8, FLOAT])
def test_measured_matrices_get_their_tiles(bits: int) -> None:
    gate = next(iter(GATED.values()))
    for size, outputs, inputs, after in (
        (MatrixSize.WIDE, 6144, 4096, NOTHING),
        (MatrixSize.OTHER, 4096, 4096, ADDED),
        (MatrixSize.GATED, 28672, 4096, gate),
        (MatrixSize.LONG, 4096, 14336, ADDED),
    ):
        found = codes_gemv_shape(empty(outputs, inputs, bits), after, CPU)
        assert found == MEASURED[KINDS[bits], size]


@pytest.mark.parametrize("bits", [4, 8, FLOAT])
def test_tiles_of_other_sizes_fit(bits: int) -> None:
    for outputs, inputs in ((2, 256), (16, 512), (64, 28672), (64, 1 << 16), (9000, 512)):
        form = empty(outputs, inputs, bits)
        for after in (NOTHING, ADDED, *GATED.values()):
            shape = codes_gemv_shape(form, after, CPU)
            written = outputs if after.activation is None else outputs // 2
            # The interpreter counts as 4 multiprocessors.
            assert shape.block_out == 1 or -(-written // shape.block_out) >= 4
            assert 32 * shape.warps * MOST_SLICES >= row_vectors(form)
            assert 32 * shape.warps <= max(32, 2 * row_vectors(form))


@pytest.mark.parametrize("bits", [4, 8, FLOAT])
@pytest.mark.parametrize(("outputs", "inputs"), [(70, 512), (40, 640), (10, 8448)])
def test_products_by_measured_tiles(bits: int, outputs: int, inputs: int) -> None:
    codes = drawn_codes(outputs, inputs, bits, 128 if bits == 4 else None, kept=torch.bfloat16)
    form = packed([codes])
    assert form is not None
    x = drawn(1, inputs, seed=0)
    for after in (NOTHING, ADDED, *GATED.values()):
        onto = drawn(1, outputs // (1 if after.activation is None else 2), seed=2)
        nothing = torch.zeros(outputs)
        right = expected(x.float(), codes.dense(torch.float32), nothing, onto.float(), after)
        codes_gemv(x, form, None, onto, after=after)
        assert relative_error(onto, right) < LIMIT


@pytest.mark.parametrize("bits", [4, 8, FLOAT])
def test_rows_of_several_slices(bits: int) -> None:
    codes = drawn_codes(12, 2304, bits, 128 if bits == 4 else None, kept=torch.bfloat16)
    form = packed([codes])
    assert form is not None
    x, out = drawn(1, 2304, seed=0), torch.zeros((1, 12), dtype=torch.bfloat16)
    norm = RmsNorm(drawn(2304, seed=3), 1e-5)
    codes_gemv(x, form, None, out, norm=norm, shape=CodesGemvShape(4, 1))
    y = reference.rms_norm(x.double(), norm.weight.double(), norm.eps)
    assert relative_error(out, y @ codes.dense(torch.float32).double().T) < LIMIT
