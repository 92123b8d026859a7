"""Experts in one tensor: each expert's own matrices, gate before up, and the gate of gpt-oss."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.tensor_source import TensorCut, joined_tensors
from intaglio.kernels.dispatch import choose
from intaglio.kernels.experts.reference_experts import clamped_gate

from tests.support.tiny_checkpoint import random_weights
from tests.support.tiny_families import GPT_OSS, MIXTRAL
from tests.support.tiny_vision import QWEN3_VL_MOE


class Weights:
    dtype = torch.float32

    def __init__(self, config: dict[str, Any] = GPT_OSS) -> None:
        self.tensors = random_weights(config)

    def has(self, name: str) -> bool:
        return name in self.tensors

    def tensor(self, name: str) -> torch.Tensor:
        return self.tensors[name]

    def joined(self, pieces: Sequence[TensorCut]) -> torch.Tensor:
        return joined_tensors(self, pieces)

    def settle(self) -> None:
        pass


def test_the_tensors_of_a_layer() -> None:
    shapes = expected_shapes(parse_spec(GPT_OSS))
    at = "model.layers.2.mlp."
    assert shapes[at + "experts.gate_up_proj"] == (6, 64, 64)
    assert shapes[at + "experts.gate_up_proj_bias"] == (6, 64)
    assert shapes[at + "experts.down_proj"] == (6, 32, 64)
    assert shapes[at + "experts.down_proj_bias"] == (6, 64)
    assert shapes[at + "router.bias"] == (6,)
    assert parse_spec(MIXTRAL).stacked(0) is None


def test_the_experts_of_qwen3_vl_have_no_biases_and_gate_before_up() -> None:
    spec = parse_spec(QWEN3_VL_MOE)
    shapes = expected_shapes(spec)
    at = "model.layers.2.mlp."
    assert shapes[at + "experts.gate_up_proj"] == (6, 64, 96)
    assert shapes[at + "experts.down_proj"] == (6, 48, 64)
    assert not [name for name in shapes if name.startswith(at) and name.endswith("bias")]
    assert "model.layers.1.mlp.up_proj.weight" in shapes, "a layer of mlp_only_layers"
    stacked = spec.stacked(2)
    assert stacked is not None
    weights = Weights(QWEN3_VL_MOE)
    x = torch.randn((4, 64), generator=torch.Generator().manual_seed(0))
    stack = weights.tensors[at + "experts.gate_up_proj"]
    experts = stacked.read(weights, choose(torch.device("cpu")))
    for matrix, expert in zip(stack, experts, strict=True):
        torch.testing.assert_close(expert.gate_up.matmul(x), x @ matrix)


@pytest.mark.parametrize(
    "format_", [{"quant_method": "mxfp4"}, {"quant_method": "fp8", "weight_block_size": [128, 128]}]
)
def test_quantised_experts_of_qwen3_vl_are_refused(format_: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="not supported for this architecture") as refused:
        parse_spec({**QWEN3_VL_MOE, "quantization_config": format_})
    assert "read unquantised" in refused.value.hint


def test_every_expert_has_its_own_matrices_with_gate_before_up() -> None:
    stacked = parse_spec(GPT_OSS).stacked(1)
    assert stacked is not None
    weights = Weights()
    experts = stacked.read(weights, choose(torch.device("cpu")))
    assert len(experts) == 6
    x = torch.randn((4, 64), generator=torch.Generator().manual_seed(0))
    name = "model.layers.1.mlp.experts.gate_up_proj"
    for e, expert in enumerate(experts):
        right = x @ weights.tensors[name][e] + weights.tensors[name + "_bias"][e]
        got = expert.gate_up.matmul(x)
        torch.testing.assert_close(got, torch.cat((right[:, 0::2], right[:, 1::2]), 1))


def test_the_clamped_gate_is_that_of_transformers() -> None:
    from transformers import GptOssConfig
    from transformers.models.gpt_oss.modeling_gpt_oss import GptOssExperts

    theirs = GptOssExperts(GptOssConfig(swiglu_limit=1.5, num_local_experts=1, hidden_size=8))
    product = torch.randn((50, 64), generator=torch.Generator().manual_seed(0)) * 3
    turned = torch.stack(product.chunk(2, 1), 2).flatten(1)
    torch.testing.assert_close(clamped_gate(product, 1.702, 1.5), theirs._apply_gate(turned))
