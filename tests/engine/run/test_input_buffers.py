"""The inputs of a GPU pass, laid out with stand-ins for streams and pinned memory."""

import random
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from intaglio.engine.plan import PLACEHOLDER
from intaglio.engine.run.batch import Batch
from intaglio.engine.run.cuda.input_buffers import (
    FIELDS,
    NOWHERE,
    ROPE_POSITIONS,
    SLOTS,
    SOURCES,
    TOKENS,
    Inputs,
    Packing,
)
from intaglio.engine.run.cuda.token_packing import PADDING

ROWS, BLOCKS, SIZE = 12, 6, 4


class Event:
    """Everything has been done when it is asked."""

    def record(self, _: object = None) -> None: ...

    def synchronize(self) -> None: ...


class StreamSet:
    """One stream, which copies at once."""

    class Caller:
        device = torch.device("cpu")

    caller = Caller()

    @property
    def inputs(self) -> "StreamSet":
        return self

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def wait_for_inputs(self) -> None: ...


@pytest.fixture
def _without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    real = torch.zeros

    def zeros(*shape: Any, pin_memory: bool = False, **options: Any) -> torch.Tensor:
        del pin_memory
        return real(*shape, **options)

    monkeypatch.setattr(torch, "zeros", zeros)
    monkeypatch.setattr(torch.cuda, "Event", Event)


def tables() -> npt.NDArray[np.int32]:
    return np.arange(1, ROWS * BLOCKS + 1, dtype=np.int32).reshape(ROWS, BLOCKS)


def batch(
    dice: random.Random,
    counts: list[int],
    grown: int = 0,
    places: Sequence[int] = range(ROWS),
    groups: int = 1,
) -> Batch:
    """Sequences of `counts` new tokens in any rows; the last token of some is the sample at `places` of its row."""
    rows = np.array(dice.sample(range(ROWS), len(counts)))
    firsts = np.array([dice.randint(0, BLOCKS * SIZE - count) for count in counts])
    starts = np.cumsum([0, *counts])
    positions = np.concatenate([f + np.arange(c) for f, c in zip(firsts, counts, strict=True)])
    owners = np.repeat(rows, counts)
    tokens = np.array([dice.randint(5, 900) for _ in range(starts[-1])], dtype=np.int32)
    for end in starts[1:]:
        if dice.random() < 0.5:
            tokens[end - 1] = PLACEHOLDER
    logits_indices = starts[1:] - 1
    return Batch(
        tokens=tokens,
        sources=np.where(tokens == PLACEHOLDER, np.array(places)[owners], -1),
        positions=positions,
        rope_positions=positions - 2,  # as after an image
        slots=tables()[owners, positions // SIZE] * np.int64(SIZE) + positions % SIZE,
        owners=owners,
        starts=starts,
        lengths=firsts + np.array(counts),
        rows=rows,
        logits_indices=logits_indices,
        picking=tuple(range(len(counts))),
        sampling_rows=rows,
        next_positions=firsts + np.array(counts),
        grown=np.array([dice.sample(range(ROWS * BLOCKS), grown), range(7, 7 + grown)]),
        longest=max(counts),
        other_slots=np.array([positions + 1000 * group for group in range(1, groups)]),
    )


def made(least: int = 1000, groups: int = 1) -> Inputs:
    """Inputs of a device that has sampled 1000, 1001, ... last; sizes from `least` on are packed."""
    beside: Any = StreamSet()
    held = np.stack([tables()] * groups)
    given = Inputs(beside, 40, [1, 2, 8, 16, 40], held, SIZE, Packing(4, 2, least))
    given.samples[:] = 1000 + torch.arange(len(given.samples))
    return given


def known(step: Batch) -> list[int]:
    """The tokens of a step; the sample kept for it in the place of each placeholder."""
    return [
        token if token >= 0 else 1000 + source
        for token, source in zip(step.tokens.tolist(), step.sources.tolist(), strict=True)
    ]


@pytest.mark.usefixtures("_without_a_gpu")
@pytest.mark.parametrize("seed", range(12))
def test_captured_batches_are_where_the_views_say(seed: int) -> None:
    dice = random.Random(seed)
    packed = seed % 2 == 1
    groups = 1 + seed % 4
    given = made(1 if packed else 1000, groups)
    places = dice.sample(range(ROWS), ROWS)
    for _ in range(4):  # both pinned buffers, and what stood there before
        counts = [dice.choice([1, 1, 2, 5]) for _ in range(dice.randint(1, 8))]
        most = min(sum(counts) * (2 * groups - 1), ROWS * BLOCKS)
        step = batch(dice, counts, dice.randint(0, most), places, groups)
        count = sum(counts)
        size = next(size for size in (1, 2, 8, 16, 40) if size >= count)
        assert given.fill_few(step, size)
        few = given.few[size]
        looked_up = given.buffer[few.fields[SOURCES].long()]
        assert looked_up[:count].tolist() == known(step)
        assert few.fields[ROPE_POSITIONS, :count].tolist() == step.rope_positions.tolist()
        assert few.fields[SLOTS].tolist() == [*step.slots.tolist(), *[NOWHERE] * (size - count)]
        assert few.fields[TOKENS, count:].tolist() == [0] * (size - count)
        others = few.fields[FIELDS:][: groups - 1]
        assert others[:, :count].tolist() == step.other_slots.tolist()
        assert (others[:, count:] == NOWHERE).all()
        grown = step.grown.shape[1]
        assert few.grown_at.dtype == torch.int64
        room = size * (2 * groups - 1)
        assert few.grown_at.tolist() == step.grown[0].tolist() + [tables().size] * (room - grown)
        assert few.grown[:grown].tolist() == step.grown[1].tolist()
        if packed:
            assert few.starts is None
            assert few.owners[:count].tolist() == step.owners.tolist()
            assert few.lengths.tolist() == [
                *(step.positions + 1).tolist(),
                *[0] * (size - count),
            ]
            order = few.order[few.order != PADDING]
            assert sorted(order.tolist()) == list(range(count))
            assert few.order.shape == few.leads.shape == (len(few.shared), 4)
        else:
            assert few.order is few.leads is few.shared is None
            pieces = [min(4, n - begin) for n in counts for begin in range(0, n, 4)]
            assert few.starts.diff().tolist() == pieces + [0] * (size - len(pieces))


@pytest.mark.usefixtures("_without_a_gpu")
def test_what_grew_by_more_than_there_is_room_for_does_not_go_along() -> None:
    given, dice = made(), random.Random(1)
    step = batch(dice, [1], grown=5)
    assert not given.fill_few(step, 2)
    assert given.few[2].grown_at.tolist() == [tables().size] * 2


@pytest.mark.usefixtures("_without_a_gpu")
@pytest.mark.parametrize("seed", range(6))
def test_batches_of_any_size(seed: int) -> None:
    groups = 1 + seed % 3
    given, dice = made(groups=groups), random.Random(seed)
    places = dice.sample(range(ROWS), ROWS)
    for _ in range(3):
        counts = [dice.randint(1, 6) for _ in range(dice.randint(1, 6))]
        step = batch(dice, counts, 0, places, groups)
        there = given.fill_many(step)
        looked_up = given.buffer[there.fields[SOURCES].long()]
        assert looked_up.tolist() == known(step)
        assert there.fields[ROPE_POSITIONS].tolist() == step.rope_positions.tolist()
        assert there.fields[SLOTS].tolist() == step.slots.tolist()
        assert there.fields[FIELDS:][: groups - 1].tolist() == step.other_slots.tolist()
        assert there.logits_indices.tolist() == step.logits_indices.tolist()
        assert there.starts.tolist() == step.starts.tolist()
        assert there.lengths.tolist() == step.lengths.tolist()
        assert there.rows.tolist() == step.rows.tolist()


@pytest.mark.usefixtures("_without_a_gpu")
def test_nobodys_tokens_are_stored_nowhere() -> None:
    given = made(groups=2)
    given.buffer.fill_(5)
    given.clear(8)
    assert given.few[8].fields[SLOTS].tolist() == [NOWHERE] * 8
    assert (given.few[8].fields[FIELDS:] == NOWHERE).all()
    assert not given.few[8].lengths.any()
    assert not given.samples.any()
