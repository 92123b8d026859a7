"""Small low-rank adapters on disk in PEFT's format, and their merged checkpoints."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.model.adapter_layout import AdapterLayout
from intaglio.engine.model.spec import parse_spec
from safetensors.torch import save_file
from torch import Tensor

PREFIX = "base_model.model."


def adapter_tensors(
    config: Mapping[str, Any], rank: int = 4, seed: int = 0, strength: float = 0.6
) -> dict[str, Tensor]:
    """Random matrices for all linear layers of a model, strong enough to change its tokens."""
    generator = torch.Generator().manual_seed(1000 + seed)
    tensors = {}
    for product in AdapterLayout(parse_spec(config), rank).products:
        for part in product.parts:
            down = torch.randn((rank, part.inputs), generator=generator) / part.inputs**0.5
            up = torch.randn((part.outputs, rank), generator=generator) * strength
            tensors[PREFIX + part.module + ".lora_A.weight"] = down
            tensors[PREFIX + part.module + ".lora_B.weight"] = up
    return tensors


def adapter_settings(config: Mapping[str, Any], rank: int = 4, **changes: Any) -> dict[str, Any]:
    """The file `adapter_config.json` for all linear layers, as PEFT writes it."""
    modules = AdapterLayout(parse_spec(config), rank).modules
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "tiny",
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "use_dora": False,
        "use_rslora": False,
        "init_lora_weights": True,
        "modules_to_save": None,
        "rank_pattern": {},
        "alpha_pattern": {},
        "inference_mode": True,
        "target_modules": sorted({name.rpartition(".")[2] for name in modules}),
        **changes,
    }


def write_adapter(
    folder: Path,
    config: Mapping[str, Any],
    *,
    rank: int = 4,
    seed: int = 0,
    tensors: Mapping[str, Tensor] | None = None,
    **changes: Any,
) -> Path:
    """Write an adapter's folder for a model of this config and return it; `changes` are those of its settings."""
    folder.mkdir(parents=True, exist_ok=True)
    found = adapter_tensors(config, rank, seed) if tensors is None else dict(tensors)
    settings = adapter_settings(config, rank, **changes)
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    save_file(found, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    return folder


def merged_weights(
    weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor], scale: float
) -> dict[str, Tensor]:
    """The checkpoint's weights with the products of an adapter added."""
    merged = dict(weights)
    for name, down in adapter.items():
        if name.endswith(".lora_A.weight"):
            module = name.removeprefix(PREFIX).removesuffix(".lora_A.weight")
            up = adapter[PREFIX + module + ".lora_B.weight"]
            product = scale * (up.double() @ down.double())
            key = module + ".weight"
            merged[key] = (weights[key].double() + product).to(weights[key].dtype)
    return merged
