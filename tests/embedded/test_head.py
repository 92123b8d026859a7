"""A draft head is trained on a CPU, and the engine draws what it was trained to say."""

import dataclasses
import multiprocessing
from pathlib import Path

import numpy as np
import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.head_files import load_head
from intaglio.engine.model.head_spec import read_head_spec
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.model.spec import read_spec
from intaglio.engine.plan import Admitted, Masks, Plan, Work
from intaglio.engine.run.head_executor import head_executor
from intaglio.engine.run.kept_streams import KeptStreams
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import empty_rows

from examples.train_embedded import feed
from examples.train_embedded.head import HeadSettings, HeadTraining, draft_tokens, run, shape_of
from examples.train_embedded.head_model import HeadShape
from examples.train_embedded.head_model import save as save_head
from examples.train_embedded.model import Decoder, Shape, save

SHAPE = Shape(
    vocab_size=64,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=7,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=32,
)
LENGTH = 24


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A model whose next token is not the same everywhere."""
    torch.manual_seed(2)
    model = Decoder(SHAPE)
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.data.mul_(4)
    folder = tmp_path / "target"
    save(folder, SHAPE, model.state_dict(), end=3, pad=4)
    return folder


@pytest.fixture
def batch() -> feed.Batch:
    dice = np.random.default_rng(1)
    ids = dice.integers(5, 60, (4, LENGTH)).astype(np.uint16)
    ends = np.array([24, 24, 22, 20], np.int32)
    return feed.Batch(ids, np.array([10, 12, 8, 10], np.int32), ends)


def settings(target: Path, out: Path) -> HeadSettings:
    mix = feed.SampleMix(target / "tokenizer.json", 96)
    return HeadSettings(target, out, 1.0, mix, vocabulary=40, counted=1, steps=3, warm_steps=1)


def test_steps_lower_the_loss_and_leave_the_target_alone(
    target: Path, tmp_path: Path, batch: feed.Batch
) -> None:
    torch.manual_seed(0)
    training = HeadTraining(settings(target, tmp_path / "head"), torch.arange(40))
    before = {name: weight.clone() for name, weight in training.target.state_dict().items()}
    first, agreed = training.learn(batch)
    for _ in range(25):
        last, agreed = training.learn(batch)
    assert last < first - 0.2
    assert agreed.shape == (3,)
    assert all(
        torch.equal(weight, before[name]) for name, weight in training.target.state_dict().items()
    )


def test_the_tokens_of_answers_are_drafted(batch: feed.Batch) -> None:
    answered = {
        int(token)
        for ids, start, end in zip(batch.ids, batch.starts, batch.ends, strict=True)
        for token in ids[start:end]
    }
    tokens = draft_tokens([batch], len(answered), 64)
    assert set(tokens.tolist()) == answered
    assert tokens.tolist() == sorted(tokens.tolist())


def test_a_run_writes_a_head_that_loads(target: Path, tmp_path: Path, batch: feed.Batch) -> None:
    class Food(feed.Feed):
        def batch(self) -> feed.Batch:
            return batch

    def made_feed(mix: feed.SampleMix, workers: int) -> feed.Feed:
        context = multiprocessing.get_context("spawn")
        return Food(context.Queue(), context.Value("d", 0.0), ())

    out = tmp_path / "head"
    run(dataclasses.replace(settings(target, out), seconds=0.5), made_feed)
    built = build_runner(
        ModelConfig(model=str(target), device="cpu", dtype="float32", max_context=64),
        CacheConfig(num_blocks=20, block_size=8),
        SchedulerConfig(max_running=2),
    )
    spec = read_head_spec(out, built.spec)
    assert (spec.layers, spec.draft_vocab) == (HeadShape(shape_of(target), 40).streams, 40)
    load_head(out, spec, built.runner.decoder, 64)


def test_the_engine_draws_what_the_unrolled_head_says(
    target: Path, tmp_path: Path, batch: feed.Batch
) -> None:
    torch.manual_seed(0)
    training = HeadTraining(settings(target, tmp_path / "head"), torch.arange(0, 60, 2))
    for _ in range(5):
        training.learn(batch)
    save_head(tmp_path / "head", training.head)
    # The engine has the weights as they were written, in bfloat16.
    for part in (training.target, training.head):
        for weight in part.parameters():
            weight.data = weight.data.bfloat16().float()
    ids, rows = torch.from_numpy(batch.ids[:1].astype("int64")), torch.tensor([[11]])
    with torch.no_grad():
        _, entering = training.target.streams(ids, training.shape.streams)
        embedded = training.target.embed_tokens(ids)
        chains = training.head.unrolled(embedded, torch.cat(entering, -1), rows, 3)

    spec = read_head_spec(tmp_path / "head", read_spec(target))
    built = build_runner(
        ModelConfig(model=str(target), device="cpu", dtype="float32", max_context=64),
        CacheConfig(num_blocks=20, block_size=8),
        SchedulerConfig(max_running=2),
        layers=LayerSettings(streams=spec.layers),
    )
    assert built.streams is not None
    kept = KeptStreams(built.runner, built.streams, 1)
    head = load_head(tmp_path / "head", spec, built.runner.decoder, 64)
    cache = CacheConfig(num_blocks=20, block_size=8)
    executor = head_executor(head, kept, cache, built.runner.limits)
    known, blocks = tuple(ids[0].tolist()), (1, 2, 3)
    greedy = SamplingParams(temperature=0, logprobs=0)
    kept.forward(Plan(1, (Admitted(1, known, LENGTH, blocks, greedy),), (Work(1, 0, known[:12]),)))
    admitted = (Admitted(1, known[1:], LENGTH - 1, blocks, greedy),)
    for step, (start, stop) in enumerate(((0, 12), (12, 13), (13, 14))):
        work = Work(1, start, known[start + 1 : stop + 1], logits=1)
        plan = Plan(2 + step, admitted if step == 0 else (), (work,))
        given = range(12) if step == 0 else range(0)
        drawn = executor.run(plan, 0, given, Masks(empty_rows(0, 64), {}))
        assert drawn is not None
        shares = chains[step][0, 0].log_softmax(-1)
        assert drawn.tokens[0] == 2 * int(shares.argmax())
        assert drawn.logprobs[0].logprob == pytest.approx(float(shares.max()), abs=2e-3)
