"""Who does the extractions of a job: an engine in this process, or a service elsewhere.

Does: draw tasks as room comes free, give each back with its result or error; give up all of them where the run is
stopped. Does not: retry or remember (`runner`).
"""

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..client import AsyncClient, Extraction, IntaglioError, Options
from .row import Claim

if TYPE_CHECKING:
    from ..llm import LLM

Schema = dict[str, Any] | bool | str
Finished = tuple[Claim, Extraction[Any] | IntaglioError]


@dataclass(frozen=True, slots=True)
class Task:
    """A row to be done, and the schema that its result must meet."""

    claim: Claim
    schema: Schema


class Stopped(Exception):
    """The run has been stopped: what is in hand is to be aborted, and nothing more is wanted of it."""


class Feed(Iterator[Task | None]):
    """The tasks of a run as `draw` makes them; `look` is what there is to look after while none is drawn.

    Both raise `Stopped` once the run has been stopped.
    """

    def __init__(self, draw: Iterator[Task | None], look: Callable[[], None]) -> None:
        self._draw = draw
        self.look = look

    def __next__(self) -> Task | None:
        return next(self._draw)


def look(tasks: Iterator[Task | None]) -> None:
    """Let a run look after itself; whoever extracts calls it every half second at least, if it has room or not.

    Raises:
        Stopped: what is in hand is to be aborted.
    """
    if isinstance(tasks, Feed):
        tasks.look()


class Extracting(Protocol):
    """Does tasks, many at a time."""

    @property
    def model(self) -> str:
        """The model that answers."""
        ...

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        """Every task with its outcome, in the order they end. Closing it early gives up the rest.

        None among `tasks` says that there is no other just now; it ends where nothing is in hand either. `Stopped` of
        `tasks` goes through, when what is in hand has been aborted.
        """
        ...


class Local:
    """An engine in this process; `at_once` extractions are in it at a time."""

    def __init__(self, llm: "LLM", options: Options, at_once: int = 256) -> None:
        self._llm = llm
        self._options = options
        self._at_once = at_once

    @property
    def model(self) -> str:
        return self._llm.info.model

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        in_hand, over = 0, False

        def items() -> Iterator[tuple[Claim, Schema, str] | None]:
            nonlocal in_hand, over
            # It goes on after the last task: a run may be stopped until all have ended.
            while in_hand or not over:
                look(tasks)
                task = None if over or in_hand >= self._at_once else next(tasks, _OVER)
                if isinstance(task, _Over):
                    over, task = True, None
                in_hand += task is not None
                yield None if task is None else (task.claim, task.schema, task.claim.text)

        # With one place more than is ever taken, the engine draws an item, if only None, in each of its steps.
        stream = self._llm.extract_stream(items(), at_once=self._at_once + 1, **self._options)
        with closing(stream) as finished:
            for one in finished:
                in_hand -= 1
                yield one


class _Over:
    """There are no more tasks, ever."""


_OVER: Final = _Over()


class Remote:
    """A service at `url`; `at_once` requests are open at a time. `model` is asked of it where it is not named."""

    def __init__(self, url: str, options: Options, model: str | None, at_once: int = 32) -> None:
        self._url = url
        self._options = options
        self._at_once = at_once
        self._asked = model
        self._model = model

    @property
    def model(self) -> str:
        if self._model is None:
            self._model = asyncio.run(self._served())
        return self._model

    async def _served(self) -> str:
        async with AsyncClient(self._url) as client:
            return (await client.models())[0].id

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        with asyncio.Runner() as loop:
            client = AsyncClient(self._url)
            open_calls: set[asyncio.Task[Finished]] = set()
            try:
                while True:
                    look(tasks)
                    while len(open_calls) < self._at_once:
                        task = next(tasks, None)
                        if task is None:
                            break
                        call = self._call(client, task)
                        open_calls.add(loop.get_loop().create_task(call))
                    if not open_calls:
                        return
                    done, open_calls = loop.run(_first(open_calls))
                    for call_done in done:
                        yield call_done.result()
            finally:
                loop.run(_give_up(client, open_calls))

    async def _call(self, client: AsyncClient, task: Task) -> Finished:
        try:
            result: Extraction[Any] = await client.extract(
                task.schema, task.claim.text, model=self._asked, **self._options
            )
        except IntaglioError as error:
            return task.claim, error
        return task.claim, result


async def _first(
    calls: set[asyncio.Task[Finished]],
) -> tuple[set[asyncio.Task[Finished]], set[asyncio.Task[Finished]]]:
    """(calls that have ended, calls that have not), as soon as one has or half a second has passed."""
    return await asyncio.wait(calls, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)


async def _give_up(client: AsyncClient, calls: set[asyncio.Task[Finished]]) -> None:
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await client.close()
