"""Two processes that train one model take the step of one process with both batches."""

from functools import partial
from pathlib import Path

import numpy as np
import torch

from examples.train_embedded import feed
from examples.train_embedded.ranks import ALONE, Ranks, spawn
from examples.train_embedded.train import Settings, Training
from tests.embedded.test_train import SHAPE, TOKENIZER


def batch(first: int, rows: int) -> feed.Batch:
    ids = np.random.default_rng(7).integers(5, 8000, (8, 32)).astype(np.uint16)
    return feed.Batch(
        ids[first : first + rows], np.full(rows, 16, np.int32), np.full(rows, 32, np.int32)
    )


def trained(folder: Path, given: feed.Batch, ranks: Ranks) -> None:
    settings = Settings(
        folder, 60.0, 1, feed.SampleMix(TOKENIZER, 512), SHAPE, "cpu", compiled=False, warm_steps=1
    )
    torch.manual_seed(ranks.rank)  # other weights than rank 0 begins with
    training = Training(settings, ranks)
    for _ in range(3):
        training.learn(given)
        training.elapsed = ranks.elapsed(10.0 * (ranks.rank + 1))
    assert training.elapsed == 10.0
    torch.save(list(training.model.parameters()), folder / f"{ranks.rank}-of-{ranks.count}.pt")


def on_a_rank(folder: Path, ranks: Ranks) -> None:
    trained(folder, batch(4 * ranks.rank, 4), ranks)


def test_two_ranks_take_the_steps_of_one(tmp_path: Path) -> None:
    spawn(partial(on_a_rank, tmp_path), 2, "fork")
    trained(tmp_path, batch(0, 8), ALONE)
    first, second, alone = (
        torch.load(tmp_path / name) for name in ("0-of-2.pt", "1-of-2.pt", "0-of-1.pt")
    )
    for mine, other, whole in zip(first, second, alone, strict=True):
        assert torch.equal(mine, other)
        torch.testing.assert_close(mine, whole, rtol=1e-2, atol=1e-4)
