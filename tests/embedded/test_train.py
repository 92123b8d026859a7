"""A run of training on a CPU: it learns, goes on where it was, stops where a worker has ended, and obeys masks."""

import dataclasses
import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest
import torch
from intaglio.grammar.api import Violation, allowed_tokens, empty_rows
from safetensors.torch import load_file

from examples.train_embedded import feed
from examples.train_embedded.encode import Codec, load
from examples.train_embedded.model import Shape
from examples.train_embedded.permitted import FORCED, Grammars, Masks
from examples.train_embedded.train import (
    Legal,
    Settings,
    Training,
    answer_loss,
    run,
    share_of_rate,
)

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


SCHEMA = {
    "type": "object",
    "properties": {"paid": {"enum": ["cash", "card"]}, "name": {"type": "string"}},
    "required": ["paid", "name"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return Grammars(TOKENIZER, Codec.of(load(TOKENIZER)).end)


def masked_batch(grammars: Grammars, answers: list[str], masked: list[bool]) -> feed.Batch:
    """A batch of answers to `SCHEMA` after a prompt of three tokens, some of them with masks."""
    encoded = Codec.of(load(TOKENIZER)).answers(answers)
    ids = np.zeros((len(answers), 32), np.uint16)
    for row, answer in zip(ids, encoded, strict=True):
        row[: 3 + len(answer)] = [7, 8, 9, *answer]
    found = [
        grammars.masks_of(SCHEMA, answer) if wanted else None
        for answer, wanted in zip(encoded, masked, strict=True)
    ]
    starts = np.full(len(answers), 3, np.int32)
    ends = np.array([3 + len(answer) for answer in encoded], np.int32)
    return feed.Batch(ids, starts, ends, grammars.joined(found, [3] * len(answers), 32))


def loss_of(training: Training, batch: feed.Batch, *, masked: bool) -> torch.Tensor:
    ids, starts, ends = (
        torch.from_numpy(array.astype("int64")) for array in (batch.ids, batch.starts, batch.ends)
    )
    if not masked or batch.masks is None:
        return answer_loss(training.model, ids, starts, ends)
    legal = Legal(torch.from_numpy(batch.masks.rows), torch.from_numpy(batch.masks.places))
    return answer_loss(training.model, ids, starts, ends, legal)


def test_masked_answers_are_learnt_among_their_legal_tokens(
    settings: Settings, grammars: Grammars
) -> None:
    torch.manual_seed(0)
    training = Training(settings)
    answers = ['{"paid":"card","name":"Ann Lee"}', '{"paid":"cash","name":"Bo"}']
    batch = masked_batch(grammars, answers, [True, False])
    logits = training.model.logits(training.model(torch.from_numpy(batch.ids.astype("int64"))))
    losses = []
    for number in range(2):
        answer = batch.ids[number, 3 : batch.ends[number]].tolist()
        matcher = grammars.compiled(SCHEMA).matcher()
        forced: tuple[int, ...] = ()
        for place, token in enumerate(answer, 2):
            forced = forced[1:] or matcher.forced()
            row = empty_rows(1, 8192)[0]
            matcher.fill(row)
            allowed = [token] if forced else allowed_tokens(row, 8192).tolist()
            choice = logits[number, place]
            among = choice[allowed] if number == 0 else choice
            losses.append(torch.logsumexp(among, 0) - choice[token])
            matcher.accept(token)
    expected = torch.stack(losses).mean()
    torch.testing.assert_close(loss_of(training, batch, masked=True), expected)
    assert loss_of(training, batch, masked=True) < loss_of(training, batch, masked=False)


def test_forced_tokens_cost_nothing(settings: Settings, grammars: Grammars) -> None:
    torch.manual_seed(0)
    training = Training(settings)
    batch = masked_batch(grammars, ['{"paid":"card","name":"Ann"}'], [True])
    assert batch.masks is not None
    places = batch.masks.places[0, 3 : batch.ends[0]]
    assert (places == FORCED).sum() >= 5
    free = np.flatnonzero(places != FORCED) + 3
    only = dataclasses.replace(batch.masks, places=np.full_like(batch.masks.places, FORCED))
    loss = loss_of(training, dataclasses.replace(batch, masks=only), masked=True)
    torch.autograd.backward(loss)
    assert loss == 0
    assert all(
        weight.grad is None or not weight.grad.any() for weight in training.model.parameters()
    )
    assert len(free) >= 3


def test_a_place_with_one_legal_token_costs_nothing(settings: Settings, grammars: Grammars) -> None:
    torch.manual_seed(0)
    training = Training(settings)
    batch = masked_batch(grammars, ['{"paid":"card","name":"Ann"}'], [True])
    assert batch.masks is not None
    size = int(batch.ends[0])
    rows = np.zeros((size, 1024), np.uint8)
    for place in range(3, size):
        token = int(batch.ids[0, place])
        rows[place, token // 8] = 1 << token % 8
    places = np.zeros((1, 32), np.int32)
    places[0, 3:size] = np.arange(3, size)
    alone = dataclasses.replace(
        batch, masks=dataclasses.replace(batch.masks, rows=rows, places=places)
    )
    loss = loss_of(training, alone, masked=True)
    torch.autograd.backward(loss)
    assert loss == 0
    assert all(
        weight.grad is None or not weight.grad.any() for weight in training.model.parameters()
    )


def test_a_batch_without_masks_has_the_plain_loss(settings: Settings, grammars: Grammars) -> None:
    torch.manual_seed(0)
    training = Training(settings)
    batch = masked_batch(grammars, ['{"paid":"card","name":"Ann"}'], [False])
    assert batch.masks is None
    plain = loss_of(training, batch, masked=False)
    assert torch.equal(training.learn(batch), plain.detach())
    free = Masks(np.full((1, 1024), 255, np.uint8), np.zeros((1, 32), np.int32), 0, 0)
    torch.manual_seed(0)
    again = loss_of(Training(settings), dataclasses.replace(batch, masks=free), masked=True)
    torch.testing.assert_close(again, plain)


def test_training_counts_the_answers_that_are_not_legal(
    settings: Settings, grammars: Grammars
) -> None:
    wrong = Codec.of(load(TOKENIZER)).answers(['{"name":"Ann","paid":"card"}'])[0]
    with pytest.raises(Violation):
        grammars.legal(SCHEMA, wrong)
    assert grammars.masks_of(SCHEMA, wrong) is None
    masks = grammars.joined([None], [0], 32)
    assert masks is not None
    assert masks.refused == 1
    assert grammars.joined([None], [0], 32) is None
    training = Training(settings)
    training.learn(feed.Batch(np.full((1, 32), 9, np.uint16), np.array([3]), np.array([20]), masks))
    assert (training.masked, training.refused) == (0, 1)
