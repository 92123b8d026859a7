"""`config.json`: what is read, and what is refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.errors import ModelError
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.kernels.contracts import PLAIN_SCALING, Activation, ScoreScaling

from tests.support.tiny_checkpoint import GEMMA2, LLAMA, MISTRAL, QWEN2, QWEN3


def test_families_differ_as_their_data_says() -> None:
    llama, qwen2, qwen3 = parse_spec(LLAMA), parse_spec(QWEN2), parse_spec(QWEN3)
    assert (llama.qkv_bias, llama.output_bias, llama.mlp_bias) == (True, True, True)
    assert (qwen2.qkv_bias, qwen2.output_bias, qwen2.mlp_bias) == (True, False, False)
    assert (qwen3.qkv_bias, qwen3.family.qk_norm, qwen3.tied) == (False, True, True)
    assert (llama.head_dim, qwen3.head_dim, qwen3.heads) == (16, 32, 6)
    assert llama.rope.type == "llama3"
    assert llama.rope.theta == 500000.0


def test_defaults_are_the_family_s() -> None:
    bare = {k: v for k, v in QWEN3.items() if k not in ("head_dim", "rope_theta")}
    spec = parse_spec(bare)
    assert spec.head_dim == 128
    assert spec.rope.theta == 10000.0
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
        (LLAMA, {"quantization_config": {"bits": 4}}, "quantization_config"),
        (LLAMA, {"rope_scaling": {"rope_type": "longrope", "factor": 2.0}}, "rope_scaling"),
        (LLAMA, {"rope_scaling": {"rope_type": "linear"}}, "rope_scaling/factor"),
        (LLAMA, {"rope_scaling": {"rope_type": "linear", "factor": "2"}}, "rope_scaling/factor"),
        (LLAMA, {"rope_parameters": {"rope_type": "su"}}, "rope_parameters"),
        (LLAMA, {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        (LLAMA, {"num_key_value_heads": 3}, "num_key_value_heads"),
        (LLAMA, {"hidden_size": 0}, "hidden_size"),
        (LLAMA, {"hidden_size": "64"}, "hidden_size"),
        (LLAMA, {"vocab_size": None}, "vocab_size"),
        (LLAMA, {"rms_norm_eps": -1}, "rms_norm_eps"),
        (LLAMA, {"attention_bias": "yes"}, "attention_bias"),
        (LLAMA, {"tie_word_embeddings": 1}, "tie_word_embeddings"),
        (QWEN3, {"head_dim": 7}, "head_dim"),
        (QWEN2, {"use_sliding_window": True}, "use_sliding_window"),
        (QWEN2, {"layer_types": ["full_attention", "sliding_attention"]}, "layer_types"),
        (MISTRAL, {"sliding_window": 512}, "sliding_window"),
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
    long = {k: v for k, v in MISTRAL.items() if k != "sliding_window"}
    with pytest.raises(ModelError):
        parse_spec({**long, "max_position_embeddings": 32768})


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


def test_the_context_of_gemma2_ends_at_its_window() -> None:
    assert (parse_spec(GEMMA2).max_positions, parse_spec(GEMMA2).window) == (512, 512)
    for change in (
        {"sliding_window": 1024},
        {"sliding_window": None},
        {"layer_types": ["full_attention"] * 3},
    ):
        spec = parse_spec({**GEMMA2, **change})
        assert (spec.max_positions, spec.window) == (1024, None)


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
