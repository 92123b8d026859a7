"""The settings of a low-rank adapter (LoRA), read from `adapter_config.json` as the library PEFT writes it.

Does: read rank, scale and target modules; refuse adapters of other kinds by the name of the key. Does not: open
weights, or know the model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from ..errors import AdapterUnusable, ModelError
from .checkpoint_json import read_object
from .config_values import ConfigValues

CONFIG = "adapter_config.json"
LARGEST_RANK = 1024
ALL_LINEAR = "all-linear"

# Keys that change neither the tensors nor the product.
_UNREAD = frozenset(
    (
        *("base_model_name_or_path", "revision", "task_type", "inference_mode", "auto_mapping"),
        *("lora_dropout", "layers_pattern", "peft_version", "megatron_core", "loftq_config"),
        *("eva_config", "qalora_group_size", "ensure_weight_tying", "lora_alpha", "r"),
        *("use_rslora", "target_modules", "layers_to_transform", "init_lora_weights", "peft_type"),
    )
)

_REASONS: Mapping[str, str] = {
    "use_dora": "DoRA normalises whole weights, which are shared with other requests",
    "modules_to_save": "whole modules replace those of the model",
    "bias": "trained biases replace those of the model",
    "lora_bias": "trained biases are added to those of the model",
    "rank_pattern": "all matrices must have one rank",
    "alpha_pattern": "all matrices must have one scale",
    "fan_in_fan_out": "matrices are transposed",
    "layer_replication": "layers are repeated",
    "trainable_token_indices": "rows of the embedding are replaced",
}

_BASE_CHANGED = ("pissa", "olora", "loftq", "corda")
"""Initialisations that change the weights of the base model, which the adapter's own files then fit no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """An adapter's `rank`, and the `scale` of its product.

    `targets` are the last names of the adapted modules, or a pattern of their whole names; `layers` the indices of the
    adapted layers, None for all.
    """

    rank: int
    scale: float
    targets: tuple[str, ...] | re.Pattern[str]
    layers: frozenset[int] | None

    def adapts(self, module: str, layer: int) -> bool:
        """Whether the adapter has matrices for this module of this layer."""
        if self.layers is not None and layer not in self.layers:
            return False
        if isinstance(self.targets, re.Pattern):
            return self.targets.fullmatch(module) is not None
        return ALL_LINEAR in self.targets or any(
            module == target or module.endswith("." + target) for target in self.targets
        )


def read_adapter_config(folder: Path) -> AdapterConfig:
    """The settings of the adapter in `folder`.

    Raises:
        AdapterUnusable: the file cannot be read, or asks for something unsupported; `where` is the key.
    """
    try:
        raw = read_object(folder / CONFIG)
        return _parsed(raw)
    except ModelError as error:
        raise AdapterUnusable(error.message, where=error.where, hint=error.hint) from error


def _parsed(raw: Mapping[str, Any]) -> AdapterConfig:
    config = ConfigValues(raw)
    kind = raw.get("peft_type")
    if kind != "LORA":
        raise AdapterUnusable(
            f"adapters of the kind {kind!r} are not supported",
            where="peft_type",
            hint="train a LoRA adapter, or merge this one into the model",
        )
    for key, value in raw.items():
        if key not in _UNREAD and value not in (None, False, "none", {}, []):
            raise _unsupported(key, value)
    start = raw.get("init_lora_weights")
    if isinstance(start, str) and start.lower().startswith(_BASE_CHANGED):
        raise AdapterUnusable(
            f"init_lora_weights {start!r} changed the weights of the base model as well",
            where="init_lora_weights",
            hint="save the adapter with path_initial_model_for_weight_conversion, as PEFT describes",
        )
    rank = config.count("r", most=LARGEST_RANK)
    alpha = config.number("lora_alpha", 8.0)
    rescaled = config.flag("use_rslora", default=False)
    return AdapterConfig(
        rank=rank,
        scale=alpha / (sqrt(rank) if rescaled else rank),
        targets=_targets(raw.get("target_modules")),
        layers=_layers(raw.get("layers_to_transform")),
    )


def _unsupported(key: str, value: object) -> AdapterUnusable:
    reason = _REASONS.get(key, "this key is not known")
    return AdapterUnusable(
        f"{key} {value!r} is not supported: {reason}",
        where=key,
        hint="merge the adapter into the model, or train it without",
    )


def _targets(value: object) -> tuple[str, ...] | re.Pattern[str]:
    if isinstance(value, str) and value and value != ALL_LINEAR:
        try:
            return re.compile(value)
        except re.error as error:
            raise AdapterUnusable(
                f"target_modules {value!r} is no pattern: {error}", where="target_modules"
            ) from error
    names: Sequence[object] = (
        [value] if isinstance(value, str) else value if isinstance(value, list) else ()
    )
    named = tuple(name for name in names if isinstance(name, str) and name)
    if not named or len(named) != len(names):
        raise AdapterUnusable(
            f"target_modules must name modules, not {value!r}", where="target_modules"
        )
    return named


def _layers(value: object) -> frozenset[int] | None:
    if value is None:
        return None
    found = value if isinstance(value, list) else [value]
    numbers = frozenset(layer for layer in found if type(layer) is int and layer >= 0)
    if not numbers or len(numbers) != len(found):
        raise AdapterUnusable(
            f"layers_to_transform must hold indices of layers, not {value!r}",
            where="layers_to_transform",
        )
    return numbers
