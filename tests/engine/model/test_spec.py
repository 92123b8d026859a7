"""`config.json`: keys that are read, and keys that are refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.errors import ModelError
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.kernels.contracts import PLAIN_SCALING, Activation, ScoreScaling

from tests.support.tiny_checkpoint import GEMMA2, LLAMA, MISTRAL, QWEN2, QWEN3
from tests.support.tiny_families import (
    GEMMA3,
    GRANITE,
    LONG_ROPE,
    MINISTRAL,
    PHI4_MINI,
    SMOLLM3,
)


def test_families_differ_as_their_data_says() -> None:
    llama, qwen2, qwen3 = parse_spec(LLAMA), parse_spec(QWEN2), parse_spec(QWEN3)
    assert (llama.qkv_bias, llama.output_bias, llama.mlp_bias) == (True, True, True)
    assert (qwen2.qkv_bias, qwen2.output_bias, qwen2.mlp_bias) == (True, False, False)
    assert (qwen3.qkv_bias, qwen3.family.qk_norm, qwen3.tied) == (False, "head", True)
    assert (llama.head_dim, qwen3.head_dim, qwen3.heads) == (16, 32, 6)
    assert llama.kinds[0].rope.type == "llama3"
    assert llama.kinds[0].rope.theta == 500000.0


def test_defaults_are_the_family_s() -> None:
    bare = {k: v for k, v in QWEN3.items() if k not in ("head_dim", "rope_theta")}
    spec = parse_spec(bare)
    assert spec.head_dim == 128
    assert spec.kinds[0].rope.theta == 10000.0
    without = {k: v for k, v in LLAMA.items() if k != "num_key_value_heads"}
    assert parse_spec(without).kv_heads == 4


def test_bytes_of_a_block() -> None:
    assert parse_spec(LLAMA).kv_block_bytes(16, 4) == 2 * 2 * 16 * 2 * 16 * 4


@pytest.mark.parametrize(
    ("base", "change", "where"),
    [
        (LLAMA, {"architectures": ["GPT2LMHeadModel"]}, "architectures"),
        (LLAMA, {"architectures": None}, "architectures"),
        (LLAMA, {"architectures": ["LlamaForCausalLM", "Qwen2ForCausalLM"]}, "architectures"),
        (LLAMA, {"hidden_act": "gelu"}, "hidden_act"),
        (LLAMA, {"quantization_config": {"bits": 4}}, "quantization_config/quant_method"),
        (LLAMA, {"rope_scaling": {"rope_type": "ntk", "factor": 2.0}}, "rope_scaling"),
        (LLAMA, {"rope_scaling": {"rope_type": "linear"}}, "rope_scaling/factor"),
        (LLAMA, {"rope_scaling": {"rope_type": "linear", "factor": "2"}}, "rope_scaling/factor"),
        (LLAMA, {"rope_parameters": {"rope_type": "ntk"}}, "rope_parameters"),
        (LLAMA, {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        (LLAMA, {"num_key_value_heads": 3}, "num_key_value_heads"),
        (LLAMA, {"hidden_size": 0}, "hidden_size"),
        (LLAMA, {"hidden_size": "64"}, "hidden_size"),
        (LLAMA, {"vocab_size": None}, "vocab_size"),
        (LLAMA, {"rms_norm_eps": -1}, "rms_norm_eps"),
        (LLAMA, {"attention_bias": "yes"}, "attention_bias"),
        (LLAMA, {"tie_word_embeddings": 1}, "tie_word_embeddings"),
        (QWEN3, {"head_dim": 7}, "head_dim"),
        (QWEN2, {"use_sliding_window": 1}, "use_sliding_window"),
        (
            QWEN2,
            {"use_sliding_window": True, "max_window_layers": -1},
            "max_window_layers",
        ),
        (QWEN2, {"layer_types": ["full_attention", "sliding_attention"]}, "layer_types"),
        (MISTRAL, {"sliding_window": "512"}, "sliding_window"),
        (
            MISTRAL,
            {"sliding_window": 512, "layer_types": ["full_attention", "sliding_attention"]},
            "layer_types",
        ),
        (MINISTRAL, {"layer_types": ["full_attention"]}, "layer_types"),
        (MINISTRAL, {"layer_types": ["chunked_attention"] * 3}, "layer_types"),
        (SMOLLM3, {"no_rope_layers": [1, 2]}, "no_rope_layers"),
        (SMOLLM3, {"no_rope_layers": [1]}, "no_rope_layers"),
        (GRANITE, {"residual_multiplier": 0}, "residual_multiplier"),
        (PHI4_MINI, {"partial_rotary_factor": 0.7}, "partial_rotary_factor"),
        (PHI4_MINI, {"partial_rotary_factor": 2}, "partial_rotary_factor"),
        (
            PHI4_MINI,
            {"rope_scaling": {**LONG_ROPE, "short_factor": [1.0]}},
            "rope_scaling/short_factor",
        ),
        (
            PHI4_MINI,
            {"rope_scaling": {**LONG_ROPE, "long_factor": [-1.0] * 6}},
            "rope_scaling/long_factor",
        ),
        (
            GEMMA3,
            {"rope_parameters": {"sliding_attention": 1}},
            "rope_parameters/sliding_attention",
        ),
        (LLAMA, {"num_hidden_layers": 10**9}, "num_hidden_layers"),
        (LLAMA, {"vocab_size": 10**12}, "vocab_size"),
        (LLAMA, {"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        (LLAMA, {"attn_logit_softcapping": 50.0}, "attn_logit_softcapping"),
        (GEMMA2, {"final_logit_softcapping": -1}, "final_logit_softcapping"),
        (GEMMA2, {"attn_logit_softcapping": "50"}, "attn_logit_softcapping"),
        (GEMMA2, {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar"),
        (GEMMA2, {"hidden_activation": "relu"}, "hidden_activation"),
        (GEMMA2, {"hidden_activation": ["silu"]}, "hidden_activation"),
        (GEMMA2, {"sliding_window": 0}, "sliding_window"),
        (GEMMA2, {"layer_types": ["other"], "sliding_window": None}, "layer_types"),
        (GEMMA2, {"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    base: dict[str, Any], change: dict[str, Any], where: str
) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**base, **change})
    assert caught.value.where == where


def test_a_window_that_is_not_in_use_is_accepted() -> None:
    assert parse_spec({**MISTRAL, "sliding_window": 1024}).max_positions == 1024
    assert parse_spec({**QWEN2, "sliding_window": 64, "use_sliding_window": False})
    assert parse_spec({**MISTRAL, "sliding_window": 1024}).window is None


def test_layers_have_the_windows_of_their_family() -> None:
    def windows(config: dict[str, Any]) -> list[int | None]:
        return [kind.window for kind in parse_spec(config).kinds]

    unstated = {k: v for k, v in MISTRAL.items() if k != "sliding_window"}
    assert windows({**unstated, "max_position_embeddings": 32768}) == [4096, 4096]
    assert windows(GEMMA2) == [512, None, 512]
    assert windows({**GEMMA3, "num_hidden_layers": 6}) == [72, 72, None] * 2
    assert windows(MINISTRAL) == [100, None, 100]
    sliding = {"use_sliding_window": True, "sliding_window": 64}
    assert windows({**QWEN2, **sliding, "max_window_layers": 1}) == [None, 64]
    assert windows({**QWEN2, **sliding}) == [None, None]
    assert windows({**SMOLLM3, **sliding}) == [None, 64]


def test_rotations_differ_by_kind_of_layer() -> None:
    local, _, full = (kind.rope for kind in parse_spec(GEMMA3).kinds)
    assert (local.type, local.theta, full.type, full.theta) == ("default", 5000, "linear", 500000)
    newer = {
        key: value
        for key, value in GEMMA3.items()
        if key not in ("rope_theta", "rope_local_base_freq", "rope_scaling")
    }
    newer["rope_parameters"] = {
        "sliding_attention": {"rope_type": "default", "rope_theta": 5000.0},
        "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 500000.0},
    }
    assert parse_spec(newer).kinds == parse_spec(GEMMA3).kinds
    assert [kind.rope.type for kind in parse_spec(SMOLLM3).kinds] == ["default", "none"]


def test_yarn_stretches_the_context() -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
    assert parse_spec({**QWEN2, "rope_scaling": yarn}).max_positions == 4096
    assert parse_spec({**QWEN2, "rope_scaling": {**yarn, "factor": 0.5}}).max_positions == 1024


def test_gemma2_differs_as_its_data_says() -> None:
    spec = parse_spec(GEMMA2)
    assert spec.activation is Activation.GELU_TANH
    assert spec.scores == ScoreScaling(24**-0.5, 5.0)
    assert (spec.logit_softcap, spec.embedding_scale, spec.tied) == (12.0, 8.0, True)
    left_out = ("query_pre_attn_scalar", "hidden_activation", "sliding_window")
    bare = {k: v for k, v in GEMMA2.items() if k not in left_out and "softcapping" not in k}
    spec = parse_spec(bare)
    assert spec.activation is Activation.GELU_TANH
    assert spec.scores == ScoreScaling(1 / 16, 50.0)
    assert spec.logit_softcap == 30.0
    plain = parse_spec({**bare, "attn_logit_softcapping": None, "final_logit_softcapping": None})
    assert (plain.scores.softcap, plain.logit_softcap) == (None, None)
    assert parse_spec(LLAMA).scores == PLAIN_SCALING


@pytest.mark.parametrize("text", [None, "{", "[1]", "\xff"])
def test_a_file_that_is_not_there_or_not_json(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelError) as caught:
        read_spec(tmp_path)
    assert caught.value.where == str(tmp_path / "config.json")


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(QWEN3))
    assert read_spec(tmp_path) == parse_spec(QWEN3)
