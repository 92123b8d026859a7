"""Latent attention: its definition, the memory of what it keeps, and what is refused.

`tests/engine/run/test_families.py` compares whole models with `transformers`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.adapter_settings import AdapterSettings
from intaglio.engine.api import check_checkpoint
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import AdapterUnusable, ConfigError, ModelError
from intaglio.engine.model.adapter_files import open_adapter
from intaglio.engine.model.adapter_layout import AdapterLayout
from intaglio.engine.model.expected_tensors import absorbed_matrices, stored_bytes
from intaglio.engine.model.latent_attention import LatentOutput, LatentQkv, head_factors
from intaglio.engine.model.latent_spec import LatentSpec
from intaglio.engine.model.model_costs import ModelCosts
from intaglio.engine.model.sharded_weights import refuse_indivisible
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.runner import ModelRunner
from intaglio.kernels.contracts import RmsNorm
from intaglio.kernels.dispatch import choose

from tests.engine.run.driver import Driver, Job
from tests.support.quantised_checkpoints import FORMATS
from tests.support.tiny_checkpoint import random_weights, write_checkpoint
from tests.support.tiny_families import DEEPSEEK_V2, DEEPSEEK_V3

KERNELS = choose(torch.device("cpu"))
HEADS, HIDDEN = 3, 10
LATENT = LatentSpec(rank=6, rotated=4, plain=5, value=7, query_rank=None, interleaved=True)

V2_LITE: dict[str, Any] = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "vocab_size": 102400,
    "hidden_size": 2048,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
    "q_lora_rank": None,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
}
V3: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "vocab_size": 129280,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
}


def randn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def built(folder: Path, dtype: Any = "float32") -> ModelRunner:
    return build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype=dtype, threads=1),
        CacheConfig(num_blocks=100),
        SchedulerConfig(max_running=2, max_batched_tokens=256),
    ).runner


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_scores_and_values_are_those_of_expanded_keys(rows: int) -> None:
    """Unrotated: scores of every pair of rows, and a weighted sum of values, against keys and values for each head."""
    query, down = randn(HEADS * 9, HIDDEN, seed=0), randn(10, HIDDEN, seed=1)
    up, out = randn(HEADS * 12, 6, seed=2), randn(HIDDEN, HEADS * 7, seed=3)
    norm = RmsNorm(randn(6, seed=4), 1e-6)
    keys, values = head_factors(up, LATENT, KERNELS)
    qkv = LatentQkv(
        latent=LATENT,
        query=KERNELS.weight(query),
        down=KERNELS.weight(down),
        norm=norm,
        keys=keys,
        kernels=KERNELS,
    )
    output = LatentOutput(LATENT, values, KERNELS.weight(out), KERNELS)
    x = randn(rows, HIDDEN, seed=5)
    fused = qkv.matmul(x).view(rows, HEADS + 1, 10)
    assert (qkv.outputs, qkv.inputs, output.inputs) == (fused[0].numel(), HIDDEN, HEADS * 10)
    got = torch.einsum("nhd,md->hnm", fused[:, :HEADS], fused[:, HEADS])

    wide = x.double()
    kept = wide @ down.double().t()
    latent = kept[:, :6] * (kept[:, :6].square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    latent *= norm.weight.double()
    expanded = (latent @ up.double().t()).view(rows, HEADS, 12)
    shared = kept[:, None, 6:].expand(-1, HEADS, -1)
    whole = torch.cat((expanded[..., :5], shared), -1)
    queries = (wide @ query.double().t()).view(rows, HEADS, 9)
    scores = torch.einsum("nhd,mhd->hnm", queries, whole)
    torch.testing.assert_close(got.double(), scores, atol=1e-4, rtol=1e-4)

    shares = scores.softmax(-1)
    attended = torch.einsum("hnm,md->nhd", shares.float(), fused[:, HEADS]).reshape(rows, -1)
    summed = torch.einsum("hnm,mhd->nhd", shares, expanded[..., 5:]).reshape(rows, -1)
    expected = summed @ out.double().t()
    torch.testing.assert_close(output.matmul(attended).double(), expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize(
    ("config", "billions", "active", "kept"),
    [(V2_LITE, 15.7, 2.4, 27 * 576), (V3, 671, 37, 61 * 576)],
    ids=["V2-Lite", "V3"],
)
def test_sizes_are_those_that_the_models_are_published_with(
    config: dict[str, Any], billions: float, active: float, kept: int
) -> None:
    costs = ModelCosts.of(parse_spec(config))
    assert costs.parameters / 1e9 == pytest.approx(billions, rel=0.005)
    # Published counts of active parameters include the embedding or the head, and are rounded.
    assert costs.token_operations / 2e9 == pytest.approx(active, rel=0.07)
    assert costs.kv_bytes_per_token == 2 * kept


@pytest.mark.parametrize("config", [DEEPSEEK_V2, DEEPSEEK_V3], ids=["v2", "v3"])
def test_the_cache_holds_one_latent_of_each_token(config: dict[str, Any], tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, config)
    report, cache = check_checkpoint(folder), built(folder).cache
    assert report.kv_bytes_per_token == 3 * (24 + 8) * 4
    assert report.cpu_only
    assert cache.layers[0].shape == (1, 100, 16, 1, 32)
    assert cache.nbytes == 100 * 16 * report.kv_bytes_per_token
    sizes = [path.stat().st_size for path in folder.glob("*.safetensors")]
    assert 0 <= sum(sizes) - report.weight_bytes < 20_000  # headers


def test_yarn_sharpens_scores() -> None:
    scaling = {**DEEPSEEK_V2["rope_scaling"], "factor": 40, "mscale_all_dim": 0.707}
    spec = parse_spec({**DEEPSEEK_V2, "rope_scaling": scaling})
    assert spec.scores.scale == pytest.approx(28**-0.5 * (0.0707 * np.log(40) + 1) ** 2)
    plain = parse_spec({**DEEPSEEK_V2, "rope_scaling": {**scaling, "mscale_all_dim": 0}})
    assert plain.scores.scale == pytest.approx(28**-0.5)


def test_layers_for_drafts_are_not_read(tmp_path: Path) -> None:
    config = {**DEEPSEEK_V3, "num_nextn_predict_layers": 1}
    weights = random_weights(DEEPSEEK_V3)
    weights |= {"model.layers.3.eh_proj.weight": torch.zeros(64, 128)}
    folder = write_checkpoint(tmp_path / "drafts", config, weights=weights)
    assert check_checkpoint(folder).architecture == "DeepseekV3ForCausalLM"
    with pytest.raises(ModelError, match=r"not used model\.layers\.3\.eh_proj\.weight"):
        check_checkpoint(write_checkpoint(tmp_path / "none", DEEPSEEK_V3, weights=weights))


@pytest.mark.parametrize("form", ["fp8-blocks", "w4a16", "w8a8"])
def test_quantised_checkpoints_load_with_the_absorbed_matrix_converted(
    form: str, tmp_path: Path
) -> None:
    """In bfloat16 where matrices stay in their codes, as near to the exact model as rounded weights are."""
    config = {**DEEPSEEK_V3, "kv_lora_rank": 32, "qk_nope_head_dim": 24, "q_lora_rank": 64}
    config |= {"v_head_dim": 32, "topk_group": 4, "num_experts_per_tok": 8}
    settings, writer = FORMATS[form]
    rng, dense, stored = np.random.default_rng(0), {}, {}
    for name, weight in random_weights(config).items():
        if not name.endswith(("_proj.weight", "_with_mqa.weight")):
            dense[name] = stored[name] = weight
            continue
        written = writer(rng, *weight.shape)
        dense[name] = written.matrix
        stored |= {name.removesuffix(".weight") + key: t for key, t in written.tensors.items()}
    quantised = {**config, "quantization_config": settings}
    coded = write_checkpoint(tmp_path / "quantised", quantised, weights=stored)
    same = write_checkpoint(tmp_path / "dense", config, weights=dense)
    prompt = tuple(range(40, 90))

    def logits(folder: Path, dtype: str) -> torch.Tensor:
        (job,) = Driver(built(folder, dtype)).run([Job(prompt, 1)])
        return job.logits[0].float()

    exact = logits(same, "float32")
    assert torch.equal(logits(coded, "float32"), exact)
    error, usual = ((logits(f, "bfloat16") - exact).norm() for f in (coded, same))
    assert error < 2 * usual + 0.02 * exact.norm()


def test_memory_counts_the_absorbed_matrix_as_it_is_kept() -> None:
    spec = parse_spec(DEEPSEEK_V3)
    settings, _ = FORMATS["fp8-blocks"]
    coded = stored_bytes(parse_spec({**DEEPSEEK_V3, "quantization_config": settings}))
    dense = stored_bytes(spec)
    assert len(absorbed_matrices(spec)) == spec.layers
    for name in absorbed_matrices(spec):
        assert coded[name + ".weight"] == dense[name + ".weight"]
        assert name + ".weight_scale_inv" not in coded
    assert sum(coded.values()) < 0.8 * sum(dense.values())


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"qk_rope_head_dim": 7}, "qk_rope_head_dim"),
        ({"kv_lora_rank": 0}, "kv_lora_rank"),
        ({"kv_lora_rank": None}, "kv_lora_rank"),
        ({"q_lora_rank": "none"}, "q_lora_rank"),
        ({"v_head_dim": -1}, "v_head_dim"),
        ({"num_key_value_heads": 2}, "num_key_value_heads"),
        ({"rope_interleave": "yes"}, "rope_interleave"),
        ({"num_nextn_predict_layers": -1}, "num_nextn_predict_layers"),
        ({"rope_scaling": {"type": "yarn"}}, "rope_scaling/factor"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(change: dict[str, Any], where: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**DEEPSEEK_V3, **change})
    assert caught.value.where == where


def test_halves_that_only_v3_has_are_refused_for_v2() -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**DEEPSEEK_V2, "rope_interleave": False})
    assert caught.value.where == "rope_interleave"


def test_ranks_and_adapters_are_refused(tmp_path: Path) -> None:
    spec = parse_spec(DEEPSEEK_V2)
    with pytest.raises(ConfigError, match="one device only"):
        refuse_indivisible(spec, 2)
    with pytest.raises(AdapterUnusable, match="adapters of deepseek-v2 models"):
        open_adapter(tmp_path, AdapterLayout(spec, 8))
    folder = write_checkpoint(tmp_path / "model", DEEPSEEK_V2)
    with pytest.raises(ConfigError, match="adapters of deepseek-v2 models") as caught:
        build_runner(
            ModelConfig(model=str(folder), device="cpu", threads=1),
            CacheConfig(num_blocks=20),
            SchedulerConfig(max_running=1, max_batched_tokens=64),
            adapters=AdapterSettings(max_adapters=1),
        )
    assert caught.value.where == "max_adapters"
