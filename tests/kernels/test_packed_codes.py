"""The layout of quantised matrices in device memory, read back by its description, and what has none."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from intaglio.kernels.codes import Codes
from intaglio.kernels.quantised.packed_codes import CodeKind, PackedCodes, packed

from tests.support.drawn_codes import FLOAT, drawn_codes


def read_back(form: PackedCodes) -> torch.Tensor:
    """The matrix in float64, by the description of `PackedCodes`, a loop for each rule."""
    in_word, width = form.kind.in_word, 2 * form.part // form.kind.in_word
    words = form.codes.numpy().view(np.uint16)
    out = np.zeros((form.outputs, form.padded))
    for chunk in range(form.padded // (2 * form.part)):
        piece = words[:, chunk * width : (chunk + 1) * width]
        for i in range(in_word):
            place = (0, 2, 1, 3)[i] if in_word == 4 else i
            bits = piece >> (16 // in_word * place) & (2 ** (16 // in_word) - 1)
            part = chunk * 2 + i * 2 // in_word
            codes = values(bits, form.kind)
            zeros = numbers(form.zeros, part, torch.bfloat16, form)
            if zeros is None:
                zeros = np.full(form.outputs, 8.0 if form.kind is CodeKind.NIBBLE else 0.0)
            scales = numbers(form.scales, part, form.kept, form)
            assert scales is not None
            begin = chunk * 2 * form.part + i * width
            out[:, begin : begin + width] = (codes - zeros[:, None]) * scales[:, None]
    return torch.from_numpy(out)


def values(bits: np.ndarray, kind: CodeKind) -> np.ndarray:
    if kind is CodeKind.NIBBLE:
        return bits.astype(np.float64)
    if kind is CodeKind.SIGNED:
        return bits.astype(np.uint8).view(np.int8).astype(np.float64)
    return torch.from_numpy(bits.astype(np.uint8)).view(torch.float8_e4m3fn).double().numpy()


def numbers(
    held: torch.Tensor | None, part: int, kept: torch.dtype, form: PackedCodes
) -> np.ndarray | None:
    """The scales or zeros of a part."""
    if held is None or held.ndim == 1:
        return None if held is None else held.double().numpy()
    if kept == torch.float32:
        return held[part].double().numpy()
    half = held[part // 2].numpy().view(np.uint16).reshape(form.outputs, 2)[:, part % 2].copy()
    return torch.from_numpy(half.view(np.int16)).view(kept).double().numpy()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("bits", "group", "kept"),
    [
        (4, 32, torch.float16),
        (4, 64, torch.bfloat16),
        (3, 128, torch.float32),
        (2, 256, torch.bfloat16),
        (4, None, torch.float32),
        (8, 96, torch.bfloat16),
        (8, None, torch.float16),
        (FLOAT, 128, torch.float32),
        (FLOAT, None, torch.float32),
    ],
)
@pytest.mark.parametrize(("outputs", "inputs"), [(3, 512), (7, 300), (2, 20)])
def test_every_form_is_read_back_as_it_was(
    bits: int, group: int | None, kept: torch.dtype, symmetric: bool, outputs: int, inputs: int
) -> None:
    blocks = [
        drawn_codes(rows, inputs, bits, group, symmetric=symmetric, kept=kept)
        for rows in (outputs, 4)
    ]
    form = packed(blocks)
    assert form is not None
    right = torch.cat([block.dense(torch.float64) for block in blocks])
    got = read_back(form)
    torch.testing.assert_close(got[:, :inputs], right, rtol=1e-6, atol=0)
    assert (form.outputs, form.inputs) == (outputs + 4, inputs)
    assert form.kind is (
        CodeKind.NIBBLE if 0 < bits <= 4 else CodeKind.SIGNED if bits else CodeKind.FLOAT
    )
    assert (form.zeros is None) == ((symmetric and bits in (4, 8)) or bits == FLOAT)


def test_signed_codes_of_4_bits_become_unsigned() -> None:
    codes = drawn_codes(5, 64, 4, 32)
    signed = Codes((codes.values - 8).view(torch.int8), codes.scales, None, 32, 4)
    form, right = packed([signed]), packed([codes])
    assert form is not None
    assert right is not None
    assert torch.equal(form.codes, right.codes)
    assert form.zeros is None


def test_scales_are_kept_in_the_fewest_exact_bits() -> None:
    for kept in (torch.bfloat16, torch.float16, torch.float32):
        form = packed([drawn_codes(9, 128, 4, 32, kept=kept)])
        assert form is not None
        assert form.kept == kept


def test_what_the_kernels_cannot_read_has_no_form() -> None:
    codes = drawn_codes(4, 96, 4, 32)
    assert packed([drawn_codes(4, 96, 4, 16)]) is None
    assert packed([drawn_codes(4, 96, FLOAT, 40)]) is None
    assert packed([codes, drawn_codes(4, 96, 8, 32)]) is None
    assert packed([codes, replace(codes, order=torch.arange(96).flip(0))]) is None
    broken = drawn_codes(4, 96, FLOAT, None)
    broken.values.view(torch.uint8)[1, 5] = 0x7F
    assert packed([broken]) is None, "a weight that is NaN stays one"
