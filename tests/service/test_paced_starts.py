"""Some requests begin in each turn of the event loop, in the order of their arrival, and all of them begin."""

import asyncio
from typing import Any

from intaglio.service.http.paced_starts import PacedStarts
from starlette.types import Receive, Scope, Send


class Begun:
    """An application that notes the numbers of its requests, in a list for each turn."""

    def __init__(self, most: int) -> None:
        self.turns: list[list[int]] = [[]]
        self._paced = PacedStarts(self._note, most)

    async def _note(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        self.turns[-1].append(scope["number"])

    def request(self, number: int) -> asyncio.Task[None]:
        return asyncio.create_task(self._paced({"number": number}, _nothing, _ignore))

    async def turn(self) -> None:
        """Let the event loop turn once."""
        self.turns.append([])
        await asyncio.sleep(0)

    @property
    def numbers(self) -> list[int]:
        """The requests that have begun."""
        return [number for turn in self.turns for number in turn]


async def _nothing() -> dict[str, Any]:
    raise AssertionError("nothing is read")


async def _ignore(_message: Any) -> None:
    raise AssertionError("nothing is sent")


def test_a_crowd_begins_over_several_turns_in_its_order() -> None:
    async def run() -> Begun:
        begun = Begun(3)
        tasks = [begun.request(number) for number in range(10)]
        while not all(task.done() for task in tasks):
            await begun.turn()
        return begun

    begun = asyncio.run(run())
    assert begun.numbers == list(range(10))
    assert begun.turns[1] == [0, 1, 2], "the first ones do not wait"
    assert max(map(len, begun.turns)) == 3


def test_a_request_that_is_cancelled_takes_no_place() -> None:
    async def run() -> list[int]:
        begun = Begun(1)
        tasks = [begun.request(number) for number in range(4)]
        await begun.turn()
        tasks[1].cancel()
        tasks[2].cancel()
        await asyncio.wait(tasks)
        return begun.numbers

    assert asyncio.run(run()) == [0, 3]


def test_a_request_after_a_pause_begins_at_once() -> None:
    async def run() -> list[list[int]]:
        begun = Begun(1)
        for number in range(3):
            begun.request(number)
        for _ in range(9):
            await begun.turn()
        begun.request(3)
        await begun.turn()
        return begun.turns

    turns = asyncio.run(run())
    assert turns[1] == [0]
    assert [1] in turns
    assert [2] in turns
    assert turns[-1] == [3]
