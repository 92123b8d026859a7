"""Codes converted to the dtype of a model, interpreted: each weight is rounded once."""

import pytest
import torch
from intaglio.kernels.quantised.dequantise import dequantise
from intaglio.kernels.quantised.packed_codes import packed

from tests.kernels.test_skinny_codes import FORMS
from tests.support.drawn_codes import drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("bits", "group", "kept"), FORMS)
def test_matrices_are_the_same_bit_by_bit(
    bits: int, group: int | None, kept: torch.dtype, symmetric: bool
) -> None:
    for outputs, inputs in ((33, 320), (70, 136)):
        codes = drawn_codes(outputs, inputs, bits, group, symmetric=symmetric, kept=kept)
        form = packed([codes])
        assert form is not None
        assert torch.equal(dequantise(form, torch.float32), codes.dense(torch.float32))
