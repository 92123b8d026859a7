"""The supported model families and their differences, as data.

Does: define architectures, defaults of `config.json` and names of tensors. Does not: read files.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

PRE_NORMS = {
    "attention_norm": "model.layers.{i}.input_layernorm",
    "mlp_norm": "model.layers.{i}.post_attention_layernorm",
}
"""A norm before attention and one before the MLP, as in Llama."""

SANDWICH_NORMS = {
    "attention_norm": "model.layers.{i}.input_layernorm",
    "attention_post_norm": "model.layers.{i}.post_attention_layernorm",
    "mlp_norm": "model.layers.{i}.pre_feedforward_layernorm",
    "mlp_post_norm": "model.layers.{i}.post_feedforward_layernorm",
}
"""Norms before attention and MLP, and norms of their outputs before the addition to the residual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of Llama-like models.

    `qkv_bias`, `output_bias` and `mlp_bias`: whether these linear layers have biases, or the key of `config.json` that
    says so. `qk_norm` normalises the query and key of each head before rotation. `head_dim` is the default for a file
    without the key; None means hidden size over heads. `sliding_window` is the key for a window in use (true, or a
    width below the context), None for families without one. `defaults` are the values of keys that a file omits.

    `norms` is the placement of norms in a layer: their names in a checkpoint, by part; a part that is missing has no
    norm. `norm_offset` is added to every stored norm weight. `activation` is the key of `config.json` that names the
    MLP's activation function. `embedding_scale`, given the hidden size, multiplies looked-up embeddings; None: 1.
    `query_scalar`, `score_softcap` and `logit_softcap` are keys: attention scores are divided by the square root of the
    first one instead of head_dim's; the others are soft caps of scores and of logits, null for none. `within_window`:
    some layers have a sliding window, and the context ends at the window, where they still equal full attention.
    """

    name: str
    architecture: str
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    qk_norm: bool = False
    head_dim: int | None = None
    sliding_window: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    norms: Mapping[str, str] = field(default_factory=lambda: PRE_NORMS)
    norm_offset: float = 0.0
    activation: str = "hidden_act"
    embedding_scale: Callable[[int], float] | None = None
    query_scalar: str | None = None
    score_softcap: str | None = None
    logit_softcap: str | None = None
    within_window: bool = False


FAMILIES = (
    Family(
        name="llama",
        architecture="LlamaForCausalLM",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
    ),
    Family(
        name="mistral",
        architecture="MistralForCausalLM",
        sliding_window="sliding_window",
        defaults={"sliding_window": 4096, "num_key_value_heads": 8},
    ),
    Family(
        name="qwen2",
        architecture="Qwen2ForCausalLM",
        qkv_bias=True,
        sliding_window="use_sliding_window",
        defaults={"num_key_value_heads": 32},
    ),
    Family(
        name="qwen3",
        architecture="Qwen3ForCausalLM",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm=True,
        head_dim=128,
        sliding_window="use_sliding_window",
        defaults={"num_key_value_heads": 32},
    ),
    Family(
        name="gemma2",
        architecture="Gemma2ForCausalLM",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_dim=256,
        sliding_window="sliding_window",
        within_window=True,
        defaults={
            "num_key_value_heads": 4,
            "max_position_embeddings": 8192,
            "tie_word_embeddings": True,
            "hidden_activation": "gelu_pytorch_tanh",
            "query_pre_attn_scalar": 256,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
            "sliding_window": 4096,
        },
        norms=SANDWICH_NORMS,
        norm_offset=1.0,
        activation="hidden_activation",
        embedding_scale=sqrt,
        query_scalar="query_pre_attn_scalar",
        score_softcap="attn_logit_softcapping",
        logit_softcap="final_logit_softcapping",
    ),
)

BY_ARCHITECTURE = {family.architecture: family for family in FAMILIES}

# Names in a checkpoint, by part of the decoder. `{i}` is the layer. For the norms of layers see `Family.norms`.
EMBEDDING = "model.embed_tokens"
FINAL_NORM = "model.norm"
HEAD = "lm_head"
LAYER = {
    "q": "model.layers.{i}.self_attn.q_proj",
    "k": "model.layers.{i}.self_attn.k_proj",
    "v": "model.layers.{i}.self_attn.v_proj",
    "q_norm": "model.layers.{i}.self_attn.q_norm",
    "k_norm": "model.layers.{i}.self_attn.k_norm",
    "output": "model.layers.{i}.self_attn.o_proj",
    "gate": "model.layers.{i}.mlp.gate_proj",
    "up": "model.layers.{i}.mlp.up_proj",
    "down": "model.layers.{i}.mlp.down_proj",
}

# Suffixes of tensors in old checkpoints that are computed, not learnt.
DERIVED = ("rotary_emb.inv_freq",)
