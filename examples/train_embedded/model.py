"""The embedded model as it is trained: Qwen3's decoder in plain torch, with Qwen3's weight names.

Only what training needs: no cache, no generation. `save` writes a folder that `transformers` and the
engine load as a Qwen3ForCausalLM; a test compares the logits of both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

SHARD_BYTES = 15 * 2**20


@dataclass(frozen=True)
class Shape:
    """The sizes of a Qwen3 decoder, named as in its config.json."""

    vocab_size: int = 8192
    hidden_size: int = 384
    intermediate_size: int = 1024
    num_hidden_layers: int = 10
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    head_dim: int = 64
    rms_norm_eps: float = 1e-6
    rope_theta: float = 100_000.0
    max_position_embeddings: int = 4096


class Norm(nn.Module):
    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.groups, self.dim = (
            shape.num_attention_heads,
            shape.num_key_value_heads,
            shape.head_dim,
        )
        self.q_proj = nn.Linear(shape.hidden_size, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, self.groups * self.dim, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, self.groups * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, shape.hidden_size, bias=False)
        self.q_norm = Norm(self.dim, shape.rms_norm_eps)
        self.k_norm = Norm(self.dim, shape.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(batch, length, self.heads, self.dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(batch, length, self.groups, self.dim)).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.groups, self.dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        share = self.heads // self.groups
        k, v = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
        mixed = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
        out: Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))
        return out


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Gate(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = Gate(shape)
        self.input_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)
        self.post_attention_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Decoder(nn.Module):
    """Embedding, layers, final norm; the output head is the embedding itself."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = Norm(shape.hidden_size, shape.rms_norm_eps)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                deep = name.endswith(("o_proj.weight", "down_proj.weight"))
                scale = (2 * shape.num_hidden_layers) ** -0.5 if deep else 1.0
                nn.init.normal_(weight, std=0.02 * scale)

    def forward(self, ids: Tensor) -> Tensor:
        """Hidden states of shape [batch, length, hidden] for ids of shape [batch, length]."""
        return self.streams(ids, ())[0]

    def streams(self, ids: Tensor, before: Sequence[int]) -> tuple[Tensor, list[Tensor]]:
        """What `forward` gives, and the residual streams that enter the layers of these numbers."""
        cos, sin = angles(self.shape, ids.shape[1], ids.device)
        x, entering = self.embed_tokens(ids), []
        if torch.is_autocast_enabled(ids.device.type):
            x = x.to(torch.bfloat16)
        for number, layer in enumerate(self.layers):
            if number in before:
                entering.append(x)
            x = layer(x, cos, sin)
        return self.norm(x), entering

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embed_tokens.weight)


def angles(shape: Shape, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosine and sine [length, head_dim] of the rotation of each position."""
    half = torch.arange(0, shape.head_dim, 2, device=device, dtype=torch.float32)
    inverse = shape.rope_theta ** (-half / shape.head_dim)
    turned = torch.outer(torch.arange(length, device=device, dtype=torch.float32), inverse)
    turned = torch.cat((turned, turned), -1)
    return turned.cos(), turned.sin()


def save(folder: Path, shape: Shape, weights: Mapping[str, Tensor], end: int, pad: int) -> None:
    """Write config.json, bf16 shards of at most 15 MiB and their index."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = asdict(shape)
    theta = sizes.pop("rope_theta")
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        **sizes,
        "rope_theta": theta,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "use_cache": True,
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": pad,
        "torch_dtype": "bfloat16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shards: list[dict[str, Tensor]] = [{}]
    for name, weight in weights.items():
        tensor = weight.detach().to("cpu", torch.bfloat16).contiguous()
        used = sum(each.nbytes for each in shards[-1].values())
        if used + tensor.nbytes > SHARD_BYTES:
            shards.append({})
        shards[-1][f"model.{name}"] = tensor
    index: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(shard, str(folder / file), metadata={"format": "pt"})
        index |= dict.fromkeys(shard, file)
    total = sum(tensor.nbytes for shard in shards for tensor in shard.values())
    document = {"metadata": {"total_size": total}, "weight_map": index}
    (folder / "model.safetensors.index.json").write_text(json.dumps(document, indent=2) + "\n")


def weights_of(folder: Path) -> dict[str, Tensor]:
    """The weights of a folder that `save` or `intaglio quantize --to int8` wrote, by the names of `Decoder`."""
    found = {name: weight for file in sorted(folder.glob("*.safetensors")) for name, weight in load_file(file).items()}
    weights = {name.removeprefix("model."): weight for name, weight in found.items()}
    scales = {name: weights.pop(name) for name in [*weights] if name.endswith("_scale")}
    for name, scale in scales.items():
        matrix = name.removesuffix("_scale")
        weights[matrix] = weights[matrix].float() * scale
    return weights
