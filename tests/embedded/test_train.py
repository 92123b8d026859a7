"""A run of training on a CPU: it learns, goes on where it was, and stops where a worker has ended."""

import dataclasses
import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from examples.train_embedded import feed
from examples.train_embedded.encode import Codec, load
from examples.train_embedded.model import Shape
from examples.train_embedded.train import Settings, Training, run, share_of_rate

TOKENIZER = Path(__file__).resolve().parents[2] / "engine" / "embedded" / "tokenizer.json"
SHAPE = Shape(
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=1,
    num_attention_heads=1,
    num_key_value_heads=1,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    mix = feed.SampleMix(TOKENIZER, 512)
    return Settings(tmp_path, 60.0, 1, mix, SHAPE, "cpu", compiled=False, warm_steps=1)


@pytest.fixture
def batch() -> feed.Batch:
    ids = np.arange(5, 5 + 4 * 32, dtype=np.uint16).reshape(4, 32)
    return feed.Batch(ids, np.full(4, 16, np.int32), np.full(4, 32, np.int32))


def test_steps_lower_the_loss(settings: Settings, batch: feed.Batch) -> None:
    torch.manual_seed(0)
    training = Training(settings)
    first = training.learn(batch)
    for _ in range(15):
        last = training.learn(batch)
    assert last < first - 1


def test_a_resumed_run_takes_the_step_that_the_first_would_have_taken(
    settings: Settings, batch: feed.Batch
) -> None:
    torch.manual_seed(0)
    whole = Training(settings)
    for _ in range(3):
        whole.learn(batch)
    whole.elapsed = 20.0
    whole.checkpoint(Codec.of(load(TOKENIZER)))
    resumed = Training(dataclasses.replace(settings, resumed=True))
    assert (resumed.step, resumed.elapsed, resumed.piece) == (3, 20.0, 1)
    whole.learn(batch)
    resumed.learn(batch)
    for mine, other in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_a_run_begins_with_the_weights_of_another(
    settings: Settings, batch: feed.Batch, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    other = Training(settings)
    other.checkpoint(Codec.of(load(TOKENIZER)))
    begun = Training(dataclasses.replace(settings, start=tmp_path / "last"))
    for mine, weight in zip(begun.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(mine, weight.bfloat16().float())
    assert begun.step == 0


def test_two_machines_run_the_halves_of_one_schedule(settings: Settings) -> None:
    whole = dataclasses.replace(settings, seconds=100.0)
    first = dataclasses.replace(settings, seconds=50.0, part=(0.0, 0.5))
    second = dataclasses.replace(settings, seconds=20.0, part=(0.5, 1.0))
    for elapsed in (0.0, 10.0, 49.0):
        assert share_of_rate(first, 9, elapsed) == pytest.approx(share_of_rate(whole, 9, elapsed))
    for elapsed in (0.0, 7.0, 20.0):
        expected = share_of_rate(whole, 9, 50 + 2.5 * elapsed)
        assert share_of_rate(second, 9, elapsed) == pytest.approx(expected)


def test_an_ended_worker_ends_the_run() -> None:
    context = multiprocessing.get_context("fork")
    worker = context.Process(target=int, args=("1",), name="reader-1")
    worker.start()
    worker.join()
    with pytest.raises(RuntimeError, match="reader-1"):
        feed.Feed(context.Queue(), context.Value("d", 0.0), (worker,)).check()


def test_a_run_starts_with_the_8_bit_weights_of_the_package(settings: Settings) -> None:
    folder = TOKENIZER.parent
    known = json.loads((folder / "config.json").read_text())
    shape = Shape(**{field.name: known[field.name] for field in dataclasses.fields(Shape)})
    training = Training(dataclasses.replace(settings, shape=shape, start=folder))
    matrix = "layers.0.mlp.up_proj.weight"
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    codes, scales = (
        load_file(folder / index[name])[name]
        for name in (f"model.{matrix}", f"model.{matrix}_scale")
    )
    assert codes.dtype == torch.int8
    torch.testing.assert_close(training.model.state_dict()[matrix], codes.float() * scales)


def test_a_paused_run_goes_on_to_its_end(settings: Settings, batch: feed.Batch) -> None:
    class Food(feed.Feed):
        def batch(self) -> feed.Batch:
            return batch

    def made_feed(mix: feed.SampleMix, workers: int) -> feed.Feed:
        context = multiprocessing.get_context("spawn")
        return Food(context.Queue(), context.Value("d", 0.0), ())

    whole = dataclasses.replace(settings, seconds=1.0)
    run(dataclasses.replace(whole, pause=0.05), feed_of=made_feed)
    paused = Training(dataclasses.replace(whole, resumed=True))
    assert not (settings.out / "done").exists()
    assert 0.05 <= paused.elapsed < 1.0
    run(dataclasses.replace(whole, resumed=True), feed_of=made_feed)
    assert (settings.out / "done").exists()
    assert Training(dataclasses.replace(whole, resumed=True)).step > paused.step
