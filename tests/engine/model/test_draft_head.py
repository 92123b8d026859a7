"""The pass of a draft head, compared with one that is written down plainly for a whole text."""

from pathlib import Path

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.draft_head import UNDRAFTED
from intaglio.engine.model.head_files import load_head
from intaglio.engine.model.head_spec import HeadSpec
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.plan import Admitted, Masks, Plan, Work
from intaglio.engine.run.head_executor import HeadExecutor, head_executor
from intaglio.engine.run.kept_streams import KeptStreams
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import empty_rows
from torch import Tensor
from torch.nn.functional import silu

from tests.support.draft_heads import HEAD, TARGET, head_spec, head_weights, write_head
from tests.support.tiny_checkpoint import write_checkpoint

SIZE = 8
KNOWN = [int(token) for token in torch.randint(0, 256, (40,), generator=torch.manual_seed(3))]
GREEDY = SamplingParams(temperature=0, logprobs=0)


def normed(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Heads [rows, heads, 16] rotated by their positions."""
    angles = torch.outer(positions.double(), 10000.0 ** (-torch.arange(0, 16, 2) / 16.0))
    cos, sin = (part.float().repeat(1, 2)[:, None] for part in (angles.cos(), angles.sin()))
    return x * cos + torch.cat((-x[..., 8:], x[..., :8]), -1) * sin


def plain(
    weights: dict[str, Tensor], spec: HeadSpec, embedded: Tensor, states: Tensor, first: int
) -> Tensor:
    """The residual stream after the layer for all rows: `embedded` and `states` [rows, 64], from `first` on."""
    layer = {name.removeprefix("midlayer."): each for name, each in weights.items()}
    merged = normed(states, layer["hidden_norm.weight"])
    joined = torch.cat((normed(embedded, layer["input_layernorm.weight"]), merged), -1)
    q, k, v = (
        (joined @ layer[f"self_attn.{part}_proj.weight"].T).unflatten(-1, (-1, 16))
        for part in "qkv"
    )
    positions = torch.arange(len(states)) + first
    q, k = turned(q, positions), turned(k, positions).repeat_interleave(2, 1)
    scores = torch.einsum("qhd,khd->hqk", q, k) / 4
    hidden = torch.ones(len(states), len(states), dtype=torch.bool).triu(1)
    shares = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    attended = torch.einsum("hqk,khd->qhd", shares, v.repeat_interleave(2, 1)).flatten(1)
    x = (merged if spec.normed_residual else states) + attended @ layer["self_attn.o_proj.weight"].T
    inner = normed(x, layer["post_attention_layernorm.weight"])
    gate, up = (inner @ layer[f"mlp.{part}_proj.weight"].T for part in ("gate", "up"))
    return x + (silu(gate) * up) @ layer["mlp.down_proj.weight"].T


def executor_of(folder: Path, spec: HeadSpec) -> tuple[HeadExecutor, KeptStreams]:
    settings = SchedulerConfig(max_running=4, max_batched_tokens=64)
    built = build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype="float32", max_context=128),
        CacheConfig(num_blocks=40, block_size=SIZE),
        settings,
        layers=LayerSettings(streams=spec.layers),
    )
    assert built.streams is not None
    kept = KeptStreams(built.runner, built.streams, 4)
    head = load_head(folder / "head", spec, built.runner.decoder, 128)
    limits = built.runner.limits
    cache = CacheConfig(num_blocks=40, block_size=SIZE)
    return head_executor(head, kept, cache, limits), kept


@pytest.mark.parametrize("normed_residual", [False, True])
@pytest.mark.parametrize("begin", [0, 16])
def test_rows_of_streams_and_of_its_own_output_are_those_of_the_plain_pass(
    tmp_path: Path, begin: int, normed_residual: bool
) -> None:
    config = {**HEAD, "norm_before_residual": normed_residual}
    spec = head_spec(config)
    weights = head_weights(spec)
    model = write_checkpoint(tmp_path / "model", TARGET)
    write_head(model / "head", config, weights)
    executor, kept = executor_of(model, spec)
    # The target computes the first 30 tokens; what it computes before `begin` is of another sequence.
    blocks = tuple(range(1, 7))
    for seq_id, start, stop in ((1, 0, begin), (2, begin, 30)) if begin else ((2, 0, 30),):
        admitted = Admitted(seq_id, tuple(KNOWN), len(KNOWN), blocks, GREEDY)
        kept.forward(Plan(1, (admitted,), (Work(seq_id, start, tuple(KNOWN[start:stop])),)))
    assert kept.held(2) == range(begin, 30)
    streams = kept.rows(2, range(begin, 30))

    embedding = executor.runner.decoder.embedding
    tokens = KNOWN[1:34]  # 29 rows and one have streams, three more read what the head gave
    states = list(streams @ weights["fc.weight"].T)
    while len(states) < 33 - begin:
        embedded = embedding[tokens[begin : begin + len(states)]]
        states.append(plain(weights, spec, embedded, torch.stack(states), begin)[-1])
    expected = plain(weights, spec, embedding[tokens[begin:]], torch.stack(states), begin)

    admitted = Admitted(2, tuple(KNOWN[1:]), 20, blocks, GREEDY)
    masks = Masks(empty_rows(0, 300), {})
    at = begin
    for count, read in ((7, True), (30 - begin - 7, True), (1, False), (1, False), (1, False)):
        work = Work(2, at, tuple(tokens[at : at + count]), logits=1)
        given = range(at, at + count) if read else range(0)
        plan = Plan(2 + at, (admitted,) if at == begin else (), (work,))
        drawn = executor.run(plan, begin, given, masks)
        at += count
        assert executor.rows.output is not None
        wanted = expected[at - begin - 1]
        torch.testing.assert_close(executor.rows.output[0], wanted, rtol=1e-4, atol=1e-4)
        logits = torch.full((300,), UNDRAFTED)
        own = normed(wanted, weights["norm.weight"]) @ weights["lm_head.weight"].T
        logits[weights["d2t"] + torch.arange(120)] = own
        assert drawn is not None
        assert drawn.tokens[0] == int(logits.argmax())
        assert drawn.logprobs[0].logprob == pytest.approx(
            float(logits.log_softmax(-1).max()), abs=1e-3
        )
    assert at == 33
