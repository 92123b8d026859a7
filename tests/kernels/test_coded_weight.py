"""Quantised weights as layers use them, interpreted: every number of rows, norm and epilogue, against float64."""

from collections.abc import Callable

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Activation, AddTo, Epilogue, Gate, Logits, RmsNorm
from intaglio.kernels.quantised.coded_weight import CodedWeight
from intaglio.kernels.quantised.packed_codes import packed

from tests.kernels.test_activations import exact_floats
from tests.kernels.test_skinny_codes import randn
from tests.support.drawn_codes import FLOAT, drawn_codes

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


def coded(codes: Codes, bias: torch.Tensor | None = None) -> CodedWeight:
    form = packed([codes])
    assert form is not None
    return CodedWeight(form, bias, torch.zeros(64, dtype=torch.int32))


@pytest.mark.parametrize("rows", [1, 3, 9, 70, 257])
@pytest.mark.parametrize(("bits", "group"), [(4, 32), (8, None), (FLOAT, 64)])
def test_every_epilogue_follows_every_product(bits: int, group: int | None, rows: int) -> None:
    outputs, inputs = 34, 96
    codes = drawn_codes(outputs, inputs, bits, group)
    bias, x = randn(outputs, seed=2), randn(rows, inputs)
    norm, post = RmsNorm(randn(inputs, seed=3), 1e-5), RmsNorm(randn(outputs, seed=4), 1e-5)
    weight = coded(codes, bias)
    assert (weight.outputs, weight.inputs) == (outputs, inputs)
    right = reference.ReferenceWeight(codes.dense(torch.float32), bias)
    epilogues: list[Callable[[torch.Tensor], Epilogue | None]] = [
        lambda onto: None,
        lambda onto: Gate(Activation.GELU_TANH),
        lambda onto: AddTo(onto),
        lambda onto: AddTo(onto, post),
        lambda onto: Logits(None, 2.0),
    ]
    for epilogue in epilogues:
        onto, theirs = randn(rows, outputs, seed=5), randn(rows, outputs, seed=5)
        got = weight.matmul(x, norm, epilogue(onto))
        expected = right.matmul(x, norm, epilogue(theirs))
        torch.testing.assert_close(got, expected, atol=2e-4, rtol=1e-4)
        torch.testing.assert_close(onto, theirs, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("rows", [2, 9, 257])
def test_codes_in_another_order_than_the_inputs(rows: int, normed: bool) -> None:
    plain = drawn_codes(20, 96, 4, 32)
    order = torch.randperm(96, generator=torch.Generator().manual_seed(1))
    codes = Codes(plain.values, plain.scales, plain.zeros, 32, 4, order)
    x, norm = randn(rows, 96), RmsNorm(randn(96, seed=3), 1e-5) if normed else None
    right = reference.ReferenceWeight(codes.dense(torch.float32)).matmul(x, norm)
    torch.testing.assert_close(coded(codes).matmul(x, norm), right, atol=1e-4, rtol=1e-4)


def test_activations_are_rounded_where_the_format_says_so() -> None:
    """Of more than a few rows, in bfloat16: there is no such product in float32."""
    limit, codes = 0.02, drawn_codes(48, 80, 8, None, activations=True)
    bias, norm = randn(48, seed=1).bfloat16(), RmsNorm(randn(80, seed=2).bfloat16(), 1e-5)
    x = randn(16, 80).bfloat16()
    matrix = codes.dense(torch.float32).double()
    wide = reference.rms_norm(x.double(), norm.weight.double(), norm.eps)
    right = wide @ matrix.T + bias.double()
    got = coded(codes, bias).matmul(x, norm).double()
    error = float((got - right).norm() / right.norm())
    assert 1e-3 < error < limit
    gated = coded(codes, bias).matmul(x, norm, Gate(Activation.SILU)).double()
    exact = reference.gate(right)
    assert float((gated - exact).norm() / exact.norm()) < 2 * limit
    unrounded = coded(drawn_codes(48, 80, 8, None)).matmul(x.float()).double()
    exact = x.double() @ matrix.T
    assert float((unrounded - exact).norm() / exact.norm()) < 1e-5


def test_activations_are_rounded_to_floats() -> None:
    """Rows of which nothing is lost: see `exact_floats`."""
    codes = drawn_codes(48, 80, FLOAT, None, activations=True)
    bias, x = randn(48, seed=1).bfloat16(), (exact_floats(16, 80) / 2**7).bfloat16()
    right = x.double() @ codes.dense(torch.float32).double().T + bias.double()
    residual = randn(16, 48, seed=2).bfloat16()
    onto = residual.clone()
    coded(codes, bias).matmul(x, epilogue=AddTo(onto))
    exact = residual.double() + right
    assert float((onto.double() - exact).norm() / exact.norm()) < 5e-3
