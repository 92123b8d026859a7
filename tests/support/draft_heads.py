"""Small draft heads on disk in the form of published EAGLE-3 heads, for small checkpoints (`tiny_checkpoint`)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.model.head_files import expected_head_tensors
from intaglio.engine.model.head_spec import HeadSpec, parse_head_spec
from intaglio.engine.model.spec import parse_spec
from safetensors.torch import save_file

from tests.support.tiny_checkpoint import QWEN3

TARGET: dict[str, Any] = {**QWEN3, "num_hidden_layers": 3}

HEAD: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "vocab_size": 300,
    "draft_vocab_size": 120,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "eagle_aux_hidden_state_layer_ids": [0, 1, 2],
}


def head_spec(config: Mapping[str, Any] = HEAD, target: Mapping[str, Any] = TARGET) -> HeadSpec:
    """The spec of a head of this config for a model of this one."""
    return parse_head_spec(config, parse_spec(target))


def head_weights(spec: HeadSpec, seed: int = 0) -> dict[str, torch.Tensor]:
    """Random tensors of a head.

    Its draft vocabulary is every other token, and the end token of `tiny_checkpoint`, or all tokens.
    """
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for name, stored in expected_head_tensors(spec).items():
        if stored.dtype is None and not stored.optional:
            shape = stored.shape
            scale = 0.2 if len(shape) == 1 else 2.0 / shape[1] ** 0.5
            found[name] = torch.randn(shape, generator=generator) * scale + (len(shape) == 1)
    tokens = torch.arange(spec.draft_vocab)
    if len(tokens) < spec.layer.vocab_size:
        tokens = tokens * 2
        tokens[-1] = 257
    among = torch.zeros(spec.layer.vocab_size, dtype=torch.bool)
    among[tokens] = True
    return found | {"d2t": tokens - torch.arange(spec.draft_vocab), "t2d": among}


def write_head(
    folder: Path,
    config: Mapping[str, Any] = HEAD,
    weights: Mapping[str, torch.Tensor] | None = None,
) -> Path:
    """Write a head's folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = head_weights(head_spec(config)) if weights is None else weights
    save_file(dict(tensors), folder / "model.safetensors")
    return folder
