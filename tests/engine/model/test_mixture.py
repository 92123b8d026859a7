"""Mixtures of experts: routing as in `transformers`, weighted sums, and accepted configurations."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from typing import Any

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.layers import Residual
from intaglio.engine.model.mixture import Mixture
from intaglio.engine.model.model_costs import ModelCosts
from intaglio.engine.model.spec import parse_spec
from intaglio.kernels.contracts import Activation, ExpertMlp, Gate, MixtureRule
from intaglio.kernels.dispatch import choose
from intaglio.kernels.experts.reference_experts import route

from tests.support.tiny_families import MIXTRAL, OLMOE, QWEN3_MOE

KERNELS = choose(torch.device("cpu"))
SILU = Gate(Activation.SILU)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("renormalised", [True, False])
def test_the_choice_of_experts_is_that_of_transformers(
    dtype: torch.dtype, renormalised: bool
) -> None:
    from transformers import Qwen3MoeConfig
    from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeTopKRouter

    config = Qwen3MoeConfig(
        hidden_size=64, num_experts=16, num_experts_per_tok=4, norm_topk_prob=renormalised
    )
    router = Qwen3MoeTopKRouter(config).to(dtype)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((200, 64), generator=generator).to(dtype)
    with torch.no_grad():
        router.weight.copy_(torch.randn((16, 64), generator=generator))
        logits, weights, chosen = router(x)
    routing = route(logits, MixtureRule(4, renormalised, SILU))
    assert torch.equal(routing.chosen, chosen)
    assert torch.equal(routing.shares.to(dtype), weights)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_choice_of_gpt_oss_is_that_of_transformers(dtype: torch.dtype) -> None:
    from transformers import GptOssConfig
    from transformers.models.gpt_oss.modeling_gpt_oss import GptOssTopKRouter

    router = GptOssTopKRouter(
        GptOssConfig(hidden_size=64, num_local_experts=16, num_experts_per_tok=4)
    ).to(dtype)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((200, 64), generator=generator).to(dtype)
    with torch.no_grad():
        router.weight.copy_(torch.randn((16, 64), generator=generator))
        router.bias.copy_(torch.randn(16, generator=generator))
        logits, weights, chosen = router(x)
    routing = route(logits, MixtureRule(4, renormalised=True, gate=SILU, of_chosen=True))
    assert torch.equal(routing.chosen, chosen)
    assert torch.equal(routing.shares, weights)


def _mixture(experts: int, per_token: int) -> tuple[Mixture, torch.Tensor, torch.Tensor]:
    """A mixture without norms, its router, and the matrices of its experts, fused as [up and gate, down]."""
    generator = torch.Generator().manual_seed(1)
    router = torch.randn((experts, 16), generator=generator)
    fused = torch.randn((experts, 24, 16), generator=generator)
    made = tuple(
        ExpertMlp(KERNELS.weight(each[:, :]), KERNELS.weight(each[:12].t().contiguous()))
        for each in fused
    )
    mixture = Mixture(
        norm=None,
        router=KERNELS.weight(router),
        experts=KERNELS.experts(made, MixtureRule(per_token, renormalised=True, gate=SILU)),
        residual=Residual(None, 0.5),
        kernels=KERNELS,
    )
    return mixture, router, fused


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("per_token", [1, 3, 8])
def test_outputs_are_the_weighted_sum_of_the_chosen_experts(rows: int, per_token: int) -> None:
    mixture, router, fused = _mixture(8, per_token)
    x = torch.randn((rows, 16), generator=torch.Generator().manual_seed(2))
    got = x.clone()
    mixture.add(got)
    expected = x.double().clone()
    for row in range(rows):
        shares = (router.double() @ x[row].double()).softmax(-1)
        best = shares.topk(per_token)
        for share, e in zip(best.values / best.values.sum(), best.indices, strict=True):
            gate, up = (fused[e].double() @ x[row].double()).chunk(2)
            hidden = torch.nn.functional.silu(gate) * up
            expected[row] += 0.5 * share * (fused[e][:12].double().t() @ hidden)
    torch.testing.assert_close(got.double(), expected, atol=1e-4, rtol=1e-4)


def test_a_row_does_not_depend_on_the_others() -> None:
    mixture, _, _ = _mixture(8, 2)
    x = torch.randn((50, 16), generator=torch.Generator().manual_seed(3))
    whole = x.clone()
    mixture.add(whole)
    for row in range(0, 50, 7):
        alone = x[row : row + 1].clone()
        mixture.add(alone)
        torch.testing.assert_close(alone, whole[row : row + 1], atol=1e-4, rtol=1e-5)


def test_layers_are_mixtures_as_the_file_says() -> None:
    def mixed(change: dict[str, Any]) -> list[bool]:
        spec = parse_spec({**QWEN3_MOE, **change})
        return [spec.mixes(i) is not None for i in range(spec.layers)]

    assert mixed({}) == [True, False, True]
    assert mixed({"mlp_only_layers": None, "decoder_sparse_step": 2}) == [False, True, False]
    assert mixed({"mlp_only_layers": [0, 1, 2]}) == [False] * 3
    names = expected_shapes(parse_spec(QWEN3_MOE))
    assert names["model.layers.0.mlp.experts.7.up_proj.weight"] == (32, 64)
    assert names["model.layers.1.mlp.up_proj.weight"] == (160, 64)
    assert names["model.layers.2.mlp.gate.weight"] == (8, 64)


def test_a_token_multiplies_with_its_own_experts_only() -> None:
    all_used = ModelCosts.of(parse_spec({**OLMOE, "num_experts_per_tok": 6}))
    few_used = ModelCosts.of(parse_spec(OLMOE))
    assert all_used.token_operations - few_used.token_operations == 2 * 2 * 4 * 3 * 32 * 64
    assert all_used.weight_bytes == few_used.weight_bytes


@pytest.mark.parametrize(
    ("base", "change", "where"),
    [
        (MIXTRAL, {"num_local_experts": 0}, "num_local_experts"),
        (MIXTRAL, {"num_local_experts": 4000, "num_hidden_layers": 4000}, "num_local_experts"),
        (MIXTRAL, {"num_experts_per_tok": 6}, "num_experts_per_tok"),
        (QWEN3_MOE, {"mlp_only_layers": 1}, "mlp_only_layers"),
        (QWEN3_MOE, {"mlp_only_layers": [-1]}, "mlp_only_layers"),
        (QWEN3_MOE, {"decoder_sparse_step": 0}, "decoder_sparse_step"),
        (QWEN3_MOE, {"norm_topk_prob": "yes"}, "norm_topk_prob"),
        (OLMOE, {"clip_qkv": 8.0}, "clip_qkv"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    base: dict[str, Any], change: dict[str, Any], where: str
) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**base, **change})
    assert caught.value.where == where
