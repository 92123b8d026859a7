"""The model families the one decoder serves, and how they differ, as data.

Does: name architectures, defaults of `config.json` and checkpoint names. Does not: read files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One line of Llama-shaped models.

    `qkv_bias`, `output_bias` and `mlp_bias` are whether those linears have biases: yes or no, or the key of
    `config.json` that says so. `qk_norm` normalises each head's query and key before rotation. `head_dim` is the
    default where the file does not say; None means hidden size over heads. `sliding_window` is the key that says a
    window is in use (true, or a width below the context), None where the family has none. `defaults` are values that
    the family takes for keys the file leaves out.
    """

    name: str
    architecture: str
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    qk_norm: bool = False
    head_dim: int | None = None
    sliding_window: str | None = None
    defaults: Mapping[str, object] = field(default_factory=dict)


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
)

BY_ARCHITECTURE = {family.architecture: family for family in FAMILIES}

# Names in a checkpoint, by what they are to the decoder. `{i}` is the layer.
EMBEDDING = "model.embed_tokens"
FINAL_NORM = "model.norm"
HEAD = "lm_head"
LAYER = {
    "attention_norm": "model.layers.{i}.input_layernorm",
    "q": "model.layers.{i}.self_attn.q_proj",
    "k": "model.layers.{i}.self_attn.k_proj",
    "v": "model.layers.{i}.self_attn.v_proj",
    "q_norm": "model.layers.{i}.self_attn.q_norm",
    "k_norm": "model.layers.{i}.self_attn.k_norm",
    "output": "model.layers.{i}.self_attn.o_proj",
    "mlp_norm": "model.layers.{i}.post_attention_layernorm",
    "gate": "model.layers.{i}.mlp.gate_proj",
    "up": "model.layers.{i}.mlp.up_proj",
    "down": "model.layers.{i}.mlp.down_proj",
}

# Tensors that old checkpoints hold and that are computed, not learnt.
DERIVED = ("rotary_emb.inv_freq",)
