"""The specification of a draft head in EAGLE-3's form (Li et al. 2025), read from its `config.json`.

Does: read the sizes of published heads, compare them with those of the target, and refuse what the head's pass does not
have, by key. Does not: open weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import ModelError
from .checkpoint_json import read_object
from .config_values import ConfigValues
from .schemes.scheme import Uniform
from .spec import ModelSpec, parse_spec

ARCHITECTURES: Final = ("LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM")
STREAMS: Final = 3
_LAYER_IDS: Final = "eagle_aux_hidden_state_layer_ids"

NEUTRAL: Final[Mapping[str, tuple[object, ...]]] = {
    "num_hidden_layers": (None, 1),
    "fc_norm": (None, False),
    "norm_output": (None, False),
    "bias": (None, False),
    "qkv_bias": (None, False),
    "attention_bias": (None, False),
    "mlp_bias": (None, False),
    "parallel_drafting": (None, False),
    "logit_scale": (None, 1, 1.0),
}
"""Keys that would change the head's pass: all other values are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSpec:
    """A draft head without its weights.

    `layer` is its only layer, as a Llama model of the target's vocabulary. It predicts `draft_vocab` tokens, and merges
    the streams of width `stream` that enter the target's layers `layers`. With `normed_residual` its own residual
    stream begins normed.
    """

    layer: ModelSpec
    draft_vocab: int
    stream: int
    layers: tuple[int, ...]
    normed_residual: bool

    @property
    def hidden(self) -> int:
        """The width of its residual stream."""
        return self.layer.hidden


def is_head(folder: Path) -> bool:
    """Whether `folder` has the configuration of a draft head. One that cannot be read is none."""
    try:
        found = read_object(folder / "config.json")
    except ModelError:
        return False
    return found.get("architectures") in [[name] for name in ARCHITECTURES]


def read_head_spec(folder: Path, target: ModelSpec) -> HeadSpec:
    """The spec of the head in `folder` for the model `target`. Raises `ModelError`, with the key in `where`."""
    return parse_head_spec(read_object(folder / "config.json"), target)


def parse_head_spec(raw: Mapping[str, Any], target: ModelSpec) -> HeadSpec:
    """`read_head_spec` for the parsed file."""
    if raw.get("architectures") not in [[name] for name in ARCHITECTURES]:
        raise ModelError(
            f"architectures {raw.get('architectures')!r} is not a draft head",
            where="architectures",
            hint="supported are " + ", ".join(ARCHITECTURES),
        )
    for key, allowed in NEUTRAL.items():
        if raw.get(key) not in allowed:
            raise ModelError(f"{key} {raw[key]!r} is not supported in a draft head", where=key)
    layer = parse_spec(
        {**raw, "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1, "layer_types": None}
    )
    if layer.schemes != Uniform():
        raise ModelError("a quantised draft head is not supported", where="quantization_config")
    if layer.vocab_size != target.vocab_size:
        raise ModelError(
            f"the head is for {layer.vocab_size} tokens, the model has {target.vocab_size}",
            where="vocab_size",
        )
    config = ConfigValues(raw)
    draft_vocab = config.count("draft_vocab_size", layer.vocab_size, most=layer.vocab_size)
    stream = config.count("target_hidden_size", layer.hidden)
    if stream != target.hidden:
        raise ModelError(
            f"the head reads states of width {stream}, those of the model have {target.hidden}",
            where="hidden_size" if raw.get("target_hidden_size") is None else "target_hidden_size",
        )
    return HeadSpec(
        layer=layer,
        draft_vocab=draft_vocab,
        stream=stream,
        layers=_layers(raw, target.layers),
        normed_residual=config.flag("norm_before_residual", default=False),
    )


def _layers(raw: Mapping[str, Any], count: int) -> tuple[int, ...]:
    """The numbers of the target's layers with an input that is merged.

    Within `eagle_config`, a file names the layers before them, which have this as their output; at the top, these
    layers themselves. Without either: the third layer, the middle one and the third last, as all trainers have it.
    """
    inner = raw.get("eagle_config")
    if inner is not None and not isinstance(inner, dict):
        raise ModelError(f"eagle_config must be an object, not {inner!r}", where="eagle_config")
    if (inner or {}).get("use_aux_hidden_state", True) is not True:
        raise ModelError(
            "a head that reads the last state alone is not supported",
            where="eagle_config/use_aux_hidden_state",
        )
    where, later = _LAYER_IDS, 0
    given = raw.get(_LAYER_IDS)
    if given is None and (inner or {}).get(_LAYER_IDS) is not None:
        assert inner is not None
        where, later, given = f"eagle_config/{_LAYER_IDS}", 1, inner[_LAYER_IDS]
    if given is None:
        given = [2, count // 2, count - 3]
    numbers = given if isinstance(given, list) else []
    found = tuple(number + later for number in numbers if type(number) is int)
    in_order = sorted(set(found)) == list(found) and all(0 <= number < count for number in found)
    if len(found) != STREAMS or len(numbers) != STREAMS or not in_order:
        raise ModelError(
            f"a draft head reads {STREAMS} layers of the model in ascending order, and {given!r} are not such "
            f"layers of {count}",
            where=where,
        )
    return found
