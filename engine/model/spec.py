"""The specification of a model, read from its `config.json`.

Does: convert the file to a frozen `ModelSpec`, and refuse features that the decoder does not support, by their key.
Does not: open weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.kernels.contracts import Activation, ScoreScaling

from ..errors import ModelError
from .attention_kinds import AttentionKind, read_kinds
from .checkpoint_json import read_object
from .config_values import MOST_PARTS, ConfigValues
from .expert_spec import ExpertSpec, read_experts
from .families import BY_ARCHITECTURE
from .family import Family
from .latent_spec import LatentSpec, read_latent
from .schemes.published import published_schemes
from .schemes.scheme import Schemes
from .stacked_experts import StackedExperts
from .unloadable import LOADABLE
from .vision_spec import VisionSpec, read_vision

# Keys that change the computation of a model and that no family here uses: all other values are refused.
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "partial_rotary_factor": (None, 1, 1.0),
    "logit_scale": (None, 1, 1.0),
    "final_logit_softcapping": (None,),
    "attn_logit_softcapping": (None,),
    "residual_multiplier": (None, 1, 1.0),
    "embedding_multiplier": (None, 1, 1.0),
    "attention_multiplier": (None,),
    "logits_scaling": (None, 1, 1.0),
    "num_experts": (None, 0),
    "num_local_experts": (None, 0),
    "clip_qkv": (None,),
    "is_encoder_decoder": (None, False),
    "use_bidirectional_attention": (None, False),
}

ACTIVATIONS = {
    "silu": Activation.SILU,
    "swish": Activation.SILU,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model without its weights. Sizes are in elements; `dtype` is the checkpoint's.

    `kinds` are the rotation and the window of each layer. `embedding_scale` multiplies looked-up embeddings,
    `residual_scale` the outputs of attention and MLP before they are added; logits are divided by `logit_divisor`, and
    `logit_softcap` caps them, see `kernels.contracts.Logits`. `schemes` are the quantisation schemes of the layers'
    matrices. `vision` is the encoder of images; None for a model that reads none.

    With `latent` attention, `kv_heads` and `head_dim` are those that it keeps: one head of the latent's width.
    `drafting_layers` past the last one are not read.
    """

    family: Family
    vocab_size: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    norm_eps: float
    kinds: tuple[AttentionKind, ...]
    max_positions: int
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    dtype: str
    activation: Activation
    scores: ScoreScaling
    embedding_scale: float | None
    residual_scale: float | None
    logit_divisor: float | None
    logit_softcap: float | None
    schemes: Schemes
    experts: ExpertSpec | None
    vision: VisionSpec | None
    latent: LatentSpec | None = None
    drafting_layers: int = 0

    def mixes(self, i: int) -> ExpertSpec | None:
        """The experts of layer `i`; None if it has an MLP."""
        return self.experts if self.experts is not None and self.experts.layers[i] else None

    def stacked(self, i: int) -> StackedExperts | None:
        """The experts of layer `i` where a checkpoint has them in one tensor."""
        layout, experts = self.family.experts, self.mixes(i)
        if experts is None or layout is None or layout.stacked is None:
            return None
        return StackedExperts(layout, layout.stacked, experts, self.schemes, self.hidden, i)

    @property
    def window(self) -> int | None:
        """The smallest sliding window of a layer, in tokens; None if no layer has one."""
        return min((kind.window for kind in self.kinds if kind.window is not None), default=None)

    @property
    def kv_planes(self) -> int:
        """The tensors that are kept of each token: keys and values, or keys that are the values as well."""
        return 2 if self.latent is None else 1

    @property
    def rotary_dim(self) -> int:
        """The elements of a head that the table of rotations covers: the last ones."""
        return self.head_dim if self.latent is None else self.latent.rotated

    def kv_block_bytes(self, block_size: int, element_bytes: int) -> int:
        """Bytes of one block in all layers."""
        token = self.kv_planes * self.kv_heads * self.head_dim * element_bytes
        return self.layers * block_size * token


def read_spec(folder: Path) -> ModelSpec:
    """The spec of the checkpoint in `folder`. Raises `ModelError`, with the key in `where`."""
    return parse_spec(read_object(folder / "config.json"))


def parse_spec(raw: Mapping[str, Any]) -> ModelSpec:
    """`read_spec` for the parsed file."""
    family = _family(raw)
    if family.vision is not None:
        raw = _joined_halves(raw)
    config = ConfigValues({**family.defaults, **raw})
    for key, allowed in {**NEUTRAL, **family.neutral}.items():
        if key in raw and raw[key] not in allowed and key not in family.read_keys:
            raise ModelError(f"{key} {raw[key]!r} is not supported", where=key)
    layers = config.count("num_hidden_layers", most=MOST_PARTS)
    heads = config.count("num_attention_heads")
    hidden = config.count("hidden_size")
    latent = read_latent(config, heads) if family.latent else None
    if latent is not None:
        kv_heads, head_dim, rotated = 1, latent.width, latent.rotated
    else:
        kv_heads = config.count("num_key_value_heads", heads)
        head_dim = rotated = _head_dim(family, config, hidden, heads, kv_heads)
    positions = config.count("max_position_embeddings", 2048)
    kinds = read_kinds(family, config, layers, rotated, positions)
    activation = _activation(family, config)
    multipliers = config if family.multipliers else ConfigValues({})
    stack = None if family.experts is None else family.experts.stacked
    return ModelSpec(
        family=family,
        vocab_size=config.count("vocab_size"),
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn=config.count("intermediate_size"),
        norm_eps=config.number("rms_norm_eps", 1e-6),
        kinds=kinds,
        max_positions=_stretched(kinds, positions),
        tied=config.flag("tie_word_embeddings", default=False),
        qkv_bias=_bias(family.qkv_bias, config),
        output_bias=_bias(family.output_bias, config),
        mlp_bias=_bias(family.mlp_bias, config),
        dtype=str(raw.get("dtype") or raw.get("torch_dtype") or "float32"),
        activation=activation,
        scores=_scores(family, config) if latent is None else latent.scores(kinds[0].rope),
        embedding_scale=family.embedding_scale(hidden)
        if family.embedding_scale
        else multipliers.optional_number("embedding_multiplier"),
        residual_scale=multipliers.optional_number("residual_multiplier"),
        logit_divisor=multipliers.optional_number("logits_scaling"),
        logit_softcap=config.optional_number(family.logit_softcap),
        schemes=published_schemes(
            raw.get("quantization_config"),
            stacked=stack is not None,
            mxfp4=stack is not None and stack.mxfp4,
        ),
        experts=None
        if family.experts is None
        else read_experts(family.experts, config, layers, activation),
        vision=None if family.vision is None else read_vision(family.vision, raw, hidden, layers),
        latent=latent,
        drafting_layers=0 if family.drafting is None else config.whole(family.drafting, 0),
    )


def _joined_halves(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The file with the keys of its language half at the top, where older files have them."""
    text = raw.get("text_config") or {}
    if not isinstance(text, dict):
        raise ModelError(f"text_config must be an object, not {text!r}", where="text_config")
    return {**text, **{key: value for key, value in raw.items() if key != "text_config"}}


def _head_dim(family: Family, config: ConfigValues, hidden: int, heads: int, kv_heads: int) -> int:
    """The size of a head, checked for rotation, and the numbers of heads for each other."""
    default = family.head_dim if family.head_dim is not None else hidden // heads
    head_dim = config.count("head_dim", default)
    if heads % kv_heads:
        raise ModelError(
            f"{heads} query heads cannot share {kv_heads} key heads", where="num_key_value_heads"
        )
    if head_dim % 2:
        raise ModelError(f"head_dim {head_dim} is odd; rotation needs pairs", where="head_dim")
    return head_dim


def _stretched(kinds: tuple[AttentionKind, ...], positions: int) -> int:
    """The context: `positions`, or what YaRN makes of the original context, where that is more."""
    ropes = [kind.rope for kind in kinds if kind.rope.type == "yarn"]
    reach = [
        int(rope.params["factor"] * rope.params["original_max_position_embeddings"])
        for rope in ropes
    ]
    return max(positions, *reach) if reach and len(ropes) == len(kinds) else positions


def _family(raw: Mapping[str, Any]) -> Family:
    names = raw.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise ModelError(f"architectures must name one model, not {names!r}", where="architectures")
    family = BY_ARCHITECTURE.get(names[0])
    if family is None:
        raise ModelError(
            f"architecture {names[0]!r} is not supported",
            where="architectures",
            hint=f"supported are {', '.join(BY_ARCHITECTURE)}. {LOADABLE}",
        )
    return family


def _bias(rule: bool | str, config: ConfigValues) -> bool:
    return rule if isinstance(rule, bool) else config.flag(rule, default=False)


def _activation(family: Family, config: ConfigValues) -> Activation:
    key = family.activation
    name = config.values.get(key)
    name = family.defaults.get(key, "silu") if name is None else name
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ModelError(
            f"{key} {name!r} is not supported",
            where=key,
            hint="supported are " + ", ".join(ACTIVATIONS),
        )
    return ACTIVATIONS[name]


def _scores(family: Family, config: ConfigValues) -> ScoreScaling:
    key, scale = family.query_scalar, None
    if key is not None:
        scale = config.number(key, family.defaults[key]) ** -0.5
    if family.multipliers:
        scale = config.number("attention_multiplier", 1.0)
    return ScoreScaling(scale, config.optional_number(family.score_softcap))
