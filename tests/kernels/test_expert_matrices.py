"""The matrices of experts in one tensor, and products with those in MXFP4, interpreted: each weight by itself."""

import pytest
import torch
from intaglio.kernels.dispatch import choose
from intaglio.kernels.experts.expert_matrices import ExpertMatrices, stacked
from intaglio.kernels.experts.expert_product import ProductShape, expert_product, paired
from intaglio.kernels.linear.linear import DenseWeight
from intaglio.kernels.mxfp4_weight import Mxfp4Weight, decoded

from tests.support.drawn_codes import mxfp4

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

KERNELS = choose(torch.device("cpu"))


def dense(outputs: int, inputs: int, bias: torch.Tensor | None = None) -> DenseWeight:
    return DenseWeight(torch.zeros(outputs, inputs), bias, torch.zeros(1, dtype=torch.int32))


def products(matrices: ExpertMatrices, x: torch.Tensor, chosen: list[int]) -> torch.Tensor:
    """Row `p` of `x` times the matrix of expert `chosen[p]`."""
    pairs = paired(torch.tensor(chosen, dtype=torch.int32).view(-1, 1), matrices.experts)
    out = torch.full((len(chosen), matrices.outputs), float("nan"))
    shape = ProductShape(block_out=16, block_pairs=16, block_in=64, stages=2, warps=1)
    expert_product(x, matrices, pairs, out, per_row=1, shape=shape)
    return out


@pytest.mark.parametrize("inputs", [32, 96, 128])
def test_every_weight_of_mxfp4_is_exact(inputs: int) -> None:
    """Products with one input each are the weights themselves; scales from the smallest to the largest finite."""
    coded = [mxfp4(24, inputs, seed, scales=(0, 250)) for seed in range(3)]
    matrices = stacked([Mxfp4Weight(*each, None, KERNELS) for each in coded])
    assert (matrices.experts, matrices.outputs, matrices.inputs) == (3, 24, inputs)
    for e, (blocks, scales) in enumerate(coded):
        got = products(matrices, torch.eye(inputs), [e] * inputs)
        assert torch.equal(got.t(), decoded(blocks, scales, torch.float32))


def test_biases_are_stacked() -> None:
    matrices = stacked([dense(2, 4, torch.tensor([float(e), 5.0])) for e in range(3)])
    assert matrices.biases is not None
    assert matrices.biases.tolist() == [[0, 5], [1, 5], [2, 5]]
    assert products(matrices, torch.zeros(2, 4), [2, 0]).tolist() == [[2, 5], [0, 5]]


def test_mixed_experts_are_refused() -> None:
    with pytest.raises(ValueError, match="only some experts have biases"):
        stacked([dense(2, 4, torch.zeros(2)), dense(2, 4)])
    with pytest.raises(ValueError, match="unquantised or in MXFP4"):
        stacked([dense(2, 32), Mxfp4Weight(*mxfp4(2, 32, 0), None, KERNELS)])
