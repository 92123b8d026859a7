"""Unread deltas come back whole and in order, joined where several wait, and a long backlog of them is small."""

import asyncio
import gc
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterable

import pytest
from intaglio.engine.errors import EngineStopped
from intaglio.engine.host.unread_deltas import UnreadDeltas
from intaglio.engine.types import Delta, Finish, TokenLogprob, Usage


def score(dice: random.Random) -> float:
    """A log-probability of single precision, as a GPU computes it."""
    return float(struct.unpack("f", struct.pack("f", -20 * dice.random()))[0])


def delta(dice: random.Random) -> Delta:
    """One token with 20 alternatives."""
    top = tuple((dice.randrange(150_000), score(dice)) for _ in range(20))
    token = dice.randrange(150_000)
    return Delta(
        request_id="a", tokens=(token,), logprobs=(TokenLogprob(token, score(dice), top, 0.5),)
    )


def scored(deltas: Iterable[Delta]) -> list[TokenLogprob]:
    """The tokens of deltas, of which each one must have its score."""
    found: list[TokenLogprob] = []
    for one in deltas:
        assert [score.token for score in one.logprobs] == list(one.tokens)
        found += one.logprobs
    return found


def test_tokens_come_in_order_at_any_pace_of_reader_and_writer() -> None:
    async def run(seed: int) -> None:
        dice = random.Random(seed)
        given, unread = [delta(dice) for _ in range(60)], UnreadDeltas()
        taken: list[Delta] = []
        end = Delta(request_id="a", finish=Finish.STOP, usage=Usage(1, 60))
        waiting = [*given, end]
        while end not in taken:
            for _ in range(dice.choice((0, 1, 1, 5, 20))):
                if waiting:
                    unread.put(waiting.pop(0))
            for _ in range(dice.choice((0, 1, 2, 9))):
                if end not in taken and len(scored(taken)) + len(waiting) <= len(given):
                    taken.append(await unread.get())
        assert scored(taken) == scored(given)
        assert taken[-1] == end

    for seed in range(20):
        asyncio.run(run(seed))


def test_what_waits_is_one_delta_and_the_last_one_comes_alone() -> None:
    async def run() -> list[Delta]:
        unread = UnreadDeltas()
        for token in range(3):
            unread.put(Delta(request_id="a", tokens=(token,)))
        unread.put(Delta(request_id="a", tokens=(3,), finish=Finish.STOP, usage=Usage(1, 4)))
        return [await unread.get(), await unread.get()]

    assert asyncio.run(run()) == [
        Delta(request_id="a", tokens=(0, 1, 2)),
        Delta(request_id="a", tokens=(3,), finish=Finish.STOP, usage=Usage(1, 4)),
    ]


def test_a_reader_waits_for_a_delta_and_for_an_error() -> None:
    async def run() -> tuple[Delta, str]:
        unread, dice = UnreadDeltas(), random.Random(0)
        reading = asyncio.create_task(unread.get())
        await asyncio.sleep(0)
        unread.put(delta(dice))
        found = await reading
        reading = asyncio.create_task(unread.get())
        await asyncio.sleep(0)
        unread.end(EngineStopped("it died"))
        with pytest.raises(EngineStopped) as raised:
            await reading
        return found, raised.value.message

    found, message = asyncio.run(run())
    assert found == delta(random.Random(0))
    assert message == "it died"


def test_an_error_comes_after_all_deltas() -> None:
    async def run() -> None:
        unread, dice = UnreadDeltas(), random.Random(0)
        given = [delta(dice) for _ in range(11)]
        for one in given:
            unread.put(one)
        unread.end(EngineStopped("it died"))
        taken: list[Delta] = []
        while len(scored(taken)) < len(given):
            taken.append(await unread.get())
        assert scored(taken) == scored(given)
        with pytest.raises(EngineStopped):
            await unread.get()

    asyncio.run(run())


def traced(count: int, keep: Callable[[Delta], None]) -> int:
    """The bytes that so many deltas take when `keep` has them."""
    dice = random.Random(0)
    keep(delta(dice))  # whatever is made once
    tracemalloc.start()
    try:
        for _ in range(count):
            keep(delta(dice))
        gc.collect()  # the interpreter keeps freed tuples for later until then
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_long_backlog_takes_an_eighth_of_its_decoded_size() -> None:
    held: list[Delta] = []
    assert traced(1000, UnreadDeltas().put) < traced(1000, held.append) / 8
