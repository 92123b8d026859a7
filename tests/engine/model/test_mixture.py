"""Mixtures of experts: routing as in `transformers`, weighted sums, and accepted configurations."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from dataclasses import replace
from typing import Any

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.layers import Residual
from intaglio.engine.model.mixture import Mixture
from intaglio.engine.model.model_costs import ModelCosts
from intaglio.engine.model.spec import ModelSpec, parse_spec
from intaglio.kernels.contracts import Activation, AddTo, ExpertMlp, Gate, MixtureRule, RmsNorm
from intaglio.kernels.dispatch import choose
from intaglio.kernels.exchange import reference_exchange
from intaglio.kernels.experts.reference_experts import route

from tests.support.tiny_families import DEEPSEEK_V2, DEEPSEEK_V3, MIXTRAL, OLMOE, QWEN3_MOE

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


@pytest.mark.parametrize("method", ["greedy", "group_limited_greedy"])
def test_the_choice_of_deepseek_v2_is_that_of_transformers(method: str) -> None:
    from transformers import DeepseekV2Config
    from transformers.models.deepseek_v2.modeling_deepseek_v2 import DeepseekV2TopkRouter

    change: dict[str, Any] = {
        "topk_method": method,
        "n_routed_experts": 32,
        "n_group": 8,
        "topk_group": 3,
    }
    change |= {"num_experts_per_tok": 6, "routed_scaling_factor": 16.0}
    router = DeepseekV2TopkRouter(DeepseekV2Config(hidden_size=64, **change))
    _same_choice(router, parse_spec({**DEEPSEEK_V2, **change}), None)


@pytest.mark.parametrize("renormalised", [True, False])
@pytest.mark.parametrize("kept", [1, 3, 8])
def test_the_choice_of_deepseek_v3_is_that_of_transformers(
    kept: int, *, renormalised: bool
) -> None:
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3TopkRouter

    change: dict[str, Any] = {
        "n_routed_experts": 64,
        "n_group": 8,
        "topk_group": kept,
        "num_experts_per_tok": 7,
    }
    change |= {"norm_topk_prob": renormalised, "routed_scaling_factor": 2.5}
    router = DeepseekV3TopkRouter(DeepseekV3Config(hidden_size=64, **change))
    generator = torch.Generator().manual_seed(5)
    correction = router.e_score_correction_bias
    correction.copy_(torch.randn(64, generator=generator) * 0.1)
    _same_choice(router, parse_spec({**DEEPSEEK_V3, **change}), correction)


def _same_choice(router: torch.nn.Module, spec: ModelSpec, correction: torch.Tensor | None) -> None:
    """Whether experts and shares have the bits of a `router` of `transformers`."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((500, 64), generator=generator)
    weight = router.weight
    assert isinstance(weight, torch.Tensor)
    with torch.no_grad():
        weight.copy_(torch.randn(weight.shape, generator=generator) / 8)
        logits, shares, chosen = router(x)
    assert spec.experts is not None
    routing = route(logits, spec.experts.rule, correction)
    order, theirs = routing.chosen.argsort(-1), chosen.argsort(-1)
    assert torch.equal(routing.chosen.gather(1, order), chosen.gather(1, theirs))
    assert torch.equal(routing.shares.gather(1, order), shares.gather(1, theirs))


def test_shares_of_deepseek_v2_may_be_divided_by_their_sum() -> None:
    """Which `transformers` leaves out, and the models' own code does."""
    spec = parse_spec({**DEEPSEEK_V2, "norm_topk_prob": True, "routed_scaling_factor": 1.0})
    assert spec.experts is not None
    logits = torch.randn((50, 8), generator=torch.Generator().manual_seed(0))
    shares = route(logits, spec.experts.rule).shares
    torch.testing.assert_close(shares.sum(-1), torch.ones(50))


def test_mixtures_of_deepseek_models_begin_after_dense_layers() -> None:
    def mixed(**change: object) -> list[bool]:
        spec = parse_spec({**DEEPSEEK_V3, "num_hidden_layers": 6, **change})
        return [spec.mixes(i) is not None for i in range(spec.layers)]

    assert mixed() == [False, True, True, True, True, True]
    assert mixed(first_k_dense_replace=0) == [True] * 6
    assert mixed(moe_layer_freq=2) == [False, False, True, False, True, False]
    names = expected_shapes(parse_spec(DEEPSEEK_V3))
    assert names["model.layers.0.mlp.up_proj.weight"] == (160, 64)
    assert names["model.layers.1.mlp.shared_experts.up_proj.weight"] == (64, 64)
    assert names["model.layers.1.mlp.gate.e_score_correction_bias"] == (8,)
    alone = expected_shapes(parse_spec({**DEEPSEEK_V2, "n_shared_experts": None}))
    assert not any("shared" in name for name in alone)


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
        (DEEPSEEK_V2, {"topk_method": "noaux_tc"}, "topk_method"),
        (DEEPSEEK_V2, {"topk_method": ["greedy"]}, "topk_method"),
        (DEEPSEEK_V2, {"scoring_func": "sigmoid"}, "scoring_func"),
        (DEEPSEEK_V2, {"n_group": 3}, "n_group"),
        (DEEPSEEK_V2, {"n_group": None}, "n_group"),
        (DEEPSEEK_V2, {"topk_group": 1}, "topk_group"),
        (DEEPSEEK_V2, {"topk_group": 5}, "topk_group"),
        (DEEPSEEK_V2, {"norm_topk_prob": True}, "norm_topk_prob"),
        (DEEPSEEK_V2, {"routed_scaling_factor": 0}, "routed_scaling_factor"),
        (DEEPSEEK_V2, {"n_shared_experts": 0}, "n_shared_experts"),
        (DEEPSEEK_V2, {"first_k_dense_replace": -1}, "first_k_dense_replace"),
        (DEEPSEEK_V2, {"mlp_bias": True}, "mlp_bias"),
        (DEEPSEEK_V3, {"topk_method": "greedy"}, "topk_method"),
        (DEEPSEEK_V3, {"scoring_func": "softmax"}, "scoring_func"),
        (DEEPSEEK_V3, {"n_group": 8}, "n_group"),
        (DEEPSEEK_V3, {"moe_layer_freq": 0}, "moe_layer_freq"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    base: dict[str, Any], change: dict[str, Any], where: str
) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**base, **change})
    assert caught.value.where == where


class Twins:
    """The exchange with a rank that has the same parts; `kernel`: whether it adds sums to residuals itself."""

    rank, size = 0, 2

    def __init__(self, *, kernel: bool) -> None:
        self.kernel = kernel
        self.reduced = 0

    def add_sum(self, x: torch.Tensor, onto: AddTo) -> bool:
        if self.kernel:
            reference_exchange.add_sum([x, x], onto)
        return self.kernel

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        self.reduced += 1
        return x.mul_(2)


@pytest.mark.parametrize("scale", [None, 0.5])
@pytest.mark.parametrize("normed", [False, True])
def test_parts_are_added_to_the_residual_by_the_exchange_if_it_can(
    normed: bool, scale: float | None
) -> None:
    """A scale of the sum is not for that kernel."""
    mixture, _, _ = _mixture(8, 3)
    norm = RmsNorm(torch.rand(16), 1e-6) if normed else None
    x = torch.randn((5, 16), generator=torch.Generator().manual_seed(2))
    found, reduced = [], []
    for kernel in (False, True):
        twins: Any = Twins(kernel=kernel)
        residual = x.clone()
        replace(mixture, residual=Residual(norm, scale), communicator=twins).add(residual)
        found.append(residual)
        reduced.append(twins.reduced)
    torch.testing.assert_close(*found)
    assert not torch.equal(found[0], x)
    assert reduced == [1, 0 if scale is None else 1]
