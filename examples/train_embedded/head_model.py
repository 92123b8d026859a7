"""A draft head for the embedded model in plain torch, with the names and the form of published EAGLE-3 heads.

Li et al. 2025, "EAGLE-3: Scaling up inference acceleration of large language models via training-time test". One layer
reads, for each token of a text, the embedding of the next token and what the target made of the token itself: the
streams that enter three of its layers, merged. It predicts the token after the next one. Behind the text it reads its
own output in place of the target's. `unrolled` does both, as drafting does; `save` writes a folder for `--drafts head:FOLDER`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

from .model import Decoder, Gate, Layer, Norm, Shape, angles, rotate


@dataclass(frozen=True)
class HeadShape:
    """The sizes of a head: its layer has those of `layer`, and it predicts `draft_vocab_size` of the target's tokens."""

    layer: Shape
    draft_vocab_size: int

    @property
    def streams(self) -> tuple[int, int, int]:
        """The layers of the target whose input is merged: the third, the middle one, the third last."""
        count = self.layer.num_hidden_layers
        return 2, count // 2, count - 3


class HeadAttention(nn.Module):
    """The projections of attention: of two normed vectors one after the other, without norms of queries and keys."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.groups, self.dim = (
            shape.num_attention_heads,
            shape.num_key_value_heads,
            shape.head_dim,
        )
        self.q_proj = nn.Linear(2 * shape.hidden_size, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(2 * shape.hidden_size, self.groups * self.dim, bias=False)
        self.v_proj = nn.Linear(2 * shape.hidden_size, self.groups * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, shape.hidden_size, bias=False)

    def query(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Rotated queries [batch, heads, rows, dim]."""
        return rotate(self.q_proj(x).unflatten(-1, (self.heads, self.dim)).transpose(1, 2), cos, sin)

    def key_value(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """Rotated keys, and values, repeated for each head that shares them: [batch, heads, rows, dim]."""
        key, value = (
            part(x).unflatten(-1, (self.groups, self.dim)).transpose(1, 2) for part in (self.k_proj, self.v_proj)
        )
        share = self.heads // self.groups
        return rotate(key, cos, sin).repeat_interleave(share, 1), value.repeat_interleave(share, 1)


class Midlayer(nn.Module):
    """The only layer. Its residual stream begins with the merged streams, or with its own output."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = HeadAttention(shape)
        self.mlp = Gate(shape)
        self.hidden_norm = Norm(shape.hidden_size, shape.rms_norm_eps)
        self.input_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)
        self.post_attention_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def joined(self, embedded: Tensor, hidden: Tensor) -> Tensor:
        """The input of attention."""
        return torch.cat((self.input_layernorm(embedded), self.hidden_norm(hidden)), -1)

    def output(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """The residual stream after the layer, of attended values [batch, heads, rows, dim]."""
        hidden = hidden + self.self_attn.o_proj(attended.transpose(1, 2).flatten(2))
        out: Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return out


class Head(nn.Module):
    """The head. `tokens` [draft_vocab_size]: the tokens of the target that it predicts, ascending."""

    tokens: Tensor

    def __init__(self, shape: HeadShape, tokens: Tensor) -> None:
        super().__init__()
        layer = shape.layer
        self.shape = shape
        self.fc = nn.Linear(3 * layer.hidden_size, layer.hidden_size, bias=False)
        self.midlayer = Midlayer(layer)
        self.norm = Norm(layer.hidden_size, layer.rms_norm_eps)
        self.lm_head = nn.Linear(layer.hidden_size, shape.draft_vocab_size, bias=False)
        self.register_buffer("tokens", tokens, persistent=False)

    @torch.no_grad()
    def begin_as(self, target: Decoder) -> None:
        """Begin with the last layer and the output of `target`, on its highest stream; the embedding counts little."""
        last, own, size = target.layers[-1], self.midlayer, self.shape.layer.hidden_size
        assert isinstance(last, Layer)
        self.fc.weight.normal_(std=0.002)
        self.fc.weight[:, -size:] += torch.eye(size)
        for part in ("q_proj", "k_proj", "v_proj"):
            weight = getattr(own.self_attn, part).weight
            weight.normal_(std=0.02)
            weight[:, size:] = getattr(last.self_attn, part).weight
        own.self_attn.o_proj.weight.copy_(last.self_attn.o_proj.weight)
        own.mlp.load_state_dict(last.mlp.state_dict())
        own.hidden_norm.load_state_dict(last.input_layernorm.state_dict())
        own.post_attention_layernorm.load_state_dict(last.post_attention_layernorm.state_dict())
        self.norm.load_state_dict(target.norm.state_dict())
        self.lm_head.weight.copy_(target.embed_tokens.weight[self.tokens])

    def unrolled(self, embedded: Tensor, streams: Tensor, rows: Tensor, steps: int) -> list[Tensor]:
        """Logits [batch, Q, draft_vocab_size] of the chains that begin at `rows` [batch, Q], one for each step.

        `embedded` [batch, length, hidden]: of the tokens of a text. `streams` [batch, length, 3 * hidden]: of the same
        tokens. The step `s` of the chain at row `r` has read the streams up to `r` and the tokens up to `r + 1 + s`,
        and predicts the token at `r + 2 + s`. Rows past the end give anything.
        """
        length = embedded.shape[1]
        cos, sin = angles(self.shape.layer, length + steps, embedded.device)
        attention = self.midlayer.self_attn
        whole = self.fc(streams)
        joined = self.midlayer.joined(embedded.roll(-1, 1), whole)
        keys, values = attention.key_value(joined, cos[:length], sin[:length])
        seen = torch.arange(length, device=rows.device) <= rows[:, None, :, None]
        hidden, own_input = picked(whole, rows), picked(joined, rows)
        own_keys: list[Tensor] = []
        own_values: list[Tensor] = []
        logits = []
        for step in range(steps):
            turned = cos[rows + step][:, None], sin[rows + step][:, None]
            if step:
                own_input = self.midlayer.joined(picked(embedded, (rows + 1 + step).clamp(max=length - 1)), hidden)
                key, value = attention.key_value(own_input, *turned)
                own_keys.append(key)
                own_values.append(value)
            query = attention.query(own_input, *turned) * attention.dim**-0.5
            scores = [(query @ keys.mT).masked_fill(~seen, -torch.inf)]
            scores += [(query * key).sum(-1, keepdim=True) for key in own_keys]
            shares = torch.cat(scores, -1).softmax(-1)
            attended = shares[..., :length] @ values
            for number, value in enumerate(own_values):
                attended = attended + shares[..., length + number, None] * value
            hidden = self.midlayer.output(attended, hidden)
            logits.append(self.lm_head(self.norm(hidden)))
        return logits


def picked(x: Tensor, rows: Tensor) -> Tensor:
    """The rows [batch, Q] of `x` [batch, length, size]."""
    return x.gather(1, rows[..., None].expand(-1, -1, x.shape[-1]))


def save(folder: Path, head: Head) -> None:
    """Write config.json and the weights in bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    layer = head.shape.layer
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        **asdict(replace(layer, num_hidden_layers=1)),
        "draft_vocab_size": head.shape.draft_vocab_size,
        "target_hidden_size": layer.hidden_size,
        "hidden_act": "silu",
        "attention_bias": False,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    weights = {
        name: weight.detach().to("cpu", torch.bfloat16).contiguous() for name, weight in head.state_dict().items()
    }
    tokens = head.tokens.cpu()
    among = torch.zeros(layer.vocab_size, dtype=torch.bool)
    among[tokens] = True
    weights |= {"d2t": tokens - torch.arange(len(tokens)), "t2d": among}
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})


def draft_loss(logits: Tensor, wanted: Tensor, counted: Tensor) -> Tensor:
    """Mean cross entropy with the distribution of `wanted` logits, where `counted` [batch, Q] holds."""
    each = F.cross_entropy(logits[counted].float(), wanted[counted].float().softmax(-1), reduction="sum")
    return each / counted.sum().clamp(min=1)
