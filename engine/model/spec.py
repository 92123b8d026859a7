"""The specification of a model, read from its `config.json`.

Does: convert the file to a frozen `ModelSpec`, and refuse features that the decoder does not support, by their key.
Does not: open weights.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.kernels.contracts import Activation, ScoreScaling

from ..errors import ModelError
from .families import BY_ARCHITECTURE, Family
from .schemes.scheme import Dense, Scheme
from .unloadable import LOADABLE

# Keys that change the computation of a model and that no family here uses: all other values are refused.
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "quantization_config": (None,),
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
    "is_encoder_decoder": (None, False),
    "use_bidirectional_attention": (None, False),
}

ACTIVATIONS = {
    "silu": Activation.SILU,
    "swish": Activation.SILU,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
}

ROPE_TYPES = ("default", "linear", "dynamic", "llama3", "yarn")


@dataclass(frozen=True, slots=True)
class RopeSpec:
    """Rotary embedding. `type` is one of `ROPE_TYPES`; `params` are the parameters of the scaling, as in the file."""

    type: str
    theta: float
    params: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model without its weights. Sizes are in elements; `dtype` is the checkpoint's.

    `max_positions` is `window` if layers of the model have a sliding window. `embedding_scale` multiplies looked-up
    embeddings; `logit_softcap` caps logits, see `kernels.contracts.Logits`. `scheme` is the quantisation scheme of the
    layers' matrices.
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
    rope: RopeSpec
    max_positions: int
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    dtype: str
    activation: Activation
    scores: ScoreScaling
    embedding_scale: float | None
    logit_softcap: float | None
    window: int | None
    scheme: Scheme

    def kv_block_bytes(self, block_size: int, element_bytes: int) -> int:
        """Bytes of one block in all layers."""
        return 2 * self.layers * block_size * self.kv_heads * self.head_dim * element_bytes


def read_spec(folder: Path) -> ModelSpec:
    """The spec of the checkpoint in `folder`. Raises `ModelError`, with the key in `where`."""
    path = folder / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"there is no {path}", where=str(path)) from error
    except (ValueError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
    if not isinstance(raw, dict):
        raise ModelError(f"{path} is not a JSON object", where=str(path))
    return parse_spec(raw)


def parse_spec(raw: Mapping[str, Any]) -> ModelSpec:
    """`read_spec` for the parsed file."""
    family = _family(raw)
    config = _Config({**family.defaults, **raw})
    read = (family.score_softcap, family.logit_softcap)
    for key, allowed in NEUTRAL.items():
        if key in raw and raw[key] not in allowed and key not in read:
            raise ModelError(f"{key} {raw[key]!r} is not supported", where=key)
    positions = config.count("max_position_embeddings", 2048)
    window = _window(family, config, positions)
    heads = config.count("num_attention_heads")
    hidden = config.count("hidden_size")
    kv_heads = config.count("num_key_value_heads", heads)
    default_dim = family.head_dim if family.head_dim is not None else hidden // heads
    head_dim = config.count("head_dim", default_dim)
    if heads % kv_heads:
        raise ModelError(
            f"{heads} query heads cannot share {kv_heads} key heads", where="num_key_value_heads"
        )
    if head_dim % 2:
        raise ModelError(f"head_dim {head_dim} is odd; rotation needs pairs", where="head_dim")
    return ModelSpec(
        family=family,
        vocab_size=config.count("vocab_size"),
        hidden=hidden,
        layers=config.count("num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn=config.count("intermediate_size"),
        norm_eps=config.number("rms_norm_eps", 1e-6),
        rope=_rope(config, positions),
        max_positions=positions if window is None else window,
        tied=config.flag("tie_word_embeddings", default=False),
        qkv_bias=_bias(family.qkv_bias, config),
        output_bias=_bias(family.output_bias, config),
        mlp_bias=_bias(family.mlp_bias, config),
        dtype=str(raw.get("dtype") or raw.get("torch_dtype") or "float32"),
        activation=_activation(family, config),
        scores=_scores(family, config),
        embedding_scale=family.embedding_scale(hidden) if family.embedding_scale else None,
        logit_softcap=config.optional_number(family.logit_softcap),
        window=window,
        scheme=Dense(),
    )


@dataclass(frozen=True, slots=True)
class _Config:
    """Typed reads of the parsed file. A key that is null counts as absent."""

    values: Mapping[str, Any]

    def count(self, key: str, default: int | None = None) -> int:
        """A positive integer."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not int or value < 1:
            raise ModelError(f"{key} must be a positive integer, not {value!r}", where=key)
        return value

    def optional_count(self, key: str | None) -> int | None:
        """A positive integer; None where the key is null, absent, or None."""
        if key is None or self.values.get(key) is None:
            return None
        return self.count(key)

    def number(self, key: str, default: float) -> float:
        """A finite number above zero."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) not in (int, float) or not 0 < value < float("inf"):
            raise ModelError(f"{key} must be a positive number, not {value!r}", where=key)
        return float(value)

    def optional_number(self, key: str | None) -> float | None:
        """A finite number above zero; None where the key is null, absent, or None."""
        if key is None or self.values.get(key) is None:
            return None
        return self.number(key, 0.0)

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not bool:
            raise ModelError(f"{key} must be true or false, not {value!r}", where=key)
        return value


def _family(raw: Mapping[str, Any]) -> Family:
    names = raw.get("architectures")
    if not isinstance(names, list) or len(names) != 1:
        raise ModelError(f"architectures must name one model, not {names!r}", where="architectures")
    family = BY_ARCHITECTURE.get(names[0])
    if family is None:
        raise ModelError(
            f"architecture {names[0]!r} is not supported",
            where="architectures",
            hint=f"supported are {', '.join(BY_ARCHITECTURE)}. {LOADABLE}",
        )
    return family


def _bias(rule: bool | str, config: _Config) -> bool:
    return rule if isinstance(rule, bool) else config.flag(rule, default=False)


def _activation(family: Family, config: _Config) -> Activation:
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


def _scores(family: Family, config: _Config) -> ScoreScaling:
    key, scale = family.query_scalar, None
    if key is not None:
        scale = config.number(key, family.defaults[key]) ** -0.5
    return ScoreScaling(scale, config.optional_number(family.score_softcap))


def _window(family: Family, config: _Config, positions: int) -> int | None:
    """The sliding window that limits the context, in tokens; None if no layer has one below `positions`.

    A window below the context needs attention masks and a KV cache policy that the engine does not have: it is refused,
    unless the family's context ends at the window.
    """
    raw = config.values
    window = raw.get(family.sliding_window) if family.sliding_window is not None else None
    kinds = raw.get("layer_types")
    if family.within_window and set(kinds or ()) <= {"sliding_attention", "full_attention"}:
        width = config.optional_count(family.sliding_window)
        sliding = kinds is None or "sliding_attention" in kinds
        return width if sliding and width is not None and width < positions else None
    if window is True or (type(window) is int and window < positions):
        raise ModelError(
            "sliding-window attention is not supported",
            where=str(family.sliding_window),
            hint="the window is in use in this checkpoint; full attention would change its output",
        )
    if any(kind != "full_attention" for kind in kinds or ()):
        raise ModelError(
            "only layers with full attention are supported",
            where="layer_types",
            hint=f"found {sorted(set(raw['layer_types']))}",
        )
    return None


def _rope(config: _Config, positions: int) -> RopeSpec:
    """Rotation from `rope_parameters` (newer files) or `rope_theta` and `rope_scaling`."""
    raw = config.values
    newer = raw.get("rope_parameters")
    where = "rope_parameters" if newer is not None else "rope_scaling"
    given = newer if newer is not None else raw.get("rope_scaling") or {}
    if not isinstance(given, dict):
        raise ModelError(f"{where} must be an object, not {given!r}", where=where)
    kind = given.get("rope_type", given.get("type", "default"))
    if kind not in ROPE_TYPES:
        raise ModelError(
            f"rope type {kind!r} is not supported",
            where=where,
            hint="supported are " + ", ".join(ROPE_TYPES),
        )
    if given.get("partial_rotary_factor") not in (None, 1, 1.0):
        raise ModelError(
            "partial rotation is not supported", where=f"{where}/partial_rotary_factor"
        )
    theta = given.get("rope_theta", raw.get("rope_theta"))
    numbers = {
        key: value
        for key, value in given.items()
        if key not in ("rope_type", "type", "rope_theta", "partial_rotary_factor")
        and value is not None
    }
    for key, value in numbers.items():
        if type(value) not in (int, float, bool):
            raise ModelError(f"{key} must be a number, not {value!r}", where=f"{where}/{key}")
    needs = {
        "linear": ("factor",),
        "dynamic": ("factor",),
        "yarn": ("factor",),
        "llama3": (
            "factor",
            "low_freq_factor",
            "high_freq_factor",
            "original_max_position_embeddings",
        ),
    }
    for key in needs.get(kind, ()):
        if key not in numbers:
            raise ModelError(f"rope type {kind!r} needs {key}", where=f"{where}/{key}")
    numbers.setdefault("original_max_position_embeddings", positions)
    return RopeSpec(kind, _Config({"rope_theta": theta}).number("rope_theta", 10000.0), numbers)
