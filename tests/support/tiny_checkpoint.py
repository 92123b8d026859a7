"""Small checkpoints on disk in the form of real ones, made in milliseconds.

`write_checkpoint` makes a folder with `config.json`, safetensors (single or sharded) and a byte-level `tokenizer.json`,
so that the loader, the engine and the whole service run on it without a download.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.spec import parse_spec
from safetensors.torch import save_file

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128,
    },
    "hidden_act": "silu",
    "attention_bias": True,
    "mlp_bias": True,
    "tie_word_embeddings": False,
    "eos_token_id": 257,
    "bos_token_id": 256,
}

MISTRAL: dict[str, Any] = {
    **{k: v for k, v in LLAMA.items() if k not in ("rope_scaling", "attention_bias", "mlp_bias")},
    "architectures": ["MistralForCausalLM"],
    "model_type": "mistral",
    "head_dim": 32,
    "sliding_window": None,
}

QWEN2: dict[str, Any] = {
    **{k: v for k, v in LLAMA.items() if k not in ("rope_scaling", "attention_bias", "mlp_bias")},
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "rope_theta": 10000.0,
    "use_sliding_window": False,
    "tie_word_embeddings": True,
}

QWEN3: dict[str, Any] = {
    **QWEN2,
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "head_dim": 32,
    "num_attention_heads": 6,
    "attention_bias": False,
}

# Soft caps are low and the query scalar is not head_dim, so that leaving one out changes the output.
GEMMA2: dict[str, Any] = {
    **{k: v for k, v in MISTRAL.items() if k not in ("hidden_act", "tie_word_embeddings")},
    "architectures": ["Gemma2ForCausalLM"],
    "model_type": "gemma2",
    "num_hidden_layers": 3,
    "rope_theta": 10000.0,
    "hidden_activation": "gelu_pytorch_tanh",
    "sliding_window": 512,
    "query_pre_attn_scalar": 24,
    "attn_logit_softcapping": 5.0,
    "final_logit_softcapping": 12.0,
}

BYTES = 256
SPECIALS = ("<|begin|>", "<|end|>", "<|pad|>")


def random_weights(config: Mapping[str, Any], seed: int = 0) -> dict[str, torch.Tensor]:
    """Tensors of a model of this config. Logits spread widely, so that the largest one is never a near tie."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    spec = parse_spec(config)
    shapes = expected_shapes(spec)
    for name in _biases_after_matrices(shapes):
        shape = shapes[name]
        if len(shape) == 1:
            base = 0.0 if name.endswith(".bias") else 1.0 - spec.family.norm_offset
            weights[name] = base + 0.2 * torch.randn(shape, generator=generator)
        elif name.startswith("model.embed"):
            weights[name] = torch.randn(shape, generator=generator)
        else:
            weights[name] = torch.randn(shape, generator=generator) * (2.0 / shape[1] ** 0.5)
    return weights


def _biases_after_matrices(names: Iterable[str]) -> list[str]:
    """Names of tensors in the order of drawing: each bias after its matrix. Tests rely on what is drawn."""
    ordered = [name for name in names if not name.endswith(".bias")]
    biases = [name for name in names if name.endswith(".bias")]
    for name in biases:
        ordered.insert(ordered.index(name.removesuffix("bias") + "weight") + 1, name)
    return ordered


def write_checkpoint(
    folder: Path,
    config: Mapping[str, Any],
    *,
    weights: Mapping[str, torch.Tensor] | None = None,
    shards: int = 1,
    seed: int = 0,
) -> Path:
    """Write a whole model folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = dict(random_weights(config, seed) if weights is None else weights)
    (folder / "config.json").write_text(json.dumps(config))
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        _write_shards(folder, tensors, shards)
    (folder / "tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"bos_token": SPECIALS[0], "eos_token": SPECIALS[1], "pad_token": SPECIALS[2]})
    )
    return folder


def _write_shards(folder: Path, tensors: Mapping[str, torch.Tensor], shards: int) -> None:
    weight_map: dict[str, str] = {}
    names = sorted(tensors)
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        save_file(part, folder / file, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(part, file)
    total = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def byte_tokenizer() -> dict[str, Any]:
    """A `tokenizer.json` whose tokens 0 to 255 are the bytes, without merges, followed by `SPECIALS`."""
    vocab = {spelled: byte for byte, spelled in enumerate(_alphabet())}
    added = [
        {
            "id": BYTES + i,
            "content": name,
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for i, name in enumerate(SPECIALS)
    ]
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }


@cache
def _alphabet() -> tuple[str, ...]:
    """The printable character that byte-level tokenizers write for each byte (GPT-2's table)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(BYTES) if byte not in plain]
    return tuple(
        chr(byte if byte in plain else 0x100 + others.index(byte)) for byte in range(BYTES)
    )
