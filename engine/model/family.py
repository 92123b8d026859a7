"""The properties in which model families differ, and the names of tensors that families share.

Does: define the type of a family. Does not: list the families (`families`), or read files.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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


POST_NORMS = {
    "attention_post_norm": "model.layers.{i}.post_attention_layernorm",
    "mlp_post_norm": "model.layers.{i}.post_feedforward_layernorm",
}
"""Norms of the outputs of attention and MLP only, as in OLMo 2."""

LINEARS = {
    "q": "model.layers.{i}.self_attn.q_proj",
    "k": "model.layers.{i}.self_attn.k_proj",
    "v": "model.layers.{i}.self_attn.v_proj",
    "output": "model.layers.{i}.self_attn.o_proj",
    "gate": "model.layers.{i}.mlp.gate_proj",
    "up": "model.layers.{i}.mlp.up_proj",
    "down": "model.layers.{i}.mlp.down_proj",
}
"""A matrix for each linear layer."""

FUSED_LINEARS = {
    "qkv": "model.layers.{i}.self_attn.qkv_proj",
    "output": "model.layers.{i}.self_attn.o_proj",
    "gate_up": "model.layers.{i}.mlp.gate_up_proj",
    "down": "model.layers.{i}.mlp.down_proj",
}
"""One matrix for query, key and value, and one for gate and up, as in Phi-3."""


LATENT_LINEARS = {
    "q": "model.layers.{i}.self_attn.q_proj",
    "q_down": "model.layers.{i}.self_attn.q_a_proj",
    "q_up": "model.layers.{i}.self_attn.q_b_proj",
    "kv_down": "model.layers.{i}.self_attn.kv_a_proj_with_mqa",
    "kv_up": "model.layers.{i}.self_attn.kv_b_proj",
    "output": "model.layers.{i}.self_attn.o_proj",
    "gate": "model.layers.{i}.mlp.gate_proj",
    "up": "model.layers.{i}.mlp.up_proj",
    "down": "model.layers.{i}.mlp.down_proj",
}
"""The matrices of latent attention (`latent_spec`): a model has either "q", or "q_down" and "q_up"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The layers of a family that have a sliding window.

    `key` is the window's width in tokens, null for none. `switch` is a key that must be true as well. With `by_layer`,
    `layer_types` of the file decides. Otherwise: with `unrotated_only` the layers without rotation, with `first` those
    from the layer that this key gives, with `pattern` n all but every n-th (`pattern_key`: a key that may change n),
    else all.
    """

    key: str = "sliding_window"
    switch: str | None = None
    by_layer: bool = True
    unrotated_only: bool = False
    first: str | None = None
    pattern: int | None = None
    pattern_key: str | None = None


QWEN_WINDOWS = Windows(switch="use_sliding_window", first="max_window_layers")
"""The last layers, where the file switches their windows on."""

EncoderKind = Literal["windowed", "deepstack"]
"""The encoders of images: that of Qwen2.5-VL, and that of Qwen3-VL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertStack:
    """The form of checkpoints in which one tensor holds a matrix of all experts of a layer, each transposed.

    With `alternates`, the outputs of gate and up take turns, else all of gate come first. With `biases`, routers and
    experts have biases. `mxfp4`: the experts may be in MXFP4; no other quantised format is read.
    """

    alternates: bool = False
    biases: bool = False
    mxfp4: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertLayout:
    """The mixtures of experts of a family, which replace the MLPs of its layers.

    `count` and `ffn` are the keys of the number of experts in a layer and of their hidden size. `router` and `linears`
    are the names of matrices in a checkpoint, `{e}` is the expert. `renormalised`: whether the weights of the chosen
    experts are divided by their sum, or the key that says so. `every` is the key of n, where every n-th layer is a
    mixture; `dense` the key of a list of layers that are not; None for families without. `stacked` is None where each
    expert has matrices of its own. `clamped`: as in gpt-oss, the gate is clamped, and the weights of the chosen experts
    are a softmax of their logits alone.

    `scored`: as in DeepSeek models, experts are chosen by groups, from scores of this kind, with a correction if they
    are sigmoids; the first layers are dense, and `shared` are the names of an MLP that every token uses as well.
    """

    count: str
    ffn: str
    router: str
    linears: Mapping[str, str]
    renormalised: bool | str
    every: str | None = None
    dense: str | None = None
    stacked: ExpertStack | None = None
    clamped: bool = False
    scored: Literal["softmax", "sigmoid"] | None = None
    shared: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of Llama-like models. `examples` are models of it, for people.

    `qkv_bias`, `output_bias` and `mlp_bias`: whether these linear layers have biases, or the key of `config.json` that
    says so. `qk_norm` normalises queries and keys before rotation: each head by itself, or all heads together.
    `head_dim` is the default for a file without the key; None means hidden size over heads. `defaults` are the values
    of keys that a file omits. `linears` are the names of matrices in a checkpoint, by part of a layer.

    `norms` is the placement of norms in a layer: their names in a checkpoint, by part; a part that is missing has no
    norm. `norm_offset` is added to every stored norm weight. `activation` is the key of `config.json` that names the
    MLP's activation function. `embedding_scale`, given the hidden size, multiplies looked-up embeddings; None: 1.
    `query_scalar`, `score_softcap` and `logit_softcap` are keys: attention scores are divided by the square root of the
    first one instead of head_dim's; the others are soft caps of scores and of logits, null for none. With
    `multipliers`, the four keys `GRANITE_MULTIPLIERS` scale embeddings, scores, the layers' outputs and logits.

    `windows` are the layers with a sliding window, None for a family without. `local_theta` is the key of the base of
    the rotation of these layers, which then is not scaled. With `unrotated_layers`, some layers do not rotate. With
    `partial_rotation`, a file may ask for the rotation of a part of each head. `experts`: None for families without.
    With `sinks`, each head has one more score, learnt, that joins its softmax without a value. With `latent`, attention
    reads a latent of each token (`latent_spec`).

    `neutral` are keys of `config.json`, each with the only values that this computation supports. `drafting` is the key
    of the number of layers past the last one that a checkpoint may have, for drafts; they are not read.

    With `vision`, the model reads images by an encoder of this kind: the file has the keys of the language half at the
    top or in `text_config`, and `vision_config`. With `interleaves`, neighbouring pairs of a head rotate by different
    positions of an image, else a run of pairs by the same one (`rope_spec`). `prefixes` are other beginnings of names
    in a checkpoint, with those that are used here.
    """

    name: str
    architecture: str
    examples: str
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    qk_norm: Literal["head", "whole"] | None = None
    head_dim: int | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    linears: Mapping[str, str] = field(default_factory=lambda: LINEARS)
    norms: Mapping[str, str] = field(default_factory=lambda: PRE_NORMS)
    norm_offset: float = 0.0
    activation: str = "hidden_act"
    embedding_scale: Callable[[int], float] | None = None
    query_scalar: str | None = None
    score_softcap: str | None = None
    logit_softcap: str | None = None
    multipliers: bool = False
    windows: Windows | None = None
    local_theta: str | None = None
    unrotated_layers: bool = False
    partial_rotation: bool = False
    experts: ExpertLayout | None = None
    sinks: bool = False
    latent: bool = False
    neutral: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    drafting: str | None = None
    vision: EncoderKind | None = None
    interleaves: bool = False
    prefixes: tuple[tuple[str, str], ...] = ()

    @property
    def cpu_only(self) -> bool:
        """Whether only a CPU has attention of this kind."""
        return self.latent

    @property
    def read_keys(self) -> frozenset[str]:
        """Keys that change the computation of few families, and that this one reads."""
        keys = {key for key in (self.score_softcap, self.logit_softcap) if key is not None}
        if self.multipliers:
            keys.update(GRANITE_MULTIPLIERS)
        if self.partial_rotation:
            keys.add("partial_rotary_factor")
        if self.experts is not None:
            keys.add(self.experts.count)
        return frozenset(keys)


GRANITE_MULTIPLIERS = (
    "embedding_multiplier",
    "attention_multiplier",
    "residual_multiplier",
    "logits_scaling",
)
"""Keys of `config.json`: factors of embeddings, of attention scores (instead of `1 / sqrt(head_dim)`) and of what
attention and MLP add to the residual; the divisor of logits."""

CORRECTION = ".e_score_correction_bias"
"""The suffix of a router's name: what is added to the scores of experts, for the choice alone."""

NAMED_EXPERTS = {
    "gate": "model.layers.{i}.mlp.experts.{e}.gate_proj",
    "up": "model.layers.{i}.mlp.experts.{e}.up_proj",
    "down": "model.layers.{i}.mlp.experts.{e}.down_proj",
}

STACKED_EXPERTS = {
    "gate_up": "model.layers.{i}.mlp.experts.gate_up_proj",
    "down": "model.layers.{i}.mlp.experts.down_proj",
}

# Names in a checkpoint, by part of the decoder. `{i}` is the layer. For the norms of layers see `Family.norms`.
EMBEDDING = "model.embed_tokens"
FINAL_NORM = "model.norm"
HEAD = "lm_head"
QUERY_NORM = "model.layers.{i}.self_attn.q_norm"
KEY_NORM = "model.layers.{i}.self_attn.k_norm"
SINKS = "model.layers.{i}.self_attn.sinks"
LATENT_NORM = "model.layers.{i}.self_attn.kv_a_layernorm"
QUERY_LATENT_NORM = "model.layers.{i}.self_attn.q_a_layernorm"

# Suffixes of tensors in old checkpoints that are computed, not learnt.
DERIVED = ("rotary_emb.inv_freq",)

# Suffixes of the scales for keys and values in 8 bits, which quantised checkpoints may hold and which are not used.
KV_SCALES = (".k_scale", ".v_scale")
